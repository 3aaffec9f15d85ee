#include "eval/classification.h"

#include <algorithm>

#include "kernels/vector_math.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kMostSlices = 10000;  // more are ids, not groups
// A mean key for each word of a vocabulary takes longer than all other methods together.
constexpr int64_t kMostMeanClasses = 4096;

void AddToGroup(bool base_right, bool right, GroupResult* group) {
  ++group->total;
  group->base_correct += base_right ? 1 : 0;
  group->resmem_correct += right ? 1 : 0;
  group->fixed += !base_right && right ? 1 : 0;
  group->harmed += base_right && !right ? 1 : 0;
}

}  // namespace

void ClassificationJudge::Counts::Add(bool base_right, bool right) {
  if (base_right) {
    ++(right ? both_right : harmed);
  } else {
    ++(right ? fixed : both_wrong);
  }
}

ClassificationJudge::ClassificationJudge(const Predictor& predictor,
                                         const EvaluationOptions& options)
    : predictor_(predictor),
      options_(options),
      parameters_(*options.parameters),
      classes_(predictor.memory().description().outputs),
      class_groups_(static_cast<size_t>(classes_)) {
  entries_.push_back({Method::kBase, 0, {}});
  const bool rows = predictor.memory().rows() > 0;
  if (options.baselines && rows && classes_ <= kMostMeanClasses) {
    entries_.push_back({Method::kNearestClassMean, 0, {}});
  }
  if (options.baselines && rows && parameters_.k > 0) {
    entries_.push_back({Method::kKnn, 0, {}});
    for (const float lambda : options.lambdas) entries_.push_back({Method::kKnnLm, lambda, {}});
  }
  entries_.push_back({Method::kResMem, 0, {}});
  const std::vector<std::string>& names = predictor.memory().description().class_names;
  for (size_t c = 0; c < class_groups_.size(); ++c) {
    class_groups_[c].name = names.empty() ? Text(c) : names[c];
  }
}

Status ClassificationJudge::Add(const RowBlock& block, int64_t begin, int64_t count,
                                const Neighbors& neighbors) {
  const Rows rows = block.rows().Slice(begin, count);
  scores_.resize(static_cast<size_t>(count * classes_));
  // The base's probabilities are its own (T = 1); its answers come from the score that ResMem adds
  // to, so that a correction of zero changes no answer.
  RESMEM_RETURN_IF_ERROR(Answer(rows, neighbors, Method::kBase, 0, 1.0f, &base_answers_));
  Judge(rows, base_answers_, &base_judged_);
  for (Entry& entry : entries_) {
    std::vector<int64_t>& answers = entry.method == Method::kBase ? base_answers_ : answers_;
    RESMEM_RETURN_IF_ERROR(
        Answer(rows, neighbors, entry.method, entry.lambda, parameters_.temperature, &answers));
    for (size_t i = 0; i < answers.size(); ++i) {
      entry.counts.Add(base_answers_[i] == rows.labels[i], answers[i] == rows.labels[i]);
    }
  }
  // ResMem was last: its scores are still there.
  const MemoryDescription& description = predictor_.memory().description();
  constexpr int64_t kPiece = 64;
  std::vector<Status> failures(static_cast<size_t>((count + kPiece - 1) / kPiece));
  ParallelFor(
      ResolveThreads(options_.threads), count, kPiece, [&](int64_t first, int64_t end, int) {
        Status& failure = failures[static_cast<size_t>(first / kPiece)];
        for (int64_t q = first; q < end && failure.ok(); ++q) {
          failure = ToProbabilities(description.calibrator, description.calibrator_temperature,
                                    std::span(scores_).subspan(static_cast<size_t>(q * classes_),
                                                               static_cast<size_t>(classes_)));
        }
      });
  for (const Status& failure : failures) RESMEM_RETURN_IF_ERROR(failure);
  Judge(rows, answers_, &resmem_judged_);
  for (size_t i = 0; i < base_judged_.size(); ++i) {
    base_calibration_.Add(base_judged_[i]);
    resmem_calibration_.Add(resmem_judged_[i]);
  }
  return CountGroups(block, begin, rows);
}

