#include <algorithm>
#include <numeric>

#include "recipe/train_recipe.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr uint64_t kSplitStream = uint64_t{3} << 61;

}  // namespace

Result<TrainSplit> DrawTrainSplit(const TrainRecipe& recipe, int64_t rows) {
  const int64_t learn = std::max<int64_t>(recipe.rows, 1);
  if (recipe.validation_rows < 0 || learn > rows || recipe.validation_rows > rows - learn) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("the data have ", rows, " rows, but the recipe asks for ",
                       recipe.validation_rows, " to hold out and ", learn, " to learn from"));
  }
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  Random random(recipe.seed, kSplitStream);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  const auto held_out = order.begin() + recipe.validation_rows;
  const auto end = recipe.rows == 0 ? order.end() : held_out + recipe.rows;
  TrainSplit split{{held_out, end}, {order.begin(), held_out}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

}  // namespace resmem
