#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "recipe/train_recipe.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr uint64_t kSplitStream = uint64_t{3} << 61;

// All rows in the order in which they are drawn.
Result<std::vector<int64_t>> Shuffled(const TrainRecipe& recipe, int64_t rows) {
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
  return order;
}

TrainSplit Cut(const TrainRecipe& recipe, const std::vector<int64_t>& order) {
  const auto held_out = order.begin() + recipe.validation_rows;
  const auto end = recipe.rows == 0 ? order.end() : held_out + recipe.rows;
  TrainSplit split{{held_out, end}, {order.begin(), held_out}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

}  // namespace

Result<TrainSplit> DrawTrainSplit(const TrainRecipe& recipe, int64_t rows) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> order, Shuffled(recipe, rows));
  return Cut(recipe, order);
}

Result<TrainSplit> DrawTrainSplit(const TrainRecipe& recipe, std::span<const int32_t> labels) {
  RESMEM_ASSIGN_OR_RETURN(std::vector<int64_t> order, Shuffled(recipe, std::ssize(labels)));
  if (!recipe.balanced) return Cut(recipe, order);
  // The first of every class, then the second of every class, and so on.
  std::map<int32_t, int64_t> seen;
  std::vector<std::pair<int64_t, int64_t>> by_turn;  // the row's turn in its class, the row
  const auto held_out = order.begin() + recipe.validation_rows;
  for (auto row = held_out; row != order.end(); ++row) {
    by_turn.emplace_back(seen[labels[static_cast<size_t>(*row)]]++, *row);
  }
  std::stable_sort(by_turn.begin(), by_turn.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(by_turn.begin(), by_turn.end(), held_out,
                 [](const auto& turn) { return turn.second; });
  return Cut(recipe, order);
}

}  // namespace resmem
