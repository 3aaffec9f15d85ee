#include "eval/classification.h"

#include <algorithm>

#include "kernels/vector_math.h"
#include "predict/input_checks.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kMostSlices = 10000;  // more are ids, not groups
// A mean key for each word of a vocabulary takes longer than all other methods together.
constexpr int64_t kMostMeanClasses = 4096;
// Likewise too many to be confused in an interesting way.
constexpr int64_t kMostConfusedClasses = 4096;
constexpr size_t kMostConfusions = 1000;

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
  const auto add = [&](Method method, float lambda = 0) {
    entries_.emplace_back();
    entries_.back().method = method;
    entries_.back().lambda = lambda;
    entries_.back().keeps_probabilities =
        method != Method::kBase && method != Method::kNearestClassMean;
  };
  add(Method::kBase);
  const bool rows = predictor.memory().rows() > 0;
  if (options.baselines && rows && classes_ <= kMostMeanClasses) add(Method::kNearestClassMean);
  if (options.baselines && rows && parameters_.k > 0) {
    add(Method::kKnn);
    for (const float lambda : options.lambdas) add(Method::kKnnLm, lambda);
  }
  if (*options.method != Method::kResMem && options.baselines && rows && parameters_.k > 0) {
    add(Method::kResMem);
  }
  add(*options.method);
  entries_.back().keeps_probabilities = false;  // judged as a whole
  const std::vector<std::string>& names = predictor.memory().description().class_names;
  for (size_t c = 0; c < class_groups_.size(); ++c) {
    class_groups_[c].name = names.empty() ? Text(c) : names[c];
  }
}

Status ClassificationJudge::Add(const RowBlock& block, int64_t begin, int64_t count,
                                const Neighbors& neighbors) {
  const Rows rows = block.rows().Slice(begin, count);
  RESMEM_RETURN_IF_ERROR(
      CheckFrozenTemperature(predictor_.memory().description(), parameters_.temperature));
  base_judged_.resize(static_cast<size_t>(count));
  resmem_judged_.resize(static_cast<size_t>(count));
  for (Entry& entry : entries_) {
    entry.answers.resize(static_cast<size_t>(count));
    if (entry.keeps_probabilities) entry.probabilities.resize(static_cast<size_t>(count));
    if (entry.method != Method::kNearestClassMean) continue;
    RESMEM_RETURN_IF_ERROR(AnswerByClassMeans(rows, neighbors, &entry));
  }
  const int threads = ResolveThreads(options_.threads);
  while (std::ssize(scratch_) < threads) {
    scratch_.push_back({RowAnswers(predictor_.memory(), parameters_), std::nullopt, {}});
    if (!NeedsBlend(*options_.method)) continue;
    scratch_.back().blend.emplace(predictor_.memory());
    scratch_.back().blended.resize(static_cast<size_t>(classes_));
  }
  constexpr int64_t kPiece = 16;
  std::vector<Status> failures(static_cast<size_t>((count + kPiece - 1) / kPiece));
  ParallelFor(threads, count, kPiece, [&](int64_t first, int64_t end, int worker) {
    Status& failure = failures[static_cast<size_t>(first / kPiece)];
    for (int64_t q = first; q < end && failure.ok(); ++q) {
      failure = JudgeRow(rows.logits.row_span(q), rows.labels[static_cast<size_t>(q)], neighbors, q,
                         &scratch_[static_cast<size_t>(worker)]);
    }
  });
  for (const Status& failure : failures) RESMEM_RETURN_IF_ERROR(failure);
  for (Entry& entry : entries_) Count(rows, &entry);
  for (size_t i = 0; i < base_judged_.size(); ++i) {
    base_calibration_.Add(base_judged_[i]);
    resmem_calibration_.Add(resmem_judged_[i]);
  }
  return CountGroups(block, begin, rows);
}

