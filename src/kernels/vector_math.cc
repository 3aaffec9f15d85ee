#include "kernels/vector_math.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector_math.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/exponential-inl.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using OneFloat = hn::CappedTag<float, 1>;

// out[i] = function(in[i]); nothing beyond n is touched.
template <class Function>
HWY_INLINE void Map(const float* in, int64_t n, float* out, const Function& function) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) hn::StoreU(function(hn::LoadU(d, in + i)), d, out + i);
  if (i < n) StoreFirst(function(LoadFirst(in + i, n - i, 0.0f)), n - i, out + i);
}

void Exp(const float* x, int64_t n, float* out) {
  Map(x, n, out, [](auto v) HWY_ATTR { return ExpOf(Floats(), v); });
}

float SumOfLanes(float* lanes) {
  for (int64_t width = kVirtualLanes / 2; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

float Sum(const float* x, int64_t n) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));  // divides kVirtualLanes
  HWY_ALIGN float lanes[kVirtualLanes] = {};
  int64_t i = 0;
  for (; i + kVirtualLanes <= n; i += kVirtualLanes) {
    for (int64_t lane = 0; lane < kVirtualLanes; lane += step) {
      hn::Store(hn::Add(hn::Load(d, lanes + lane), hn::LoadU(d, x + i + lane)), d, lanes + lane);
    }
  }
  for (int64_t lane = 0; i < n; ++i, ++lane) lanes[lane] += x[i];
  return SumOfLanes(lanes);
}

// value(d, i): the values at i, i + 1, ... in a vector of the tag d.  The largest does not
// depend on the order of comparisons (+0 and -0 are equal to all who use it).
template <class Value>
HWY_INLINE float Largest(int64_t n, const Value& value) {
  const Floats d;
  const OneFloat one;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  auto largest = hn::Set(d, -std::numeric_limits<float>::infinity());
  int64_t i = 0;
  for (; i + step <= n; i += step) largest = hn::Max(largest, value(d, i));
  if (i < n && n >= step) {  // some are looked at again
    largest = hn::Max(largest, value(d, n - step));
    i = n;
  }
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < n; ++i) result = std::max(result, hn::GetLane(value(one, i)));
  return result;
}

template <class Value>
HWY_INLINE int64_t FirstLargest(int64_t n, const Value& value) {
  const float largest = Largest(n, value);
  const Floats d;
  const OneFloat one;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto wanted = hn::Set(d, largest);
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const intptr_t lane = hn::FindFirstTrue(d, hn::Eq(value(d, i), wanted));
    if (lane >= 0) return i + lane;
  }
  while (i < n - 1 && hn::GetLane(value(one, i)) != largest) ++i;
  return i;
}

struct ValueAt {
  const float* x;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, int64_t i) const {
    return hn::LoadU(d, x + i);
  }
};

struct ValueOfSumAt {
  const float* base;
  const float* sum;
  float scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, int64_t i) const {
    return hn::Add(hn::LoadU(d, base + i), hn::Mul(hn::LoadU(d, sum + i), hn::Set(d, scale)));
  }
};

struct ValueOfMixAt {
  float lambda;
  const float* base;
  const float* sum;
  float scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, int64_t i) const {
    const auto mixed_in = hn::Mul(hn::LoadU(d, sum + i), hn::Set(d, scale));
    return hn::Add(hn::Mul(hn::Set(d, 1.0f - lambda), hn::LoadU(d, base + i)),
                   hn::Mul(hn::Set(d, lambda), mixed_in));
  }
};

// out[i] = exponential(in[i]); returns their Sum(), whose order it keeps.
template <class Function>
HWY_INLINE float MapAndSum(const float* in, int64_t n, float* out, const Function& exponential) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const int64_t vectors = kVirtualLanes / step;
  hn::Vec<Floats> sums[kVirtualLanes];
  for (int64_t v = 0; v < vectors; ++v) sums[v] = hn::Zero(d);
  int64_t i = 0;
  for (; i + kVirtualLanes <= n; i += kVirtualLanes) {
    for (int64_t v = 0; v < vectors; ++v) {
      const auto value = exponential(hn::LoadU(d, in + i + v * step));
      hn::StoreU(value, d, out + i + v * step);
      sums[v] = hn::Add(sums[v], value);
    }
  }
  for (int64_t v = 0; i < n; ++v, i += step) {
    const int64_t count = std::min(step, n - i);
    const auto value = exponential(LoadFirst(in + i, count, 0.0f));
    StoreFirst(value, count, out + i);
    // A zero is added in the lanes behind the end: no sum is negative.
    sums[v] =
        hn::Add(sums[v], hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count)), value));
  }
  for (int64_t width = vectors / 2; width > 0; width /= 2) {
    for (int64_t v = 0; v < width; ++v) sums[v] = hn::Add(sums[v], sums[v + width]);
  }
  return SumOfHalves(d, sums[0]);
}

