// One method's answers to labeled rows, and two methods side by side on the same rows.
#ifndef RESMEM_LAB_REPRODUCE_ANSWERS_H_
#define RESMEM_LAB_REPRODUCE_ANSWERS_H_

#include <span>
#include <string>
#include <vector>

#include "reproduce/json.h"
#include "resmem/predictor.h"

namespace resmem::cli::reproduce {

// A probability below this counts as this, as in Evaluate().
inline constexpr double kLeastProbability = 0x1p-23;

struct Answers {
  std::string name;
  Json chosen = Json::object();
  std::vector<double> nll;
  std::vector<bool> right;

  // Behind these rows, others that the same method answered.
  void Append(const Answers& more);
};
Answers AnswersOf(std::string name, Json chosen, std::span<const float> probabilities,
                  std::span<const int32_t> labels);

// name, chosen, accuracy, nll.
Json ToJson(const Answers& answers);
// left, right, accuracy (the gain of left over right), nll (left's less right's); paired.
Json PairOf(const Answers& left, const Answers& right);

// Rows x classes: the scores of this method, ResMem's by the memory's calibrator.
Result<std::vector<float>> ProbabilitiesOf(const Predictor& predictor, const Rows& rows,
                                           const Neighbors& neighbors,
                                           const PredictOptions& options);

double Mean(std::span<const double> values);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_ANSWERS_H_
