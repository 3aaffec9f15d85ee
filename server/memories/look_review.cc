#include "memories/look_review.h"

#include <algorithm>
#include <map>
#include <set>

#include "memories/look_map.h"

namespace resmem::serve {
namespace {

constexpr double kDuplicateShare = 0.01;
constexpr float kMostAgreement = 0.5f;  // of the neighbors of a suspect

// Rows with their neighbors, each without itself.
struct Checked {
  std::vector<int64_t> rows;
  std::vector<float> keys;
  Neighbors neighbors;

  MatrixView view(const MemoryState& state) const {
    return {keys.data(), static_cast<int64_t>(rows.size()), state.description().dim};
  }
};

Result<Checked> CheckRows(const MemoryState& state, std::vector<int64_t> rows) {
  Checked checked;
  checked.keys = DecodeKeys(state, rows);
  checked.rows = std::move(rows);
  const int64_t k = std::max<int64_t>(1, state.predictor.DefaultOptions().parameters.k);
  RESMEM_RETURN_IF_ERROR(state.predictor.FindNeighbors(checked.view(state), k, checked.rows, 1,
                                                       nullptr, &checked.neighbors));
  return checked;
}

// The rows about which the base was most wrong.
std::vector<int64_t> LargestResiduals(const MemoryState& state, int64_t most) {
  std::vector<float> scratch(static_cast<size_t>(state.description().outputs));
  std::vector<std::pair<float, int64_t>> all;
  for (int64_t row = 0; row < state.memory.capacity(); ++row) {
    if (!state.memory.deleted(row)) all.emplace_back(-MissOf(state, row, scratch).residual, row);
  }
  const auto end = all.begin() + std::min<int64_t>(most, static_cast<int64_t>(all.size()));
  std::partial_sort(all.begin(), end, all.end());
  std::vector<int64_t> rows;
  for (auto at = all.begin(); at != end; ++at) rows.push_back(at->second);
  return rows;
}

Suspect Judge(const MemoryState& state, const Checked& checked, std::span<const float> weights,
              size_t q, std::span<float> scratch) {
  Suspect suspect;
  suspect.row = checked.rows[q];
  suspect.residual = MissOf(state, suspect.row, scratch).residual;
  std::map<int32_t, float> by_label;
  const std::span<const int64_t> rows = checked.neighbors.rows_of(static_cast<int64_t>(q));
  for (size_t i = 0; i < rows.size() && rows[i] >= 0; ++i) {
    by_label[state.memory.label(rows[i])] += weights[i];
  }
  float most = 0;
  for (const auto& [label, weight] : by_label) {
    if (label != state.memory.label(suspect.row)) suspect.disagreement += weight;
    if (weight > most) {
      most = weight;
      suspect.suggested = label;
    }
  }
  return suspect;
}

void FindSuspects(const MemoryState& state, const Checked& checked, size_t listed, Review* review) {
  std::vector<float> scratch(static_cast<size_t>(state.description().outputs));
  const std::vector<float> weights =
      WeightsOf(checked.neighbors, state.predictor.DefaultOptions().parameters);
  const auto k = static_cast<size_t>(checked.neighbors.k);
  for (size_t q = 0; q < checked.rows.size(); ++q) {
    const Suspect suspect = Judge(state, checked, std::span(weights).subspan(q * k, k), q, scratch);
    if (suspect.disagreement > 1 - kMostAgreement &&
        suspect.suggested != state.memory.label(suspect.row)) {
      review->suspects.push_back(suspect);
    }
  }
  std::stable_sort(review->suspects.begin(), review->suspects.end(),
                   [](const Suspect& a, const Suspect& b) {
                     return a.disagreement * a.residual > b.disagreement * b.residual;
                   });
  if (review->suspects.size() > listed) review->suspects.resize(listed);
}

double MedianNearest(const Neighbors& neighbors) {
  std::vector<float> nearest;
  for (int64_t q = 0; q < neighbors.queries; ++q) {
    if (neighbors.rows_of(q)[0] >= 0) nearest.push_back(neighbors.distances_of(q)[0]);
  }
  if (nearest.empty()) return 0;
  const auto middle = nearest.begin() + static_cast<int64_t>(nearest.size() / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return static_cast<double>(*middle);
}

void FindTwins(const Checked& checked, size_t listed, Review* review) {
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t q = 0; q < checked.neighbors.queries; ++q) {
    const int64_t row = checked.rows[static_cast<size_t>(q)];
    const int64_t other = checked.neighbors.rows_of(q)[0];
    const float distance = checked.neighbors.distances_of(q)[0];
    if (other < 0 || static_cast<double>(distance) > review->duplicate_distance) continue;
    const auto [first, second] = std::minmax(row, other);
    if (seen.emplace(first, second).second) review->twins.push_back({first, second, distance});
  }
  std::stable_sort(review->twins.begin(), review->twins.end(),
                   [](const Twins& a, const Twins& b) { return a.distance < b.distance; });
  if (review->twins.size() > listed) review->twins.resize(listed);
}

Status CountClasses(const MemoryState& state, const Checked& checked, Review* review) {
  const auto outputs = static_cast<size_t>(state.description().outputs);
  std::vector<float> logits;
  for (const int64_t row : checked.rows) {
    const std::span<const float> line = state.memory.logits(row);
    logits.insert(logits.end(), line.begin(), line.end());
  }
  PredictOptions options = state.predictor.DefaultOptions();
  options.threads = 1;
  std::vector<float> scores(logits.size());
  const MatrixView view(logits.data(), static_cast<int64_t>(checked.rows.size()),
                        state.description().outputs);
  RESMEM_RETURN_IF_ERROR(
      state.predictor.Score(checked.view(state), view, checked.neighbors, options, scores));
  review->classes.resize(outputs);
  for (size_t q = 0; q < checked.rows.size(); ++q) {
    const int32_t label = state.memory.label(checked.rows[q]);
    const bool base = ArgMax(view.row_span(static_cast<int64_t>(q))) == label;
    const bool ours = ArgMax(std::span<const float>(scores).subspan(q * outputs, outputs)) == label;
    ClassCounts& counts = review->classes[static_cast<size_t>(label)];
    ++counts.rows;
    counts.fixed += !base && ours;
    counts.harmed += base && !ours;
  }
  return {};
}

}  // namespace

Result<Review> ReviewRows(const MemoryState& state, int64_t most, size_t listed) {
  Review review;
  if (state.memory.rows() == 0) return review;
  RESMEM_ASSIGN_OR_RETURN(const Checked spread, CheckRows(state, SpreadRows(state, most)));
  review.checked = static_cast<int64_t>(spread.rows.size());
  review.duplicate_distance = kDuplicateShare * MedianNearest(spread.neighbors);
  FindTwins(spread, listed, &review);
  if (state.classifies()) {
    RESMEM_ASSIGN_OR_RETURN(const Checked wrong, CheckRows(state, LargestResiduals(state, most)));
    review.suspected = static_cast<int64_t>(wrong.rows.size());
    FindSuspects(state, wrong, listed, &review);
    if (state.description().form == ResidualForm::kLogits) {
      RESMEM_RETURN_IF_ERROR(CountClasses(state, spread, &review));
    }
  }
  RESMEM_RETURN_IF_ERROR(state.memory.damage());
  return review;
}

}  // namespace resmem::serve