// out = e^((logits - the largest) / temperature) * (sign / their sum)
HWY_INLINE void SignedSoftmax(const float* logits, int64_t n, float temperature, float sign,
                              float* out) {
  const Floats d;
  const auto largest = hn::Set(d, Largest(n, ValueAt{logits}));
  const auto divisor = hn::Set(d, temperature);
  // A division by 1 changes nothing, and a division takes as long as half an exponential.
  const float sum =
      temperature == 1.0f
          ? MapAndSum(logits, n, out,
                      [=](auto v) HWY_ATTR {
                        return ExpOf<Range::kNotPositive>(Floats(), hn::Sub(v, largest));
                      })
          : MapAndSum(logits, n, out, [=](auto v) HWY_ATTR {
              return ExpOf<Range::kNotPositive>(Floats(), hn::Div(hn::Sub(v, largest), divisor));
            });
  const auto factor = hn::Set(d, sign / sum);
  Map(out, n, out, [=](auto v) HWY_ATTR { return hn::Mul(v, factor); });
}

void Softmax(const float* logits, int64_t n, float temperature, float* out) {
  SignedSoftmax(logits, n, temperature, 1.0f, out);
}

void NegativeSoftmax(const float* logits, int64_t n, float temperature, float* out) {
  SignedSoftmax(logits, n, temperature, -1.0f, out);
}

void NeighborWeights(const float* distances, int64_t k, float sigma, float* weights) {
  // Nothing to weigh, or nothing was found: an infinity minus itself would be NaN.
  if (k < 1 || distances[0] == std::numeric_limits<float>::infinity()) {
    std::fill_n(weights, std::max<int64_t>(k, 0), 0.0f);
    return;
  }
  const Floats d;
  const auto nearest = hn::Set(d, distances[0]);
  const auto divisor = hn::Set(d, sigma);
  Map(distances, k, weights,
      [=](auto v) HWY_ATTR { return ExpOf(Floats(), hn::Div(hn::Sub(nearest, v), divisor)); });
}

void AddScaled(float weight, const float* x, int64_t n, float* accumulator) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, weight);
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto product = hn::Mul(factor, hn::LoadU(d, x + i));
    hn::StoreU(hn::Add(hn::LoadU(d, accumulator + i), product), d, accumulator + i);
  }
  for (; i < n; ++i) accumulator[i] += weight * x[i];
}

void AddScaledAndClear(float weight, float* x, int64_t n, float* accumulator) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, weight);
  int64_t i = 0;
  const auto one_by_one_to = [&](int64_t end) HWY_ATTR {
    for (; i < end; ++i) {
      accumulator[i] += weight * x[i];
      x[i] = 0;
    }
  };
  // A vector that lies in two lines takes twice as long to write; few do not matter.
  constexpr int64_t kMany = 1024;
  if (n >= kMany) {
    constexpr int64_t kLine = 64 / sizeof(float);
    one_by_one_to(-(reinterpret_cast<intptr_t>(accumulator) / 4) & (kLine - 1));
  }
  for (; i + step <= n; i += step) {
    const auto product = hn::Mul(factor, hn::LoadU(d, x + i));
    hn::StoreU(hn::Add(hn::LoadU(d, accumulator + i), product), d, accumulator + i);
    hn::StoreU(hn::Zero(d), d, x + i);
  }
  one_by_one_to(n);
}

