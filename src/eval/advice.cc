#include "eval/advice.h"

#include <cmath>

#include "eval/warnings.h"
#include "resmem_program/readable.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr double kRecallTolerance = 0.02;  // what a sample of some hundred rows may miss by chance
constexpr double kAccuracyWorthKeeping = 0.005;
constexpr double kManyDeleted = 0.25, kManyUnindexed = 0.1;
constexpr int64_t kManySegmentFiles = 1000;

int64_t Deleted(const ResidualMemory& memory) {
  return memory.capacity() - memory.rows();
}

bool IsShare(int64_t part, double share, int64_t total) {
  return static_cast<double>(part) > share * static_cast<double>(total);
}

// Why there is no judgment; empty: there is one.
std::string WhyNone(const ResidualMemory& memory, bool given, const Diagnosis& diagnosis) {
  const MemoryDescription& description = memory.description();
  const bool regression = description.task == Task::kRegression;
  if (!diagnosis.evaluation) {
    if (given) {
      return Text("the rows given show the recall only; to judge them give ",
                  regression ? "predictions and targets (--logits, --targets)"
                             : "logits and labels (--logits, --labels)");
    }
    const char* why = memory.rows() == 0   ? "the memory is empty"
                      : memory.rows() == 1 ? "the memory has one row, which finds none but itself"
                                           : "the memory keeps no logits to judge its own rows by";
    return Text(why, "; give labeled rows (--data)");
  }
  const Evaluation& evaluation = *diagnosis.evaluation;
  const std::string of_rows = Text(" of ", readable::Count(evaluation.rows), " rows ");
  if (evaluation.leave_one_out) {
    return description.cross_fitted ? ""
                                    : "the base was trained on the memory's rows (their logits are "
                                      "not out-of-fold); give others (--data)";
  }
  if (evaluation.train_rows > 0) {
    return Text(readable::Count(evaluation.train_rows), of_rows, "are marked train; give others");
  }
  if (!description.cross_fitted &&
      IsShare(evaluation.rows_at_distance_zero, 0.5, evaluation.rows)) {
    return Text(readable::Count(evaluation.rows_at_distance_zero), of_rows,
                "are in the memory, and the base was trained on its rows; give others");
  }
  return "";
}

// What the answers' verdict does not say about the probabilities.
std::string NllComparison(const Evaluation& evaluation) {
  if (!HasWorseNll(evaluation)) return "";
  return Text(evaluation.gain.gain > 0 ? ", but" : ", and", " its probabilities are worse: NLL ",
              readable::Fixed(evaluation.resmem_calibration.nll, 4), ", the base's ",
              readable::Fixed(evaluation.base_calibration.nll, 4));
}

std::string Comparison(const Evaluation& evaluation) {
  const bool regression = evaluation.regression.has_value();
  const double gain = regression ? evaluation.regression->mse_reduction : evaluation.gain.gain;
  if (gain == 0) return "base + memory is as good as the base on these rows";
  const Interval interval = regression ? evaluation.regression->interval : evaluation.gain.interval;
  const bool proved = gain < 0 ? interval.high < 0 : interval.low > 0;
  return Text(
      "base + memory is ", gain < 0 ? "worse" : "better", " than the base on these rows by ",
      regression ? Text(std::abs(gain), " in mean squared error")
                 : readable::Points(std::abs(gain)) + " points",
      proved ? " " : Text(", though ", readable::Count(evaluation.rows), " rows do not prove it "),
      EffectRange(evaluation));
}

// True where the rows given find less than was asked.
bool AdviseOnRecall(const IndexInfo& info, const Diagnosis& diagnosis,
                    std::vector<std::string>* advice) {
  const IndexCheck& check = *diagnosis.index;
  if (info.given_queries == 0 && check.recall < check.asked - kRecallTolerance) {
    advice->push_back(Text("The index finds ", readable::Fixed(check.recall, 4),
                           " of the true neighbors where ", check.asked,
                           " was requested: rebuild it (resmem index)."));
  }
  const std::optional<IndexCheck>& given = diagnosis.index_on_given;
  if (!given || !(given->recall + 2 * given->standard_error < given->asked)) return false;
  advice->push_back(Text("On the rows given the index finds ", readable::Fixed(given->recall, 4),
                         " of the true neighbors where ", given->asked,
                         " was asked for, on rows of the memory ", readable::Fixed(check.recall, 4),
                         ": choose how much it reads on rows like these (resmem index --recall ",
                         given->asked, " --data ...)."));
  return true;
}

