#include "search/first_pass/rounded/rounded_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/amx.h"
#include "kernels/squared_distance.h"
#include "search/first_pass/error_bound.h"
#include "search/first_pass/repeat_missed.h"
#include "search/first_pass/rounded/rounded_scan_kernel.h"
#include "search/first_pass/row_sample.h"

namespace resmem {
namespace {

// A panel, the next one that is on its way, and the queries, which pass by group by group, have
// room in the second cache together.
int64_t BlocksPerPanel(int64_t dim) {
  return std::clamp<int64_t>((1 << 17) / RoundedSize(dim), 1, 64);
}

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

class RoundedScan {
 public:
  RoundedScan(const KeyStore& keys, const KeyGeometry& geometry, const RoundedKeys* made,
              std::span<const Question> questions, std::vector<CandidateList>* lists)
      : keys_(keys),
        geometry_(geometry),
        made_(made),
        questions_(questions),
        lists_(*lists),
        bound_(RoundingsOfSum(keys.dim())),
        queries_(questions, geometry.center, bound_),
        panel_rows_(BlocksPerPanel(keys.dim()) * kRoundedKeys),
        panel_(keys.dim(), made == nullptr ? panel_rows_ : 0),
        decoded_(static_cast<size_t>(panel_.rows() * keys.dim())),
        found_(static_cast<size_t>(panel_rows_ * kRoundedQueries)) {
    for (size_t q = 0; q < questions_.size(); ++q) {
      if (queries_.too_far(q)) lists_[q].GiveUp();
      queries_.SetReach(static_cast<int64_t>(q), lists_[q]);
    }
  }

  // Without a first bound, the first rows would all be candidates for a while.
  void GuessBounds(int64_t k) {
    if (made_ != nullptr) return GuessBounds(k, made_->sample());
    GuessBounds(k, RoundedSample(keys_, geometry_));
  }

  int64_t panels() const { return (keys_.rows() + panel_rows_ - 1) / panel_rows_; }

  void ScanPanel(int64_t number) {
    const int64_t begin = number * panel_rows_;
    const int64_t count = std::min(panel_rows_, keys_.rows() - begin);
    const int64_t blocks = (count + kRoundedKeys - 1) / kRoundedKeys;
    if (made_ != nullptr) {
      const int64_t first = begin / kRoundedKeys;
      ScanRows(made_->rows().View(first, blocks), made_->rows().Values(first + blocks, blocks),
               begin);
    } else {
      panel_.Fill(0, keys_.Rows(begin, count, decoded_.data()), count, geometry_,
                  geometry_.half_norms.data() + begin);
      ScanRows(panel_.View(0, blocks), {}, begin);
    }
  }

 private:
  void GuessBounds(int64_t k, const RoundedRows& sample) {
    int64_t rows = sample.rows(), rank = 0;
    for (; rows > 0; rows = rows / 2 / kRoundedKeys * kRoundedKeys) {
      rank = RowSample::PlaceOfBound(
          k, static_cast<double>(rows) / static_cast<double>(keys_.visible_rows()));
      if (rank <= kRoundedBuckets / 2) break;
    }
    if (rows < kRoundedBuckets) return;
    const RoundedView view = sample.View(0, rows / kRoundedKeys);
    const float norm = *std::max_element(view.norms, view.norms + rows);
    const float error = *std::max_element(view.errors, view.errors + rows);
    for (int64_t g = 0; g < queries_.groups(); ++g) {
      float smallest[kRoundedQueries];
      SmallestRounded(queries_.group(g), view.blocks, keys_.dim(), rank, smallest);
      for (int64_t j = 0; j < queries_.Count(g); ++j) {
        const int64_t q = g * kRoundedQueries + j;
        if (std::isinf(smallest[j])) continue;
        const RoundedBound::Interval distance =
            bound_.Distance(smallest[j], queries_.norm(q), norm, queries_.error(q) + error);
        lists_[q].LowerBound(distance.upper);
        queries_.SetReach(q, lists_[q]);
      }
    }
  }

  // `next`: what will be read after these rows, brought along by the groups, a part by each.
  void ScanRows(const RoundedView& rows, std::span<const uint16_t> next, int64_t first_row) {
    RoundedBlocks blocks = rows.blocks;
    const size_t part = (next.size() / static_cast<size_t>(queries_.groups()) + 31) / 32 * 32;
    for (int64_t g = 0; g < queries_.groups(); ++g) {
      blocks.ahead = next.first(std::min(part, next.size()));
      next = next.subspan(blocks.ahead.size());
      const int64_t found = ScanRounded(queries_.group(g), blocks, keys_.dim(), found_.data());
      for (int64_t i = 0; i < found; ++i) Offer(rows, first_row, g, found_[i]);
    }
  }

  void Offer(const RoundedView& rows, int64_t first_row, int64_t g, const CellBelow& cell) {
    const int64_t q = g * kRoundedQueries + cell.query;
    const int64_t row = first_row + cell.key;
    CandidateList& list = lists_[q];
    if (row == questions_[q].excluded) return;
    const RoundedBound::Interval distance =
        bound_.Distance(cell.value, queries_.norm(q), rows.norms[cell.key],
                        queries_.error(q) + rows.errors[cell.key]);
    const float bound = list.bound();
    if (distance.lower > bound) return;
    list.Offer(distance.lower, distance.upper, row);
    if (list.bound() < bound || list.overflowed()) queries_.SetReach(q, list);
  }

  const KeyStore& keys_;
  const KeyGeometry& geometry_;
  const RoundedKeys* const made_;
  std::span<const Question> questions_;
  std::vector<CandidateList>& lists_;
  const RoundedBound bound_;
  RoundedQueries queries_;
  const int64_t panel_rows_;
  RoundedRows panel_;  // empty where all keys were rounded before
  std::vector<float> decoded_;
  std::vector<CellBelow> found_;
};

}  // namespace

bool RoundedScanApplies(const KeyStore& keys, const KeyGeometry& geometry) {
  return AmxActive() && keys.dim() <= kMaxBoundedDim &&
         geometry.largest_norm <= RoundedBound::kLargestNorm;
}

int64_t MostRoundedTogether(int64_t dim) {
  return std::clamp<int64_t>((1 << 19) / dim, 256, 1024);
}

void FindCandidatesByRounding(const KeyStore& keys, const KeyGeometry& geometry,
                              const RoundedKeys* made, std::span<const Question> questions,
                              int64_t k, const std::function<bool()>& stop,
                              std::vector<CandidateList>* answers) {
  const auto search = [&](std::span<const Question> asked, bool guess,
                          std::vector<CandidateList>* lists) {
    lists->assign(asked.size(), CandidateList(k));
    RoundedScan scan(keys, geometry, made, asked, lists);
    if (guess) scan.GuessBounds(k);
    for (int64_t p = 0; p < scan.panels() && !stop(); ++p) scan.ScanPanel(p);
  };
  SearchAndRepeatMissed(questions, search, answers);
}

}  // namespace resmem
