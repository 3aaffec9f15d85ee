#include "memories/look_review.h"

#include <algorithm>

#include "memories/look_map.h"

namespace resmem::serve {
namespace {

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

Result<Review> ReviewRows(const MemoryState& state, int64_t most, size_t listed,
                          Progress* progress) {
  Review review;
  if (state.memory.rows() == 0) return review;
  RESMEM_ASSIGN_OR_RETURN(review.audit,
                          AuditMemory(state.predictor, {.most = most,
                                                        .listed = static_cast<int64_t>(listed),
                                                        .threads = 1,
                                                        .progress = progress}));
  if (state.classifies() && state.description().form == ResidualForm::kLogits) {
    RESMEM_ASSIGN_OR_RETURN(const Checked spread, CheckRows(state, SpreadRows(state, most)));
    RESMEM_RETURN_IF_ERROR(CountClasses(state, spread, &review));
  }
  RESMEM_RETURN_IF_ERROR(state.memory.damage());
  return review;
}

}  // namespace resmem::serve
