#include "transformer/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "transformer/shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transformer/row_math.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

HWY_INLINE int64_t Step() {
  return static_cast<int64_t>(hn::Lanes(Floats()));
}
HWY_INLINE Vector Load(const float* x) {
  return hn::LoadU(Floats(), x);
}
HWY_INLINE void Store(Vector v, float* x) {
  hn::StoreU(v, Floats(), x);
}
HWY_INLINE Vector Set(float value) {
  return hn::Set(Floats(), value);
}
HWY_INLINE Vector Load(const Bfloat16* x) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const hn::Rebind<uint16_t, Floats> d16;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, x))));
}
HWY_INLINE float Total(Vector v) {
  return hn::GetLane(hn::SumOfLanes(Floats(), v));
}

// e^x for x <= 0 or little above; 0 below -87.
HWY_INLINE Vector Exp(Vector x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const Vector lowest = Set(-87.0f), round = Set(0x1.8p23f);
  const Vector clamped = hn::Min(hn::Max(x, lowest), Set(88.0f));
  const Vector shifted = hn::MulAdd(clamped, Set(1.44269504f), round);
  const Vector m = hn::Sub(shifted, round);
  Vector r = hn::NegMulAdd(m, Set(0.693359375f), clamped);
  r = hn::NegMulAdd(m, Set(-2.12194440e-4f), r);
  Vector p = Set(8.3334519073e-3f);
  p = hn::MulAdd(p, r, Set(4.1665795894e-2f));
  p = hn::MulAdd(p, r, Set(1.6666665459e-1f));
  p = hn::MulAdd(p, r, Set(5.0000001201e-1f));
  p = hn::MulAdd(p, r, Set(1.0f));
  p = hn::MulAdd(p, r, Set(1.0f));
  const auto power = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, round));
  const auto factor = hn::ShiftLeft<23>(hn::Add(power, hn::Set(di, 127)));
  return hn::IfThenZeroElse(hn::Lt(x, lowest), hn::Mul(p, hn::BitCast(d, factor)));
}

float NormRow(const float* x, const float* weight, int64_t n, float* out) {
  Vector squares = Set(0);
  for (int64_t i = 0; i < n; i += Step()) squares = hn::MulAdd(Load(x + i), Load(x + i), squares);
  const float scale = 1 / std::sqrt(Total(squares) / static_cast<float>(n) + kNormEpsilon);
  for (int64_t i = 0; i < n; i += Step()) {
    Store(hn::Mul(hn::Mul(Load(x + i), Set(scale)), Load(weight + i)), out + i);
  }
  return scale;
}

void NormRowBackward(const float* x, const float* weight, float scale, const float* gradient,
                     int64_t n, float* x_gradient, float* weight_gradient) {
  Vector dot = Set(0);
  for (int64_t i = 0; i < n; i += Step()) {
    const Vector g = Load(gradient + i), v = Load(x + i);
    Store(hn::MulAdd(hn::Mul(g, v), Set(scale), Load(weight_gradient + i)), weight_gradient + i);
    dot = hn::MulAdd(hn::Mul(g, Load(weight + i)), v, dot);
  }
  const Vector back = Set(Total(dot) / static_cast<float>(n) * scale * scale * scale);
  for (int64_t i = 0; i < n; i += Step()) {
    const Vector g = hn::Mul(hn::Mul(Load(gradient + i), Load(weight + i)), Set(scale));
    Store(hn::Add(Load(x_gradient + i), hn::NegMulAdd(back, Load(x + i), g)), x_gradient + i);
  }
}

void AddRow(const float* x, int64_t n, float* sum) {
  for (int64_t i = 0; i < n; i += Step()) Store(hn::Add(Load(sum + i), Load(x + i)), sum + i);
}
void ScaleRow(float factor, int64_t n, float* x) {
  for (int64_t i = 0; i < n; i += Step()) Store(hn::Mul(Load(x + i), Set(factor)), x + i);
}
void ReluRow(int64_t n, float* x) {
  for (int64_t i = 0; i < n; i += Step()) Store(hn::Max(Load(x + i), Set(0)), x + i);
}
void ReluRowBackward(const Bfloat16* activation, float factor, int64_t n, float* gradient) {
  for (int64_t i = 0; i < n; i += Step()) {
    const auto passes = hn::Gt(Load(activation + i), Set(0));
    Store(hn::IfThenElseZero(passes, hn::Mul(Load(gradient + i), Set(factor))), gradient + i);
  }
}

