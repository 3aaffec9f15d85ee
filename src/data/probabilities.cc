// Logits of a base that gives probabilities only, as forests and boosted trees do.
#include <algorithm>
#include <cmath>

#include "data/dataset_checks.h"
#include "resmem/data/dataset.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr double kMostOff = 1e-3;  // of a sum from 1: probabilities printed with few digits

double SumOf(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return sum;
}

Status CheckProbabilities(const std::string& name, std::span<const float> values, int64_t row) {
  for (const float value : values) {
    if (!std::isfinite(value)) return {};  // found and named with the others
  }
  for (size_t c = 0; c < values.size(); ++c) {
    if (values[c] >= 0 && static_cast<double>(values[c]) <= 1 + kMostOff) continue;
    return {ErrorCode::kBadData, Text(name, ": row ", row, ", column ", c, " is ", values[c],
                                      ", but probabilities are 0 to 1; values before softmax are "
                                      "given as logits")};
  }
  if (values.size() == 1 || LooksLikeProbabilities(values)) return {};
  return {ErrorCode::kBadData, Text(name, ": row ", row, " sums to ", SumOf(values),
                                    ", but the probabilities of all classes sum to 1; give a "
                                    "column for every class")};
}

}  // namespace

bool LooksLikeProbabilities(std::span<const float> values) {
  const bool none_negative =
      std::all_of(values.begin(), values.end(), [](float value) { return value >= 0; });
  return none_negative && std::abs(SumOf(values) - 1) <= kMostOff;
}

Status TakeLogarithms(const std::string& name, float floor, int64_t begin,
                      std::vector<float>* buffer, MatrixView* view) {
  const bool single = view->columns == 1;
  const int64_t classes = single ? 2 : view->columns;
  std::vector<float> logits;
  logits.reserve(static_cast<size_t>(view->rows * classes));
  const auto add = [&](double probability) {
    const double least = static_cast<double>(floor);
    // NaN stays, and is found with the others.
    logits.push_back(static_cast<float>(std::log(probability < least ? least : probability)));
  };
  for (int64_t row = 0; row < view->rows; ++row) {
    const std::span<const float> values = view->row_span(row);
    RESMEM_RETURN_IF_ERROR(CheckProbabilities(name, values, begin + row));
    if (single) add(1 - static_cast<double>(values[0]));
    for (const float value : values) add(static_cast<double>(value));
  }
  *buffer = std::move(logits);
  *view = MatrixView(buffer->data(), view->rows, classes);
  return {};
}

}  // namespace resmem
