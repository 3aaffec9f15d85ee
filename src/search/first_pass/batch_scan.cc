#include "search/first_pass/batch_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/squared_distance.h"
#include "search/first_pass/batch_scan_kernel.h"
#include "search/first_pass/error_bound.h"

namespace resmem {
namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();

float UpperNorm(double squared) {
  return static_cast<float>(std::sqrt(squared) * (1 + 1e-6));
}

// The queries of one batch, centered and packed in groups for ScanTile().
class PackedQueries {
 public:
  PackedQueries(std::span<const Question> questions, const std::vector<float>& center,
                const TileShape& shape)
      : dim_(static_cast<int64_t>(center.size())), per_group_(shape.queries) {
    const int64_t count = static_cast<int64_t>(questions.size());
    groups_ = (count + per_group_ - 1) / per_group_;
    packed_.resize(static_cast<size_t>(groups_ * per_group_ * dim_));
    norms_.resize(static_cast<size_t>(groups_ * per_group_));
    for (int64_t q = 0; q < count; ++q) {
      const float* query = questions[q].query;
      float* out = packed_.data() + q / per_group_ * per_group_ * dim_ + q % per_group_;
      const double squared = SquaredDistance(query, center.data(), dim_);
      if (!(squared <= ProductBound::kLargestNorm * ProductBound::kLargestNorm)) {
        too_far_.push_back(q);  // and stays zero
        continue;
      }
      norms_[q] = UpperNorm(squared);
      for (int64_t i = 0; i < dim_; ++i) out[i * per_group_] = query[i] - center[i];
    }
  }

  int64_t groups() const { return groups_; }
  const float* group(int64_t g) const { return packed_.data() + g * per_group_ * dim_; }
  float norm(int64_t query) const { return norms_[query]; }
  const std::vector<int64_t>& too_far() const { return too_far_; }

 private:
  int64_t dim_, per_group_, groups_;
  std::vector<float> packed_;
  std::vector<float> norms_;
  std::vector<int64_t> too_far_;
};

// The largest |key - center| of a panel, rounded up; 0 where all its rows are hidden.
float PanelNorm(const float* half_norms, int64_t count) {
  float largest = 0;
  for (int64_t j = 0; j < count; ++j) {
    if (half_norms[j] <= kLargestFloat) largest = std::max(largest, half_norms[j]);
  }
  return UpperNorm(2.0 * largest);
}

class BatchScan {
 public:
  BatchScan(const KeyStore& keys, const KeyGeometry& geometry, std::span<const Question> questions,
            std::vector<CandidateList>* lists)
      : keys_(keys),
        geometry_(geometry),
        questions_(questions),
        lists_(*lists),
        shape_(ScanTileShape()),
        bound_(keys.dim(), kDotPiece),
        queries_(questions, geometry.center, shape_),
        bounds_(static_cast<size_t>(queries_.groups() * shape_.queries), -kLargestFloat),
        decoded_(static_cast<size_t>(shape_.keys * keys.dim())),
        panel_(decoded_.size()),
        panel_half_norms_(static_cast<size_t>(shape_.keys)) {
    for (const int64_t q : queries_.too_far()) lists_[q].GiveUp();
    for (size_t q = 0; q < questions_.size(); ++q) UpdateBound(static_cast<int64_t>(q));
  }

  int64_t rows_per_panel() const { return shape_.keys; }

  void ScanPanel(int64_t begin, int64_t count) {
    const float* half_norms = geometry_.half_norms.data() + begin;
    std::copy_n(half_norms, count, panel_half_norms_.begin());
    std::fill(panel_half_norms_.begin() + count, panel_half_norms_.end(),
              std::numeric_limits<float>::infinity());
    const float norm = PanelNorm(half_norms, count);
    const float* rows = keys_.Rows(begin, count, decoded_.data());
    PackPanel(rows, count, keys_.dim(), geometry_.center.data(), panel_.data());
    for (int64_t g = 0; g < queries_.groups(); ++g) ScanGroup(g, begin, norm);
  }

 private:
  void ScanGroup(int64_t g, int64_t first_row, float panel_norm) {
    const int64_t first_query = g * shape_.queries;
    float errors[kMaxTileQueries], thresholds[kMaxTileQueries];
    for (int64_t m = 0; m < shape_.queries; ++m) {
      errors[m] = bound_.Error(queries_.norm(first_query + m), panel_norm);
      // Rounded up, and finite: what is infinitely far must not be found.
      const float threshold = bounds_[first_query + m] + errors[m];
      thresholds[m] = std::min(threshold + std::abs(threshold) * 0x1p-22f, kLargestFloat);
    }
    CellBelow below[kMaxTileCells];
    const int64_t found = ScanTile(queries_.group(g), panel_.data(), keys_.dim(),
                                   panel_half_norms_.data(), thresholds, below);
    for (int64_t i = 0; i < found; ++i) {
      const int64_t q = first_query + below[i].query;
      const int64_t row = first_row + below[i].key;
      if (row == questions_[q].excluded) continue;
      const float error = errors[below[i].query];
      lists_[q].Offer(below[i].value - error, below[i].value + error, row);
      UpdateBound(q);
    }
  }

  // A query that was given up finds nothing more.
  void UpdateBound(int64_t q) {
    bounds_[q] = lists_[q].overflowed() ? -kLargestFloat : lists_[q].bound();
  }

  const KeyStore& keys_;
  const KeyGeometry& geometry_;
  std::span<const Question> questions_;
  std::vector<CandidateList>& lists_;
  TileShape shape_;
  ProductBound bound_;
  PackedQueries queries_;
  std::vector<float> bounds_;  // of each list; the lowest float for the padding of the last group
  std::vector<float> decoded_, panel_, panel_half_norms_;
};

}  // namespace

bool BatchScanApplies(const KeyStore& keys, const KeyGeometry& geometry) {
  return keys.dim() <= kMaxBoundedDim && geometry.largest_norm <= ProductBound::kLargestNorm;
}

void FindCandidatesOfBatch(const KeyStore& keys, const KeyGeometry& geometry,
                           std::span<const Question> questions, int64_t k,
                           const std::function<bool()>& stop, std::vector<CandidateList>* answers) {
  answers->assign(questions.size(), CandidateList(k));
  BatchScan scan(keys, geometry, questions, answers);
  const int64_t step = scan.rows_per_panel();
  for (int64_t begin = 0; begin < keys.rows() && !stop(); begin += step) {
    scan.ScanPanel(begin, std::min(step, keys.rows() - begin));
  }
}

}  // namespace resmem