// A hash of the number within its place (lowbias32 by Chris Wellons) decides.
void DropRow(const Dropout& dropout, int64_t first, int64_t n, float* x) {
  const hn::RebindToUnsigned<Floats> du;
  const auto key = hn::Set(du, static_cast<uint32_t>(dropout.key));
  const auto start = hn::Set(du, static_cast<uint32_t>(first + (dropout.key >> 32)));
  const auto threshold = hn::Set(du, dropout.threshold);
  for (int64_t i = 0; i < n; i += Step()) {
    auto h = hn::Add(start, hn::Iota(du, static_cast<uint32_t>(i)));
    h = hn::Xor(h, key);
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(du, 0x7feb352du));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(du, 0x846ca68bu));
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    const auto dropped = hn::RebindMask(Floats(), hn::Lt(h, threshold));
    Store(hn::IfThenZeroElse(dropped, hn::Mul(Load(x + i), Set(dropout.scale))), x + i);
  }
}

void SoftmaxRow(const float* bias, int64_t count, int64_t n, float* scores) {
  constexpr float kNever = -1e30f;
  for (int64_t i = count; i < n; ++i) scores[i] = kNever;
  Vector most = Set(kNever);
  for (int64_t i = 0; i < n; i += Step()) {
    const Vector score = hn::Add(Load(scores + i), Load(bias + i));
    Store(score, scores + i);
    most = hn::Max(most, score);
  }
  const Vector largest = Set(hn::GetLane(hn::MaxOfLanes(Floats(), most)));
  Vector sum = Set(0);
  for (int64_t i = 0; i < n; i += Step()) {
    const Vector e = Exp(hn::Sub(Load(scores + i), largest));
    Store(e, scores + i);
    sum = hn::Add(sum, e);
  }
  ScaleRow(1 / Total(sum), n, scores);
}

void SoftmaxRowBackward(const Bfloat16* probabilities, int64_t n, float* gradient) {
  Vector dot = Set(0);
  for (int64_t i = 0; i < n; i += Step()) {
    dot = hn::MulAdd(Load(probabilities + i), Load(gradient + i), dot);
  }
  const Vector mean = Set(Total(dot));
  for (int64_t i = 0; i < n; i += Step()) {
    Store(hn::Mul(Load(probabilities + i), hn::Sub(Load(gradient + i), mean)), gradient + i);
  }
}

void MergeBlock(const float* logits, int64_t rows, int32_t first_id, TokenLogits* tokens) {
  const hn::RebindToSigned<Floats> di;
  for (int64_t t = 0; t < kPanelSide; t += Step()) {
    const Vector before = Load(tokens->largest + t);
    Vector largest = before;
    auto best = hn::LoadU(di, tokens->best + t);
    for (int64_t row = 0; row < rows; ++row) {
      const Vector logit = Load(logits + row * kPanelSide + t);
      const auto better = hn::Gt(logit, largest);
      largest = hn::Max(largest, logit);
      const auto id = hn::Set(di, first_id + static_cast<int32_t>(row));
      best = hn::IfThenElse(hn::RebindMask(di, better), id, best);
    }
    Vector sum = hn::Mul(Load(tokens->sum + t), Exp(hn::Sub(before, largest)));
    for (int64_t row = 0; row < rows; ++row) {
      sum = hn::Add(sum, Exp(hn::Sub(Load(logits + row * kPanelSide + t), largest)));
    }
    Store(largest, tokens->largest + t);
    Store(sum, tokens->sum + t);
    hn::StoreU(best, di, tokens->best + t);
  }
}

void Probabilities(const float* log_sum, int64_t rows, float* logits) {
  for (int64_t t = 0; t < kPanelSide; t += Step()) {
    const Vector total = Load(log_sum + t);
    for (int64_t row = 0; row < rows; ++row) {
      float* logit = logits + row * kPanelSide + t;
      Store(Exp(hn::Sub(Load(logit), total)), logit);
    }
  }
}

// To the nearest, in the upper half of each word.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<Floats>> Rounded(const float* x) {
  const hn::RebindToUnsigned<Floats> du;
  const auto bits = hn::BitCast(du, Load(x));
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  return hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd);
}