Status ClassificationJudge::Answer(const Rows& rows, const Neighbors& neighbors, Method method,
                                   float lambda, float temperature, std::vector<int64_t>* answers) {
  PredictOptions predict;
  predict.parameters = parameters_;
  predict.parameters.temperature = temperature;
  predict.method = method;
  predict.lambda = lambda;
  predict.threads = options_.threads;
  RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors, predict, scores_));
  answers->resize(static_cast<size_t>(rows.count()));
  ParallelFor(ResolveThreads(options_.threads), rows.count(), 256,
              [&](int64_t begin, int64_t end, int) {
                for (int64_t q = begin; q < end; ++q) {
                  (*answers)[static_cast<size_t>(q)] =
                      ArgMax(&scores_[static_cast<size_t>(q * classes_)], classes_);
                }
              });
  return {};
}

void ClassificationJudge::Judge(const Rows& rows, const std::vector<int64_t>& answers,
                                std::vector<CalibrationRow>* judged) const {
  judged->resize(answers.size());
  ParallelFor(
      ResolveThreads(options_.threads), rows.count(), 256, [&](int64_t begin, int64_t end, int) {
        for (int64_t q = begin; q < end; ++q) {
          const auto i = static_cast<size_t>(q);
          (*judged)[i] =
              JudgeProbabilities(std::span(scores_).subspan(i * static_cast<size_t>(classes_),
                                                            static_cast<size_t>(classes_)),
                                 rows.labels[i], answers[i]);
        }
      });
}

Status ClassificationJudge::CountGroups(const RowBlock& block, int64_t begin, const Rows& rows) {
  for (size_t i = 0; i < answers_.size(); ++i) {
    const int32_t label = rows.labels[i];
    const bool base_right = base_answers_[i] == label, right = answers_[i] == label;
    AddToGroup(base_right, right, &class_groups_[static_cast<size_t>(label)]);
    if (!rows.slices.empty()) {
      GroupResult& slice = slice_groups_[rows.slices[i]];
      AddToGroup(base_right, right, &slice);
      if (slice_groups_.size() > kMostSlices) {
        return {ErrorCode::kBadData,
                Text("the slices have more than ", kMostSlices, " different names by row ",
                     block.number(begin + static_cast<int64_t>(i)),
                     "; a slice is a group of many rows")};
      }
    }
    if (!options_.coarse_of_class.empty() && !base_right) {
      const std::vector<int32_t>& coarse = options_.coarse_of_class;
      const bool same =
          coarse[static_cast<size_t>(base_answers_[i])] == coarse[static_cast<size_t>(label)];
      ++coarse_.base_errors;
      coarse_.base_errors_same_coarse += same ? 1 : 0;
      coarse_.fixed += right ? 1 : 0;
      coarse_.fixed_same_coarse += right && same ? 1 : 0;
    }
    if (static_cast<int64_t>(row_results_.size()) < options_.keep_rows) {
      row_results_.push_back({block.number(begin + static_cast<int64_t>(i)), label,
                              static_cast<int32_t>(base_answers_[i]),
                              static_cast<int32_t>(answers_[i]), base_judged_[i].confidence,
                              resmem_judged_[i].confidence});
    }
  }
  return {};
}

void ClassificationJudge::Finish(Evaluation* evaluation) const {
  for (const Entry& entry : entries_) {
    const Counts& counts = entry.counts;
    MethodResult result;
    result.method = entry.method;
    result.lambda = entry.lambda;
    result.against_base =
        MakePairedGain(counts.fixed, counts.harmed, counts.both_right, counts.both_wrong);
    result.accuracy = MakeAccuracy(counts.both_right + counts.fixed, result.against_base.total);
    evaluation->methods.push_back(result);
  }
  evaluation->gain = evaluation->methods.back().against_base;
  evaluation->base_calibration = base_calibration_.Finish();
  evaluation->resmem_calibration = resmem_calibration_.Finish();
  for (const GroupResult& group : class_groups_) {
    if (group.total > 0) evaluation->classes.push_back(group);
  }
  for (const auto& [name, group] : slice_groups_) {
    evaluation->slices.push_back(group);
    evaluation->slices.back().name = name;
  }
  if (!options_.coarse_of_class.empty()) evaluation->coarse = coarse_;
  evaluation->row_results = row_results_;
}

}  // namespace resmem
