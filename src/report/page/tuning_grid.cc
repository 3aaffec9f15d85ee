#include "report/page/tuning_grid.h"

#include <algorithm>
#include <numeric>

namespace resmem {
namespace {

constexpr size_t kLongestAxis = 1000;

// An axis as the document gives it, and the order that sorts it.
struct RawAxis {
  std::vector<double> values;
  std::vector<size_t> order;
};

std::optional<RawAxis> ReadAxis(const Node& node) {
  RawAxis axis;
  for (const Node& item : node.Items()) axis.values.push_back(item.Number());
  axis.order.resize(axis.values.size());
  std::iota(axis.order.begin(), axis.order.end(), size_t{0});
  std::sort(axis.order.begin(), axis.order.end(),
            [&](size_t a, size_t b) { return axis.values[a] < axis.values[b]; });
  const bool repeated = std::adjacent_find(axis.order.begin(), axis.order.end(),
                                           [&](size_t a, size_t b) {
                                             return axis.values[a] == axis.values[b];
                                           }) != axis.order.end();
  if (axis.values.empty() || axis.values.size() > kLongestAxis || repeated) {
    node.Fail("a list of 1 to 1000 different numbers");
    return std::nullopt;
  }
  return axis;
}

std::optional<std::vector<double>> ReadPoints(const Node& list, size_t points) {
  std::vector<double> values;
  for (const Node& item : list.Items()) values.push_back(item.Number());
  if (values.size() == points) return values;
  list.Fail("a list with one number for each point of the grid");
  return std::nullopt;
}

// What was measured at each point, in the document's order; nothing where that is wrong.
std::optional<std::vector<double>> ReadMeasure(const Node& document, size_t points,
                                               TuningGrid* grid) {
  const Node measured = document.At("points");
  grid->classification = document.At("task").Text() == "classification";
  if (!grid->classification) {
    grid->measure = "mean squared error";
    return ReadPoints(measured.At("loss"), points);
  }
  grid->measure = "accuracy";
  const Node gain = document.At("chosen_gain");
  const int64_t rows = document.At("rows").Count();
  if (gain.At("total").Count() != rows || rows == 0) {
    gain.At("total").Fail("the number of rows, and not 0");
    return std::nullopt;
  }
  const double total = static_cast<double>(rows);
  grid->base_accuracy =
      static_cast<double>(gain.At("both_right").Count() + gain.At("harmed").Count()) / total;
  std::optional<std::vector<double>> fixed = ReadPoints(measured.At("fixed"), points);
  const std::optional<std::vector<double>> harmed = ReadPoints(measured.At("harmed"), points);
  if (!fixed || !harmed) return std::nullopt;
  for (size_t i = 0; i < points; ++i) {
    (*fixed)[i] = grid->base_accuracy + ((*fixed)[i] - (*harmed)[i]) / total;
  }
  return fixed;
}

}  // namespace

std::optional<TuningGrid> ReadTuningGrid(const Node& document) {
  static constexpr std::array<const char*, 3> kNames = {"k", "sigma", "temperature"};
  TuningGrid grid;
  std::array<RawAxis, 3> raw;
  size_t points = 1;
  for (size_t axis = 0; axis < kNames.size(); ++axis) {
    const std::optional<RawAxis> read = ReadAxis(document.At("grid").At(kNames[axis]));
    if (!read) return std::nullopt;
    raw[axis] = *read;
    points *= read->values.size();
    for (const size_t i : read->order) grid.axes[axis].push_back(read->values[i]);
    const Node chosen = document.At("chosen").At(kNames[axis]);
    const auto found =
        std::find(grid.axes[axis].begin(), grid.axes[axis].end(), chosen.Number());
    if (found == grid.axes[axis].end()) {
      chosen.Fail("one of the grid's values");
      return std::nullopt;
    }
    grid.chosen[axis] = static_cast<size_t>(found - grid.axes[axis].begin());
  }
  const std::optional<std::vector<double>> measured = ReadMeasure(document, points, &grid);
  if (!measured) return std::nullopt;
  grid.values.reserve(points);
  for (const size_t t : raw[2].order) {
    for (const size_t s : raw[1].order) {
      for (const size_t k : raw[0].order) {
        grid.values.push_back(
            (*measured)[k + raw[0].values.size() * (s + raw[1].values.size() * t)]);
      }
    }
  }
  return grid;
}

}  // namespace resmem
