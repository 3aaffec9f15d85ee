#include "kernels/row_sums.h"

#include <algorithm>

#include "kernels/number_codec.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_sums.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
// Rows that are added in one pass over the sum; as many are fetched meanwhile.
constexpr int64_t kTogether = 4;
// What is on its way from memory at any time, so that it is there when it is needed.
constexpr int64_t kBytesAhead = 8192;
// A row of more bytes is fetched by the processor itself, and four of them would not stay.
constexpr int64_t kLongRow = 65536;

HWY_INLINE hn::Vec<Floats> Load(const float* x) {
  return hn::LoadU(Floats(), x);
}

#undef RESMEM_HAS_HALVES
#define RESMEM_HAS_HALVES \
  (HWY_ARCH_X86 && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3))  // they have F16C
#if RESMEM_HAS_HALVES
HWY_INLINE hn::Vec<Floats> Load(const uint16_t* halves) {
  const hn::Rebind<hwy::float16_t, Floats> half_tag;
  const hn::Rebind<uint16_t, Floats> bits_tag;
  return hn::PromoteTo(Floats(), hn::BitCast(half_tag, hn::LoadU(bits_tag, halves)));
}
#endif

// One group of rows, while `next`, as many as kTogether, are fetched; or null.
template <int64_t kRows, class T>
HWY_INLINE void AddGroup(const float* weights, const T* const* rows, const T* const* next,
                         int64_t n, float* sum) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  const T* x[kRows];
  hn::Vec<Floats> factors[kRows];
  for (int64_t row = 0; row < kRows; ++row) {
    x[row] = rows[row];
    factors[row] = hn::Set(d, weights[row]);
  }
  const auto add = [&](int64_t i) HWY_ATTR {
    auto total = hn::LoadU(d, sum + i);
    for (int64_t row = 0; row < kRows; ++row) {
      total = hn::Add(total, hn::Mul(factors[row], Load(x[row] + i)));
    }
    hn::StoreU(total, d, sum + i);
  };
  int64_t i = 0;
  for (; i + kLine <= n; i += kLine) {
    if (next != nullptr) {
      for (int64_t row = 0; row < kTogether; ++row) __builtin_prefetch(next[row] + i);
    }
    for (int64_t j = 0; j < kLine; j += step) add(i + j);
  }
  if (next != nullptr) {
    for (int64_t row = 0; row < kTogether; ++row) __builtin_prefetch(next[row] + n - 1);
  }
  for (; i + step <= n; i += step) add(i);
  if (i == n) return;
  float rest[16];  // of one row, as floats
  for (int64_t row = 0; row < kRows; ++row) {
    const float* values = rest;
    if constexpr (sizeof(T) == sizeof(float)) {
      values = x[row] + i;
    } else {
      HalfToFloat(x[row] + i, n - i, rest);
    }
    for (int64_t j = i; j < n; ++j) sum[j] += weights[row] * values[j - i];
  }
}

template <class T>
HWY_INLINE void AddGroups(const float* weights, const T* const* rows, int64_t count, int64_t n,
                          float* sum) {
  if (n == 0) return;
  const int64_t row_bytes = n * static_cast<int64_t>(sizeof(T));
  const bool fetch = row_bytes <= kLongRow;
  const int64_t ahead = kTogether * std::max<int64_t>(1, kBytesAhead / (kTogether * row_bytes));
  for (int64_t row = 0; fetch && row < std::min(ahead, count); ++row) {
    const char* place = reinterpret_cast<const char*>(rows[row]);
    for (int64_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(place + at);
    __builtin_prefetch(place + row_bytes - 1);
  }
  int64_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    const T* next[kTogether];
    for (int64_t row = 0; row < kTogether; ++row) {
      next[row] = rows[std::min(i + ahead + row, count - 1)];
    }
    const bool more = fetch && i + ahead < count;
    AddGroup<kTogether>(weights + i, rows + i, more ? next : nullptr, n, sum);
  }
  for (; i < count; ++i) AddGroup<1, T>(weights + i, rows + i, nullptr, n, sum);
}

void AddRows(const float* weights, const float* const* rows, int64_t count, int64_t n, float* sum) {
  AddGroups(weights, rows, count, n, sum);
}

#if RESMEM_HAS_HALVES