Status ClassificationJudge::JudgeRow(std::span<const float> logits, int32_t label,
                                     const Neighbors& neighbors, int64_t row, Scratch* thread) {
  RESMEM_RETURN_IF_ERROR(CheckLogits(logits, row));
  RowAnswers* const scratch = &thread->answers;
  scratch->Load(logits, neighbors.rows_of(row), neighbors.distances_of(row));
  const MemoryDescription& description = predictor_.memory().description();
  if (thread->blend) {
    const Blend& blend = *description.blend;
    thread->blend->Load(logits, neighbors.rows_of(row), neighbors.distances_of(row),
                        blend.parameters, blend.prior, blend.base_temperature);
    thread->blend->Answer(blend, logits, thread->blended);
  }
  const auto i = static_cast<size_t>(row);
  for (Entry& entry : entries_) {
    int64_t answer = entry.answers[i];
    switch (entry.method) {
      case Method::kBase:
        answer = scratch->Base();
        break;
      case Method::kNearestClassMean:
        break;  // is there already
      case Method::kKnn:
        answer = scratch->Knn();
        entry.probabilities[i] = scratch->MixtureAt(1.0f, label);
        break;
      case Method::kKnnLm:
        answer = scratch->KnnLm(entry.lambda);
        entry.probabilities[i] = scratch->MixtureAt(entry.lambda, label);
        break;
      case Method::kResMem:
        answer = scratch->ResMem();
        if (!entry.keeps_probabilities) break;
        RESMEM_RETURN_IF_ERROR(ToProbabilities(
            description.calibrator, description.calibrator_temperature, scratch->resmem_scores()));
        entry.probabilities[i] = scratch->resmem_scores()[static_cast<size_t>(label)];
        break;
      case Method::kBlend:
      case Method::kLogitBoost:
        answer = ArgMax(thread->blended);
        break;
    }
    entry.answers[i] = static_cast<int32_t>(answer);
  }
  // The base's probabilities are its own (T = 1); its answers come from the score that ResMem adds
  // to, so that a correction of zero changes no answer.
  const std::span<const float> probabilities = scratch->probabilities();
  base_judged_[i] = JudgeProbabilities(probabilities, label, ArgMax(probabilities));
  RESMEM_ASSIGN_OR_RETURN(const std::span<const float> judged, JudgedProbabilities(thread));
  resmem_judged_[i] = JudgeProbabilities(judged, label, resmem_answers()[i]);
  return {};
}

Result<std::span<const float>> ClassificationJudge::JudgedProbabilities(Scratch* scratch) const {
  if (scratch->blend) return std::span<const float>(scratch->blended);
  if (*options_.method == Method::kBase) return scratch->answers.probabilities();
  const MemoryDescription& description = predictor_.memory().description();
  const std::span<float> scores = scratch->answers.resmem_scores();
  RESMEM_RETURN_IF_ERROR(
      ToProbabilities(description.calibrator, description.calibrator_temperature, scores));
  return std::span<const float>(scores);
}

Status ClassificationJudge::AnswerByClassMeans(const Rows& rows, const Neighbors& neighbors,
                                               Entry* entry) {
  PredictOptions predict;
  predict.parameters = parameters_;
  predict.method = entry->method;
  predict.threads = options_.threads;
  std::vector<float> scores(static_cast<size_t>(rows.count() * classes_));
  RESMEM_RETURN_IF_ERROR(predictor_.Score(rows.keys, rows.logits, neighbors, predict, scores));
  for (int64_t q = 0; q < rows.count(); ++q) {
    const float* const row = scores.data() + q * classes_;
    entry->answers[static_cast<size_t>(q)] = static_cast<int32_t>(ArgMax(row, classes_));
  }
  return {};
}

void ClassificationJudge::Count(const Rows& rows, Entry* entry) const {
  for (size_t i = 0; i < entry->answers.size(); ++i) {
    entry->counts.Add(base_answers()[i] == rows.labels[i], entry->answers[i] == rows.labels[i]);
  }
  if (!entry->keeps_probabilities) return;
  for (const float probability : entry->probabilities) {
    bool floored = false;
    entry->nll += NegativeLog(probability, &floored);
    entry->floored += floored ? 1 : 0;
  }
}

