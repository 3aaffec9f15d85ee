// Every method of classification on the same rows and neighbors, counted.
#ifndef RESMEM_EVAL_CLASSIFICATION_H_
#define RESMEM_EVAL_CLASSIFICATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/answers/rival_answers.h"
#include "eval/answers/row_answers.h"
#include "eval/calibration.h"
#include "eval/confusions.h"
#include "eval/judge.h"
#include "eval/metrics.h"
#include "eval/pair_counts.h"
#include "predict/blend.h"

namespace resmem {

class ClassificationJudge : public Judge {
 public:
  // `options.parameters` and `options.method` must be set.
  ClassificationJudge(const Predictor& predictor, const EvaluationOptions& options);

  // Beyond, a method's probabilities are never written down.
  static constexpr int64_t kMostMetricClasses = 4096;
  // Of the rivals that the memory knows.
  static int64_t LargestK(const MemoryDescription& description);

  Status Add(const RowBlock& block, int64_t begin, int64_t count,
             const Neighbors& neighbors) override;
  void Finish(Evaluation* evaluation) const override;

 private:
  struct Counts {
    int64_t fixed = 0, harmed = 0, both_right = 0, both_wrong = 0;
    void Add(bool base_right, bool right);
  };
  struct Entry {
    Method method = Method::kBase;
    float lambda = 0;
    Refit refit = Refit::kNone;
    Parameters parameters;
    bool own = false;    // parameters tuned for it
    bool paired = true;  // all but a sweep of lambdas
    Counts counts;
    double nll = 0;  // summed over rows, where it has probabilities
    int64_t floored = 0;
    std::optional<MetricSums> metrics;  // paired, with probabilities, of few enough classes
    // Of the current block.
    std::vector<int32_t> answers;
    std::vector<CalibrationRow> judged;
    std::vector<float> probabilities;  // rows x classes, for the metrics

    bool has_probabilities() const { return method != Method::kNearestClassMean; }
  };

  // One thread's.
  struct Scratch {
    RowAnswers answers;
    std::optional<BlendRow> blend;
    std::vector<NeighborMixture> mixtures;  // of each entry that has its own parameters
    std::vector<float> scores;              // of one method
  };
  void AddEntries();
  void AddRivals();
  // Sets what is judged of one row of the block, whose number is `row`.
  Status JudgeRow(const Rows& rows, const Neighbors& neighbors, int64_t row, Scratch* scratch);
  // What one entry says about a row: its answer, and its probabilities.
  Result<int64_t> AnswerOf(const Entry& entry, size_t number, std::span<const float> key,
                           std::span<const float> logits, const Neighbors& neighbors, int64_t row,
                           Scratch* thread);
  // The answers of the method that looks at all rows together.
  Status AnswerByClassMeans(const Rows& rows, const Neighbors& neighbors, Entry* entry);
  void Count(const Rows& rows, Entry* entry) const;
  void CountPairs(const Rows& rows);
  Status CountGroups(const RowBlock& block, int64_t begin, const Rows& rows);
  Status CountSlice(const std::string& name, size_t row, int32_t label, int64_t number);

  const Predictor& predictor_;
  const EvaluationOptions& options_;
  const Parameters parameters_;
  const int64_t classes_;
  const std::optional<Rivals> rivals_;
  std::vector<Entry> entries_;  // the base first, the method that is judged last
  std::vector<size_t> paired_;  // which of them are compared with each other
  std::optional<PairCounts> pairs_;
  CalibrationSum base_calibration_, resmem_calibration_;
  std::vector<GroupResult> class_groups_;
  struct Slice {
    GroupResult group;
    std::vector<int64_t> correct;  // of each entry
    std::vector<double> nll;       // their sums
  };
  std::map<std::string, Slice> slices_;
  ConfusionCounts confusions_;
  CoarseAnalysis coarse_;
  std::vector<RowResult> row_results_;

  const std::vector<int32_t>& base_answers() const { return entries_.front().answers; }
  const std::vector<int32_t>& resmem_answers() const { return entries_.back().answers; }

  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace resmem

#endif  // RESMEM_EVAL_CLASSIFICATION_H_
