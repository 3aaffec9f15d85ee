#include "tune/calibrator_choice.h"

#include <algorithm>
#include <vector>

#include "eval/calibration.h"
#include "memory/residuals/calibrators.h"
#include "support/check.h"
#include "support/parallel.h"

namespace resmem {
namespace {

// Scores judged by each candidate.
constexpr int64_t kMostScores = int64_t{1} << 25;
constexpr int64_t kFewestRows = 1000;

std::vector<CalibratorChoice> Candidates() {
  std::vector<CalibratorChoice> candidates;
  for (const Calibrator& one : Calibrators()) {
    if (!one.has_temperature()) candidates.push_back({std::string(one.name), 1, 0});
    for (const float temperature : one.temperatures) {
      candidates.push_back({std::string(one.name), temperature, 0});
    }
  }
  return candidates;
}

// NLL of one row's scores by each candidate.
void JudgeRow(std::span<const float> scores, int32_t label,
              const std::vector<CalibratorChoice>& candidates, std::vector<float>* scratch,
              double* nll) {
  for (size_t c = 0; c < candidates.size(); ++c) {
    scratch->assign(scores.begin(), scores.end());
    const Status status = ToProbabilities(candidates[c].name, candidates[c].temperature, *scratch);
    RESMEM_DCHECK(status.ok());  // finite scores, names from the list
    static_cast<void>(status);
    bool floored = false;
    nll[c] = NegativeLog((*scratch)[static_cast<size_t>(label)], &floored);
  }
}

}  // namespace

Result<CalibratorChoice> ChooseCalibrator(const Predictor& predictor, const ValidationRows& rows,
                                          const Parameters& parameters, int threads) {
  const int64_t classes = predictor.memory().description().outputs;
  const int64_t most = std::max(kMostScores / classes, kFewestRows);
  const int64_t step = (rows.rows + most - 1) / most;
  std::vector<CalibratorChoice> candidates = Candidates();
  PredictOptions options;
  options.parameters = parameters;
  options.threads = threads;
  const int workers = ResolveThreads(threads);
  std::vector<std::vector<float>> scratch(static_cast<size_t>(workers));
  std::vector<float> scores;
  std::vector<double> nll;
  int64_t judged = 0;
  for (const ValidationBlock& block : rows.blocks) {
    scores.resize(block.logit_values.size());
    RESMEM_RETURN_IF_ERROR(predictor.Score({}, block.logits(), block.neighbors, options, scores));
    const int64_t count = (block.count() + step - 1) / step;
    nll.resize(static_cast<size_t>(count) * candidates.size());
    ParallelFor(workers, count, 16, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i) {
        const auto row = static_cast<size_t>(i * step);
        JudgeRow(MatrixView(scores.data(), block.count(), classes).row_span(i * step),
                 block.labels[row], candidates, &scratch[static_cast<size_t>(worker)],
                 &nll[static_cast<size_t>(i) * candidates.size()]);
      }
    });
    for (size_t i = 0; i < nll.size(); ++i) candidates[i % candidates.size()].nll += nll[i];
    judged += count;
  }
  CalibratorChoice best = *std::min_element(
      candidates.begin(), candidates.end(),
      [](const CalibratorChoice& a, const CalibratorChoice& b) { return a.nll < b.nll; });
  best.nll /= static_cast<double>(judged);
  return best;
}

}  // namespace resmem
