#include "train/training_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "resmem/array.h"
#include "support/file_system.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem::train {
namespace {

constexpr uint64_t kSplitStream = uint64_t{3} << 61;
constexpr double kSmallestDeviation = 1e-6;

Result<TrainingData> LoadPictures(const TrainRecipe& recipe, const std::string& part) {
  constexpr int64_t kRecord = 3074, kPlane = 1024;
  TrainingData data;
  data.shape = {3, 32, 32};
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file,
                          FileSystem::Posix().Map(recipe.images + "/" + part + ".bin"));
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.bytes().data());
  const int64_t rows = static_cast<int64_t>(file.bytes().size()) / kRecord;
  data.pixels.resize(static_cast<size_t>(rows * 3 * kPlane));
  for (int64_t row = 0; row < rows; ++row) {
    const uint8_t* record = bytes + row * kRecord;
    data.labels.push_back(record[1]);
    for (int64_t i = 0; i < kPlane; ++i) {
      for (int64_t c = 0; c < 3; ++c) {
        data.pixels[static_cast<size_t>((row * kPlane + i) * 3 + c)] = record[2 + c * kPlane + i];
      }
    }
  }
  return data;
}

Result<TrainingData> LoadTable(const TrainRecipe& recipe) {
  RESMEM_ASSIGN_OR_RETURN(const Array inputs, OpenArray(ArraySource{recipe.inputs, {}, {}}));
  RESMEM_ASSIGN_OR_RETURN(const Array labels, OpenArray(ArraySource{recipe.labels, {}, {}}));
  if (labels.rows() != inputs.rows() || labels.columns() != 1) {
    return Status(
        ErrorCode::kMismatch,
        Text(recipe.labels, ": ", labels.rows(), " x ", labels.columns(), " values, but ",
             recipe.inputs, " has ", inputs.rows(), " rows; there must be one label a row"));
  }
  TrainingData data;
  data.shape.channels = inputs.columns();
  data.columns.resize(static_cast<size_t>(inputs.rows() * inputs.columns()));
  RESMEM_RETURN_IF_ERROR(inputs.ReadFloats(0, inputs.rows(), data.columns));
  const auto bad = std::find_if(data.columns.begin(), data.columns.end(),
                                [](float value) { return !std::isfinite(value); });
  if (bad != data.columns.end()) {
    const int64_t index = bad - data.columns.begin();
    return Status(ErrorCode::kBadData,
                  Text(recipe.inputs, ": row ", index / inputs.columns(), ", column ",
                       index % inputs.columns(), " is ", *bad, "; values must be finite"));
  }
  std::vector<int64_t> numbers(static_cast<size_t>(labels.rows()));
  RESMEM_RETURN_IF_ERROR(labels.ReadIntegers(0, labels.rows(), numbers));
  data.labels.assign(numbers.begin(), numbers.end());
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (numbers[row] >= 0 && numbers[row] <= INT32_MAX - 1) continue;
    return Status(ErrorCode::kBadData, Text(recipe.labels, ": row ", row, " has label ",
                                            numbers[row], "; labels count from 0"));
  }
  return data;
}

}  // namespace

Result<TrainingData> LoadTrainingData(const TrainRecipe& recipe, const std::string& part) {
  return recipe.images.empty() ? LoadTable(recipe) : LoadPictures(recipe, part);
}

Result<Split> DrawSplit(const TrainRecipe& recipe, int64_t rows) {
  const int64_t wanted = recipe.validation_rows + std::max<int64_t>(recipe.rows, 1);
  if (wanted > rows) {
    return Status(
        ErrorCode::kInvalidArgument,
        Text("the data have ", rows, " rows, but the recipe asks for ", recipe.validation_rows,
             " to hold out and ", std::max<int64_t>(recipe.rows, 1), " to learn from"));
  }
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  Random random(recipe.seed, kSplitStream);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  const auto held_out = order.begin() + recipe.validation_rows;
  const auto end = recipe.rows == 0 ? order.end() : held_out + recipe.rows;
  Split split{{held_out, end}, {order.begin(), held_out}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

Normalization MeasureNormalization(const TrainingData& data, const std::vector<int64_t>& rows) {
  const auto channels = static_cast<size_t>(data.shape.channels);
  const size_t positions =
      data.table() ? 1 : static_cast<size_t>(data.shape.height * data.shape.width);
  const auto value = [&](int64_t row, size_t position, size_t channel) {
    const size_t index = (static_cast<size_t>(row) * positions + position) * channels + channel;
    return data.table() ? double{data.columns[index]}
                        : static_cast<double>(data.pixels[index]) / 255;
  };
  Normalization measured;
  const double count = static_cast<double>(rows.size() * positions);
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (const int64_t row : rows) {
      for (size_t p = 0; p < positions; ++p) sum += value(row, p, c);
    }
    const double mean = sum / count;
    for (const int64_t row : rows) {
      for (size_t p = 0; p < positions; ++p) squares += std::pow(value(row, p, c) - mean, 2);
    }
    const double deviation = std::sqrt(squares / count);
    measured.mean.push_back(static_cast<float>(mean));
    measured.deviation.push_back(deviation > kSmallestDeviation ? static_cast<float>(deviation)
                                                                : 1.0f);
  }
  return measured;
}

}  // namespace resmem::train
