// How far a first pass, in float or over codes, can be from the distance that decides, in double.
//
// Notation: u = 2^-24, the unit roundoff of float; gamma_n = n u / (1 - n u).  A sum of n products
// in any order, fused or not, differs from the true one by at most gamma_n times the sum of the
// products' magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), plus what
// underflow takes: at most 2^-126 a product, even where the processor flushes subnormals to zero.
// D = |q - x|^2 exactly; C = the deciding distance, SquaredDistance().  C sums in double; each term
// is rounded at most dim + 3 times, so |C - D| <= 2^-53 (dim + 4) D: below 2^-33 D, as dim <= 2^19.
//
// All bounds are used in one way.  Let every row have lower <= C <= upper, up to a monotone map
// that is the same for all rows of a query, and let T be the k-th smallest upper.  Then k rows have
// C <= T, so that a row with lower > T is not among the k nearest, ties included.
#ifndef RESMEM_SEARCH_FIRST_PASS_ERROR_BOUND_H_
#define RESMEM_SEARCH_FIRST_PASS_ERROR_BOUND_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace resmem {

constexpr double kUnitRoundoff = 0x1p-24;
constexpr int64_t kMaxBoundedDim = int64_t{1} << 19;  // beyond, every row is measured in double
constexpr double kUnderflow = 0x1p-100;               // >= 2 dim 2^-126

// Without a branch, which would be mispredicted half of the time; x is finite.
inline float RoundDown(double x) {
  const float nearest = static_cast<float>(x);
  // Integers in the order of the floats.
  const auto flip = [](int32_t bits) { return bits ^ (bits >> 31 & 0x7fffffff); };
  const int32_t place = flip(std::bit_cast<int32_t>(nearest)) - (nearest > x ? 1 : 0);
  return std::bit_cast<float>(flip(place));
}
inline float RoundUp(double x) {
  return -RoundDown(-x);
}

// For ScanRows(): value = sum of (q_i - x_i)^2.  The difference is rounded once, its square twice
// as often, and the sum is of dim products: |value - D| <= gamma_(dim + 2) D + underflow.  With the
// distance of C from D, |value - C| <= r C + a for r and a below; (dim + 4) u <= 2^-5, so that 1.05
// covers the denominator of gamma.
class DifferenceBound {
 public:
  explicit DifferenceBound(int64_t dim)
      : relative_(1.05 * kUnitRoundoff * static_cast<double>(dim + 4)) {}

  float Lower(float value) const { return RoundDown((value - kUnderflow) / (1 + relative_)); }
  float Upper(float value) const { return RoundUp((value + kUnderflow) / (1 - relative_)); }
  // The largest value whose Lower() can be at most `bound`.  Finite: a sum that overflowed is never
  // at most that, and is beyond every bound below kLargestBound.
  float Threshold(float bound) const {
    const double threshold = bound * (1 + 2 * relative_) + 2 * kUnderflow;
    return threshold >= std::numeric_limits<float>::max() ? std::numeric_limits<float>::max()
                                                          : RoundUp(threshold);
  }
  static constexpr float kLargestBound = 1e38f;

 private:
  double relative_;
};

// For ScanTile(): value = n - q'.x' with q' = fl(q - c), x' = fl(x - c) for a center c, and n the
// float nearest to half of SquaredDistance(x, c).  Let A = |q - c| and B = |x - c|.
//   D / 2 - A^2 / 2 = B^2 / 2 - (q - c).(x - c)          (the map: subtract A^2 / 2, for all rows)
//   |n - B^2 / 2|                      <= 0.51 u B^2
//   |q'.x' - (q - c).(x - c)|          <= 2.01 u A B     (|q' - (q - c)| <= u A, |x' - ...| <= u B)
//   dot products of P pieces of p = min(dim, kDotPiece) coordinates: gamma_p |q'| |x'|
//                                      <= 1.01 p u A B + underflow
//   P subtractions, each result at most B^2 / 2 + A B:  <= 1.01 P u (B^2 / 2 + A B)
//   |C - D| / 2                        <= 2^-34 (A + B)^2 <= 2^-9 u (A^2 + B^2)
//   value - E and value + E are themselves rounded to float:    <= 1.01 u (B^2 / 2 + A B)
// The sum of these is below E = 1.1 u ((p + P + 4) A B + (P / 2 + 2) B^2 + A^2 / 100) + underflow,
// where 1.1 leaves room for E itself being evaluated in float.  No overflow: A and B are at most
// kLargestNorm.
class ProductBound {
 public:
  static constexpr double kLargestNorm = 1e15;