Status ClassificationJudge::CountSlice(const std::string& name, size_t row, int32_t label,
                                       int64_t number) {
  Slice& slice = slices_[name];
  slice.correct.resize(entries_.size());
  AddToGroup(base_answers()[row] == label, resmem_answers()[row] == label, &slice.group);
  for (size_t e = 0; e < entries_.size(); ++e) {
    slice.correct[e] += entries_[e].answers[row] == label ? 1 : 0;
  }
  if (slices_.size() <= kMostSlices) return {};
  return {ErrorCode::kBadData,
          Text("the slices have more than ", kMostSlices, " different names by row ", number,
               "; a slice is a group of many rows")};
}

Status ClassificationJudge::CountGroups(const RowBlock& block, int64_t begin, const Rows& rows) {
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    const int32_t label = rows.labels[i];
    const bool base_right = base_answers()[i] == label, right = resmem_answers()[i] == label;
    AddToGroup(base_right, right, &class_groups_[static_cast<size_t>(label)]);
    if (classes_ <= kMostConfusedClasses) {
      confusions_.Add(label, base_answers()[i], resmem_answers()[i]);
    }
    if (!rows.slices.empty()) {
      RESMEM_RETURN_IF_ERROR(
          CountSlice(rows.slices[i], i, label, block.number(begin + static_cast<int64_t>(i))));
    }
    if (!options_.coarse_of_class.empty() && !base_right) {
      const std::vector<int32_t>& coarse = options_.coarse_of_class;
      const bool same =
          coarse[static_cast<size_t>(base_answers()[i])] == coarse[static_cast<size_t>(label)];
      ++coarse_.base_errors;
      coarse_.base_errors_same_coarse += same ? 1 : 0;
      coarse_.fixed += right ? 1 : 0;
      coarse_.fixed_same_coarse += right && same ? 1 : 0;
    }
    if (static_cast<int64_t>(row_results_.size()) < options_.keep_rows) {
      row_results_.push_back({block.number(begin + static_cast<int64_t>(i)), label,
                              base_answers()[i], resmem_answers()[i], base_judged_[i].confidence,
                              resmem_judged_[i].confidence});
    }
  }
  return {};
}

void ClassificationJudge::Finish(Evaluation* evaluation) const {
  evaluation->base_calibration = base_calibration_.Finish();
  evaluation->resmem_calibration = resmem_calibration_.Finish();
  for (size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    const Counts& counts = entry.counts;
    MethodResult result;
    result.method = entry.method;
    result.lambda = entry.lambda;
    result.against_base =
        MakePairedGain(counts.fixed, counts.harmed, counts.both_right, counts.both_wrong);
    result.accuracy = MakeAccuracy(counts.both_right + counts.fixed, result.against_base.total);
    if (entry.keeps_probabilities) {
      result.nll = entry.nll / static_cast<double>(std::max<int64_t>(result.accuracy.total, 1));
      result.floored = entry.floored;
    } else if (entry.method != Method::kNearestClassMean) {
      const Calibration& calibration =
          e == 0 ? evaluation->base_calibration : evaluation->resmem_calibration;
      result.nll = calibration.nll;
      result.floored = calibration.floored;
    }
    for (const auto& [name, slice] : slices_) result.slice_correct.push_back(slice.correct[e]);
    evaluation->methods.push_back(std::move(result));
  }
  evaluation->gain = evaluation->methods.back().against_base;
  for (const GroupResult& group : class_groups_) {
    if (group.total > 0) evaluation->classes.push_back(group);
  }
  for (const auto& [name, slice] : slices_) {
    evaluation->slices.push_back(slice.group);
    evaluation->slices.back().name = name;
  }
  evaluation->confusions = confusions_.Most(kMostConfusions, class_groups_);
  if (!options_.coarse_of_class.empty()) evaluation->coarse = coarse_;
  evaluation->row_results = row_results_;
}

}  // namespace resmem
