// A prediction taken apart.  The score is a sum, so the attribution is exact: no gradients, no
// sampling, nothing estimated.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/vector_math.h"
#include "memory/memory_parts.h"
#include "predict/correction.h"
#include "predict/explain_blend.h"
#include "resmem/predictor.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

size_t ArgMaxOf(const std::vector<double>& scores) {
  return static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// The vote among the lines that are left, reweighted.
class Vote {
 public:
  Vote(const Explanation& explanation, const std::vector<std::vector<float>>& residuals,
       float sigma)
      : explanation_(explanation),
        residuals_(residuals),
        sigma_(sigma),
        left_(residuals.size(), true) {}

  void Remove(size_t line) { left_[line] = false; }

  // Scores of the lines left; the base's where there are none.
  std::vector<double> Scores() {
    std::vector<double> scores = explanation_.base;
    rows_.clear();
    distances_.clear();
    for (size_t i = 0; i < left_.size(); ++i) {
      if (!left_[i]) continue;
      rows_.push_back(static_cast<int64_t>(i));
      distances_.push_back(static_cast<float>(explanation_.lines[i].distance));
    }
    WeighNeighbors(rows_, distances_, std::ssize(rows_), sigma_, &weighted_);
    weights_.assign(left_.size(), 0);
    for (size_t line = 0; line < rows_.size(); ++line) {
      const auto i = static_cast<size_t>(rows_[line]);
      weights_[i] = static_cast<double>(weighted_.weights[line]) * weighted_.scale;
      for (size_t c = 0; c < scores.size(); ++c) scores[c] += weights_[i] * residuals_[i][c];
    }
    return scores;
  }

  // After Scores(): the line that speaks most for one class against another; -1 where none does.
  int64_t Strongest(size_t against, size_t prediction) const {
    int64_t strongest = -1;
    double strength = 0;
    for (size_t i = 0; i < left_.size(); ++i) {
      const double margin = weights_[i] * (residuals_[i][prediction] - residuals_[i][against]);
      if (left_[i] && margin > strength) {
        strongest = static_cast<int64_t>(i);
        strength = margin;
      }
    }
    return strongest;
  }

 private:
  const Explanation& explanation_;
  const std::vector<std::vector<float>>& residuals_;
  const float sigma_;
  std::vector<bool> left_;
  std::vector<int64_t> rows_;  // the lines left, in order of distance
  std::vector<float> distances_;
  WeightedNeighbors weighted_;
  std::vector<double> weights_;  // normalized over the lines left
};

// Takes away, one after the other, the line that speaks most for the prediction against its
// strongest rival, until the answer of the rest changes.  Greedy, so not proven to be the smallest
// set, but each set it returns does flip the answer.
std::vector<int64_t> FindFlipSet(const Explanation& explanation,
                                 const std::vector<std::vector<float>>& residuals, float sigma) {
  if (explanation.base.size() < 2) return {};  // no rival
  const auto prediction = static_cast<size_t>(explanation.prediction);
  Vote vote(explanation, residuals, sigma);
  std::vector<int64_t> flip_set;
  std::vector<double> scores = vote.Scores();
  while (flip_set.size() < residuals.size()) {
    scores[prediction] = -INFINITY;  // the strongest rival is the best of the others
    const int64_t strongest = vote.Strongest(ArgMaxOf(scores), prediction);
    if (strongest < 0) return {};  // nobody left speaks for the prediction
    vote.Remove(static_cast<size_t>(strongest));
    flip_set.push_back(strongest);
    scores = vote.Scores();
    if (ArgMaxOf(scores) != prediction) return flip_set;
  }
  return {};
}

Status AddProbabilities(const MemoryDescription& description, std::span<const float> logits,
                        Explanation* explanation) {
  if (description.task != Task::kClassification) return {};
  explanation->base_probability.resize(logits.size());
  Softmax(logits.data(), std::ssize(logits), 1.0f, explanation->base_probability.data());
  explanation->probability = explanation->score;
  if (explanation->method != Method::kResMem) return {};
  return ToProbabilities(description.calibrator, description.calibrator_temperature,
                         explanation->probability);
}

Status AddDistance(const Predictor& predictor, const MatrixView& key, const Neighbors& neighbors,
                   std::span<const int64_t> exclusion, const PredictOptions& options,
                   Explanation* explanation) {
  if (predictor.DistanceNeighbors() == 0) return {};
  Explanation::Distance distance;
  RESMEM_RETURN_IF_ERROR(predictor.DistancePercentiles(key, neighbors, exclusion, options.threads,
                                                       {&distance.percentile, 1}));
  distance.unknown_rate = options.unknown_rate;
  distance.unknown = IsUnknown(distance.percentile, options.unknown_rate);
  explanation->distance = distance;
  return {};
}

Result<Explanation> ExplainSum(const Predictor& predictor, std::span<const float> key,
                               std::span<const float> logits, const PredictOptions& options,
                               const Neighbors& neighbors) {
  const ResidualMemory& memory = predictor.memory();
  const MatrixView keys(key.data(), 1, static_cast<int64_t>(key.size()));
  const MatrixView base_logits(logits.data(), 1, static_cast<int64_t>(logits.size()));
  PredictOptions resmem = options;
  Explanation explanation;
  explanation.method = resmem.method;
  explanation.score.resize(logits.size());
  RESMEM_RETURN_IF_ERROR(predictor.Score(keys, base_logits, neighbors, resmem, explanation.score));

  const bool resmem_lines = resmem.method == Method::kResMem;
  resmem.method = Method::kBase;
  std::vector<float> base(logits.size());
  RESMEM_RETURN_IF_ERROR(predictor.Score(keys, base_logits, neighbors, resmem, base));
  explanation.base.assign(base.begin(), base.end());

  WeightedNeighbors weighted;
  if (resmem_lines && neighbors.k > 0) {
    WeighNeighbors(neighbors.rows_of(0), neighbors.distances_of(0), resmem.parameters.k,
                   resmem.parameters.sigma, &weighted);
  }
  explanation.rounding.assign(explanation.score.begin(), explanation.score.end());
  for (size_t c = 0; c < base.size(); ++c) explanation.rounding[c] -= explanation.base[c];
  std::vector<std::vector<float>> residuals;
  for (size_t i = 0; i < weighted.rows.size(); ++i) {
    Explanation::Line line = LineOf(memory, weighted, neighbors.distances_of(0), i);
    std::vector<float>& residual = residuals.emplace_back(logits.size());
    MemoryParts::Rows(memory).Residual(line.row, resmem.parameters.temperature, residual);
    line.contribution.resize(residual.size());
    for (size_t c = 0; c < residual.size(); ++c) {
      line.contribution[c] = line.weight * residual[c];
      explanation.rounding[c] -= line.contribution[c];
    }
    explanation.lines.push_back(std::move(line));
  }
  if (memory.description().task == Task::kClassification) {
    explanation.prediction = ArgMax(explanation.score);
    explanation.base_prediction = ArgMax(base);
    explanation.flip_set = FindFlipSet(explanation, residuals, resmem.parameters.sigma);
  }
  return explanation;
}

Result<Explanation> ExplainLogs(const Predictor& predictor, std::span<const float> key,
                                std::span<const float> logits, const PredictOptions& options,
                                const Neighbors& neighbors) {
  const MatrixView keys(key.data(), 1, static_cast<int64_t>(key.size()));
  const MatrixView base_logits(logits.data(), 1, static_cast<int64_t>(logits.size()));
  Explanation explanation;
  explanation.score.resize(logits.size());
  RESMEM_RETURN_IF_ERROR(predictor.Score(keys, base_logits, neighbors, options, explanation.score));
  ExplainBlend(predictor.memory(), logits, neighbors, options, &explanation);
  return explanation;
}

}  // namespace

