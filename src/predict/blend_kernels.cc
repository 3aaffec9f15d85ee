#include "predict/blend_kernels.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "predict/blend_kernels.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/exponential-inl.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Vector = hn::Vec<Floats>;

// A class less likely than this is out of the question; finite, so that no product is NaN.
constexpr float kLeastLog = -1e4f;

// x = 2^e m, m from 0.7071 to 1.4142; log m is the polynomial of Cephes' logf.
HWY_INLINE Vector LogOf(Vector x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto bits = hn::BitCast(di, x);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const Vector t =
      hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), hn::Set(d, 1.0f));
  const Vector e = hn::ConvertTo(d, exponent), square = hn::Mul(t, t);
  Vector p = hn::Set(d, 7.0376836292e-2f);
  p = hn::Add(hn::Mul(p, t), hn::Set(d, -1.1514610310e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, 1.1676998740e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, -1.2420140846e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, 1.4249322787e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, -1.6668057665e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, 2.0000714765e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, -2.4999993993e-1f));
  p = hn::Add(hn::Mul(p, t), hn::Set(d, 3.3333331174e-1f));
  Vector y = hn::Mul(hn::Mul(p, t), square);
  y = hn::Add(y, hn::Mul(e, hn::Set(d, -2.12194440e-4f)));
  y = hn::Sub(y, hn::Mul(square, hn::Set(d, 0.5f)));
  return hn::Add(hn::Add(t, y), hn::Mul(e, hn::Set(d, 0.693359375f)));
}

// body(i, count) for each vector, whole or what is left of one.
template <class Body>
HWY_INLINE void ForVectors(int64_t n, const Body& body) {
  const int64_t step = static_cast<int64_t>(hn::Lanes(Floats()));
  for (int64_t i = 0; i < n; i += step) body(i, std::min(step, n - i));
}

HWY_INLINE Vector LoadSome(const float* x, int64_t count, float rest) {
  const Floats d;
  const bool whole = count == static_cast<int64_t>(hn::Lanes(d));
  return whole ? hn::LoadU(d, x) : LoadFirst(x, count, rest);
}

HWY_INLINE void StoreSome(Vector v, int64_t count, float* out) {
  const Floats d;
  if (count == static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, out);
  StoreFirst(v, count, out);
}

void Log(const float* x, int64_t n, float* out) {
  ForVectors(n, [=](int64_t i, int64_t count)
                    HWY_ATTR { StoreSome(LogOf(LoadSome(x + i, count, 1.0f)), count, out + i); });
}

void BaseLogs(const float* logits, int64_t n, float temperature, float* shifted, float* p,
              float* log_p) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  Vector most = hn::Set(d, kLowest);
  ForVectors(n, [&](int64_t i, int64_t count)
                    HWY_ATTR { most = hn::Max(most, LoadSome(logits + i, count, kLowest)); });
  const Vector largest = hn::MaxOfLanes(d, most);
  const Vector divisor = hn::Set(d, temperature), least = hn::Set(d, kLeastLog);
  // One sum for each of 16 virtual lanes, whatever the width of a vector.
  HWY_ALIGN float sums[kVirtualLanes] = {};
  ForVectors(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const Vector over = hn::Sub(LoadSome(logits + i, count, kLowest), largest);
    const Vector log = hn::Max(hn::Div(over, divisor), least);
    const Vector e = ExpOf<Range::kNotPositive>(d, log);
    StoreSome(hn::Max(over, least), count, shifted + i);
    StoreSome(log, count, log_p + i);
    StoreSome(e, count, p + i);
    float* const lanes = sums + i % kVirtualLanes;
    const auto there = hn::FirstN(d, static_cast<size_t>(count));
    hn::Store(hn::Add(hn::Load(d, lanes), hn::IfThenElseZero(there, e)), d, lanes);
  });
  for (int64_t width = kVirtualLanes / 2; width >= step; width /= 2) {
    for (int64_t lane = 0; lane < width; lane += step) {
      hn::Store(hn::Add(hn::Load(d, sums + lane), hn::Load(d, sums + lane + width)), d,
                sums + lane);
    }
  }
  const float total = SumOfHalves(d, hn::Load(d, sums));
  const Vector factor = hn::Set(d, 1.0f / total), log_total = LogOf(hn::Set(d, total));
  ForVectors(n, [&](int64_t i, int64_t count) HWY_ATTR {
    StoreSome(hn::Mul(LoadSome(p + i, count, 0.0f), factor), count, p + i);
    StoreSome(hn::Sub(LoadSome(log_p + i, count, 0.0f), log_total), count, log_p + i);
  });
}

void LogMixture(const float* sum, float prior, const float* p, const float* log_p, int64_t n,
                float* out) {
  const Floats d;
  const Vector a = hn::Set(d, prior), log_a = LogOf(a), zero = hn::Zero(d);
  const Vector normal = hn::Set(d, std::numeric_limits<float>::min());
  ForVectors(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const Vector s = LoadSome(sum + i, count, 0.0f);
    const Vector without = hn::Add(log_a, LoadSome(log_p + i, count, 0.0f));
    const auto positive = hn::Gt(s, zero);
    // Most classes have no neighbor where there are many.
    if (hn::AllFalse(d, positive)) return StoreSome(without, count, out + i);
    const Vector mixture = hn::Add(s, hn::Mul(a, LoadSome(p + i, count, 0.0f)));
    const auto from_sum = hn::And(positive, hn::Ge(mixture, normal));
    StoreSome(hn::IfThenElse(from_sum, LogOf(hn::Max(mixture, normal)), without), count, out + i);
  });
}

void CombineParts(const float* b, const float* const* parts, int64_t n, float* out) {
  const Floats d;
  const Vector b0 = hn::Set(d, b[0]), b1 = hn::Set(d, b[1]), b2 = hn::Set(d, b[2]),
               b3 = hn::Set(d, b[3]);
  ForVectors(n, [&](int64_t i, int64_t count) HWY_ATTR {
    Vector eta = hn::Mul(b0, LoadSome(parts[0] + i, count, 0.0f));
    eta = hn::Add(eta, hn::Mul(b1, LoadSome(parts[1] + i, count, 0.0f)));
    eta = hn::Add(eta, hn::Mul(b2, LoadSome(parts[2] + i, count, 0.0f)));
    eta = hn::Add(eta, hn::Mul(b3, LoadSome(parts[3] + i, count, 0.0f)));
    StoreSome(eta, count, out + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(Log);
HWY_EXPORT(BaseLogs);
HWY_EXPORT(LogMixture);
HWY_EXPORT(CombineParts);

void Log(const float* x, int64_t n, float* out) {
  RESMEM_DISPATCH(Log)(x, n, out);
}
void BaseLogs(const float* logits, int64_t n, float temperature, float* shifted, float* p,
              float* log_p) {
  RESMEM_DISPATCH(BaseLogs)(logits, n, temperature, shifted, p, log_p);
}
void LogMixture(const float* sum, float prior, const float* p, const float* log_p, int64_t n,
                float* out) {
  RESMEM_DISPATCH(LogMixture)(sum, prior, p, log_p, n, out);
}
void CombineParts(const float* b, const float* const* parts, int64_t n, float* out) {
  RESMEM_DISPATCH(CombineParts)(b, parts, n, out);
}

}  // namespace resmem
#endif  // HWY_ONCE
