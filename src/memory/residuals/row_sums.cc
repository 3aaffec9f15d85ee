#include "memory/residuals/row_sums.h"

#include <algorithm>
#include <cstring>

#include "kernels/number_codec.h"
#include "kernels/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/residuals/row_sums.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Places = hn::RebindToUnsigned<Floats>;
// Rows that are added in one pass over the sum; as many are fetched meanwhile.
constexpr int64_t kTogether = 4;
// What is on its way from memory at any time, so that it is there when it is needed.
constexpr int64_t kBytesAhead = 24576;
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
      for (int64_t row = 0; row < kTogether; ++row) PrefetchLine(next[row] + i);
    }
    for (int64_t j = 0; j < kLine; j += step) add(i + j);
  }
  if (next != nullptr) {
    for (int64_t row = 0; row < kTogether; ++row) PrefetchLine(next[row] + n - 1);
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
    PrefetchLines(rows[row], row_bytes);
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

#if HWY_TARGET == HWY_AVX3

// The next sixteen places; false where one of them is not below `end`.
template <class Place>
HWY_INLINE bool LoadPlaces(const Place* places, hn::Vec<Places> end, hn::Vec<Places>* out) {
  const Places d;
  if constexpr (sizeof(Place) == 2) {
    *out = hn::PromoteTo(d, hn::LoadU(hn::Rebind<uint16_t, Places>(), places));
  } else {
    *out = hn::LoadU(d, places);
  }
  return hn::AllTrue(d, hn::Lt(*out, end));
}

// Sixteen entries; those whose sum was 0.
template <class Value>
HWY_INLINE hn::Mask<Places> AddByScatter(hn::Vec<Floats> weight, const Value* values,
                                         hn::Vec<Places> place, float* sum) {
  const Floats d;
  const auto index = hn::BitCast(hn::RebindToSigned<Floats>(), place);
  const auto before = hn::GatherIndex(d, sum, index);
  hn::ScatterIndex(hn::Add(before, hn::Mul(weight, Load(values))), d, sum, index);
  return hn::RebindMask(Places(), hn::Eq(before, hn::Zero(d)));
}

HWY_INLINE __m128 LoadFour(const float* x) {
  return _mm_loadu_ps(x);
}
HWY_INLINE __m128 LoadFour(const uint16_t* halves) {
  return _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(halves)));
}

// Four entries; their sums before.
template <class Value, class Place>
HWY_INLINE __m128 AddFour(__m128 weight, const Value* values, const Place* places, float* sum) {
  uint64_t a, b, c, d;
  if constexpr (sizeof(Place) == 2) {
    // Loads and stores are what it waits for: one load for all four.
    uint64_t four;
    std::memcpy(&four, places, sizeof(four));
    a = four & 0xffff;
    b = four >> 16 & 0xffff;
    c = four >> 32 & 0xffff;
    d = four >> 48;
  } else {
    a = places[0], b = places[1], c = places[2], d = places[3];
  }
  // g++ would keep addresses, more than it has registers for.
  asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  __m128 before = _mm_load_ss(sum + a);
  before = _mm_insert_ps(before, _mm_load_ss(sum + b), 0x10);
  before = _mm_insert_ps(before, _mm_load_ss(sum + c), 0x20);
  before = _mm_insert_ps(before, _mm_load_ss(sum + d), 0x30);
  const __m128 after = _mm_add_ps(before, _mm_mul_ps(weight, LoadFour(values)));
  sum[a] = after[0];
  sum[b] = after[1];
  sum[c] = after[2];
  sum[d] = after[3];
  return before;
}

// Sixteen entries; those whose sum was 0.
template <class Value, class Place>
HWY_INLINE hn::Mask<Places> AddByFours(float weight, const Value* values, const Place* places,
                                       float* sum) {
  const __m128 w = _mm_set1_ps(weight);
  const __m128 a = AddFour(w, values, places, sum), b = AddFour(w, values + 4, places + 4, sum),
               c = AddFour(w, values + 8, places + 8, sum),
               d = AddFour(w, values + 12, places + 12, sum);
  const __m512 before = _mm512_insertf32x4(
      _mm512_insertf32x4(_mm512_insertf32x4(_mm512_castps128_ps512(a), b, 1), c, 2), d, 3);
  return hn::RebindMask(Places(), hn::Eq(hn::Vec<Floats>{before}, hn::Zero(Floats())));
}

#endif

template <bool kTouched, class Value, class Place>
HWY_INLINE int64_t AddAtPlaces(float weight, const Value* values, const Place* places,
                               int64_t count, int64_t n, [[maybe_unused]] bool scatter, float* sum,
                               uint32_t* touched) {
  int64_t j = 0, found = 0;
#if HWY_TARGET == HWY_AVX3
  constexpr int64_t kStep = 16;
  const Places du;
  const auto end = hn::Set(du, static_cast<uint32_t>(std::min<int64_t>(n, INT32_MAX)));
  hn::Vec<Places> place;
  for (; j + kStep <= count && LoadPlaces(places + j, end, &place); j += kStep) {
    const auto first = scatter ? AddByScatter(hn::Set(Floats(), weight), values + j, place, sum)
                               : AddByFours(weight, values + j, places + j, sum);
    if constexpr (kTouched) {
      hn::StoreU(hn::Compress(place, first), du, touched + found);
      found += static_cast<int64_t>(hn::CountTrue(du, first));
    }
  }
#endif
  while (j < count) {
    constexpr int64_t kPiece = 64;
    const int64_t stop = std::min(count, j + kPiece);
    float buffer[kPiece];
    const float* floats = buffer;
    if constexpr (sizeof(Value) == sizeof(float)) {
      floats = values + j;
    } else {
      HalfToFloat(values + j, stop - j, buffer);
    }
    for (; j < stop; ++j, ++floats) {
      if (places[j] >= n) continue;
      float& total = sum[places[j]];
      if constexpr (kTouched) {
        touched[found] = places[j];
        found += total == 0 ? 1 : 0;
      }
      total += weight * *floats;
    }
  }
  return found;
}

