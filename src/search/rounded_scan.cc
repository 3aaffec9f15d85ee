#include "search/rounded_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/amx.h"
#include "kernels/scan_rounded.h"
#include "kernels/squared_distance.h"
#include "search/error_bound.h"

namespace resmem {
namespace {

// A panel in the second cache, beside the queries.
int64_t BlocksPerPanel(int64_t dim) {
  return std::clamp<int64_t>((1 << 18) / RoundedSize(dim), 1, 16);
}

// A first bound comes from so many rows, taken from everywhere: rows are often stored class by
// class.  Without it, the first rows would all be candidates for a while.
constexpr int64_t kSampledRows = 1024;

// So that no row of a tile lies on two cache lines.
struct alignas(64) Line {
  uint16_t values[32];
};
using Lines = std::vector<Line>;

// The queries of one batch, rounded and packed in groups, with the reach that each has now.
class RoundedQueries {
 public:
  RoundedQueries(std::span<const Question> questions, const std::vector<float>& center,
                 const RoundedBound& bound)
      : count_(static_cast<int64_t>(questions.size())),
        size_(RoundedSize(static_cast<int64_t>(center.size()))),
        groups_((count_ + kRoundedQueries - 1) / kRoundedQueries),
        values_(static_cast<size_t>(groups_ * size_ / 32)),
        norms_(static_cast<size_t>(groups_ * kRoundedQueries)),
        errors_(norms_.size()),
        reaches_(norms_.size()),
        bases_(norms_.size(), kNeverFound) {
    const int64_t dim = static_cast<int64_t>(center.size());
    constexpr double kLargest = RoundedBound::kLargestNorm * RoundedBound::kLargestNorm;
    for (size_t q = 0; q < questions.size(); ++q) {
      const int64_t place = static_cast<int64_t>(q) % kRoundedQueries;
      uint16_t* group =
          values_.front().values + (static_cast<int64_t>(q) - place) / kRoundedQueries * size_;
      if (!(SquaredDistance(questions[q].query, center.data(), dim) <= kLargest)) continue;
      const RoundedNorms norms =
          PackRoundedQuery(questions[q].query, dim, center.data(), place, group);
      norms_[q] = norms.norm;
      errors_[q] = bound.Error(norms.norm, norms.error);
      bases_[q] = bound.Base(norms.norm);
    }
  }

  int64_t groups() const { return groups_; }
  RoundedGroup group(int64_t g) const {
    return {values_.front().values + g * size_, reaches_.data() + g * kRoundedQueries,
            bases_.data() + g * kRoundedQueries};
  }
  bool too_far(size_t query) const { return bases_[query] == kNeverFound; }
  float norm(int64_t query) const { return norms_[query]; }
  float error(int64_t query) const { return errors_[query]; }

  int64_t Count(int64_t g) const { return std::min(kRoundedQueries, count_ - g * kRoundedQueries); }

  // A query that was given up finds nothing more.
  void SetReach(int64_t query, const CandidateList& list) {
    reaches_[query] = RoundedBound::Reach(list.bound(), errors_[query]);
    if (list.overflowed()) {
      reaches_[query] = 0;
      bases_[query] = kNeverFound;
    }
  }

 private:
  static constexpr float kNeverFound = -1e38f;
  int64_t count_, size_, groups_;
  Lines values_;
  std::vector<float> norms_, errors_, reaches_, bases_;
};

// Some blocks of keys, rounded, and what is known of each.
class RoundedPanel {
 public:
  RoundedPanel(int64_t dim, int64_t blocks, const RoundedBound& bound)
      : dim_(dim),
        blocks_(blocks),
        bound_(bound),
        values_(static_cast<size_t>(blocks_ * RoundedSize(dim) / 32)),
        norms_(static_cast<size_t>(rows())),
        errors_(norms_.size()),
        half_norms_(norms_.size(), kNowhere),
        block_errors_(static_cast<size_t>(blocks_)),
        block_rooms_(block_errors_.size()) {}

