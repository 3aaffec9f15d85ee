#include "residual/residual.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "kernels/vector_math.h"
#include "support/check.h"

namespace resmem {
namespace {

constexpr int kBucketShift = 20;  // leaves the exponent and three bits of the mantissa

uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7fffffffu;
}

}  // namespace

void ClassificationResidual(const float* logits, int64_t classes, int32_t label, float temperature,
                            float* out) {
  RESMEM_DCHECK(label >= 0 && label < classes);
  Softmax(logits, classes, temperature, out);
  for (int64_t c = 0; c < classes; ++c) out[c] = -out[c];
  out[label] += 1.0f;
}

double SelectTop(const float* residual, int64_t classes, int64_t top, uint32_t* kept_classes,
                 float* kept_values) {
  RESMEM_DCHECK(top >= 1 && top <= classes);
  // Magnitudes are compared by their bits, whose order is that of the values.  A count by their
  // upper bits leaves few among which the smallest that is kept is looked for: a row of 32,128
  // takes about 0.1 ms, a thirtieth of what sorting takes.
  std::array<uint32_t, size_t{1} << (31 - kBucketShift)> counts{};
  for (int64_t c = 0; c < classes; ++c) ++counts[MagnitudeBits(residual[c]) >> kBucketShift];
  int64_t above = 0;  // entries in larger buckets
  auto bucket = static_cast<uint32_t>(counts.size() - 1);
  for (; above + counts[bucket] < top; --bucket) above += counts[bucket];
  std::vector<uint32_t> candidates;
  candidates.reserve(counts[bucket]);
  for (int64_t c = 0; c < classes; ++c) {
    const uint32_t bits = MagnitudeBits(residual[c]);
    if (bits >> kBucketShift == bucket) candidates.push_back(bits);
  }
  const auto last = candidates.begin() + (top - above - 1);
  std::nth_element(candidates.begin(), last, candidates.end(), std::greater<>());
  const uint32_t smallest = *last;
  int64_t equals = top - above;  // of the smallest magnitude that are kept: the first classes
  for (auto candidate = candidates.begin(); candidate != last; ++candidate) {
    if (*candidate > smallest) --equals;
  }
  int64_t kept = 0;
  std::array<double, 8> dropped{};  // in turns, for speed; the order is fixed
  for (int64_t c = 0; c < classes; ++c) {
    const uint32_t bits = MagnitudeBits(residual[c]);
    if (bits > smallest || (bits == smallest && equals > 0)) {
      if (bits == smallest) --equals;
      kept_classes[kept] = static_cast<uint32_t>(c);
      kept_values[kept++] = residual[c];
    } else {
      dropped[static_cast<size_t>(c) % dropped.size()] += std::fabs(residual[c]);
    }
  }
  RESMEM_DCHECK(kept == top);
  return std::accumulate(dropped.begin(), dropped.end(), 0.0);
}

double ResidualMass(const float* residual, int64_t classes) {
  double mass = 0;
  for (int64_t c = 0; c < classes; ++c) mass += std::fabs(residual[c]);
  return mass / 2;
}

}  // namespace resmem