  ProductBound(int64_t dim, int64_t piece) {
    const double p = static_cast<double>(std::min(dim, piece));
    const double pieces = std::ceil(static_cast<double>(dim) / static_cast<double>(piece));
    product_ = static_cast<float>(1.1 * kUnitRoundoff * (p + pieces + 4));
    key_ = static_cast<float>(1.1 * kUnitRoundoff * (pieces / 2 + 2));
    query_ = static_cast<float>(1.1 * kUnitRoundoff / 100);
  }

  // E; query_norm >= A and key_norm >= B.
  float Error(float query_norm, float key_norm) const {
    return (product_ * query_norm + key_ * key_norm) * key_norm +
           (query_ * query_norm * query_norm + static_cast<float>(kUnderflow));
  }

 private:
  float product_, key_, query_;
};

// For ScanCodes().  Let q' = q - o and x' = x - o for an origin o, exactly; q^ and x^ the vectors
// that the codes stand for, scale * code, exactly; and d = |q - x|.  By the triangle inequality
//   | d - |q^ - x^| |  <=  |q' - q^| + |x' - x^|.
//
// Norms and errors are taken in double from vectors in float: fl(x - o) and fl(scale * code), each
// coordinate rounded once.  So |x^|^2 is known within 2.01 u |x^|^2, and |x' - x^| within
// u |x'| + u |x^| <= 2.01 u (|x^| + |x' - x^|); ErrorAbove() adds more, plus 2^-20 of the whole.
//
// The kernel's value v = (nq + nx) - (dot * scale) * 2 scale_q, where nq and nx are |q^|^2 and
// |x^|^2 lowered by 16 u = 2^-20 of themselves (NormBelow()) and dot, an integer, is exact.  With
// M = |q^|^2 + |x^|^2 >= |2 q^.x^|, rounding takes or adds at most 3.01 u M in the product, u M in
// the sum of the norms, 2.01 u M in the difference, 2.01 u M in the norms themselves, 2 u M where
// they are rounded down: 11 u M in all, and underflow w.  Hence
//   v - w  <=  |q^ - x^|^2  <=  v + 27 u M + w, and 27 u M <= 2^-19 (nq + nx).
// w: dot * scale loses at most 2^-126, which is then multiplied by 2 scale_q <= 2^45; others lose
// 2^-126 a few times: below 2^-80.  No overflow: |q'| <= kLargestNorm, |x'| <= 2 kLargestNorm.
//
// The map of distances is the square root; sqrt(C) is within 2^-33 d of d.
//
// The kernel finds the rows with v <= (reach + error)^2, rounded thrice.  A row that it leaves out
// has sqrt(v - w) > reach - 2^-40 + |x' - x^| after division by 1 + 2^-20, the room that both
// `reach` and `error` have, and so a lower bound above `bound`.
class CodeBound {
 public:
  static constexpr double kLargestNorm = 1e15;
  static constexpr double kLargestDoubleScale = 0x1p45;  // of a query
  static constexpr float kFindsAll = 1e18f;              // as a reach, or as an error of a query

  // As stored in CodedQuery and CodedRows.
  static float NormBelow(double squared) { return RoundDown(squared * (1 - 0x1p-20)); }
  // From the distance and the norm of the vectors in float.
  static float ErrorAbove(double error, double norm) {
    return RoundUp((error + (error + norm) * 0x1p-22 + kUnderflow) * (1 + 0x1p-20));
  }

  // Both as stored.
  CodeBound(float query_norm, float query_error) : norm_(query_norm), error_(query_error) {}