void AddHalfRows(const float* weights, const uint16_t* const* rows, int64_t count, int64_t n,
                 float* sum) {
  AddGroups(weights, rows, count, n, sum);
}

#else

void AddHalfRows(const float* weights, const uint16_t* const* rows, int64_t count, int64_t n,
                 float* sum) {
  constexpr int64_t kPiece = 256;
  float values[kPiece];
  const float* const place = values;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t size = std::min(kPiece, n - i);
      HalfToFloat(rows[row] + i, size, values);
      AddGroups(weights + row, &place, 1, size, sum + i);
    }
  }
}

#endif

template <bool kTouched, class Place>
HWY_INLINE int64_t AddAtPlaces(float weight, const float* values, const Place* places,
                               int64_t count, int64_t n, float* sum, uint32_t* touched) {
  int64_t j = 0, found = 0;
#if HWY_TARGET == HWY_AVX3  // it can write to sixteen places at once
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const hn::RebindToSigned<Floats> di;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto end = hn::Set(du, static_cast<uint32_t>(std::min<int64_t>(n, INT32_MAX)));
  const auto factor = hn::Set(d, weight);
  for (; j + step <= count; j += step) {
    hn::Vec<decltype(du)> place;
    if constexpr (sizeof(Place) == 2) {
      place = hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint16_t, Floats>(), places + j));
    } else {
      place = hn::LoadU(du, places + j);
    }
    if (!hn::AllTrue(du, hn::Lt(place, end))) break;
    const auto index = hn::BitCast(di, place);
    const auto before = hn::GatherIndex(d, sum, index);
    const auto product = hn::Mul(factor, hn::LoadU(d, values + j));
    hn::ScatterIndex(hn::Add(before, product), d, sum, index);
    if constexpr (kTouched) {
      const auto first = hn::RebindMask(du, hn::Eq(before, hn::Zero(d)));
      hn::StoreU(hn::Compress(place, first), du, touched + found);
      found += static_cast<int64_t>(hn::CountTrue(du, first));
    }
  }
#endif
  for (; j < count; ++j) {
    if (places[j] >= n) continue;
    float& total = sum[places[j]];
    if constexpr (kTouched) {
      touched[found] = places[j];
      found += total == 0 ? 1 : 0;
    }
    total += weight * values[j];
  }
  return found;
}

template <class Place>
HWY_INLINE int64_t AddPlaces(float weight, const float* values, const Place* places, int64_t count,
                             int64_t n, float* sum, uint32_t* touched) {
  return touched != nullptr ? AddAtPlaces<true>(weight, values, places, count, n, sum, touched)
                            : AddAtPlaces<false>(weight, values, places, count, n, sum, touched);
}

int64_t AddNarrowEntries(float weight, const float* values, const uint16_t* places, int64_t count,
                         int64_t n, float* sum, uint32_t* touched) {
  return AddPlaces(weight, values, places, count, n, sum, touched);
}
int64_t AddWideEntries(float weight, const float* values, const uint32_t* places, int64_t count,
                       int64_t n, float* sum, uint32_t* touched) {
  return AddPlaces(weight, values, places, count, n, sum, touched);
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(AddRows);
HWY_EXPORT(AddHalfRows);
HWY_EXPORT(AddNarrowEntries);
HWY_EXPORT(AddWideEntries);

void AddRows(const float* weights, const float* const* rows, int64_t count, int64_t n, float* sum) {
  RESMEM_DISPATCH(AddRows)(weights, rows, count, n, sum);
}
void AddHalfRows(const float* weights, const uint16_t* const* rows, int64_t count, int64_t n,
                 float* sum) {
  RESMEM_DISPATCH(AddHalfRows)(weights, rows, count, n, sum);
}
int64_t AddEntries(float weight, const float* values, const uint16_t* places, int64_t count,
                   int64_t n, float* sum, uint32_t* touched) {
  return RESMEM_DISPATCH(AddNarrowEntries)(weight, values, places, count, n, sum, touched);
}
int64_t AddEntries(float weight, const float* values, const uint32_t* places, int64_t count,
                   int64_t n, float* sum, uint32_t* touched) {
  return RESMEM_DISPATCH(AddWideEntries)(weight, values, places, count, n, sum, touched);
}

}  // namespace resmem
#endif  // HWY_ONCE
