#include "predict/blend_kernels.h"

#include <algorithm>
#include <cmath>
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

// body(i, count) for each vector, whole or what is left of one: apart, so that whole ones are not
// asked at every load and store whether they are.
template <class Body>
HWY_INLINE void ForVectors(int64_t n, const Body& body) {
  const int64_t step = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + step <= n; i += step) body(i, step);
  if (i < n) body(i, n - i);
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

// One sum for each of 16 virtual lanes, whatever the width of a vector.
class LaneSums {
 public:
  HWY_INLINE void Add(int64_t i, int64_t count, Vector v) {
    const Floats d;
    float* const lanes = sums_ + i % kVirtualLanes;
    const auto there = hn::FirstN(d, static_cast<size_t>(count));
    hn::Store(hn::Add(hn::Load(d, lanes), hn::IfThenElseZero(there, v)), d, lanes);
  }

  HWY_INLINE float Take() {
    const Floats d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t width = kVirtualLanes / 2; width >= step; width /= 2) {
      for (int64_t lane = 0; lane < width; lane += step) {
        hn::Store(hn::Add(hn::Load(d, sums_ + lane), hn::Load(d, sums_ + lane + width)), d,
                  sums_ + lane);
      }
    }
    return SumOfHalves(d, hn::Load(d, sums_));
  }

 private:
  HWY_ALIGN float sums_[kVirtualLanes] = {};
};

void Log(const float* x, int64_t n, float* out) {
  ForVectors(n, [=](int64_t i, int64_t count)
                    HWY_ATTR { StoreSome(LogOf(LoadSome(x + i, count, 1.0f)), count, out + i); });
}

// As many accumulators as fill the virtual lanes, so that every width adds up in the same order.
struct Accumulators {
  Vector parts[kVirtualLanes];
  HWY_INLINE void Fill(Vector v) {
    for (Vector& part : parts) part = v;
  }
  HWY_INLINE float Sum() {
    const Floats d;
    for (int64_t width = kVirtualLanes / static_cast<int64_t>(hn::Lanes(d)) / 2; width > 0;
         width /= 2) {
      for (int64_t v = 0; v < width; ++v) parts[v] = hn::Add(parts[v], parts[v + width]);
    }
    return SumOfHalves(d, parts[0]);
  }
};

// body(v, i, count): vector v of those that fill the virtual lanes, from value i on.
template <class Body>
HWY_INLINE void ForLanes(int64_t n, const Body& body) {
  const int64_t step = static_cast<int64_t>(hn::Lanes(Floats())), vectors = kVirtualLanes / step;
  int64_t i = 0;
  for (; i + kVirtualLanes <= n; i += kVirtualLanes) {
    for (int64_t v = 0; v < vectors; ++v) body(v, i + v * step, step);
  }
  for (int64_t v = 0; i < n; ++v, i += step) body(v, i, std::min(step, n - i));
}

BaseShape BaseExponentials(const float* logits, int64_t n, float temperature, float* e) {
  const Floats d;
  // Squares are summed around a value that is not an outlier.
  const float a = logits[0], b = logits[n / 2], c = logits[n - 1];
  const float middle = std::max(std::min(a, b), std::min(std::max(a, b), c));
  const Vector pivot = hn::Set(d, middle), least = hn::Set(d, kLeastLog);
  const Vector most = hn::Neg(least);
  Accumulators largest, sums, squares, total;
  largest.Fill(hn::Set(d, std::numeric_limits<float>::lowest()));
  for (Accumulators* one : {&sums, &squares, &total}) one->Fill(hn::Zero(d));
  ForLanes(n, [&](int64_t v, int64_t i, int64_t count) HWY_ATTR {
    const Vector x = LoadSome(logits + i, count, middle);  // nothing to either sum
    const Vector away = hn::Min(hn::Max(hn::Sub(x, pivot), least), most);
    largest.parts[v] = hn::Max(largest.parts[v], x);
    sums.parts[v] = hn::Add(sums.parts[v], away);
    squares.parts[v] = hn::Add(squares.parts[v], hn::Mul(away, away));
  });
  Vector top = largest.parts[0];
  for (int64_t v = 1; v < kVirtualLanes / static_cast<int64_t>(hn::Lanes(d)); ++v) {
    top = hn::Max(top, largest.parts[v]);
  }
  top = hn::MaxOfLanes(d, top);
  const Vector inverse = hn::Set(d, 1 / temperature);
  ForLanes(n, [&](int64_t v, int64_t i, int64_t count) HWY_ATTR {
    const Vector over = hn::Sub(LoadSome(logits + i, count, 0.0f), top);
    const Vector value = ExpOf<Range::kNotPositive>(d, hn::Max(hn::Mul(over, inverse), least));
    StoreSome(value, count, e + i);
    const auto there = hn::FirstN(d, static_cast<size_t>(count));
    total.parts[v] = hn::Add(total.parts[v], hn::IfThenElseZero(there, value));
  });
  BaseShape shape;
  shape.largest = hn::GetLane(top);
  shape.total = total.Sum();
  const double values = static_cast<double>(n), mean = static_cast<double>(sums.Sum()) / values;
  const double variance = static_cast<double>(squares.Sum()) / values - mean * mean;
  shape.spread = static_cast<float>(std::sqrt(std::max(variance, 0.0)));
  return shape;
}

