#include "transformer/attention.h"

#include <algorithm>

namespace resmem {
namespace {

constexpr int64_t kBlock = kPanelSide;  // positions worked on together

}  // namespace

Attention::Attention(int64_t context, int64_t head_dim)
    : stride_(Bfloat16Stride(context)),
      scores_(kBlock * stride_),
      rows_(kBlock * head_dim),
      first_panels_(context * head_dim),
      second_panels_(context * head_dim),
      third_panels_(context * head_dim),
      fourth_panels_(context * head_dim),
      dropped_(context * stride_),
      score_gradient_(context * stride_),
      dropped_turned_(context * stride_),
      score_gradient_turned_(context * stride_) {}

void Attention::RoundRows(const HeadInput& in, int64_t begin, HeadRows<Bfloat16> out) const {
  for (int64_t row = 0; row < kBlock; ++row) {
    RoundToBfloat16(rows_.data() + row * in.head_dim, in.head_dim, out.Row(begin + row));
  }
}

void Attention::Forward(const HeadInput& in, HeadRows<Bfloat16> probabilities,
                        HeadRows<Bfloat16> out) {
  PanelsFromColumns(in.keys.first, in.keys.stride, in.head_dim, in.length, first_panels_.data());
  PanelsFromRows(in.values.first, in.values.stride, in.length, in.head_dim, second_panels_.data());
  for (int64_t begin = 0; begin < in.length; begin += kBlock) {
    const int64_t seen = begin + kBlock;  // positions up to the end of this block
    Multiply(kBlock, seen, in.head_dim, in.queries.Row(begin), in.queries.stride,
             {first_panels_.data(), in.head_dim}, false, scores_.data(), stride_);
    for (int64_t row = 0; row < kBlock; ++row) {
      const int64_t position = begin + row;
      float* scores = scores_.data() + row * stride_;
      SoftmaxRow(in.bias + in.BiasOffset(position), position + 1, seen, scores);
      RoundToBfloat16(scores, seen, probabilities.Row(position));
      if (!in.dropout.active()) continue;
      DropRow(in.dropout, position * in.context, seen, scores);
      RoundToBfloat16(scores, seen, dropped_.data() + position * stride_);
    }
    const bool drop = in.dropout.active();
    Multiply(kBlock, in.head_dim, seen,
             drop ? dropped_.data() + begin * stride_ : probabilities.Row(begin),
             drop ? stride_ : probabilities.stride, {second_panels_.data(), in.length}, false,
             rows_.data(), in.head_dim);
    RoundRows(in, begin, out);
  }
}

void Attention::ScoreGradients(const HeadInput& in, HeadRows<const Bfloat16> probabilities,
                               HeadRows<const Bfloat16> out_gradient, int64_t begin,
                               float* bias_gradient) {
  const int64_t seen = begin + kBlock;
  Multiply(kBlock, seen, in.head_dim, out_gradient.Row(begin), out_gradient.stride,
           {first_panels_.data(), in.head_dim}, false, scores_.data(), stride_);
  for (int64_t row = 0; row < kBlock; ++row) {
    const int64_t position = begin + row;
    float* gradient = scores_.data() + row * stride_;
    DropRow(in.dropout, position * in.context, seen, gradient);
    // Probabilities behind the position are 0, and so become the gradients.
    SoftmaxRowBackward(probabilities.Row(position), seen, gradient);
    AddRow(gradient, seen, bias_gradient + in.BiasOffset(position));
    RoundToBfloat16(gradient, seen, score_gradient_.data() + position * stride_);
    if (!in.dropout.active()) continue;
    std::transform(probabilities.Row(position), probabilities.Row(position) + seen, gradient,
                   FromBfloat16);
    DropRow(in.dropout, position * in.context, seen, gradient);
    RoundToBfloat16(gradient, seen, dropped_.data() + position * stride_);
  }
}

void Attention::Backward(const HeadInput& in, HeadRows<const Bfloat16> probabilities,
                         HeadRows<const Bfloat16> out_gradient, HeadRows<Bfloat16> queries_gradient,
                         HeadRows<Bfloat16> keys_gradient, HeadRows<Bfloat16> values_gradient,
                         float* bias_gradient) {
  PanelsFromColumns(in.values.first, in.values.stride, in.head_dim, in.length,
                    first_panels_.data());
  PanelsFromRows(in.keys.first, in.keys.stride, in.length, in.head_dim, second_panels_.data());
  PanelsFromRows(in.queries.first, in.queries.stride, in.length, in.head_dim, third_panels_.data());
  PanelsFromRows(out_gradient.first, out_gradient.stride, in.length, in.head_dim,
                 fourth_panels_.data());
  for (int64_t begin = 0; begin < in.length; begin += kBlock) {
    ScoreGradients(in, probabilities, out_gradient, begin, bias_gradient);
    const int64_t seen = begin + kBlock;
    Multiply(kBlock, in.head_dim, seen, score_gradient_.data() + begin * stride_, stride_,
             {second_panels_.data(), in.length}, false, rows_.data(), in.head_dim);
    RoundRows(in, begin, queries_gradient);
    Transpose(score_gradient_.data() + begin * stride_, stride_, kBlock, seen,
              score_gradient_turned_.data() + begin, stride_);
    if (in.dropout.active()) {
      Transpose(dropped_.data() + begin * stride_, stride_, kBlock, seen,
                dropped_turned_.data() + begin, stride_);
    } else {
      Transpose(probabilities.Row(begin), probabilities.stride, kBlock, seen,
                dropped_turned_.data() + begin, stride_);
    }
  }
  // A position is seen from its own block on.
  for (int64_t begin = 0; begin < in.length; begin += kBlock) {
    const int64_t from = begin * stride_ + begin;
    Multiply(kBlock, in.head_dim, in.length - begin, score_gradient_turned_.data() + from, stride_,
             Panels{third_panels_.data(), in.length}.Skip(begin), false, rows_.data(), in.head_dim);
    RoundRows(in, begin, keys_gradient);
    Multiply(kBlock, in.head_dim, in.length - begin, dropped_turned_.data() + from, stride_,
             Panels{fourth_panels_.data(), in.length}.Skip(begin), false, rows_.data(),
             in.head_dim);
    RoundRows(in, begin, values_gradient);
  }
}

}  // namespace resmem
