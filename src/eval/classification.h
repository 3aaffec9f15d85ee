// Every method of classification on the same rows and neighbors, counted.
#ifndef RESMEM_EVAL_CLASSIFICATION_H_
#define RESMEM_EVAL_CLASSIFICATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eval/calibration.h"
#include "eval/judge.h"

namespace resmem {

class ClassificationJudge : public Judge {
 public:
  // `options.parameters` must be set.
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
    Method method;
    float lambda;
    Counts counts;
  };

  // The block's answers by one method; `scores_` then holds the scores.
  Status Answer(const Rows& rows, const Neighbors& neighbors, Method method, float lambda,
                float temperature, std::vector<int64_t>* answers);
  // Judges `scores_` as probabilities.
  void Judge(const Rows& rows, const std::vector<int64_t>& answers,
             std::vector<CalibrationRow>* judged) const;
  Status CountGroups(const RowBlock& block, int64_t begin, const Rows& rows);

  const Predictor& predictor_;
  const EvaluationOptions& options_;
  const Parameters parameters_;
  const int64_t classes_;
  std::vector<Entry> entries_;
  CalibrationSum base_calibration_, resmem_calibration_;
  std::vector<GroupResult> class_groups_;
  std::map<std::string, GroupResult> slice_groups_;
  CoarseAnalysis coarse_;
  std::vector<RowResult> row_results_;

  // Of the current block.
  std::vector<float> scores_;
  std::vector<int64_t> base_answers_, answers_;
  std::vector<CalibrationRow> base_judged_, resmem_judged_;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_CLASSIFICATION_H_