// Of a row that is used next; the processor itself goes on from there.
template <class Value, class Place>
HWY_INLINE void PrefetchStart(const Value* values, const Place* places, int64_t count) {
  constexpr int64_t kMost = 512, kLine = 64;
  count = std::min(count, kMost);
  for (int64_t i = 0; i < count; i += kLine / static_cast<int64_t>(sizeof(Value))) {
    PrefetchNear(values + i);
  }
  for (int64_t i = 0; i < count; i += kLine / static_cast<int64_t>(sizeof(Place))) {
    PrefetchNear(places + i);
  }
}

template <class Value, class Place>
HWY_INLINE int64_t AddEntryRows(const float* weights, const Value* const* values,
                                const Place* const* places, int64_t rows, int64_t count, int64_t n,
                                float* sum, uint32_t* touched) {
  const bool scatter = UsesScatter();
  int64_t found = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (row + 1 < rows) PrefetchStart(values[row + 1], places[row + 1], count);
    if (touched != nullptr) {
      found += AddAtPlaces<true>(weights[row], values[row], places[row], count, n, scatter, sum,
                                 touched + found);
    } else {
      AddAtPlaces<false>(weights[row], values[row], places[row], count, n, scatter, sum, touched);
    }
  }
  return found;
}

int64_t AddNarrowEntries(const float* weights, const float* const* values,
                         const uint16_t* const* places, int64_t rows, int64_t count, int64_t n,
                         float* sum, uint32_t* touched) {
  return AddEntryRows(weights, values, places, rows, count, n, sum, touched);
}
int64_t AddWideEntries(const float* weights, const float* const* values,
                       const uint32_t* const* places, int64_t rows, int64_t count, int64_t n,
                       float* sum, uint32_t* touched) {
  return AddEntryRows(weights, values, places, rows, count, n, sum, touched);
}
int64_t AddNarrowHalves(const float* weights, const uint16_t* const* values,
                        const uint16_t* const* places, int64_t rows, int64_t count, int64_t n,
                        float* sum, uint32_t* touched) {
  return AddEntryRows(weights, values, places, rows, count, n, sum, touched);
}
int64_t AddWideHalves(const float* weights, const uint16_t* const* values,
                      const uint32_t* const* places, int64_t rows, int64_t count, int64_t n,
                      float* sum, uint32_t* touched) {
  return AddEntryRows(weights, values, places, rows, count, n, sum, touched);
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
HWY_EXPORT(AddNarrowHalves);
HWY_EXPORT(AddWideHalves);

void AddRows(const float* weights, const float* const* rows, int64_t count, int64_t n, float* sum) {
  RESMEM_DISPATCH(AddRows)(weights, rows, count, n, sum);
}
void AddHalfRows(const float* weights, const uint16_t* const* rows, int64_t count, int64_t n,
                 float* sum) {
  RESMEM_DISPATCH(AddHalfRows)(weights, rows, count, n, sum);
}
int64_t AddEntries(const float* weights, const float* const* values, const uint16_t* const* places,
                   int64_t rows, int64_t count, int64_t n, float* sum, uint32_t* touched) {
  return RESMEM_DISPATCH(AddNarrowEntries)(weights, values, places, rows, count, n, sum, touched);
}
int64_t AddEntries(const float* weights, const float* const* values, const uint32_t* const* places,
                   int64_t rows, int64_t count, int64_t n, float* sum, uint32_t* touched) {
  return RESMEM_DISPATCH(AddWideEntries)(weights, values, places, rows, count, n, sum, touched);
}
int64_t AddEntries(const float* weights, const uint16_t* const* values,
                   const uint16_t* const* places, int64_t rows, int64_t count, int64_t n,
                   float* sum, uint32_t* touched) {
  return RESMEM_DISPATCH(AddNarrowHalves)(weights, values, places, rows, count, n, sum, touched);
}
int64_t AddEntries(const float* weights, const uint16_t* const* values,
                   const uint32_t* const* places, int64_t rows, int64_t count, int64_t n,
                   float* sum, uint32_t* touched) {
  return RESMEM_DISPATCH(AddWideHalves)(weights, values, places, rows, count, n, sum, touched);
}

namespace {

bool& TheScatter() {
#if HWY_ARCH_X86
  static bool use = !__builtin_cpu_is("amd");
#else
  static bool use = false;
#endif
  return use;
}

}  // namespace

bool UsesScatter() {
  return TheScatter();
}

ScopedScatter::ScopedScatter(bool use) : previous_(UsesScatter()) {
  TheScatter() = use;
}
ScopedScatter::~ScopedScatter() {
  TheScatter() = previous_;
}

}  // namespace resmem
#endif  // HWY_ONCE
