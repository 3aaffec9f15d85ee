// A prediction taken apart.  The score is a sum, so the attribution is exact: no gradients, no
// sampling, nothing estimated.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/vector_math.h"
#include "predict/correction.h"
#include "resmem/predictor.h"
#include "support/text.h"

namespace resmem {
namespace {

size_t ArgMaxOf(const std::vector<double>& scores) {
  return static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// Takes away, one after the other, the line that speaks most for the prediction against its
// strongest rival, until the answer of the rest changes.  Greedy, so not proven to be the smallest
// set, but each set it returns does flip the answer.
std::vector<int64_t> FindFlipSet(const Explanation& explanation) {
  const auto prediction = static_cast<size_t>(explanation.prediction);
  std::vector<bool> removed(explanation.lines.size());
  std::vector<int64_t> flip_set;
  double weight_left = 1;
  std::vector<double> sum(explanation.base.size());  // of contributions, not reweighted
  for (const Explanation::Line& line : explanation.lines) {
    for (size_t c = 0; c < sum.size(); ++c) sum[c] += line.contribution[c];
  }
  std::vector<double> score(sum.size());
  for (size_t round = 0; round < explanation.lines.size(); ++round) {
    for (size_t c = 0; c < sum.size(); ++c) {
      score[c] = explanation.base[c] + (weight_left > 0 ? sum[c] / weight_left : 0);
    }
    score[prediction] = -INFINITY;  // the strongest rival is the best of the others
    const size_t rival = ArgMaxOf(score);
    int64_t strongest = -1;
    double strength = 0;
    for (size_t i = 0; i < explanation.lines.size(); ++i) {
      const std::vector<double>& contribution = explanation.lines[i].contribution;
      const double margin = contribution[prediction] - contribution[rival];
      if (!removed[i] && margin > strength) {
        strongest = static_cast<int64_t>(i);
        strength = margin;
      }
    }
    if (strongest < 0) return {};  // nobody left speaks for the prediction
    const Explanation::Line& line = explanation.lines[static_cast<size_t>(strongest)];
    removed[static_cast<size_t>(strongest)] = true;
    flip_set.push_back(strongest);
    weight_left -= line.weight;
    const bool nobody_left = round + 1 == explanation.lines.size();
    for (size_t c = 0; c < sum.size(); ++c) {
      sum[c] -= line.contribution[c];
      score[c] = explanation.base[c] + (nobody_left ? 0 : sum[c] / weight_left);
    }
    if (ArgMaxOf(score) != prediction) return flip_set;
  }
  return {};
}

}  // namespace

Result<Explanation> Explain(const Predictor& predictor, std::span<const float> key,
                            std::span<const float> logits, const PredictOptions& options,
                            int64_t exclude) {
  const ResidualMemory& memory = predictor.memory();
  const MatrixView keys(key.data(), 1, static_cast<int64_t>(key.size()));
  const MatrixView base_logits(logits.data(), 1, static_cast<int64_t>(logits.size()));
  PredictOptions resmem = options;
  resmem.method = Method::kResMem;
  RESMEM_RETURN_IF_ERROR(CheckParameters(resmem.parameters));
  const int64_t excluded[1] = {exclude};
  const std::span<const int64_t> exclusion = exclude < 0 ? std::span<const int64_t>() : excluded;
  Neighbors neighbors;
  RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(keys, resmem.parameters.k, exclusion,
                                                 options.threads, nullptr, &neighbors));
  Explanation explanation;
  explanation.score.resize(logits.size());
  RESMEM_RETURN_IF_ERROR(predictor.Score(keys, base_logits, neighbors, resmem, explanation.score));

  resmem.method = Method::kBase;
  std::vector<float> base(logits.size());
  RESMEM_RETURN_IF_ERROR(predictor.Score(keys, base_logits, neighbors, resmem, base));
  explanation.base.assign(base.begin(), base.end());

  WeightedNeighbors weighted;
  WeighNeighbors(neighbors.rows_of(0), neighbors.distances_of(0), resmem.parameters.k,
                 resmem.parameters.sigma, &weighted);
  const double total = std::accumulate(weighted.weights.begin(), weighted.weights.end(), 0.0);
  explanation.rounding.assign(explanation.score.begin(), explanation.score.end());
  for (size_t c = 0; c < base.size(); ++c) explanation.rounding[c] -= explanation.base[c];
  std::vector<float> residual(logits.size());
  for (size_t i = 0; i < weighted.rows.size(); ++i) {
    Explanation::Line line;
    line.row = weighted.rows[i];
    line.id = memory.id(line.row);
    line.source = std::string(memory.source(line.row));
    if (memory.description().task == Task::kClassification) line.label = memory.label(line.row);
    line.distance = neighbors.distances_of(0)[i];
    line.weight = weighted.weights[i] / total;
    memory.Residual(line.row, resmem.parameters.temperature, residual);
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
    explanation.flip_set = FindFlipSet(explanation);
  }
  return explanation;
}

}  // namespace resmem
