// The sizes of a decoder-only T5 and where its parameters lie.
//
// As T5 v1.0 (Raffel et al. 2020) without encoder and cross-attention: RMSNorm before each
// sub-block and at the end, no biases, ReLU, one table of relative position biases that all layers
// share, queries and keys multiplied without a scale, and logits from the embeddings of the input,
// scaled by dim^-0.5.
#ifndef RESMEM_TRANSFORMER_SHAPE_H_
#define RESMEM_TRANSFORMER_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem {

struct LanguageModelShape {
  int64_t dim = 0, layers = 0, heads = 0, hidden = 0;
  int64_t vocabulary = 0;

  int64_t head_dim() const { return dim / heads; }
};
// t5-small, t5-base or t5-large (with T5's sizes), or t5-dDIM-lLAYERS-hHEADS-fHIDDEN.  Dim, dim /
// heads and hidden are multiples of 32.
Result<LanguageModelShape> ParseLanguageModel(const std::string& name, int64_t vocabulary);
int64_t ParameterCount(const LanguageModelShape& shape);

inline constexpr int64_t kPositionBuckets = 32;
inline constexpr float kNormEpsilon = 1e-6f;

// The bucket of a token that lies `distance` >= 0 before the one that looks at it: T5's, for
// max_distance 128 and a decoder.
int64_t PositionBucket(int64_t distance);

// A model that only answers needs less: nothing is kept for the way back.
enum class ModelUse { kLearning, kAnswering };

// A matrix (or, with one row, a vector) in the array of all parameters.
struct Parameter {
  std::string name;
  int64_t rows = 0, columns = 0;
  int64_t offset = 0;
  double deviation = 0;  // of the first values, which are normal; 0: all are 1

  int64_t size() const { return rows * columns; }
};

struct LayerParameters {
  Parameter attention_norm;
  Parameter qkv;         // queries, keys and values below each other: 3 dim x dim
  Parameter projection;  // dim x dim
  Parameter mlp_norm;
  Parameter expansion;    // hidden x dim
  Parameter contraction;  // dim x hidden
};

struct ParameterLayout {
  // `embedding_deviation`: of the first embeddings; T5's is 1.
  ParameterLayout(const LanguageModelShape& shape, double embedding_deviation);

  std::vector<const Parameter*> All() const;  // by rising offset

  Parameter embedding;      // vocabulary x dim
  Parameter position_bias;  // heads x kPositionBuckets
  std::vector<LayerParameters> layers;
  Parameter last_norm;
  int64_t size = 0;
};

// First values, drawn by the seed.
std::vector<float> FirstParameters(const ParameterLayout& layout, uint64_t seed);

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_SHAPE_H_