float BaseLogs(const float* logits, int64_t n, float temperature, float* shifted, float* p,
               float* log_p) {
  const Floats d;
  const BaseShape shape = BaseExponentials(logits, n, temperature, p);
  const Vector largest = hn::Set(d, shape.largest), inverse = hn::Set(d, 1 / temperature);
  const Vector least = hn::Set(d, kLeastLog);
  const Vector factor = hn::Set(d, 1.0f / shape.total), log_total = LogOf(hn::Set(d, shape.total));
  ForVectors(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const Vector over = hn::Sub(LoadSome(logits + i, count, shape.largest), largest);
    StoreSome(hn::Max(over, least), count, shifted + i);
    StoreSome(hn::Sub(hn::Max(hn::Mul(over, inverse), least), log_total), count, log_p + i);
    StoreSome(hn::Mul(LoadSome(p + i, count, 0.0f), factor), count, p + i);
  });
  return shape.spread;
}

// Classes that no neighbor has as its label: A = 0, B = -(A - B).
void EtaWithoutLabels(const EtaTerms& terms, const float* logits, const float* e, int64_t n,
                      float* sum, float* eta) {
  const Floats d;
  const float inverse = 1 / terms.base_temperature;
  const Vector largest = hn::Set(d, terms.shape.largest), least = hn::Set(d, kLeastLog);
  const Vector zero = hn::Zero(d), slope = hn::Set(d, inverse);
  // log(a p) = log_a + over / T0, and what it is worth beside the base's own part.
  const Vector log_a =
      hn::Sub(LogOf(hn::Set(d, terms.prior)), LogOf(hn::Set(d, terms.shape.total)));
  const Vector a_p = hn::Mul(hn::Set(d, terms.prior), hn::Set(d, 1.0f / terms.shape.total));
  const Vector normal = hn::Set(d, std::numeric_limits<float>::min());
  const Vector b0 = hn::Set(d, terms.b[0] + terms.b[1] * inverse), b1 = hn::Set(d, terms.b[1]),
               b2 = hn::Set(d, terms.b[2]), b3 = hn::Set(d, terms.b[3]);
  const Vector constant = hn::Mul(b1, log_a), scale = hn::Set(d, terms.scale);
  ForVectors(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const Vector over =
        hn::Max(hn::Sub(LoadSome(logits + i, count, terms.shape.largest), largest), least);
    const Vector residual = hn::Mul(LoadSome(sum + i, count, 0.0f), scale);
    StoreSome(zero, count, sum + i);
    const Vector expected = hn::Sub(zero, residual);
    const Vector without = hn::Add(log_a, hn::Mul(slope, over));
    Vector log_expected = without;
    const auto positive = hn::Gt(expected, zero);
    // Most classes have no neighbor where there are many.
    if (!hn::AllFalse(d, positive)) {
      const Vector mixture = hn::Add(expected, hn::Mul(a_p, LoadSome(e + i, count, 0.0f)));
      const auto from_sum = hn::And(positive, hn::Ge(mixture, normal));
      log_expected = hn::IfThenElse(from_sum, LogOf(hn::Max(mixture, normal)), without);
    }
    Vector value = hn::Add(constant, hn::Mul(b0, over));
    value = hn::Add(value, hn::Mul(b2, log_expected));
    value = hn::Add(value, hn::Mul(b3, residual));
    StoreSome(value, count, eta + i);
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
HWY_EXPORT(BaseExponentials);
HWY_EXPORT(BaseLogs);
HWY_EXPORT(EtaWithoutLabels);
HWY_EXPORT(LogMixture);
HWY_EXPORT(CombineParts);

void Log(const float* x, int64_t n, float* out) {
  RESMEM_DISPATCH(Log)(x, n, out);
}
BaseShape BaseExponentials(const float* logits, int64_t n, float temperature, float* e) {
  return RESMEM_DISPATCH(BaseExponentials)(logits, n, temperature, e);
}
float BaseLogs(const float* logits, int64_t n, float temperature, float* shifted, float* p,
               float* log_p) {
  return RESMEM_DISPATCH(BaseLogs)(logits, n, temperature, shifted, p, log_p);
}
void EtaWithoutLabels(const EtaTerms& terms, const float* logits, const float* e, int64_t n,
                      float* sum, float* eta) {
  RESMEM_DISPATCH(EtaWithoutLabels)(terms, logits, e, n, sum, eta);
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
