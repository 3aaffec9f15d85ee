#include "search/first_pass/codes/code_scan_kernel.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/first_pass/codes/code_scan_kernel.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"
#include "search/first_pass/codes/code_scan_kernel_vnni.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kRowsTogether = 4;
constexpr int64_t kMaxLanes = HWY_MAX_BYTES / sizeof(float);
constexpr int64_t kRowsPerRound = 64;  // their dot products wait in an array

int32_t DotOfLast(const int16_t* query, const int8_t* codes, int64_t begin, int64_t dim) {
  int32_t sum = 0;
  for (int64_t i = begin; i < dim; ++i) sum += int32_t{query[i]} * codes[i];
  return sum;
}

#if HWY_TARGET == HWY_SCALAR

void DotRows(const int16_t* query, const int8_t* codes, int64_t count, int64_t dim, int32_t* dots) {
  for (int64_t row = 0; row < count; ++row) dots[row] = DotOfLast(query, codes + row * dim, 0, dim);
}

#else

using Ints = hn::ScalableTag<int32_t>;
using Shorts = hn::Repartition<int16_t, Ints>;
using Codes = hn::Rebind<int8_t, Shorts>;

// The sum of the blocks of four lanes.
template <class D>
HWY_INLINE hn::Vec<hn::Full128<int32_t> > SumOfBlocks([[maybe_unused]] D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// dots[0 .. 3] of the rows at codes + 0, 1, 2, 3 times stride.
HWY_INLINE void DotFourRows(const int16_t* query, const int8_t* codes, int64_t stride, int64_t dim,
                            int32_t* dots) {
  const Ints d;
  const Shorts shorts;
  const Codes bytes;
  const int64_t step = static_cast<int64_t>(hn::Lanes(shorts));
  using V = hn::Vec<Ints>;
  V even0 = hn::Zero(d), even1 = even0, even2 = even0, even3 = even0;
  V odd0 = even0, odd1 = even0, odd2 = even0, odd3 = even0;
  const auto add = [&](hn::Vec<Shorts> q, int64_t row, int64_t i, V& even, V& odd) HWY_ATTR {
    const auto key = hn::PromoteTo(shorts, hn::LoadU(bytes, codes + row * stride + i));
    even = hn::ReorderWidenMulAccumulate(d, q, key, even, odd);
  };
  const auto add_all = [&](hn::Vec<Shorts> q, int64_t i) HWY_ATTR {
    add(q, 0, i, even0, odd0);
    add(q, 1, i, even1, odd1);
    add(q, 2, i, even2, odd2);
    add(q, 3, i, even3, odd3);
  };
  int64_t i = 0;
  for (; i + step <= dim; i += step) add_all(hn::LoadU(shorts, query + i), i);
  if (i < dim && dim >= step) {
    // The last vector ends with the row; its lanes that were summed already count as zero.
    const int64_t last = dim - step;
    const auto done = hn::FirstN(shorts, static_cast<size_t>(i - last));
    add_all(hn::IfThenZeroElse(done, hn::LoadU(shorts, query + last)), last);
    i = dim;
  }
  const V sum0 = hn::Add(even0, odd0), sum1 = hn::Add(even1, odd1);
  const V sum2 = hn::Add(even2, odd2), sum3 = hn::Add(even3, odd3);
  // Rows 0 and 2 side by side, and rows 1 and 3; then all four in each block.
  const V pair02 = hn::Add(hn::InterleaveLower(d, sum0, sum2), hn::InterleaveUpper(d, sum0, sum2));
  const V pair13 = hn::Add(hn::InterleaveLower(d, sum1, sum3), hn::InterleaveUpper(d, sum1, sum3));
  const V all =
      hn::Add(hn::InterleaveLower(d, pair02, pair13), hn::InterleaveUpper(d, pair02, pair13));
  hn::StoreU(SumOfBlocks(d, all), hn::Full128<int32_t>(), dots);
  for (int64_t row = 0; i < dim && row < kRowsTogether; ++row) {
    dots[row] += DotOfLast(query, codes + row * stride, i, dim);
  }
}

void DotRows(const int16_t* query, const int8_t* codes, int64_t count, int64_t dim, int32_t* dots) {
  int64_t row = 0;
  for (; row + kRowsTogether <= count; row += kRowsTogether) {
    DotFourRows(query, codes + row * dim, dim, dim, dots + row);
  }
  for (; row < count; ++row) {
    int32_t same[kRowsTogether];
    DotFourRows(query, codes + row * dim, 0, dim, same);
    dots[row] = same[0];
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

int64_t ScanCodes(const CodedQuery& query, const CodedRows& rows, int64_t count, int64_t dim,
                  float reach, RowBelow* out) {
#if HWY_TARGET == HWY_AVX3
  if (VnniApplies(dim)) return ScanCodesVnni(query, rows, count, dim, reach, out);
#endif
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> ints;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int32_t dots[kRowsPerRound];
  float values[kMaxLanes];
  int64_t found = 0;
  for (int64_t begin = 0; begin < count; begin += kRowsPerRound) {
    const int64_t round = std::min(kRowsPerRound, count - begin);
    DotRows(query.codes, rows.codes + begin * dim, round, dim, dots);
    const float* scales = rows.scales + begin;
    const float* norms = rows.norms + begin;
    const float* errors = rows.errors + begin;
    int64_t i = 0;
    for (; i + lanes <= round; i += lanes) {
      const auto dot = hn::ConvertTo(d, hn::LoadU(ints, dots + i));
      const auto product =
          hn::Mul(hn::Mul(dot, hn::LoadU(d, scales + i)), hn::Set(d, query.double_scale));
      const auto value = hn::Sub(hn::Add(hn::Set(d, query.norm), hn::LoadU(d, norms + i)), product);
      const auto radius = hn::Add(hn::Set(d, reach), hn::LoadU(d, errors + i));
      const auto below = hn::Le(value, hn::Mul(radius, radius));
      if (HWY_LIKELY(hn::AllFalse(d, below))) continue;
      uint64_t bits = 0;
      hn::StoreMaskBits(d, below, reinterpret_cast<uint8_t*>(&bits));
      hn::StoreU(value, d, values);
      for (; bits != 0; bits &= bits - 1) {
        const int lane = std::countr_zero(bits);
        out[found++] = {values[lane], static_cast<int32_t>(begin + i + lane)};
      }
    }
    for (; i < round; ++i) {
      const float product = static_cast<float>(dots[i]) * scales[i] * query.double_scale;
      const float value = query.norm + norms[i] - product;
      const float radius = reach + errors[i];
      out[found] = {value, static_cast<int32_t>(begin + i)};
      found += value <= radius * radius ? 1 : 0;
    }
  }
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(ScanCodes);

int32_t LargestQueryCode(int64_t dim) {
  const int64_t largest = INT32_MAX / 128 / dim;
  // 127 * 256 + 127: not more, so that it splits into two signed bytes.
  return largest < 127 ? 0 : static_cast<int32_t>(std::min<int64_t>(largest, 32639));
}

int64_t ScanCodes(const CodedQuery& query, const CodedRows& rows, int64_t count, int64_t dim,
                  float reach, RowBelow* out) {
  return RESMEM_DISPATCH(ScanCodes)(query, rows, count, dim, reach, out);
}

}  // namespace resmem
#endif  // HWY_ONCE