  int64_t rows() const { return blocks_ * kRoundedKeys; }
  float norm(int64_t key) const { return norms_[key]; }
  float error(int64_t key) const { return errors_[key]; }
  RoundedBlocks blocks() const {
    return {values_.front().values, used_, half_norms_.data(), block_errors_.data(),
            block_rooms_.data()};
  }

  // Of all blocks.
  float largest_norm() const { return *std::max_element(norms_.begin(), norms_.end()); }
  float largest_error() const { return *std::max_element(errors_.begin(), errors_.end()); }

  // The first `count` keys of the panel; those that half_norms[] calls infinite are hidden.
  void Fill(const float* keys, int64_t count, const float* center, const float* half_norms) {
    used_ = (count + kRoundedKeys - 1) / kRoundedKeys;
    for (int64_t b = 0; b < used_; ++b) {
      const int64_t begin = b * kRoundedKeys;
      FillBlock(b, keys + begin * dim_, std::min(kRoundedKeys, count - begin), center,
                half_norms + begin);
    }
  }

 private:
  static constexpr float kNowhere = std::numeric_limits<float>::infinity();

  void FillBlock(int64_t b, const float* keys, int64_t count, const float* center,
                 const float* half_norms) {
    RoundedNorms norms[kRoundedKeys];
    PackRoundedKeys(keys, count, dim_, center, values_.front().values + b * RoundedSize(dim_),
                    norms);
    block_errors_[b] = 0;
    float largest_norm = 0;
    for (int64_t j = 0; j < kRoundedKeys; ++j) {
      const int64_t key = b * kRoundedKeys + j;
      const bool hidden = j >= count || std::isinf(half_norms[j]);
      norms_[key] = hidden ? 0 : norms[j].norm;
      errors_[key] = hidden ? 0 : bound_.Error(norms[j].norm, norms[j].error);
      half_norms_[key] = hidden ? kNowhere : 0.5f * norms[j].norm;
      largest_norm = std::max(largest_norm, norms_[key]);
      block_errors_[b] = std::max(block_errors_[b], errors_[key]);
    }
    block_rooms_[b] = bound_.Room(largest_norm);
  }

  const int64_t dim_;
  const int64_t blocks_;
  const RoundedBound& bound_;
  int64_t used_ = 0;
  Lines values_;
  std::vector<float> norms_, errors_, half_norms_;  // of each key
  std::vector<float> block_errors_, block_rooms_;
};

class RoundedScan {
 public:
  RoundedScan(const KeyStore& keys, const KeyGeometry& geometry,
              std::span<const Question> questions, std::vector<CandidateList>* lists)
      : keys_(keys),
        geometry_(geometry),
        questions_(questions),
        lists_(*lists),
        bound_(RoundingsOfSum(keys.dim())),
        queries_(questions, geometry.center, bound_),
        panel_(keys.dim(), BlocksPerPanel(keys.dim()), bound_),
        decoded_(static_cast<size_t>(panel_.rows() * keys.dim())),
        found_(static_cast<size_t>(panel_.rows() * kRoundedQueries)) {
    for (size_t q = 0; q < questions_.size(); ++q) {
      if (queries_.too_far(q)) lists_[q].GiveUp();
      queries_.SetReach(static_cast<int64_t>(q), lists_[q]);
    }
  }

