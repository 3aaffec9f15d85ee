// For tests: the loss of a decoder-only T5 in double precision, written as the definition reads.
#ifndef RESMEM_LAB_LM_TRAINING_REFERENCE_MODEL_H_
#define RESMEM_LAB_LM_TRAINING_REFERENCE_MODEL_H_

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "lm_training/transformer.h"
#include "transformer/shape.h"

namespace resmem::fixtures {

using Rows = std::vector<std::vector<double>>;

struct ReferenceModel {
  const LanguageModelShape& shape;
  const ParameterLayout& layout;
  std::span<const float> values;

  double At(const Parameter& parameter, int64_t row, int64_t column) const {
    return values[static_cast<size_t>(parameter.offset + row * parameter.columns + column)];
  }
  Rows Norm(const Rows& x, const Parameter& weight) const {
    Rows y = x;
    for (std::vector<double>& row : y) {
      double squares = 0;
      for (const double value : row) squares += value * value;
      const double scale = 1 / std::sqrt(squares / static_cast<double>(row.size()) + 1e-6);
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] *= scale * At(weight, 0, static_cast<int64_t>(i));
      }
    }
    return y;
  }
  // x W^T
  Rows Linear(const Rows& x, const Parameter& weight) const {
    Rows y(x.size(), std::vector<double>(static_cast<size_t>(weight.rows)));
    for (size_t t = 0; t < x.size(); ++t) {
      for (int64_t o = 0; o < weight.rows; ++o) {
        for (int64_t i = 0; i < weight.columns; ++i) {
          y[t][static_cast<size_t>(o)] += At(weight, o, i) * x[t][static_cast<size_t>(i)];
        }
      }
    }
    return y;
  }
  static void Add(const Rows& x, Rows* sum) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) (*sum)[t][i] += x[t][i];
    }
  }
  static void Softmax(std::vector<double>* scores) {
    const double largest = *std::max_element(scores->begin(), scores->end());
    double sum = 0;
    for (double& score : *scores) sum += score = std::exp(score - largest);
    for (double& score : *scores) score /= sum;
  }
  Rows Attend(const Rows& qkv) const {
    const auto dim = static_cast<size_t>(shape.dim),
               head_dim = static_cast<size_t>(shape.head_dim());
    Rows out(qkv.size(), std::vector<double>(dim));
    for (size_t head = 0; head < static_cast<size_t>(shape.heads); ++head) {
      const size_t first = head * head_dim;
      for (size_t i = 0; i < qkv.size(); ++i) {
        std::vector<double> weights(i + 1);
        for (size_t j = 0; j <= i; ++j) {
          for (size_t c = first; c < first + head_dim; ++c)
            weights[j] += qkv[i][c] * qkv[j][dim + c];
          weights[j] += At(layout.position_bias, static_cast<int64_t>(head),
                           PositionBucket(static_cast<int64_t>(i - j)));
        }
        Softmax(&weights);
        for (size_t j = 0; j <= i; ++j) {
          for (size_t c = first; c < first + head_dim; ++c) {
            out[i][c] += weights[j] * qkv[j][2 * dim + c];
          }
        }
      }
    }
    return out;
  }
  struct Answer {
    Rows keys, logits;
  };
  Answer Run(std::span<const int32_t> ids) const {
    Answer answer;
    Rows x;
    for (const int32_t id : ids) {
      x.emplace_back();
      for (int64_t i = 0; i < shape.dim; ++i) x.back().push_back(At(layout.embedding, id, i));
    }
    for (const LayerParameters& layer : layout.layers) {
      Add(Linear(Attend(Linear(Norm(x, layer.attention_norm), layer.qkv)), layer.projection), &x);
      answer.keys = Norm(x, layer.mlp_norm);
      Rows hidden = Linear(answer.keys, layer.expansion);
      for (auto& row : hidden) {
        for (double& value : row) value = std::max(value, 0.0);
      }
      Add(Linear(hidden, layer.contraction), &x);
    }
    answer.logits = Linear(Norm(x, layout.last_norm), layout.embedding);
    for (auto& row : answer.logits) {
      for (double& value : row) value /= std::sqrt(static_cast<double>(shape.dim));
    }
    return answer;
  }
  double Loss(std::span<const TokenExample> examples) const {
    double loss = 0;
    for (const TokenExample& example : examples) {
      Rows logits = Run(example.ids).logits;
      for (size_t t = 0; t < logits.size(); ++t) {
        if (example.targets[t] < 0) continue;
        Softmax(&logits[t]);
        loss -= std::log(logits[t][static_cast<size_t>(example.targets[t])]);
      }
    }
    return loss;
  }
};

}  // namespace resmem::fixtures

#endif  // RESMEM_LAB_LM_TRAINING_REFERENCE_MODEL_H_