void AddScaledRows(const float* weights, const float* rows, int64_t stride, int64_t count,
                   int64_t n, float* accumulator) {
  const Floats d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  // Four sums hide the latency of an addition.
  for (; i + 4 * step <= n; i += 4 * step) {
    float* sum = accumulator + i;
    auto sum0 = hn::LoadU(d, sum), sum1 = hn::LoadU(d, sum + step);
    auto sum2 = hn::LoadU(d, sum + 2 * step), sum3 = hn::LoadU(d, sum + 3 * step);
    for (int64_t row = 0; row < count; ++row) {
      const auto weight = hn::Set(d, weights[row]);
      const float* x = rows + row * stride + i;
      sum0 = hn::Add(sum0, hn::Mul(weight, hn::LoadU(d, x)));
      sum1 = hn::Add(sum1, hn::Mul(weight, hn::LoadU(d, x + step)));
      sum2 = hn::Add(sum2, hn::Mul(weight, hn::LoadU(d, x + 2 * step)));
      sum3 = hn::Add(sum3, hn::Mul(weight, hn::LoadU(d, x + 3 * step)));
    }
    hn::StoreU(sum0, d, sum);
    hn::StoreU(sum1, d, sum + step);
    hn::StoreU(sum2, d, sum + 2 * step);
    hn::StoreU(sum3, d, sum + 3 * step);
  }
  for (; i + step <= n; i += step) {
    auto sum = hn::LoadU(d, accumulator + i);
    for (int64_t row = 0; row < count; ++row) {
      const auto x = hn::LoadU(d, rows + row * stride + i);
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[row]), x));
    }
    hn::StoreU(sum, d, accumulator + i);
  }
  for (; i < n; ++i) {
    for (int64_t row = 0; row < count; ++row) {
      accumulator[i] += weights[row] * rows[row * stride + i];
    }
  }
}

int64_t ArgMax(const float* x, int64_t n) {
  return FirstLargest(n, ValueAt{x});
}

int64_t ArgMaxOfSum(const float* base, const float* sum, float scale, int64_t n) {
  return FirstLargest(n, ValueOfSumAt{base, sum, scale});
}

int64_t ArgMaxOfMix(float lambda, const float* base, const float* sum, float scale, int64_t n) {
  return FirstLargest(n, ValueOfMixAt{lambda, base, sum, scale});
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(Exp);
HWY_EXPORT(Softmax);
HWY_EXPORT(NegativeSoftmax);
HWY_EXPORT(NeighborWeights);
HWY_EXPORT(Sum);
HWY_EXPORT(AddScaled);
HWY_EXPORT(AddScaledAndClear);
HWY_EXPORT(AddScaledRows);
HWY_EXPORT(ArgMax);
HWY_EXPORT(ArgMaxOfSum);
HWY_EXPORT(ArgMaxOfMix);

void Exp(const float* x, int64_t n, float* out) {
  RESMEM_DISPATCH(Exp)(x, n, out);
}
void Softmax(const float* logits, int64_t n, float temperature, float* out) {
  RESMEM_DISPATCH(Softmax)(logits, n, temperature, out);
}
void NegativeSoftmax(const float* logits, int64_t n, float temperature, float* out) {
  RESMEM_DISPATCH(NegativeSoftmax)(logits, n, temperature, out);
}
void NeighborWeights(const float* distances, int64_t k, float sigma, float* weights) {
  RESMEM_DISPATCH(NeighborWeights)(distances, k, sigma, weights);
}
float Sum(const float* x, int64_t n) {
  return RESMEM_DISPATCH(Sum)(x, n);
}
void AddScaled(float weight, const float* x, int64_t n, float* accumulator) {
  RESMEM_DISPATCH(AddScaled)(weight, x, n, accumulator);
}
void AddScaledAndClear(float weight, float* x, int64_t n, float* accumulator) {
  RESMEM_DISPATCH(AddScaledAndClear)(weight, x, n, accumulator);
}
void AddScaledRows(const float* weights, const float* rows, int64_t stride, int64_t count,
                   int64_t n, float* accumulator) {
  RESMEM_DISPATCH(AddScaledRows)(weights, rows, stride, count, n, accumulator);
}
int64_t ArgMax(const float* x, int64_t n) {
  return RESMEM_DISPATCH(ArgMax)(x, n);
}
int64_t ArgMaxOfSum(const float* base, const float* sum, float scale, int64_t n) {
  return RESMEM_DISPATCH(ArgMaxOfSum)(base, sum, scale, n);
}
int64_t ArgMaxOfMix(float lambda, const float* base, const float* sum, float scale, int64_t n) {
  return RESMEM_DISPATCH(ArgMaxOfMix)(lambda, base, sum, scale, n);
}

}  // namespace resmem
#endif  // HWY_ONCE
