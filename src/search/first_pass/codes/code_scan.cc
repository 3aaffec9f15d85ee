#include "search/first_pass/codes/code_scan.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "search/first_pass/codes/code_scan_kernel.h"
#include "search/first_pass/error_bound.h"
#include "support/parallel.h"

namespace resmem {
namespace {

// The bound is looked up again after so many rows.
constexpr int64_t kRowsPerCall = 128;

// A first bound comes from one row in so many, in groups that lie together: without it the first
// rows of every thread would all be candidates for a while.
constexpr int64_t kSampledShare = 100;
constexpr int64_t kSampledTogether = 16;

// The lowest bound that any thread has found.
class SharedBound {
 public:
  float value() const { return value_.load(std::memory_order_relaxed); }
  void Lower(float bound) {
    float seen = value();
    while (bound < seen && !value_.compare_exchange_weak(seen, bound, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<float> value_{std::numeric_limits<float>::max()};
};

struct CodedQuestion {
  CodedQuestion(const Question& question_in, const KeyCodes& codes)
      : question(question_in),
        code(question.query, codes.origin()),
        bound(code.coded().norm, code.error()) {}

  Question question;
  QueryCode code;
  CodeBound bound;
};

void ScanPiece(const CodedQuestion& asked, const CodedRows& rows, int64_t first_row, int64_t count,
               int64_t dim, CandidateList* candidates) {
  RowBelow below[kRowsPerCall];
  const int64_t found = ScanCodes(asked.code.coded(), rows, count, dim,
                                  asked.bound.Reach(candidates->bound()), below);
  for (int64_t i = 0; i < found; ++i) {
    const int64_t row = first_row + below[i].row;
    if (row == asked.question.excluded) continue;
    const float error = rows.errors[below[i].row];
    const float lower = asked.bound.Lower(below[i].value, error);
    if (lower > candidates->bound()) continue;
    candidates->Offer(lower, asked.bound.Upper(below[i].value, rows.norms[below[i].row], error),
                      row);
  }
}

// Of the rows [begin, end).
void Scan(const CodedQuestion& asked, const KeyCodes& codes, int64_t begin, int64_t end,
          int64_t dim, SharedBound* shared, CandidateList* candidates) {
  while (begin < end && !candidates->overflowed()) {
    const KeyCodes::Piece piece = codes.Rows(begin, std::min(kRowsPerCall, end - begin));
    candidates->LowerBound(shared->value());
    ScanPiece(asked, piece.coded, begin, piece.rows, dim, candidates);
    shared->Lower(candidates->bound());
    begin += piece.rows;
  }
}

// The sample's candidates are forgotten: the same rows are offered again later.
void BoundFromSample(const CodedQuestion& asked, const KeyCodes& codes, int64_t rows, int64_t dim,
                     int64_t k, SharedBound* shared) {
  if (rows / kSampledShare < 2 * k) return;
  CandidateList sampled(k);
  for (int64_t begin = 0; begin < rows; begin += kSampledTogether * kSampledShare) {
    Scan(asked, codes, begin, std::min(rows, begin + kSampledTogether), dim, shared, &sampled);
  }
  sampled.TightenEarly();
  shared->Lower(sampled.bound());
}

}  // namespace

void FindCandidatesByCodes(const KeyStore& keys, const KeyCodes& codes,
                           std::span<const Question> questions, int64_t k, int threads,
                           std::vector<CandidateList>* answers) {
  const size_t workers = static_cast<size_t>(ResolveThreads(threads));
  std::vector<std::vector<CandidateList>> lists(
      workers, std::vector<CandidateList>(questions.size(), CandidateList(k)));
  std::vector<SharedBound> shared(questions.size());
  std::vector<CodedQuestion> asked;
  asked.reserve(questions.size());
  for (size_t q = 0; q < questions.size(); ++q) {
    asked.emplace_back(questions[q], codes);
    if (asked[q].code.bounded()) {
      BoundFromSample(asked[q], codes, keys.rows(), keys.dim(), k, &shared[q]);
    } else {
      for (auto& of_worker : lists) of_worker[q].GiveUp();
    }
  }
  ParallelFor(threads, keys.rows(), keys.RowsPerPiece(),
              [&](int64_t begin, int64_t end, int worker) {
                for (size_t q = 0; q < asked.size(); ++q) {
                  Scan(asked[q], codes, begin, end, keys.dim(), &shared[q],
                       &lists[static_cast<size_t>(worker)][q]);
                }
              });
  for (size_t worker = 1; worker < workers; ++worker) {
    for (size_t q = 0; q < asked.size(); ++q) lists[0][q].OfferAll(lists[worker][q]);
  }
  *answers = std::move(lists[0]);
}

}  // namespace resmem
