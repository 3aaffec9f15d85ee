#include "search/code_scan.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "kernels/scan_codes.h"
#include "search/error_bound.h"
#include "support/parallel.h"

namespace resmem {
namespace {

// The bound is looked up again after so many rows.
constexpr int64_t kRowsPerCall = 128;

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
    if (asked[q].code.bounded()) continue;
    for (auto& of_worker : lists) of_worker[q].GiveUp();
  }
  ParallelFor(
      threads, keys.rows(), keys.RowsPerPiece(), [&](int64_t begin, int64_t end, int worker) {
        for (size_t q = 0; q < asked.size(); ++q) {
          CandidateList& candidates = lists[static_cast<size_t>(worker)][q];
          candidates.LowerBound(shared[q].value());
          for (int64_t row = begin; row < end && !candidates.overflowed();) {
            const KeyCodes::Piece piece = codes.Rows(row, std::min(kRowsPerCall, end - row));
            ScanPiece(asked[q], piece.coded, row, piece.rows, keys.dim(), &candidates);
            row += piece.rows;
          }
          shared[q].Lower(candidates.bound());
        }
      });
  for (size_t worker = 1; worker < workers; ++worker) {
    for (size_t q = 0; q < asked.size(); ++q) lists[0][q].OfferAll(lists[worker][q]);
  }
  *answers = std::move(lists[0]);
}

}  // namespace resmem
