// Sizes that come from files are products of numbers somebody else chose.
#ifndef RESMEM_SUPPORT_CHECKED_MATH_H_
#define RESMEM_SUPPORT_CHECKED_MATH_H_

#include <cstdint>
#include <optional>

namespace resmem {

// The product or sum of non-negative values; nothing where it leaves int64 or a value is negative.
inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_CHECKED_MATH_H_
