#include "eval/privacy/clues.h"

#include <algorithm>
#include <cmath>

#include "eval/calibration.h"

namespace resmem {

double LogProbability(std::span<const float> logits, int32_t label) {
  const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return static_cast<double>(logits[static_cast<size_t>(label)]) - largest - std::log(sum);
}

std::vector<double>& AnswerClues::Of(Kind kind, ClueValues* values) {
  return kind == Kind::kInside    ? values->inside
         : kind == Kind::kLeftOut ? values->left_out
                                  : values->held_out;
}

double AnswerClues::held_out_accuracy() const {
  return static_cast<double>(held_out_right_) / static_cast<double>(loss_.held_out.size());
}

Status AnswerClues::Add(const AskedRows& rows, const Neighbors& inside, const Neighbors* left_out) {
  if (rows.self.empty()) return AddAnswers(rows, inside, Kind::kHeldOut);
  RESMEM_RETURN_IF_ERROR(AddAnswers(rows, inside, Kind::kInside));
  return left_out == nullptr ? Status() : AddAnswers(rows, *left_out, Kind::kLeftOut);
}

void AnswerClues::See(std::span<const float> logits, std::span<const float> probabilities,
                      int32_t label, bool right, Kind kind) {
  bool floored = false;
  const double base = LogProbability(logits, label);
  const double log_probability =
      options_.method == Method::kBase
          ? base
          : -NegativeLog(probabilities[static_cast<size_t>(label)], &floored);
  Of(kind, &loss_).push_back(log_probability);
  Of(kind, &gain_).push_back(log_probability - base);
  // The base's in double, like its loss: in float the confident ones are all 1.
  Of(kind, &confidence_)
      .push_back(
          options_.method == Method::kBase
              ? LogProbability(logits, static_cast<int32_t>(ArgMax(logits)))
              : static_cast<double>(*std::max_element(probabilities.begin(), probabilities.end())));
  const bool base_wrong = ArgMax(logits) != label;
  if (kind == Kind::kHeldOut) held_out_right_ += right;
  if (kind == Kind::kInside) {
    ++labels_.members;
    labels_.recovered += right;
    labels_.base_wrong += base_wrong;
    labels_.base_wrong_recovered += base_wrong && right;
  }
  if (kind == Kind::kLeftOut) {
    labels_.recovered_left_out += right;
    labels_.base_wrong_recovered_left_out += base_wrong && right;
  }
}

void AnswerClues::AddBase(const AskedRows& rows, Kind kind) {
  for (int64_t q = 0; q < rows.count(); ++q) {
    const int32_t label = rows.labels[static_cast<size_t>(q)];
    const std::span<const float> logits = rows.logits.row_span(q);
    See(logits, {}, label, ArgMax(logits) == label, kind);
  }
}

Status AnswerClues::AddAnswers(const AskedRows& rows, const Neighbors& neighbors, Kind kind) {
  if (options_.method == Method::kBase) {
    AddBase(rows, kind);
    return {};
  }
  const MemoryDescription& description = predictor_.memory().description();
  const auto outputs = static_cast<size_t>(description.outputs);
  scores_.resize(static_cast<size_t>(rows.count()) * outputs);
  RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors, options_, scores_));
  for (int64_t q = 0; q < rows.count(); ++q) {
    const int32_t label = rows.labels[static_cast<size_t>(q)];
    const auto scores = std::span(scores_).subspan(static_cast<size_t>(q) * outputs, outputs);
    const bool right = ArgMax(scores) == label;
    if (options_.method == Method::kResMem) {
      RESMEM_RETURN_IF_ERROR(
          ToProbabilities(description.calibrator, description.calibrator_temperature, scores));
    }
    See(rows.logits.row_span(q), scores, label, right, kind);
  }
  return {};
}

}  // namespace resmem
