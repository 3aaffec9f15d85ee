#include <algorithm>
#include <chrono>
#include <cmath>

#include "eval/key_sample.h"
#include "eval/seconds_since.h"
#include "resmem/diagnosis.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr double kRecallTolerance = 0.02;  // what a sample of some hundred rows may miss by chance
constexpr double kAccuracyWorthKeeping = 0.005;
constexpr double kManyDeleted = 0.25, kManyUnindexed = 0.1;

// Living rows, ascending, each as likely as the others; some perhaps more than once.
std::vector<int64_t> SampleRows(const ResidualMemory& memory, int64_t wanted) {
  std::vector<int64_t> rows;
  Random random(0);
  while (static_cast<int64_t>(rows.size()) < std::min(wanted, memory.rows())) {
    const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(memory.capacity())));
    if (!memory.deleted(row)) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void SetRecall(const Neighbors& truth, const Neighbors& found, IndexCheck* check) {
  double sum = 0, squares = 0;
  for (int64_t q = 0; q < truth.queries; ++q) {
    float last = -1;
    int64_t all = 0;
    for (; all < truth.k && truth.rows_of(q)[all] >= 0; ++all) last = truth.distances_of(q)[all];
    const auto right = std::count_if(found.distances_of(q).begin(), found.distances_of(q).end(),
                                     [&](float distance) { return distance <= last; });
    const double recall = all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
    sum += recall;
    squares += recall * recall;
  }
  const auto queries = static_cast<double>(truth.queries);
  check->recall = sum / queries;
  check->standard_error =
      std::sqrt(std::max(0.0, squares / queries - check->recall * check->recall) / queries);
}

// exclude[q] is no neighbor of query q; empty: all rows are.
Result<IndexCheck> CheckIndex(const ResidualMemory& memory, MatrixView queries,
                              std::span<const int64_t> exclude, const DiagnosisOptions& options) {
  IndexCheck check;
  check.queries = queries.rows;
  check.k = std::max<int64_t>(1, memory.description().parameters.k);
  check.asked = memory.index_info()->recall;
  SearchOptions search;
  search.k = check.k;
  search.threads = options.threads;
  search.exclude = exclude;
  search.progress = options.progress;
  Neighbors found, truth;
  auto start = std::chrono::steady_clock::now();
  RESMEM_RETURN_IF_ERROR(memory.index().Search(queries, search, &found));
  check.index_seconds = SecondsSince(start);
  start = std::chrono::steady_clock::now();
  RESMEM_RETURN_IF_ERROR(memory.exact_index().Search(queries, search, &truth));
  check.exact_seconds = SecondsSince(start);
  SetRecall(truth, found, &check);
  return check;
}

Result<IndexCheck> CheckIndexOnItsRows(const ResidualMemory& memory,
                                       const DiagnosisOptions& options) {
  const auto dim = static_cast<size_t>(memory.description().dim);
  const std::vector<int64_t> rows = SampleRows(memory, options.sample);
  std::vector<float> keys(rows.size() * dim);
  for (size_t i = 0; i < rows.size(); ++i) {
    memory.DecodeKey(rows[i], std::span(keys).subspan(i * dim, dim));
  }
  return CheckIndex(memory, MatrixView(keys.data(), std::ssize(rows), memory.description().dim),
                    rows, options);
}

// The same rows; `sample` sees them as they are read.
RowSource Watch(const RowSource& rows, KeySample* sample) {
  return RowSource(rows.rows(), [rows, sample](const RowSource::Use& use) {
    return rows.Read([&](int64_t begin, const Rows& block) {
      sample->Add(block);
      return use(begin, block);
    });
  });
}

// Every n-th block of the memory's rows, about `wanted` rows.
RowSource SampleOfMemory(const ResidualMemory& memory, int64_t wanted) {
  constexpr int64_t kBlock = 32;
  const int64_t blocks = (memory.rows() + kBlock - 1) / kBlock;
  const int64_t every = std::max<int64_t>(1, blocks * kBlock / std::max<int64_t>(wanted, kBlock));
  int64_t rows = 0;
  for (int64_t block = 0; block < blocks; block += every) {
    rows += std::min(kBlock, memory.rows() - block * kBlock);
  }
  return RowSource(rows, [&memory, every](const RowSource::Use& use) {
    int64_t passed = 0;
    return ReadMemory(memory, kBlock).Read([&](int64_t begin, const Rows& block) -> Status {
      if (begin / kBlock % every != 0) return {};
      RESMEM_RETURN_IF_ERROR(use(passed, block));
      passed += block.count();
      return {};
    });
  });
}

double Loss(const Evaluation& evaluation) {
  return evaluation.regression ? evaluation.regression->resmem_mse
                               : 1 - evaluation.methods.back().accuracy.value;
}

