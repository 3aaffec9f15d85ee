// What every method answers for one row, from one softmax and one pass over its neighbors.
//
// The same bits as Predictor::Score() and ArgMax() for each method, at a fraction of the time where
// there are many classes: kNN-LM's scores are never written down, and the base's are shared.
#ifndef RESMEM_EVAL_ANSWERS_ROW_ANSWERS_H_
#define RESMEM_EVAL_ANSWERS_ROW_ANSWERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "predict/correction.h"
#include "resmem/predictor.h"

namespace resmem {

// Scratch of one thread.
class RowAnswers {
 public:
  RowAnswers(const ResidualMemory& memory, const Parameters& parameters);

  // Takes up a row: finite logits, and its neighbors.
  void Load(std::span<const float> logits, std::span<const int64_t> rows,
            std::span<const float> distances);

  // softmax(logits), the base's own probabilities.
  std::span<const float> probabilities() const { return probabilities_; }
  // softmax(logits / T) + correction.
  std::span<float> resmem_scores() { return scores_; }

  int64_t Base() const;  // of softmax(logits / T), which ResMem adds to
  int64_t ResMem() const;
  int64_t KnnLm(float lambda) const;
  int64_t Knn() const;
  // What kNN-LM gives a class; k-NN at lambda 1.
  float MixtureAt(float lambda, int32_t label) const;

 private:
  std::span<const float> tempered() const {
    return parameters_.temperature == 1.0f ? probabilities_ : tempered_;
  }

  const Parameters parameters_;
  const int64_t classes_;
  Correction correction_;
  std::vector<float> probabilities_, tempered_, scores_;
  std::vector<float> labels_;  // sum over the neighbors
};

}  // namespace resmem

#endif  // RESMEM_EVAL_ANSWERS_ROW_ANSWERS_H_
