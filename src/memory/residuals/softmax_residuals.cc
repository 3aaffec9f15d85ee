#include "memory/residuals/softmax_residuals.h"

#include <algorithm>
#include <limits>

#include "kernels/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/residuals/softmax_residuals.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/exponential-inl.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kTogether = 4;  // rows
// Such a row has work enough of its own, is fetched by the processor itself, and four of them would
// not stay in the first cache.
constexpr int64_t kLongRow = 2048;
// What is on its way from memory at any time.
constexpr int64_t kFloatsAhead = 2048;

// kRows residuals at once, so that one row's reductions take place during the others' exponentials.
// `next`: as many rows that are fetched meanwhile, or null.
template <int64_t kRows, bool kDivide>
HWY_INLINE void AddResidualGroup(const float* weights, const float* const* x,
                                 const int32_t* const* labels, const float* const* next, int64_t n,
                                 float temperature, float* scratch, float* sum) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const int64_t vectors = kVirtualLanes / step;
  const int64_t stride = hwy::RoundUpTo(static_cast<size_t>(n), kVirtualLanes);
  const int64_t whole = n - n % step;
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  hn::Vec<Floats> largest[kRows], sums[kRows][kVirtualLanes], factors[kRows], scales[kRows];

  for (int64_t row = 0; row < kRows; ++row) largest[row] = hn::Set(d, kNone);
  for (int64_t i = 0; i < whole; i += step) {
    for (int64_t row = 0; row < kRows; ++row) {
      largest[row] = hn::Max(largest[row], hn::LoadU(d, x[row] + i));
    }
  }
  for (int64_t row = 0; row < kRows; ++row) {
    if (whole < n) {
      largest[row] = hn::Max(largest[row], LoadFirst(x[row] + whole, n - whole, kNone));
    }
    largest[row] = hn::MaxOfLanes(d, largest[row]);
    for (int64_t v = 0; v < vectors; ++v) sums[row][v] = hn::Zero(d);
  }

  const auto divisor = hn::Set(d, temperature);
  const auto exponential = [&](hn::Vec<Floats> value, hn::Vec<Floats> most) HWY_ATTR {
    value = hn::Sub(value, most);
    if constexpr (kDivide) value = hn::Div(value, divisor);
    return ExpOf<Range::kNotPositive>(d, value);
  };
  int64_t i = 0;
  for (; i + kVirtualLanes <= n; i += kVirtualLanes) {
    if (next != nullptr) {
      for (int64_t row = 0; row < kRows; ++row) PrefetchLine(next[row] + i);
    }
    for (int64_t vector = 0; vector < vectors; ++vector) {
      for (int64_t row = 0; row < kRows; ++row) {
        const auto value = exponential(hn::LoadU(d, x[row] + i + vector * step), largest[row]);
        hn::StoreU(value, d, scratch + row * stride + i + vector * step);
        sums[row][vector] = hn::Add(sums[row][vector], value);
      }
    }
  }
  if (next != nullptr) {
    for (int64_t row = 0; row < kRows; ++row) PrefetchLine(next[row] + n - 1);
  }
#if HWY_TARGET == HWY_AVX3
  // The ends of four rows in one vector, where they fit: 100 classes are 6 vectors and 4 values.
  const hn::CappedTag<float, 4> d4;
  const hn::CappedTag<float, 8> d8;
  if constexpr (kRows == 4) {
    if (i < n && n - i <= 4) {
      const auto together = [&](const auto& of) HWY_ATTR {
        return hn::Combine(d, hn::Combine(d8, of(3), of(2)), hn::Combine(d8, of(1), of(0)));
      };
      const auto ends =
          together([&](int row) HWY_ATTR { return LoadMasked(d4, x[row] + i, n - i); });
      const auto most = together(
          [&](int row) HWY_ATTR { return hn::LowerHalf(d4, hn::LowerHalf(d8, largest[row])); });
      const auto values = exponential(ends, most);
      const auto first = hn::FirstN(d4, static_cast<size_t>(n - i));
      const auto keep = [&](int row, hn::Vec<decltype(d4)> value) HWY_ATTR {
        hn::StoreU(value, d4, scratch + row * stride + i);
        value = hn::IfThenElseZero(first, value);
        sums[row][0] =
            hn::Add(sums[row][0], hn::ZeroExtendVector(d, hn::ZeroExtendVector(d8, value)));
      };
      const auto lower = hn::LowerHalf(d8, values), upper = hn::UpperHalf(d8, values);
      keep(0, hn::LowerHalf(d4, lower));
      keep(1, hn::UpperHalf(d4, lower));
      keep(2, hn::LowerHalf(d4, upper));
      keep(3, hn::UpperHalf(d4, upper));
      i = n;
    }
  }