void RoundBlock(const float* block, int64_t rows, Bfloat16* out, int64_t row_stride,
                Bfloat16* panels) {
  const hn::RebindToUnsigned<Floats> du;
  const hn::Rebind<uint16_t, Floats> d16;
  const auto upper = hn::Set(du, 0xffff0000u);
  for (int64_t row = 0; row < rows; row += 2) {
    // The tile's row within its step of 32; the second tile of a step holds tokens 16 to 31.
    Bfloat16* line = panels + row / kPanelSide * 1024 + row % kPanelSide / 2 * 32;
    for (int64_t t = 0; t < kPanelSide; t += Step()) {
      const auto even = hn::ShiftRight<16>(Rounded(block + row * kPanelSide + t));
      const auto odd = Rounded(block + (row + 1) * kPanelSide + t);
      hn::StoreU(hn::TruncateTo(d16, even), d16, out + row * row_stride + t);
      hn::StoreU(hn::TruncateTo(d16, hn::ShiftRight<16>(odd)), d16,
                 out + (row + 1) * row_stride + t);
      auto* words = reinterpret_cast<uint32_t*>(line + t / 16 * 512) + t % 16;
      hn::StoreU(hn::Or(even, hn::And(odd, upper)), du, words);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(NormRow);
HWY_EXPORT(NormRowBackward);
HWY_EXPORT(AddRow);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(ReluRow);
HWY_EXPORT(ReluRowBackward);
HWY_EXPORT(DropRow);
HWY_EXPORT(SoftmaxRow);
HWY_EXPORT(SoftmaxRowBackward);
HWY_EXPORT(MergeBlock);
HWY_EXPORT(Probabilities);
HWY_EXPORT(RoundBlock);

float NormRow(const float* x, const float* weight, int64_t n, float* out) {
  return RESMEM_DISPATCH(NormRow)(x, weight, n, out);
}
void NormRowBackward(const float* x, const float* weight, float scale, const float* gradient,
                     int64_t n, float* x_gradient, float* weight_gradient) {
  RESMEM_DISPATCH(NormRowBackward)
  (x, weight, scale, gradient, n, x_gradient, weight_gradient);
}
void AddRow(const float* x, int64_t n, float* sum) {
  RESMEM_DISPATCH(AddRow)(x, n, sum);
}
void ScaleRow(float factor, int64_t n, float* x) {
  RESMEM_DISPATCH(ScaleRow)(factor, n, x);
}
void ReluRow(int64_t n, float* x) {
  RESMEM_DISPATCH(ReluRow)(n, x);
}
void ReluRowBackward(const Bfloat16* activation, float factor, int64_t n, float* gradient) {
  RESMEM_DISPATCH(ReluRowBackward)(activation, factor, n, gradient);
}

Dropout Dropout::Of(double share) {
  Dropout dropout;
  dropout.threshold = static_cast<uint32_t>(std::min(share * 0x1p32, 0x1p32 - 1));
  dropout.scale = static_cast<float>(1 / (1 - share));
  return dropout;
}
Dropout Dropout::At(uint64_t place) const {
  Dropout other = *this;
  uint64_t z = key + (place + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  other.key = z ^ (z >> 31);
  return other;
}
void DropRow(const Dropout& dropout, int64_t first, int64_t n, float* x) {
  if (dropout.active()) RESMEM_DISPATCH(DropRow)(dropout, first, n, x);
}

void SoftmaxRow(const float* bias, int64_t count, int64_t n, float* scores) {
  RESMEM_DISPATCH(SoftmaxRow)(bias, count, n, scores);
}
void SoftmaxRowBackward(const Bfloat16* probabilities, int64_t n, float* gradient) {
  RESMEM_DISPATCH(SoftmaxRowBackward)(probabilities, n, gradient);
}

void StartLogits(TokenLogits* tokens) {
  std::fill_n(tokens->largest, kPanelSide, std::numeric_limits<float>::lowest());
  std::fill_n(tokens->sum, kPanelSide, 0.0f);
  std::fill_n(tokens->best, kPanelSide, -1);
}
void MergeLogits(const float* logits, int64_t rows, int32_t first_id, TokenLogits* tokens) {
  RESMEM_DISPATCH(MergeBlock)(logits, rows, first_id, tokens);
}
void MergeLogits(const TokenLogits& b, TokenLogits* a) {
  for (int64_t t = 0; t < kPanelSide; ++t) {
    const float largest = std::max(a->largest[t], b.largest[t]);
    a->sum[t] =
        a->sum[t] * std::exp(a->largest[t] - largest) + b.sum[t] * std::exp(b.largest[t] - largest);
    if (b.largest[t] > a->largest[t]) a->best[t] = b.best[t];
    a->largest[t] = largest;
  }
}
void Probabilities(const float* log_sum, int64_t rows, float* logits) {
  RESMEM_DISPATCH(Probabilities)(log_sum, rows, logits);
}
void RoundBlock(const float* block, int64_t rows, Bfloat16* out, int64_t row_stride,
                Bfloat16* panels) {
  RESMEM_DISPATCH(RoundBlock)(block, rows, out, row_stride, panels);
}

}  // namespace resmem
#endif  // HWY_ONCE
