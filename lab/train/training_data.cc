#include "train/training_data.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem::train {
namespace {

constexpr double kSmallestDeviation = 1e-6;
constexpr int64_t kColors = 3;
constexpr int64_t kReadTogether = 256;  // images

Result<TrainingData> LoadImages(const TrainRecipe& recipe, const std::string& part,
                                const TrainingData* like) {
  ImageSetSource source;
  source.path = recipe.images;
  source.part = part;
  if (like != nullptr) {
    source.shape = like->images->shape();
    source.class_names = like->class_names;
  } else if (recipe.height > 0) {
    source.shape = ImageShape{recipe.height, recipe.width, kColors};
  }
  if (recipe.height > 0) source.resize = std::min(recipe.height, recipe.width);
  source.labels = recipe.labels;
  TrainingData data;
  RESMEM_ASSIGN_OR_RETURN(data.images, ImageSet::Open(source));
  data.labels = data.images->labels();
  if (std::ssize(data.labels) != data.images->size() || data.labels.empty()) {
    return Status(ErrorCode::kBadData, Text(recipe.images,
                                            ": images without labels; give a folder of classes, a "
                                            "data set with labels, or --labels"));
  }
  data.class_names = data.images->class_names();
  const ImageShape& shape = data.images->shape();
  data.shape = {shape.channels, shape.height, shape.width};
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

void Add(double mean, double variance, Normalization* measured) {
  const double deviation = std::sqrt(std::max(0.0, variance));
  measured->mean.push_back(static_cast<float>(mean));
  measured->deviation.push_back(deviation > kSmallestDeviation ? static_cast<float>(deviation)
                                                               : 1.0f);
}

Normalization MeasureColumns(const TrainingData& data, const std::vector<int64_t>& rows) {
  Normalization measured;
  for (int64_t c = 0; c < data.shape.channels; ++c) {
    const auto value = [&](int64_t row) {
      return double{data.columns[static_cast<size_t>(row * data.shape.channels + c)]};
    };
    double sum = 0, squares = 0;
    for (const int64_t row : rows) sum += value(row);
    const double mean = sum / static_cast<double>(rows.size());
    for (const int64_t row : rows) squares += (value(row) - mean) * (value(row) - mean);
    Add(mean, squares / static_cast<double>(rows.size()), &measured);
  }
  return measured;
}

Result<Normalization> MeasureImages(const TrainingData& data, const std::vector<int64_t>& rows) {
  const auto channels = static_cast<size_t>(data.shape.channels);
  // How often each byte occurs in each channel: exact, whatever the order.
  std::vector<std::array<int64_t, 256>> counts(channels);
  const size_t measured_rows = std::min<size_t>(rows.size(), kMeasuredImages);
  std::vector<uint8_t> pixels;
  for (size_t first = 0; first < measured_rows; first += kReadTogether) {
    const std::span<const int64_t> some(rows.data() + first,
                                        std::min<size_t>(kReadTogether, measured_rows - first));
    pixels.resize(some.size() * static_cast<size_t>(data.images->shape().bytes()));
    RESMEM_RETURN_IF_ERROR(data.images->ReadRows(some, pixels, at::get_num_threads()));
    for (size_t i = 0; i < pixels.size(); ++i) ++counts[i % channels][pixels[i]];
  }
  Normalization measured;
  for (const auto& count : counts) {
    double total = 0, sum = 0, squares = 0;
    for (size_t byte = 0; byte < count.size(); ++byte) {
      const double times = static_cast<double>(count[byte]),
                   value = static_cast<double>(byte) / 255;
      total += times;
      sum += times * value;
      squares += times * value * value;
    }
    const double mean = sum / total;
    Add(mean, squares / total - mean * mean, &measured);
  }
  return measured;
}

}  // namespace

Result<TrainingData> LoadTrainingData(const TrainRecipe& recipe, const std::string& part,
                                      const TrainingData* like) {
  return recipe.images.empty() ? LoadTable(recipe) : LoadImages(recipe, part, like);
}

Result<Normalization> MeasureNormalization(const TrainingData& data,
                                           const std::vector<int64_t>& rows) {
  return data.table() ? MeasureColumns(data, rows) : MeasureImages(data, rows);
}

Status WriteSplit(const std::string& path, const TrainSplit& split, int64_t rows) {
  constexpr int32_t kLearned = 0, kHeldOut = 1, kLeftOut = 2;
  std::vector<int32_t> roles(static_cast<size_t>(rows), kLeftOut);
  for (const int64_t row : split.train) roles[static_cast<size_t>(row)] = kLearned;
  for (const int64_t row : split.validation) roles[static_cast<size_t>(row)] = kHeldOut;
  return WriteNpy(path, std::span<const int32_t>(roles));
}

}  // namespace resmem::train
