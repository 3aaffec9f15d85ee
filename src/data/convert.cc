#include "data/convert.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "data/endian.h"
#include "support/check.h"

namespace resmem {
namespace {

struct Float16 {
  uint16_t bits;
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 31u;
    const uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exact in float32
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
    }
    const uint32_t wide = exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23;
    return std::bit_cast<float>(sign | wide | (mantissa << 13));
  }
};

struct BFloat16 {
  uint16_t bits;
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

struct Bool {
  uint8_t bits;
};

// Reads T as the arithmetic type that holds all its values.
template <typename T>
auto Widen(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<uint8_t>(value.bits != 0 ? 1 : 0);
  } else {
    return value;
  }
}

template <typename V>
bool ToFloat(V value, float* out) {
  *out = static_cast<float>(value);
  if constexpr (std::is_same_v<V, double>) return !std::isinf(*out) || std::isinf(value);
  return true;
}

template <typename V>
bool ToInteger(V value, int64_t* out) {
  if constexpr (std::is_floating_point_v<V>) {
    // The negation refuses NaN as well.
    if (!(value >= -0x1p63 && value < 0x1p63) || value != std::floor(value)) return false;
  } else if constexpr (std::is_same_v<V, uint64_t>) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  }
  *out = static_cast<int64_t>(value);
  return true;
}

template <typename T, bool kSwapped, typename Out, typename Store>
int64_t ConvertStrided(const Items& items, int64_t stride, Out* out, int64_t out_stride,
                       Store store) {
  for (int64_t i = 0; i < items.count; ++i) {
    const auto value = Widen(Load<T, kSwapped>(items.data + i * stride));
    if (!store(value, &out[i * out_stride])) return i;
  }
  return items.count;
}

template <typename T, typename Out, typename Store>
int64_t Convert(const Items& items, Out* out, int64_t out_stride, Store store) {
  if (items.swapped) return ConvertStrided<T, true>(items, items.stride, out, out_stride, store);
  // The usual case apart, with constant strides, so that the compiler can use vectors.
  if (items.stride == sizeof(T) && out_stride == 1) {
    return ConvertStrided<T, false>(items, int64_t{sizeof(T)}, out, int64_t{1}, store);
  }
  return ConvertStrided<T, false>(items, items.stride, out, out_stride, store);
}

// Calls use(T()) with the C++ type of `type`.
template <typename Use>
auto Dispatch(ElementType type, Use use) {
  RESMEM_DCHECK(type != ElementType::kText);
  switch (type) {
    case ElementType::kFloat16:
      return use(Float16());
    case ElementType::kBFloat16:
      return use(BFloat16());
    case ElementType::kFloat64:
      return use(double());
    case ElementType::kInt8:
      return use(int8_t());
    case ElementType::kInt16:
      return use(int16_t());
    case ElementType::kInt32:
      return use(int32_t());
    case ElementType::kInt64:
      return use(int64_t());
    case ElementType::kUInt8:
      return use(uint8_t());
    case ElementType::kUInt16:
      return use(uint16_t());
    case ElementType::kUInt32:
      return use(uint32_t());
    case ElementType::kUInt64:
      return use(uint64_t());
    case ElementType::kBool:
      return use(Bool());
    case ElementType::kFloat32:
    case ElementType::kText:
      break;
  }
  return use(float());
}

}  // namespace

int64_t ConvertToFloats(const Items& items, float* out, int64_t out_stride) {
  if (items.type == ElementType::kFloat32 && !items.swapped && items.stride == sizeof(float) &&
      out_stride == 1) {
    if (items.count > 0) {
      std::memcpy(out, items.data, static_cast<size_t>(items.count) * sizeof(float));
    }
    return items.count;
  }
  return Dispatch(items.type, [&]<typename T>(T) {
    return Convert<T>(items, out, out_stride,
                      [](auto value, float* to) { return ToFloat(value, to); });
  });
}

int64_t ConvertToIntegers(const Items& items, int64_t* out, int64_t out_stride) {
  return Dispatch(items.type, [&]<typename T>(T) {
    return Convert<T>(items, out, out_stride,
                      [](auto value, int64_t* to) { return ToInteger(value, to); });
  });
}

std::string ItemText(ElementType type, bool swapped, const std::byte* item) {
  return Dispatch(type, [&]<typename T>(T) {
    const auto value = Widen(swapped ? Load<T, true>(item) : Load<T, false>(item));
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return std::string(text.data(), end.ptr);
  });
}

}  // namespace resmem