  float Lower(float value, float key_error) const {
    const double apart = std::sqrt(std::max(value - kLost, 0.0));
    return RoundDown((apart - error_ - key_error) * (1 - 0x1p-30));  // below 0 says nothing
  }
  float Upper(float value, float key_norm, float key_error) const {
    const double squared = value + 0x1p-19 * (norm_ + key_norm) + kLost;
    return RoundUp((std::sqrt(std::max(squared, 0.0)) + error_ + key_error) * (1 + 0x1p-30));
  }
  // For a bound on the square roots.  At most 1e18, from where every row is found.
  float Reach(float bound) const {
    const double reach = (bound * (1 + 0x1p-29) + error_ + 0x1p-40) * (1 + 0x1p-19);
    return RoundUp(std::min(reach, double{kFindsAll}));
  }

 private:
  static constexpr double kLost = 0x1p-80;
  double norm_, error_;
};

// For ScanRounded().  Let q' = fl(q - c) and x' = fl(x - c) for a center c; q^ and x^ the same
// rounded to bfloat16; d = |q - x|.  As for codes, | d - |q^ - x^| | <= |q - c - q^| + |x - c -
// x^|.
//
// A sum whose terms are each rounded at most h = RoundingsOfSum() times is within gamma_h of the
// sum of their magnitudes; h u <= 2^-9.  Products of two bfloat16 are exact in float.  In tiles,
// sums are rounded to nearest, subnormal results become zero: at most 2^-126 lost a term, as above.
// The order within an instruction is the one that Intel documents for TDPBF16PS: even and odd
// products apart, then their sum, then the running sum.
//   nq and nx, the norms as packed     within gamma_h of |q^|^2 and |x^|^2
//   value = fl(nx / 2 - dot)           within gamma_h |q^| |x^| + 1.1 u (nx / 2 + |q^| |x^|) of
//   that |q^ - x^|^2 = |q^|^2 + |x^|^2 - 2 q^.x^, with 2 |q^| |x^| <= |q^|^2 + |x^|^2: | nq + 2
//   value - |q^ - x^|^2 |     <= (2.1 h + 2.3) u (|q^|^2 + |x^|^2) + underflow
// which is below R = r (nq + nx) + underflow with r = 2.2 (h + 8) u: room for 12 u more, in which
// the kernel's threshold is evaluated in float.
//
// The errors: the sum of the squares of x' - x^, exact differences, is packed within gamma_h and
// dim 2^-126; x' is within u |x'| <= 1.01 u (|x^| + |x' - x^|) of x - c.
//
// The kernel finds the rows with value <= ((reach + error)^2 + r nx + (r - 1) nq) / 2, where error
// and nx are the largest of a block; so that a row that is left out has a lower bound above
// `bound`.
class RoundedBound {
 public:
  static constexpr double kLargestNorm = 1e15;

  explicit RoundedBound(int64_t roundings)
      : sum_(1 + 2.1 * kUnitRoundoff * static_cast<double>(roundings)),
        room_(2.2 * kUnitRoundoff * static_cast<double>(roundings + 8)) {}

  // From both as packed: at least |x - c - x^|.
  float Error(float norm, float squared_error) const {
    const float apart = std::sqrt(squared_error * sum_ + kLeastSquare);
    return (apart + (std::sqrt(norm) + apart) * 0x1p-21f) * (1 + 0x1p-18f);
  }
  // For the kernel, of a query and of a block of keys.
  float Base(float query_norm) const { return (0.5f * room_ - 0.5f) * query_norm; }
  float Room(float key_norm) const { return 0.5f * room_ * key_norm + kLeastSquare; }
  // For a bound on d.  At most 1e18, from where every row is found.
  static float Reach(float bound, float query_error) {
    return std::min((bound + query_error) * (1 + 0x1p-18f), 1e18f);
  }

  struct Interval {
    float lower, upper;
  };
  // Of d.  In float; each of the few roundings is of numbers below least + errors or most + errors.
  Interval Distance(float value, float query_norm, float key_norm, float errors) const {
    const float squared = query_norm + 2 * value;
    const float room = room_ * (query_norm + key_norm) + kLeastSquare;
    const float least = std::sqrt(std::max(squared - room, 0.0f));
    const float most = std::sqrt(std::max(squared + room, 0.0f));
    return {least - errors - (least + errors) * 0x1p-20f, (most + errors) * (1 + 0x1p-20f)};
  }

 private:
  static constexpr float kLeastSquare = 0x1p-98f;
  float sum_, room_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ERROR_BOUND_H_
