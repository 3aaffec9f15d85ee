#include "eval/classification.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

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
constexpr float kUsualLambda = 0.25f;

void AddToGroup(bool base_right, bool right, GroupResult* group) {
  ++group->total;
  group->base_correct += base_right ? 1 : 0;
  group->resmem_correct += right ? 1 : 0;
  group->fixed += !base_right && right ? 1 : 0;
  group->harmed += base_right && !right ? 1 : 0;
}

}  // namespace

const char* ResultName(Method method, Refit refit) {
  if (refit == Refit::kTemperature) return "temperature";
  return refit == Refit::kLastLayer ? "last-layer" : MethodName(method);
}

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
      rivals_(RivalsOf(predictor.memory().description())),
      class_groups_(static_cast<size_t>(classes_)) {
  AddEntries();
  for (size_t e = 0; e < entries_.size(); ++e) {
    Entry& entry = entries_[e];
    if (!entry.paired) continue;
    paired_.push_back(e);
    if (options.baselines && entry.has_probabilities() && classes_ <= kMostMetricClasses) {
      entry.metrics.emplace(classes_);
    }
  }
  pairs_.emplace(paired_.size());
  const std::vector<std::string>& names = predictor.memory().description().class_names;
  for (size_t c = 0; c < class_groups_.size(); ++c) {
    class_groups_[c].name = names.empty() ? Text(c) : names[c];
  }
}

void ClassificationJudge::AddEntries() {
  const auto add = [&](Method method) -> Entry& {
    entries_.emplace_back();
    entries_.back().method = method;
    entries_.back().parameters = parameters_;
    return entries_.back();
  };
  add(Method::kBase);
  const bool rows = predictor_.memory().rows() > 0;
  const bool neighbors = options_.baselines && rows && parameters_.k > 0;
  if (options_.baselines && rows && classes_ <= kMostMeanClasses) add(Method::kNearestClassMean);
  if (options_.baselines && rows) AddRivals();
  const bool own =
      std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.own; });
  if (neighbors && !own) add(Method::kKnn);
  // The sweep runs at ResMem's parameters; where kNN-LM was never tuned, one of it takes part.
  if (neighbors) {
    size_t usual = entries_.size();
    for (const float lambda : options_.lambdas) {
      Entry& entry = add(Method::kKnnLm);
      entry.lambda = lambda;
      entry.paired = false;
      const auto away = [](float one) { return std::abs(one - kUsualLambda); };
      if (away(lambda) < away(entries_[usual].lambda)) usual = entries_.size() - 1;
    }
    if (!own && usual < entries_.size()) entries_[usual].paired = true;
  }
  if (*options_.method != Method::kResMem && neighbors) add(Method::kResMem);
  add(*options_.method);
}

void ClassificationJudge::AddRivals() {
  if (!rivals_) return;
  const auto add = [&](Method method, Refit refit, const Parameters& parameters, float lambda) {
    entries_.emplace_back();
    Entry& entry = entries_.back();
    entry.method = method;
    entry.refit = refit;
    entry.parameters = parameters;
    entry.lambda = lambda;
    entry.own = refit == Refit::kNone;
  };
  if (rivals_->temperature) {
    add(Method::kBase, Refit::kTemperature, {0, 1, *rivals_->temperature}, 0);
  }
  if (rivals_->last_layer) add(Method::kBase, Refit::kLastLayer, {0, 1, 1}, 0);
  if (rivals_->knn) {
    add(Method::kKnn, Refit::kNone, {rivals_->knn->k, rivals_->knn->sigma, 1}, 1);
  }
  if (rivals_->knn_lm) {
    add(Method::kKnnLm, Refit::kNone, {rivals_->knn_lm->k, rivals_->knn_lm->sigma, 1},
        rivals_->knn_lm->lambda);
  }
}

int64_t ClassificationJudge::LargestK(const MemoryDescription& description) {
  const std::optional<Rivals> rivals = RivalsOf(description);
  int64_t largest = 0;
  if (rivals && rivals->knn) largest = std::max(largest, rivals->knn->k);
  if (rivals && rivals->knn_lm) largest = std::max(largest, rivals->knn_lm->k);
  return largest;
}

