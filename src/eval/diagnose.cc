#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "eval/advice.h"
#include "eval/key_sample.h"
#include "eval/seconds_since.h"
#include "memory/memory_parts.h"
#include "memory/rows/memory_rows.h"
#include "support/guard.h"

namespace resmem {
namespace {

void SetRecall(const Neighbors& truth, const Neighbors& found, IndexCheck* check) {
  std::vector<double> recalls;
  double sum = 0, squares = 0;
  for (int64_t q = 0; q < truth.queries; ++q) {
    float last = -1;
    int64_t all = 0;
    for (; all < truth.k && truth.rows_of(q)[all] >= 0; ++all) last = truth.distances_of(q)[all];
    const auto right = std::count_if(found.distances_of(q).begin(), found.distances_of(q).end(),
                                     [&](float distance) { return distance <= last; });
    const double recall = all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
    recalls.push_back(recall);
    sum += recall;
    squares += recall * recall;
  }
  const auto queries = static_cast<double>(truth.queries);
  check->recall = sum / queries;
  check->standard_error =
      truth.queries < IndexCheck::kFewestForError
          ? std::numeric_limits<double>::quiet_NaN()
          : std::sqrt(std::max(0.0, squares / queries - check->recall * check->recall) / queries);
  std::sort(recalls.begin(), recalls.end());
  check->least = recalls.front();
  check->low = recalls[recalls.size() / 20];
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
                                       const std::vector<int64_t>& rows,
                                       const DiagnosisOptions& options) {
  const auto dim = static_cast<size_t>(memory.description().dim);
  std::vector<float> keys(rows.size() * dim);
  for (size_t i = 0; i < rows.size(); ++i) {
    MemoryParts::Rows(memory).GivenKey(rows[i], std::span(keys).subspan(i * dim, dim));
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

double Loss(const Evaluation& evaluation) {
  return evaluation.regression ? evaluation.regression->resmem_mse
                               : 1 - evaluation.methods.back().accuracy.value;
}

// By the index and exactly.  `sample` sees the rows.
Status EvaluateBoth(const ResidualMemory& memory, const ResidualMemory& exact,
                    const RowSource& rows, const EvaluationOptions& options, KeySample* sample,
                    Diagnosis* diagnosis) {
  RESMEM_ASSIGN_OR_RETURN(diagnosis->evaluation,
                          Evaluate(Predictor(memory), Watch(rows, sample), options));
  if (!diagnosis->index) return {};
  RESMEM_ASSIGN_OR_RETURN(diagnosis->exact_evaluation, Evaluate(Predictor(exact), rows, options));
  diagnosis->lost = Loss(*diagnosis->evaluation) - Loss(*diagnosis->exact_evaluation);
  return {};
}

bool KeepsLogits(const MemoryDescription& description) {
  return description.form == ResidualForm::kLogits || description.task == Task::kRegression;
}

}  // namespace

Result<Diagnosis> Diagnose(const ResidualMemory& memory, const ResidualMemory& exact,
                           const RowSource* rows, const DiagnosisOptions& options) try {
  Diagnosis diagnosis;
  const std::vector<int64_t> own = SampleRows(memory, options.sample);
  if (memory.index_info() && !own.empty()) {
    RESMEM_ASSIGN_OR_RETURN(diagnosis.index, CheckIndexOnItsRows(memory, own, options));
  }
  EvaluationOptions evaluation;
  evaluation.baselines = false;
  evaluation.threads = options.threads;
  evaluation.progress = options.progress;
  KeySample asked(options.sample, options.only, /*seed=*/0);
  if (rows == nullptr && KeepsLogits(memory.description()) && memory.rows() > 1) {
    evaluation.leave_one_out = true;
    RESMEM_RETURN_IF_ERROR(
        EvaluateBoth(memory, exact, ReadMemoryRows(memory, own), evaluation, &asked, &diagnosis));
  } else if (rows != nullptr && options.unlabeled) {
    RESMEM_RETURN_IF_ERROR(
        Watch(*rows, &asked).Read([](int64_t, const Rows&) { return Status(); }));
  } else if (rows != nullptr) {
    evaluation.only = options.only;
    RESMEM_RETURN_IF_ERROR(EvaluateBoth(memory, exact, *rows, evaluation, &asked, &diagnosis));
  }
  if (rows != nullptr && diagnosis.index && asked.keys().rows > 0) {
    RESMEM_ASSIGN_OR_RETURN(diagnosis.index_on_given,
                            CheckIndex(memory, asked.keys(), {}, options));
  }
  SetVerdict(memory, rows != nullptr, &diagnosis);
  diagnosis.advice = Advice(memory, diagnosis);
  RESMEM_RETURN_IF_ERROR(memory.damage());
  return diagnosis;
} catch (...) {
  return CaughtException("diagnose the memory");
}

std::optional<double> AskedRecall(const ResidualMemory& memory) {
  const std::optional<IndexRecord>& index = MemoryParts::Rows(memory).manifest().index;
  if (!index) return std::nullopt;
  return index->recall;
}

}  // namespace resmem
