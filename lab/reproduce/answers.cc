#include "reproduce/answers.h"

#include <algorithm>
#include <cmath>

namespace resmem::cli::reproduce {
namespace {

// Of left - right: mean and its 95 % interval, paired.
Json Difference(std::span<const double> left, std::span<const double> right) {
  std::vector<double> differences;
  for (size_t i = 0; i < left.size(); ++i) differences.push_back(left[i] - right[i]);
  const double mean = Mean(differences);
  double squares = 0;
  for (const double value : differences) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(differences.size());
  const double reach = 1.959964 * std::sqrt(squares / (count - 1) / count);
  return {{"value", mean}, {"low", mean - reach}, {"high", mean + reach}};
}

}  // namespace

void Answers::Append(const Answers& more) {
  nll.insert(nll.end(), more.nll.begin(), more.nll.end());
  right.insert(right.end(), more.right.begin(), more.right.end());
}

Answers AnswersOf(std::string name, Json chosen, std::span<const float> probabilities,
                  std::span<const int32_t> labels) {
  Answers answers{std::move(name), std::move(chosen), {}, {}};
  const size_t classes = labels.empty() ? 0 : probabilities.size() / labels.size();
  for (size_t row = 0; row < labels.size(); ++row) {
    const std::span<const float> p = probabilities.subspan(row * classes, classes);
    const auto label = static_cast<size_t>(labels[row]);
    answers.nll.push_back(-std::log(std::max(double{p[label]}, kLeastProbability)));
    answers.right.push_back(ArgMax(p) == labels[row]);
  }
  return answers;
}

Json ToJson(const Answers& answers) {
  const auto right = std::count(answers.right.begin(), answers.right.end(), true);
  return {{"name", answers.name},
          {"chosen", answers.chosen},
          {"accuracy", ToJson(MakeAccuracy(right, std::ssize(answers.right)))},
          {"nll", Mean(answers.nll)}};
}

Json PairOf(const Answers& left, const Answers& right) {
  int64_t fixed = 0, harmed = 0, both_right = 0, both_wrong = 0;
  for (size_t i = 0; i < left.right.size(); ++i) {
    ++(left.right[i] ? (right.right[i] ? both_right : fixed)
                     : (right.right[i] ? harmed : both_wrong));
  }
  return {{"left", left.name},
          {"right", right.name},
          {"accuracy", ToJson(MakePairedGain(fixed, harmed, both_right, both_wrong))},
          {"nll", Difference(left.nll, right.nll)}};
}

Result<std::vector<float>> ProbabilitiesOf(const Predictor& predictor, const Rows& rows,
                                           const Neighbors& neighbors,
                                           const PredictOptions& options) {
  const MemoryDescription& description = predictor.memory().description();
  const auto classes = static_cast<size_t>(description.outputs);
  std::vector<float> scores(static_cast<size_t>(rows.count()) * classes);
  RESMEM_RETURN_IF_ERROR(predictor.Score(rows.keys, rows.logits, neighbors, options, scores));
  if (options.method != Method::kResMem) return scores;
  for (size_t begin = 0; begin < scores.size(); begin += classes) {
    RESMEM_RETURN_IF_ERROR(ToProbabilities(description.calibrator,
                                           description.calibrator_temperature,
                                           std::span(scores).subspan(begin, classes)));
  }
  return scores;
}

double Mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace resmem::cli::reproduce
