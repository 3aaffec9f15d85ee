// What a run learns from, in memory: pictures as bytes, or table rows as floats.
#ifndef RESMEM_TRAIN_TRAINING_DATA_H_
#define RESMEM_TRAIN_TRAINING_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/status.h"
#include "resmem/train_recipe.h"
#include "train/network.h"

namespace resmem::train {

struct TrainingData {
  InputShape shape;
  std::vector<uint8_t> pixels;  // rows x height x width x channels
  std::vector<float> columns;   // rows x channels, of a table
  std::vector<int32_t> labels;
  std::vector<std::string> class_names;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  bool table() const { return shape.height == 0; }
};

// `part` of the recipe's data.
Result<TrainingData> LoadTrainingData(const TrainRecipe& recipe, const std::string& part);

// Rows by what they are for; drawn by the recipe's seed.
struct Split {
  std::vector<int64_t> train, validation;
};
Result<Split> DrawSplit(const TrainRecipe& recipe, int64_t rows);

// Per channel (column), over the given rows; pixels as value / 255.
struct Normalization {
  std::vector<float> mean, deviation;
};
Normalization MeasureNormalization(const TrainingData& data, const std::vector<int64_t>& rows);

}  // namespace resmem::train

#endif  // RESMEM_TRAIN_TRAINING_DATA_H_