Status ClassificationJudge::Add(const RowBlock& block, int64_t begin, int64_t count,
                                const Neighbors& neighbors) {
  const Rows rows = block.rows().Slice(begin, count);
  RESMEM_RETURN_IF_ERROR(
      CheckFrozenTemperature(predictor_.memory().description(), parameters_.temperature));
  for (Entry& entry : entries_) {
    entry.answers.resize(static_cast<size_t>(count));
    entry.judged.resize(static_cast<size_t>(count));
    if (entry.metrics) entry.probabilities.resize(static_cast<size_t>(count * classes_));
    if (entry.method != Method::kNearestClassMean) continue;
    RESMEM_RETURN_IF_ERROR(AnswerByClassMeans(rows, neighbors, &entry));
  }
  const int threads = ResolveThreads(options_.threads);
  while (std::ssize(scratch_) < threads) {
    scratch_.push_back({RowAnswers(predictor_.memory(), parameters_), std::nullopt, {}, {}});
    Scratch& scratch = scratch_.back();
    scratch.scores.resize(static_cast<size_t>(classes_));
    for (const Entry& entry : entries_) {
      scratch.mixtures.emplace_back(predictor_.memory(), entry.parameters);
    }
    if (NeedsBlend(*options_.method)) scratch.blend.emplace(predictor_.memory());
  }
  constexpr int64_t kPiece = 16;
  std::vector<Status> failures(static_cast<size_t>((count + kPiece - 1) / kPiece));
  ParallelFor(threads, count, kPiece, [&](int64_t first, int64_t end, int worker) {
    Status& failure = failures[static_cast<size_t>(first / kPiece)];
    for (int64_t q = first; q < end && failure.ok(); ++q) {
      failure = JudgeRow(rows, neighbors, q, &scratch_[static_cast<size_t>(worker)]);
    }
  });
  for (const Status& failure : failures) RESMEM_RETURN_IF_ERROR(failure);
  // Each entry's sums are its own.
  ParallelFor(threads, std::ssize(entries_), 1, [&](int64_t first, int64_t end, int) {
    for (int64_t e = first; e < end; ++e) Count(rows, &entries_[static_cast<size_t>(e)]);
  });
  CountPairs(rows);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    base_calibration_.Add(entries_.front().judged[i]);
    resmem_calibration_.Add(entries_.back().judged[i]);
  }
  return CountGroups(block, begin, rows);
}

Status ClassificationJudge::JudgeRow(const Rows& rows, const Neighbors& neighbors, int64_t row,
                                     Scratch* thread) {
  const std::span<const float> logits = rows.logits.row_span(row);
  const auto i = static_cast<size_t>(row);
  const int32_t label = rows.labels[i];
  RESMEM_RETURN_IF_ERROR(CheckLogits(logits, row));
  thread->answers.Load(logits, neighbors.rows_of(row), neighbors.distances_of(row));
  for (size_t e = 0; e < entries_.size(); ++e) {
    Entry& entry = entries_[e];
    if (!entry.has_probabilities()) {
      entry.judged[i].right = entry.answers[i] == label;
      continue;
    }
    if (!entry.paired) {  // of a sweep: nothing but the answer and the label's probability
      entry.answers[i] = static_cast<int32_t>(thread->answers.KnnLm(entry.lambda));
      CalibrationRow& judged = entry.judged[i];
      judged = {};
      judged.nll = NegativeLog(thread->answers.MixtureAt(entry.lambda, label), &judged.floored);
      judged.right = entry.answers[i] == label;
      continue;
    }
    RESMEM_ASSIGN_OR_RETURN(const int64_t answer, AnswerOf(entry, e, rows.keys.row_span(row),
                                                           logits, neighbors, row, thread));
    entry.answers[i] = static_cast<int32_t>(answer);
    // The base's probabilities are its own (T = 1); its answers come from the score that ResMem
    // adds to, so that a correction of zero changes no answer.
    const bool base = entry.method == Method::kBase && entry.refit == Refit::kNone;
    entry.judged[i] =
        JudgeProbabilities(thread->scores, label, base ? ArgMax(thread->scores) : answer);
    if (entry.metrics) {
      std::ranges::copy(thread->scores, entry.probabilities.begin() + row * classes_);
    }
  }
  return {};
}

