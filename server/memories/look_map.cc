#include "memories/look_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace resmem::serve {
namespace {

constexpr int64_t kFittedRows = 4096;
constexpr int kMostRounds = 300;
constexpr double kStill = 1 - 1e-9;  // cosine of a direction and the one before

using Direction = std::vector<double>;

template <class Values>
double Dot(const Direction& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void Scale(Direction* direction) {
  double square = 0;
  for (const double value : *direction) square += value * value;
  const double factor = square > 0 ? 1 / std::sqrt(square) : 0;
  for (double& value : *direction) value *= factor;
}

// `b` without what lies along `a`, both of length 1 then.
void Orthonormalize(Direction* a, Direction* b) {
  Scale(a);
  const double along = Dot(*a, *b);
  for (size_t j = 0; j < a->size(); ++j) (*b)[j] -= along * (*a)[j];
  Scale(b);
}

// A sign that does not depend on where the search began.
void FixSign(Direction* direction) {
  const auto most = std::max_element(direction->begin(), direction->end(), [](double a, double b) {
    return std::fabs(a) < std::fabs(b);
  });
  if (most == direction->end() || *most >= 0) return;
  for (double& value : *direction) value = -value;
}

// The covariance times a direction, without making the covariance.
Direction Multiply(std::span<const float> keys, size_t dim, const Direction& direction) {
  Direction product(dim, 0.0);
  for (size_t at = 0; at < keys.size(); at += dim) {
    const double along = Dot(direction, keys.subspan(at, dim));
    for (size_t j = 0; j < dim; ++j) product[j] += along * static_cast<double>(keys[at + j]);
  }
  return product;
}

// Orthogonal iteration.  `keys`: rows whose mean is 0.
std::array<Direction, 2> FindDirections(std::span<const float> keys, size_t dim) {
  std::array<Direction, 2> found = {Direction(dim), Direction(dim)};
  for (size_t j = 0; j < dim; ++j) {  // any two that are not orthogonal to what is looked for
    found[0][j] = std::cos(1.7 * static_cast<double>(j) + 0.3);
    found[1][j] = std::sin(2.9 * static_cast<double>(j) + 0.7);
  }
  Orthonormalize(&found[0], &found[1]);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::array<Direction, 2> before = found;
    found = {Multiply(keys, dim, found[0]), Multiply(keys, dim, found[1])};
    Orthonormalize(&found[0], &found[1]);
    // Until neither turns any more.
    if (Dot(before[0], found[0]) > kStill && Dot(before[1], found[1]) > kStill) break;
  }
  for (Direction& direction : found) FixSign(&direction);
  return found;
}

struct Plane {
  std::vector<float> mean;
  std::array<Direction, 2> directions;
};

Plane FitPlane(const MemoryState& state) {
  const auto dim = static_cast<size_t>(state.description().dim);
  std::vector<float> keys = DecodeKeys(state, SpreadRows(state, kFittedRows));
  std::vector<double> sums(dim, 0.0);
  for (size_t i = 0; i < keys.size(); ++i) sums[i % dim] += static_cast<double>(keys[i]);
  Plane plane;
  const double rows = std::max(1.0, static_cast<double>(keys.size() / dim));
  for (const double sum : sums) plane.mean.push_back(static_cast<float>(sum / rows));
  for (size_t i = 0; i < keys.size(); ++i) keys[i] -= plane.mean[i % dim];
  plane.directions = FindDirections(keys, dim);
  return plane;
}

}  // namespace

RowMiss MissOf(const MemoryState& state, int64_t row, std::span<float> scratch) {
  state.memory.Residual(row, state.description().parameters.temperature, scratch);
  RowMiss miss;
  for (const float value : scratch) miss.residual += std::fabs(value);
  if (!state.classifies()) return miss;
  miss.residual /= 2;
  // The base's probabilities are onehot(label) - residual.
  for (float& value : scratch) value = -value;
  scratch[static_cast<size_t>(state.memory.label(row))] += 1;
  miss.base = ArgMax(scratch);
  return miss;
}

std::vector<int64_t> SpreadRows(const MemoryState& state, int64_t most) {
  const int64_t living = state.memory.rows();
  const int64_t wanted = std::min(living, most);
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(wanted));
  int64_t seen = 0;
  for (int64_t row = 0; row < state.memory.capacity(); ++row) {
    if (state.memory.deleted(row)) continue;
    // The living row number seen is taken if it is the first of its share.
    if (seen * wanted / living != (seen - 1) * wanted / living || seen == 0) rows.push_back(row);
    ++seen;
  }
  return rows;
}

std::vector<float> DecodeKeys(const MemoryState& state, std::span<const int64_t> rows) {
  const auto dim = static_cast<size_t>(state.description().dim);
  std::vector<float> keys(rows.size() * dim);
  for (size_t i = 0; i < rows.size(); ++i) {
    state.memory.DecodeKey(rows[i], std::span<float>(keys).subspan(i * dim, dim));
  }
  return keys;
}

Result<MapPoints> MapRows(const MemoryState& state, int64_t most) {
  MapPoints points;
  const auto dim = static_cast<size_t>(state.description().dim);
  const Plane plane = FitPlane(state);
  std::vector<float> key(dim), scratch(static_cast<size_t>(state.description().outputs));
  for (const int64_t row : SpreadRows(state, most)) {
    state.memory.DecodeKey(row, key);
    for (size_t j = 0; j < dim; ++j) key[j] -= plane.mean[j];
    points.x.push_back(static_cast<float>(Dot(plane.directions[0], key)));
    points.y.push_back(static_cast<float>(Dot(plane.directions[1], key)));
    const RowMiss miss = MissOf(state, row, scratch);
    points.ids.push_back(state.memory.id(row));
    points.residual.push_back(miss.residual);
    if (!state.classifies()) continue;
    points.label.push_back(state.memory.label(row));
    points.base.push_back(miss.base);
  }
  RESMEM_RETURN_IF_ERROR(state.memory.damage());
  return points;
}

}  // namespace resmem::serve
