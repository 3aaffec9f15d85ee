// What a run learns from: images, read batch by batch, or table rows in memory.
#ifndef RESMEM_LAB_TRAIN_TRAINING_DATA_H_
#define RESMEM_LAB_TRAIN_TRAINING_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipe/train_recipe.h"
#include "resmem/models/image_set.h"
#include "resmem/status.h"
#include "train/networks/network.h"

namespace resmem::train {

struct TrainingData {
  InputShape shape;
  std::optional<ImageSet> images;
  std::vector<float> columns;  // rows x channels, of a table
  std::vector<int32_t> labels;
  std::vector<std::string> class_names;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  bool table() const { return shape.height == 0; }
};

// `part` of the recipe's data; with the shape and classes of `like`, where it is
// given.
Result<TrainingData> LoadTrainingData(const TrainRecipe& recipe, const std::string& part,
                                      const TrainingData* like = nullptr);

// For `--split` of the commands that read the same data (docs/arrays.md).
Status WriteSplit(const std::string& path, const TrainSplit& split, int64_t rows);

// Per channel (column), over the given rows, of images at most kMeasuredImages of them; pixels
// as value / 255.
inline constexpr int64_t kMeasuredImages = 50000;
struct Normalization {
  std::vector<float> mean, deviation;
};
Result<Normalization> MeasureNormalization(const TrainingData& data,
                                           const std::vector<int64_t>& rows);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TRAINING_DATA_H_