#endif
  for (int64_t v = 0; i < n; ++v, i += step) {
    const int64_t count = std::min(step, n - i);
    const auto first = hn::FirstN(d, static_cast<size_t>(count));
    for (int64_t row = 0; row < kRows; ++row) {
      const auto value = exponential(LoadFirst(x[row] + i, count, 0.0f), largest[row]);
      hn::StoreU(value, d, scratch + row * stride + i);
      // A zero is added in the lanes behind the end: no sum is negative.
      sums[row][v] = hn::Add(sums[row][v], hn::IfThenElseZero(first, value));
    }
  }
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t width = vectors / 2; width > 0; width /= 2) {
      for (int64_t v = 0; v < width; ++v) {
        sums[row][v] = hn::Add(sums[row][v], sums[row][v + width]);
      }
    }
    factors[row] = hn::Set(d, -1.0f / SumOfHalves(d, sums[row][0]));
    scales[row] = hn::Set(d, weights[row]);
  }

  const auto one = hn::Set(d, 1.0f);
  hn::Vec<decltype(di)> label[kRows];
  for (int64_t row = 0; row < kRows; ++row) label[row] = hn::Set(di, *labels[row]);
  auto classes = hn::Iota(di, 0);
  const auto add = [&](hn::Vec<Floats> total, int64_t at) HWY_ATTR {
    for (int64_t row = 0; row < kRows; ++row) {
      auto residual = hn::Mul(hn::LoadU(d, scratch + row * stride + at), factors[row]);
      const auto right = hn::RebindMask(d, hn::Eq(classes, label[row]));
      residual = hn::IfThenElse(right, hn::Add(residual, one), residual);
      total = hn::Add(total, hn::Mul(scales[row], residual));
    }
    classes = hn::Add(classes, hn::Set(di, static_cast<int32_t>(step)));
    return total;
  };
  for (i = 0; i < whole; i += step) hn::StoreU(add(hn::LoadU(d, sum + i), i), d, sum + i);
  if (i < n) StoreFirst(add(LoadFirst(sum + i, n - i, 0.0f), i), n - i, sum + i);
}

// From row `begin` on; returns the first that is left.
template <int64_t kRows, bool kDivide>
HWY_INLINE int64_t AddGroups(const float* weights, const float* const* logits,
                             const int32_t* const* labels, int64_t begin, int64_t count, int64_t n,
                             int64_t ahead, float temperature, float* scratch, float* sum) {
  int64_t i = begin;
  for (; i + kRows <= count; i += kRows) {
    const float* next[kRows];
    for (int64_t row = 0; row < kRows; ++row) {
      next[row] = logits[std::min(i + ahead + row, count - 1)];
    }
    AddResidualGroup<kRows, kDivide>(weights + i, logits + i, labels + i,
                                     i + ahead < count ? next : nullptr, n, temperature, scratch,
                                     sum);
  }
  return i;
}

template <bool kDivide>
HWY_INLINE void AddResiduals(const float* weights, const float* const* logits,
                             const int32_t* const* labels, int64_t count, int64_t n,
                             float temperature, float* scratch, float* sum) {
  // First one line of each: the processor looks up the addresses of several pages at a time, but
  // those of later ones only once it has found these.
  for (int64_t row = 0; row < count; ++row) {
    PrefetchLine(logits[row]);
    PrefetchLine(labels[row]);
  }
  if (n > kLongRow) {
    AddGroups<1, kDivide>(weights, logits, labels, 0, count, n, count, temperature, scratch, sum);
    return;
  }
  const int64_t ahead = kTogether * std::max<int64_t>(1, kFloatsAhead / (kTogether * n));
  for (int64_t row = 0; row < std::min(ahead, count); ++row) {
    for (int64_t i = 16; i < n; i += 16) PrefetchLine(logits[row] + i);
    PrefetchLine(logits[row] + n - 1);
  }
  int64_t i = AddGroups<kTogether, kDivide>(weights, logits, labels, 0, count, n, ahead,
                                            temperature, scratch, sum);
  i = AddGroups<2, kDivide>(weights, logits, labels, i, count, n, ahead, temperature, scratch, sum);
  AddGroups<1, kDivide>(weights, logits, labels, i, count, n, ahead, temperature, scratch, sum);
}

void AddSoftmaxResiduals(const float* weights, const float* const* logits,
                         const int32_t* const* labels, int64_t count, int64_t n, float temperature,
                         float* scratch, float* sum) {
  if (temperature == 1.0f) {
    AddResiduals<false>(weights, logits, labels, count, n, temperature, scratch, sum);
  } else {
    AddResiduals<true>(weights, logits, labels, count, n, temperature, scratch, sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(AddSoftmaxResiduals);

void AddSoftmaxResiduals(const float* weights, const float* const* logits,
                         const int32_t* const* labels, int64_t count, int64_t n, float temperature,
                         float* scratch, float* sum) {
  RESMEM_DISPATCH(AddSoftmaxResiduals)
  (weights, logits, labels, count, n, temperature, scratch, sum);
}

}  // namespace resmem
#endif  // HWY_ONCE