Result<int64_t> ClassificationJudge::AnswerOf(const Entry& entry, size_t number,
                                              std::span<const float> key,
                                              std::span<const float> logits,
                                              const Neighbors& neighbors, int64_t row,
                                              Scratch* thread) {
  const MemoryDescription& description = predictor_.memory().description();
  RowAnswers& answers = thread->answers;
  const std::span<float> scores = thread->scores;
  switch (entry.method) {
    case Method::kBase:
      if (entry.refit == Refit::kTemperature) {
        Softmax(logits.data(), classes_, entry.parameters.temperature, scores.data());
        return answers.Base();
      }
      if (entry.refit == Refit::kLastLayer) {
        AnswerByLastLayer(*rivals_->last_layer, key, logits, scores);
        return ArgMax(scores);
      }
      std::ranges::copy(answers.probabilities(), scores.begin());
      return answers.Base();
    case Method::kKnn:
    case Method::kKnnLm: {
      const float lambda = entry.method == Method::kKnn ? 1.0f : entry.lambda;
      thread->mixtures[number].Answer(neighbors.rows_of(row), neighbors.distances_of(row),
                                      answers.probabilities(), lambda, scores);
      return ArgMax(scores);
    }
    case Method::kResMem: {
      std::ranges::copy(answers.resmem_scores(), scores.begin());
      RESMEM_RETURN_IF_ERROR(
          ToProbabilities(description.calibrator, description.calibrator_temperature, scores));
      return answers.ResMem();
    }
    case Method::kBlend:
    case Method::kLogitBoost: {
      const Blend& blend = *description.blend;
      thread->blend->Predict(blend, blend.parameters, logits, neighbors.rows_of(row),
                             neighbors.distances_of(row), scores);
      return ArgMax(scores);
    }
    case Method::kNearestClassMean:
      break;  // looks at all rows together
  }
  return int64_t{0};
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
    const CalibrationRow& judged = entry->judged[i];
    entry->nll += judged.nll;
    entry->floored += judged.floored ? 1 : 0;
    if (!entry->metrics) continue;
    const auto classes = static_cast<size_t>(classes_);
    entry->metrics->Add(std::span(entry->probabilities).subspan(i * classes, classes),
                        rows.labels[i], entry->answers[i], judged);
  }
}

void ClassificationJudge::CountPairs(const Rows& rows) {
  std::vector<double> nll(paired_.size());
  std::unique_ptr<bool[]> right(new bool[paired_.size()]);
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    for (size_t p = 0; p < paired_.size(); ++p) {
      const Entry& entry = entries_[paired_[p]];
      right[p] = entry.answers[i] == rows.labels[i];
      nll[p] = entry.has_probabilities() ? entry.judged[i].nll
                                         : std::numeric_limits<double>::quiet_NaN();
    }
    pairs_->Add({right.get(), paired_.size()}, nll);
  }
}

Status ClassificationJudge::CountSlice(const std::string& name, size_t row, int32_t label,
                                       int64_t number) {
  Slice& slice = slices_[name];
  slice.correct.resize(entries_.size());
  slice.nll.resize(entries_.size());
  AddToGroup(base_answers()[row] == label, resmem_answers()[row] == label, &slice.group);
  for (size_t e = 0; e < entries_.size(); ++e) {
    slice.correct[e] += entries_[e].answers[row] == label ? 1 : 0;
    slice.nll[e] += entries_[e].judged[row].nll;
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
                              base_answers()[i], resmem_answers()[i],
                              entries_.front().judged[i].confidence,
                              entries_.back().judged[i].confidence});
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
    result.refit = entry.refit;
    result.parameters = entry.parameters;
    result.own = entry.own;
    result.against_base =
        MakePairedGain(counts.fixed, counts.harmed, counts.both_right, counts.both_wrong);
    result.accuracy = MakeAccuracy(counts.both_right + counts.fixed, result.against_base.total);
    if (entry.has_probabilities()) {
      result.nll = entry.nll / static_cast<double>(std::max<int64_t>(result.accuracy.total, 1));
      result.floored = entry.floored;
    }
    if (entry.metrics) result.metrics = entry.metrics->Finish();
    for (const auto& [name, slice] : slices_) {
      result.slice_correct.push_back(slice.correct[e]);
      result.slice_nll.push_back(slice.nll[e]);
    }
    evaluation->methods.push_back(std::move(result));
  }
  evaluation->gain = evaluation->methods.back().against_base;
  evaluation->pairs = pairs_->Finish(paired_);
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
