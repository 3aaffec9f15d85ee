// Every method of classification on the same rows and neighbors, counted.
#ifndef RESMEM_EVAL_CLASSIFICATION_H_
#define RESMEM_EVAL_CLASSIFICATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/calibration.h"
#include "eval/confusions.h"
#include "eval/judge.h"
#include "eval/row_answers.h"
#include "predict/blend.h"

namespace resmem {

class ClassificationJudge : public Judge {
 public:
  // `options.parameters` and `options.method` must be set.
  ClassificationJudge(const Predictor& predictor, const EvaluationOptions& options);

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
    Counts counts;
    bool keeps_probabilities = false;  // all but base, nearest class mean and the last
    double nll = 0;                    // summed over rows, where it keeps them
    int64_t floored = 0;
    // Of the current block: answers, and what the method gives the label.
    std::vector<int32_t> answers;
    std::vector<float> probabilities;
  };

  // One thread's.
  struct Scratch {
    RowAnswers answers;
    std::optional<BlendRow> blend;
    std::vector<float> blended;
  };
  // Sets what is judged of one row of the block, whose number is `row`.
  Status JudgeRow(std::span<const float> logits, int32_t label, const Neighbors& neighbors,
                  int64_t row, Scratch* scratch);
  // The probabilities of the method that is judged.
  Result<std::span<const float>> JudgedProbabilities(Scratch* scratch) const;
  // The answers of the method that looks at all rows together.
  Status AnswerByClassMeans(const Rows& rows, const Neighbors& neighbors, Entry* entry);
  void Count(const Rows& rows, Entry* entry) const;
  Status CountGroups(const RowBlock& block, int64_t begin, const Rows& rows);
  Status CountSlice(const std::string& name, size_t row, int32_t label, int64_t number);

  const Predictor& predictor_;
  const EvaluationOptions& options_;
  const Parameters parameters_;
  const int64_t classes_;
  std::vector<Entry> entries_;  // the base first, the method that is judged last
  CalibrationSum base_calibration_, resmem_calibration_;
  std::vector<GroupResult> class_groups_;
  struct Slice {
    GroupResult group;
    std::vector<int64_t> correct;  // of each entry
  };
  std::map<std::string, Slice> slices_;
  ConfusionCounts confusions_;
  CoarseAnalysis coarse_;
  std::vector<RowResult> row_results_;

  const std::vector<int32_t>& base_answers() const { return entries_.front().answers; }
  const std::vector<int32_t>& resmem_answers() const { return entries_.back().answers; }

  // Of the current block.
  std::vector<CalibrationRow> base_judged_, resmem_judged_;
  std::vector<Scratch> scratch_;  // one a thread
};

}  // namespace resmem

#endif  // RESMEM_EVAL_CLASSIFICATION_H_