  // Rows of which only the distances count: they are found again later.
  void BoundBySample(int64_t k) {
    const int64_t step = keys_.rows() / kSampledRows;
    if (step < 4 || k > kSampledRows / 8) return;
    RoundedPanel sample(keys_.dim(), kSampledRows / kRoundedKeys, bound_);
    std::vector<float> rows(static_cast<size_t>(kSampledRows * keys_.dim())), half_norms;
    for (int64_t i = 0; i < kSampledRows; ++i) {
      float* place = rows.data() + i * keys_.dim();
      const float* key = keys_.Rows(i * step, 1, place);
      if (key != place) std::copy_n(key, keys_.dim(), place);
      half_norms.push_back(geometry_.half_norms[i * step]);
    }
    sample.Fill(rows.data(), kSampledRows, geometry_.center.data(), half_norms.data());
    const float key_norm = sample.largest_norm(), key_error = sample.largest_error();
    std::vector<float> values(static_cast<size_t>(kSampledRows * kRoundedQueries));
    for (int64_t g = 0; g < queries_.groups(); ++g) {
      float smallest[kRoundedQueries];
      // One more than k: an excluded row may be among them.
      SmallestRounded(queries_.group(g), sample.blocks(), keys_.dim(), k + 1, values.data(),
                      smallest);
      for (int64_t j = 0; j < queries_.Count(g); ++j) {
        const int64_t q = g * kRoundedQueries + j;
        if (std::isinf(smallest[j])) continue;
        const RoundedBound::Interval distance =
            bound_.Distance(smallest[j], queries_.norm(q), key_norm, queries_.error(q) + key_error);
        lists_[q].LowerBound(distance.upper);
        queries_.SetReach(q, lists_[q]);
      }
    }
  }

  int64_t panels() const { return (keys_.rows() + panel_.rows() - 1) / panel_.rows(); }

  void ScanPanel(int64_t number) {
    const int64_t begin = number * panel_.rows();
    const int64_t count = std::min(panel_.rows(), keys_.rows() - begin);
    panel_.Fill(keys_.Rows(begin, count, decoded_.data()), count, geometry_.center.data(),
                geometry_.half_norms.data() + begin);
    for (int64_t g = 0; g < queries_.groups(); ++g) ScanGroup(g, begin);
  }

 private:
  void ScanGroup(int64_t g, int64_t first_row) {
    const int64_t found =
        ScanRounded(queries_.group(g), panel_.blocks(), keys_.dim(), found_.data());
    for (int64_t i = 0; i < found; ++i) {
      const CellBelow& cell = found_[i];
      const int64_t q = g * kRoundedQueries + cell.query;
      CandidateList& list = lists_[q];
      const int64_t row = first_row + cell.key;
      if (row == questions_[q].excluded) continue;
      const RoundedBound::Interval distance =
          bound_.Distance(cell.value, queries_.norm(q), panel_.norm(cell.key),
                          queries_.error(q) + panel_.error(cell.key));
      if (distance.lower > list.bound()) continue;
      list.Offer(distance.lower, distance.upper, row);
      queries_.SetReach(q, list);
    }
  }

  const KeyStore& keys_;
  const KeyGeometry& geometry_;
  std::span<const Question> questions_;
  std::vector<CandidateList>& lists_;
  const RoundedBound bound_;
  RoundedQueries queries_;
  RoundedPanel panel_;
  std::vector<float> decoded_;
  std::vector<CellBelow> found_;
};

}  // namespace

bool RoundedScanApplies(const KeyStore& keys, const KeyGeometry& geometry) {
  return AmxActive() && keys.dim() <= kMaxBoundedDim &&
         geometry.largest_norm <= RoundedBound::kLargestNorm;
}

int64_t MostRoundedTogether(int64_t dim) {
  return std::clamp<int64_t>((1 << 20) / dim, 256, 1024);
}

void FindCandidatesByRounding(const KeyStore& keys, const KeyGeometry& geometry,
                              std::span<const Question> questions, int64_t k,
                              const std::function<bool()>& stop,
                              std::vector<CandidateList>* answers) {
  answers->assign(questions.size(), CandidateList(k));
  RoundedScan scan(keys, geometry, questions, answers);
  scan.BoundBySample(k);
  for (int64_t p = 0; p < scan.panels() && !stop(); ++p) scan.ScanPanel(p);
}

}  // namespace resmem