void AdviseOnIndex(const ResidualMemory& memory, const Diagnosis& diagnosis,
                   std::vector<std::string>* advice) {
  const IndexCheck& check = *diagnosis.index;
  const IndexInfo info = *memory.index_info();
  const bool many_deleted = IsShare(Deleted(memory), kManyDeleted, memory.capacity());
  if (!memory.index().Approximate(check.k)) {
    advice->push_back(
        Text("The index is not used: for ", readable::Count(check.k),
             " neighbors, scanning all keys is faster than its lists, and search is exact; ",
             many_deleted ? "that may change once deleted rows are gone (resmem "
                            "compact)."
                          : "resmem index --remove saves its bytes."));
    return;
  }
  const bool finds_less = AdviseOnRecall(info, diagnosis, advice);
  if (memory.index_obstacle().empty() &&
      IsShare(info.unindexed_rows, kManyUnindexed, memory.capacity())) {
    advice->push_back(Text(readable::Count(info.unindexed_rows), " of ",
                           readable::Count(memory.capacity()),
                           " rows are not in the index yet and are searched exactly: compact the "
                           "memory to have them in it (resmem compact)."));
  }
  if (check.index_seconds > check.exact_seconds) {
    advice->push_back(
        many_deleted
            ? "Exact search of this sample was as fast: a search continues past lists that have "
              "lost rows, until the memory is compacted (resmem compact)."
            : "Exact search of this sample was as fast: the memory is small enough to do without "
              "an index (resmem index --remove).");
  }
  const bool classified = diagnosis.evaluation && !diagnosis.evaluation->regression;
  if (classified && !finds_less && diagnosis.lost > kAccuracyWorthKeeping) {
    advice->push_back(
        Text("The index costs ", readable::Points(diagnosis.lost),
             " points of accuracy: ask for a higher recall (resmem index --recall)."));
  }
}

}  // namespace

void SetVerdict(const ResidualMemory& memory, bool given, Diagnosis* diagnosis) {
  const std::string why_none = WhyNone(memory, given, *diagnosis);
  diagnosis->judged = why_none.empty();
  if (!diagnosis->judged) {
    diagnosis->verdict = "none: " + why_none;
    return;
  }
  const Evaluation& evaluation = *diagnosis->evaluation;
  diagnosis->worse = IsLessRight(evaluation) || HasWorseNll(evaluation);
  diagnosis->verdict = Comparison(evaluation) + NllComparison(evaluation);
}

std::vector<std::string> Advice(const ResidualMemory& memory, const Diagnosis& diagnosis) {
  const MemoryDescription& description = memory.description();
  std::vector<std::string> advice;
  if (diagnosis.evaluation) {
    advice = diagnosis.evaluation->warnings;
    if (!diagnosis.judged) std::erase(advice, EffectWarning(*diagnosis.evaluation));
  } else if (description.task == Task::kClassification) {
    const std::string memorized =
        MemorizedWarning(memory, memory.MeanResidualMass(description.parameters.temperature));
    if (!memorized.empty()) advice.push_back(memorized);
  }
  if (diagnosis.index) AdviseOnIndex(memory, diagnosis, &advice);
  if (!memory.index_obstacle().empty()) {
    advice.push_back(Text("The index cannot hold every row: ", memory.index_obstacle(), "."));
  }
  if (IsShare(Deleted(memory), kManyDeleted, memory.capacity())) {
    advice.push_back(Text(readable::Count(Deleted(memory)), " of ",
                          readable::Count(memory.capacity()),
                          " rows are deleted but still take space: compact the memory (resmem "
                          "compact)."));
  }
  if (memory.segments() > kManySegmentFiles) {
    advice.push_back(Text(readable::Count(memory.segments()),
                          " segments make opening slow: the next append joins the small ones, and "
                          "compacting makes one (resmem compact)."));
  }
  if (!description.tuned && description.answer == Method::kResMem) {
    advice.push_back(Text(description.task == Task::kRegression ? "k and sigma" : "k, sigma and T",
                          " are not tuned: choose them on validation rows (resmem tune)."));
  }
  return advice;
}

}  // namespace resmem
