#include "report/page/tuning_grid.h"

#include <algorithm>

namespace resmem {
namespace {

constexpr size_t kLongestAxis = 1000;
constexpr std::array<const char*, 3> kNames = {"k", "sigma", "temperature"};

std::optional<std::vector<double>> ReadGridAxis(const Node& node) {
  std::vector<double> values;
  for (const Node& item : node.Items()) values.push_back(item.Number());
  const bool ascending = std::adjacent_find(values.begin(), values.end(),
                                            std::greater_equal<double>()) == values.end();
  if (!values.empty() && values.size() <= kLongestAxis && ascending) return values;
  node.Fail("a list of 1 to 1000 numbers, each larger than the one before");
  return std::nullopt;
}

std::optional<std::vector<double>> ReadPoints(const Node& list, size_t points) {
  std::vector<double> values;
  for (const Node& item : list.Items()) values.push_back(item.Number());
  if (values.size() == points) return values;
  list.Fail("a list with one number for each point of the grid");
  return std::nullopt;
}

bool ReadLoss(const Node& document, size_t points, TuningGrid* grid) {
  grid->measure = "mean squared error";
  grid->base = document.At("base_loss").Number();
  const std::optional<std::vector<double>> loss =
      ReadPoints(document.At("points").At("loss"), points);
  if (loss) grid->values = *loss;
  return loss.has_value();
}

bool ReadAccuracy(const Node& document, size_t points, TuningGrid* grid) {
  grid->measure = "accuracy";
  const Node gain = document.At("chosen_gain");
  const int64_t rows = document.At("rows").Count();
  if (gain.At("total").Count() != rows || rows == 0) {
    gain.At("total").Fail("the number of rows, and not 0");
    return false;
  }
  const double total = static_cast<double>(rows);
  grid->base =
      static_cast<double>(gain.At("both_right").Count() + gain.At("harmed").Count()) / total;
  const Node measured = document.At("points");
  const std::optional<std::vector<double>> fixed = ReadPoints(measured.At("fixed"), points);
  const std::optional<std::vector<double>> harmed = ReadPoints(measured.At("harmed"), points);
  if (!fixed || !harmed) return false;
  for (size_t i = 0; i < points; ++i) {
    grid->values.push_back(grid->base + ((*fixed)[i] - (*harmed)[i]) / total);
  }
  return true;
}

// The best point, the first among equals.
std::array<size_t, 3> BestPoint(const TuningGrid& grid) {
  const auto best = grid.classification ? std::max_element(grid.values.begin(), grid.values.end())
                                        : std::min_element(grid.values.begin(), grid.values.end());
  const auto at = static_cast<size_t>(best - grid.values.begin());
  const size_t k = grid.axes[0].size(), sigma = grid.axes[1].size();
  return {at % k, at / k % sigma, at / k / sigma};
}

}  // namespace

std::optional<TuningGrid> ReadTuningGrid(const Node& document) {
  TuningGrid grid;
  size_t points = 1;
  for (size_t axis = 0; axis < kNames.size(); ++axis) {
    const std::optional<std::vector<double>> values =
        ReadGridAxis(document.At("grid").At(kNames[axis]));
    if (!values) return std::nullopt;
    grid.axes[axis] = *values;
    points *= values->size();
  }
  grid.classification = document.At("task").Text() == "classification";
  const bool read = grid.classification ? ReadAccuracy(document, points, &grid)
                                        : ReadLoss(document, points, &grid);
  if (!read) return std::nullopt;
  const Node chosen = document.At("chosen");
  grid.base_chosen = chosen.At("k").Count() == 0;
  if (grid.base_chosen) {
    grid.chosen = BestPoint(grid);
    return grid;
  }
  for (size_t axis = 0; axis < kNames.size(); ++axis) {
    const std::vector<double>& values = grid.axes[axis];
    const Node value = chosen.At(kNames[axis]);
    const auto found = std::find(values.begin(), values.end(), value.Number());
    if (found == values.end()) {
      value.Fail("one of the grid's values");
      return std::nullopt;
    }
    grid.chosen[axis] = static_cast<size_t>(found - values.begin());
  }
  return grid;
}

}  // namespace resmem
