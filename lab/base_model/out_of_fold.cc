#include <algorithm>
#include <numeric>

#include "base_model/base_model.h"
#include "base_model/trainer.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

// Far from the streams that training draws from the same seed.
constexpr uint64_t kFoldStream = uint64_t{1} << 32;

// Rows in a random order; those at positions fold, fold + folds, ... are a fold.
std::vector<int64_t> ShuffledRows(int64_t count, uint64_t seed) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  Random random(seed, kFoldStream);
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(rows[i], rows[random.Below(static_cast<uint64_t>(i) + 1)]);
  }
  return rows;
}

}  // namespace

Status OutOfFoldLogits(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                       const BaseModelOptions& options, int64_t folds,
                       std::span<float> logits) try {
  RESMEM_RETURN_IF_ERROR(CheckTraining(inputs, labels, classes, options));
  if (folds < 2 || folds > inputs.rows) {
    return Status(ErrorCode::kInvalidArgument, Text("folds is ", folds, ", but must be 2 to ",
                                                    inputs.rows, ", the number of rows"));
  }
  if (static_cast<int64_t>(logits.size()) != inputs.rows * classes) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("room for ", logits.size(), " logits was given, but ", inputs.rows,
                       " rows x ", classes, " classes need ", inputs.rows * classes));
  }
  const std::vector<int64_t> shuffled = ShuffledRows(inputs.rows, options.seed);
  for (int64_t fold = 0; fold < folds; ++fold) {
    std::vector<int64_t> seen, unseen;
    for (int64_t i = 0; i < inputs.rows; ++i) {
      (i % folds == fold ? unseen : seen).push_back(shuffled[i]);
    }
    RESMEM_ASSIGN_OR_RETURN(const Network network,
                            TrainNetwork(inputs, labels, classes, seen, options,
                                         Text("training without fold ", fold + 1, " of ", folds)));
    RunNetwork(network, inputs, unseen, options.threads, {}, logits);
  }
  return Status();
} catch (...) {
  return CaughtException("train a model without each fold");
}

}  // namespace resmem
