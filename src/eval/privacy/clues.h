// What an attacker sees for each row that is asked: collected here, ranked in measure.cc.
#ifndef RESMEM_EVAL_PRIVACY_CLUES_H_
#define RESMEM_EVAL_PRIVACY_CLUES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "eval/privacy/asked_rows.h"

namespace resmem {

// One clue's value for every row, in the order asked.
struct ClueValues {
  std::vector<double> inside, left_out;  // members
  std::vector<double> held_out;
};

// Loss, confidence and gain of one way to answer, and how often it gives the label.
class AnswerClues {
 public:
  AnswerClues(const Predictor& predictor, const PredictOptions& options)
      : predictor_(predictor), options_(options) {
    labels_.method = options.method;
  }

  // `inside`: neighbors with the row itself, `left_out` without; for held-out rows the same.
  Status Add(const AskedRows& rows, const Neighbors& inside, const Neighbors* left_out);

  Method method() const { return options_.method; }
  const Parameters& parameters() const { return options_.parameters; }
  const ClueValues& loss() const { return loss_; }
  const ClueValues& confidence() const { return confidence_; }
  const ClueValues& gain() const { return gain_; }
  const LabelRecovery& labels() const { return labels_; }
  double held_out_accuracy() const;

 private:
  enum class Kind { kInside, kLeftOut, kHeldOut };
  Status AddAnswers(const AskedRows& rows, const Neighbors& neighbors, Kind kind);
  void AddBase(const AskedRows& rows, Kind kind);
  void See(std::span<const float> logits, std::span<const float> probabilities, int32_t label,
           bool right, Kind kind);
  static std::vector<double>& Of(Kind kind, ClueValues* values);

  const Predictor& predictor_;
  PredictOptions options_;
  std::vector<float> scores_;
  ClueValues loss_, confidence_, gain_;
  LabelRecovery labels_;
  int64_t held_out_right_ = 0;
};

// log softmax(logits)[label], in double.
double LogProbability(std::span<const float> logits, int32_t label);

}  // namespace resmem

#endif  // RESMEM_EVAL_PRIVACY_CLUES_H_