bool IsWorse(const Evaluation& evaluation) {
  return evaluation.regression ? evaluation.regression->mse_reduction < 0
                               : evaluation.gain.harmed > evaluation.gain.fixed;
}

void AdviseOnIndex(const ResidualMemory& memory, Diagnosis* diagnosis) {
  const IndexCheck& check = *diagnosis->index;
  const IndexInfo info = *memory.index_info();
  std::vector<std::string>& advice = diagnosis->advice;
  if (info.given_queries == 0 && check.recall < check.asked - kRecallTolerance) {
    advice.push_back(Text("The index finds ", check.recall, " of the true neighbors where ",
                          check.asked, " was asked for: make it again (resmem index)."));
  }
  const std::optional<IndexCheck>& given = diagnosis->index_on_given;
  if (given && given->recall + 2 * given->standard_error < given->asked) {
    advice.push_back(Text("On the rows given the index finds ", given->recall,
                          " of the true neighbors where ", given->asked,
                          " was asked for, on rows of the memory ", check.recall,
                          ": choose how much it reads on rows like these (resmem index --recall ",
                          given->asked, " --data ...)."));
  }
  if (static_cast<double>(info.unindexed_rows) >
      kManyUnindexed * static_cast<double>(memory.capacity())) {
    advice.push_back(Text(info.unindexed_rows, " of ", memory.capacity(),
                          " rows are not in the index yet and are searched exactly: compact the "
                          "memory to have them in it (resmem compact)."));
  }
  if (check.index_seconds > check.exact_seconds) {
    advice.push_back(
        "Exact search of this sample was as fast: the memory is small enough to do without an "
        "index (resmem index --remove).");
  }
  if (!diagnosis->evaluation || diagnosis->evaluation->regression) return;
  if (diagnosis->lost > kAccuracyWorthKeeping) {
    advice.push_back(Text("The index costs ", 100 * diagnosis->lost,
                          " points of accuracy: ask for a higher recall (resmem index --recall)."));
  }
}

}  // namespace

Result<Diagnosis> Diagnose(const ResidualMemory& memory, const ResidualMemory& exact,
                           const RowSource* rows, const DiagnosisOptions& options) try {
  Diagnosis diagnosis;
  const MemoryDescription& description = memory.description();
  const bool indexed = memory.index_info().has_value() && memory.rows() > 0;
  if (indexed) {
    RESMEM_ASSIGN_OR_RETURN(diagnosis.index, CheckIndexOnItsRows(memory, options));
  }
  EvaluationOptions evaluation;
  evaluation.baselines = false;
  evaluation.only = rows != nullptr ? options.only : std::nullopt;
  evaluation.leave_one_out = rows == nullptr;
  evaluation.threads = options.threads;
  evaluation.progress = options.progress;
  const bool keeps_logits =
      description.form == ResidualForm::kLogits || description.task == Task::kRegression;
  if (rows != nullptr || (keeps_logits && memory.rows() > 1)) {
    const RowSource judged = rows != nullptr ? *rows : SampleOfMemory(memory, options.sample);
    KeySample given(options.sample, options.only, /*seed=*/0);
    RESMEM_ASSIGN_OR_RETURN(diagnosis.evaluation,
                            Evaluate(Predictor(memory), Watch(judged, &given), evaluation));
    if (indexed && given.keys().rows > 0 && rows != nullptr) {
      RESMEM_ASSIGN_OR_RETURN(diagnosis.index_on_given,
                              CheckIndex(memory, given.keys(), {}, options));
    }
    if (indexed) {
      RESMEM_ASSIGN_OR_RETURN(diagnosis.exact_evaluation,
                              Evaluate(Predictor(exact), judged, evaluation));
      diagnosis.lost = Loss(*diagnosis.evaluation) - Loss(*diagnosis.exact_evaluation);
    }
    diagnosis.worse =
        (rows != nullptr || description.cross_fitted) && IsWorse(*diagnosis.evaluation);
    diagnosis.advice = diagnosis.evaluation->warnings;
  } else if (description.task == Task::kClassification) {
    const std::string memorised =
        MemorisedWarning(memory, memory.MeanResidualMass(description.parameters.temperature));
    if (!memorised.empty()) diagnosis.advice.push_back(memorised);
  }
  if (indexed) AdviseOnIndex(memory, &diagnosis);
  const int64_t deleted = memory.capacity() - memory.rows();
  if (static_cast<double>(deleted) > kManyDeleted * static_cast<double>(memory.capacity())) {
    diagnosis.advice.push_back(Text(deleted, " of ", memory.capacity(),
                                    " rows are deleted but still take space: compact the memory "
                                    "(resmem compact)."));
  }
  if (!description.tuned) {
    diagnosis.advice.push_back(
        "k, sigma and T are not tuned: choose them on validation rows (resmem tune).");
  }
  return diagnosis;
} catch (...) {
  return CaughtException("diagnose the memory");
}

}  // namespace resmem
