#include "search/first_pass/row_scan.h"

#include <algorithm>
#include <functional>

#include "kernels/squared_distance.h"
#include "search/first_pass/error_bound.h"
#include "search/first_pass/row_scan_kernel.h"
#include "support/parallel.h"
#include "support/thread_own.h"

namespace resmem {
namespace {

// The threshold is looked up again after so many rows.
constexpr int64_t kRowsPerCall = 64;

// Calls body(first row, count, keys as float32, worker) for pieces that cover all rows.
void ForEachPiece(const KeyStore& keys, int threads,
                  const std::function<void(int64_t, int64_t, const float*, int)>& body) {
  const int64_t grain = keys.RowsPerPiece();
  ParallelFor(threads, keys.rows(), grain, [&](int64_t begin, int64_t end, int worker) {
    static const ThreadOwn<std::vector<float>> own;
    std::vector<float>& scratch = own.Get();
    scratch.resize(static_cast<size_t>(grain * keys.dim()));
    body(begin, end - begin, keys.Rows(begin, end - begin, scratch.data()), worker);
  });
}

void ScanPiece(const KeyStore& keys, const Question& question, int64_t begin, int64_t count,
               const float* rows, CandidateList* candidates) {
  const DifferenceBound bound(keys.dim());
  RowBelow below[kRowsPerCall];
  for (int64_t first = 0; first < count && !candidates->overflowed(); first += kRowsPerCall) {
    const int64_t found =
        ScanRows(question.query, rows + first * keys.dim(), std::min(kRowsPerCall, count - first),
                 keys.dim(), bound.Threshold(candidates->bound()), below);
    for (int64_t i = 0; i < found; ++i) {
      const int64_t row = begin + first + below[i].row;
      if (row == question.excluded || keys.hidden(row)) continue;
      candidates->Offer(bound.Lower(below[i].value), bound.Upper(below[i].value), row);
    }
  }
}

}  // namespace

void FindCandidates(const KeyStore& keys, std::span<const Question> questions, int64_t k,
                    int threads, std::vector<CandidateList>* answers) {
  const size_t workers = static_cast<size_t>(ResolveThreads(threads));
  std::vector<std::vector<CandidateList>> lists(
      workers, std::vector<CandidateList>(questions.size(), CandidateList(k)));
  ForEachPiece(keys, threads, [&](int64_t begin, int64_t count, const float* rows, int worker) {
    for (size_t i = 0; i < questions.size(); ++i) {
      ScanPiece(keys, questions[i], begin, count, rows, &lists[worker][i]);
    }
  });
  for (size_t worker = 1; worker < workers; ++worker) {
    for (size_t i = 0; i < questions.size(); ++i) lists[0][i].OfferAll(lists[worker][i]);
  }
  *answers = std::move(lists[0]);
}

void MeasureEveryRow(const KeyStore& keys, std::span<const Question> questions, int64_t k,
                     int threads, std::vector<std::vector<MeasuredRow>>* answers) {
  const size_t workers = static_cast<size_t>(ResolveThreads(threads));
  std::vector<std::vector<NearestList>> lists(
      workers, std::vector<NearestList>(questions.size(), NearestList(k)));
  ForEachPiece(keys, threads, [&](int64_t begin, int64_t count, const float* rows, int worker) {
    for (int64_t row = begin; row < begin + count; ++row) {
      if (keys.hidden(row)) continue;
      const float* key = rows + (row - begin) * keys.dim();
      for (size_t i = 0; i < questions.size(); ++i) {
        if (row == questions[i].excluded) continue;
        lists[worker][i].Offer({SquaredDistance(questions[i].query, key, keys.dim()), row});
      }
    }
  });
  answers->resize(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    for (size_t worker = 1; worker < workers; ++worker) {
      for (const MeasuredRow& measured : lists[worker][i].Take()) lists[0][i].Offer(measured);
    }
    (*answers)[i] = lists[0][i].Take();
  }
}

}  // namespace resmem
