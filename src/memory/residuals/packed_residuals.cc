#include "memory/residuals/packed_residuals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "memory/residuals/residual.h"

namespace resmem {
namespace {

constexpr size_t kSteps = 10;        // values of an octave
constexpr size_t kMagnitudes = 128;  // from 1 down

// 2^(-step / 10), written out so that they are the same bits on every machine.
constexpr std::array<float, kSteps> kOctave = {
    0x1p+0f,        0x1.ddb68p-1f,  0x1.bdb8cep-1f, 0x1.9fdf8cp-1f, 0x1.8406p-1f,
    0x1.6a09e6p-1f, 0x1.51cb46p-1f, 0x1.3b2c48p-1f, 0x1.261118p-1f, 0x1.125fbep-1f};

}  // namespace

const std::array<float, 256>& PackedValues() {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> made{};
    for (size_t i = 0; i < kMagnitudes; ++i) {
      made[i] = std::ldexp(kOctave[i % kSteps], -static_cast<int>(i / kSteps));
      made[i + kMagnitudes] = -made[i];
    }
    return made;
  }();
  return values;
}

uint8_t PackValue(float value) {
  const auto first = PackedValues().begin();
  const auto last = first + kMagnitudes;
  const float magnitude = std::abs(value);
  auto at = std::lower_bound(first, last, magnitude, std::greater<>());  // the first not above
  if (at == last || (at != first && *(at - 1) - magnitude < magnitude - *at)) --at;
  const auto code = static_cast<size_t>(at - first) + (value < 0 ? kMagnitudes : 0);
  return static_cast<uint8_t>(code);
}

ResidualPacker::ResidualPacker(const MemoryDescription& description)
    : outputs_(description.outputs),
      most_(std::min(description.top, description.outputs)),
      share_(description.packed_share),
      least_(description.packed_least),
      classes_(static_cast<size_t>(most_)),
      order_(classes_.size()),
      values_(classes_.size()) {}

void ResidualPacker::Pack(const float* residual, PackedRow* row) {
  row->classes.clear();
  row->values.clear();
  row->kept = 0;
  row->dropped = 2 * ResidualMass(residual, outputs_);
  if (row->dropped / 2 < least_) return;
  const double wanted = share_ * row->dropped;
  SelectTop(residual, outputs_, most_, classes_.data(), values_.data());
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return std::abs(values_[a]) > std::abs(values_[b]);
  });
  const float smallest = PackedValues()[kMagnitudes - 1];
  size_t kept = 0;
  for (; kept < order_.size() && row->kept < wanted; ++kept) {
    const float magnitude = std::abs(values_[order_[kept]]);
    if (magnitude < smallest) break;
    row->kept += static_cast<double>(magnitude);
  }
  row->dropped = std::max(row->dropped - row->kept, 0.0);
  std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(kept));
  for (size_t i = 0; i < kept; ++i) {
    row->classes.push_back(classes_[order_[i]]);
    row->values.push_back(PackValue(values_[order_[i]]));
  }
}

}  // namespace resmem