Result<Explanation> Explain(const Predictor& predictor, std::span<const float> key,
                            std::span<const float> logits, const PredictOptions& options,
                            int64_t exclude) try {
  const bool logs = NeedsBlend(options.method);
  if (!logs && options.method != Method::kBase && options.method != Method::kResMem) {
    return Status(ErrorCode::kUnsupported,
                  Text("the method ", MethodName(options.method),
                       " has no ledger; explain base, resmem, blend or logit-boost"));
  }
  RESMEM_RETURN_IF_ERROR(CheckParameters(options.parameters));
  RESMEM_RETURN_IF_ERROR(CheckUnknownRate(options.unknown_rate));
  const MatrixView keys(key.data(), 1, std::ssize(key));
  const int64_t excluded[1] = {exclude};
  const std::span<const int64_t> exclusion = exclude < 0 ? std::span<const int64_t>() : excluded;
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(keys, options.parameters.k, exclusion,
                                                 options.threads, nullptr, &neighbors));
  RESMEM_ASSIGN_OR_RETURN(Explanation explanation,
                          logs ? ExplainLogs(predictor, key, logits, options, neighbors)
                               : ExplainSum(predictor, key, logits, options, neighbors));
  RESMEM_RETURN_IF_ERROR(AddDistance(predictor, keys, neighbors, exclusion, options, &explanation));
  RESMEM_RETURN_IF_ERROR(AddProbabilities(predictor.memory().description(), logits, &explanation));
  RESMEM_RETURN_IF_ERROR(MemoryParts::CheckFiles(predictor.memory()));
  return explanation;
} catch (...) {
  return CaughtException("explain the prediction");
}

}  // namespace resmem
