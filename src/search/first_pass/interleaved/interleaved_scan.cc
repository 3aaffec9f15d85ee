#include "search/first_pass/interleaved/interleaved_scan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "search/first_pass/error_bound.h"
#include "search/first_pass/repeat_missed.h"
#include "search/first_pass/row_sample.h"
#include "support/parallel.h"
#include "support/thread_own.h"

namespace resmem {
namespace {

constexpr int64_t kPanelBytes = 1 << 18;  // half of it and more stays in the second cache
// As long as nothing is known of the distances, every row is found: the bound is looked up often.
constexpr int64_t kBlocksWithoutBound = 4;

constexpr float kFindsNothing = std::numeric_limits<float>::infinity();  // as a norm: finds nothing

class CodedQuestions {
 public:
  CodedQuestions(std::span<const Question> questions, const std::vector<float>& origin)
      : questions_(questions) {
    const int64_t dim = static_cast<int64_t>(origin.size());
    const int64_t width = InterleavedWidth(dim);
    halves_.resize(questions.size() * 2 * static_cast<size_t>(width));
    for (size_t q = 0; q < questions.size(); ++q) {
      const QueryCode code(questions[q].query, origin);
      int8_t* halves = halves_.data() + static_cast<int64_t>(q) * 2 * width;
      bounded_.push_back(code.bounded());
      if (!code.bounded()) {
        const InterleavedCode nothing = {0, kFindsNothing, 0, 0};
        coded_.push_back({halves, nothing, nothing});
        bounds_.push_back({CodeBound(0, 0), CodeBound(0, 0)});
        continue;
      }
      const HalfCorrections corrections = HalveQuery(code.coded().codes, dim, halves);
      const CodedQuery& fine = code.coded();
      const QueryCode::Rough rough = code.UpperHalf(halves);
      coded_.push_back({halves,
                        {corrections.fine, fine.norm, fine.double_scale, 0},
                        {corrections.rough, rough.norm, rough.double_scale, 0}});
      bounds_.push_back({CodeBound(fine.norm, code.error()), CodeBound(rough.norm, rough.error)});
    }
  }

  size_t size() const { return questions_.size(); }
  bool bounded(size_t q) const { return bounded_[q]; }
  int64_t excluded(size_t q) const { return questions_[q].excluded; }
  const InterleavedQuery& coded(size_t q) const { return coded_[q]; }
  // The query that finds all rows whose lower bound is at most this.
  InterleavedQuery Within(size_t q, float bound) const {
    InterleavedQuery query = coded_[q];
    query.fine.reach = bounds_[q].fine.Reach(bound);
    query.rough.reach = bounds_[q].rough.Reach(bound);
    return query;
  }
  const CodeBound& bound(size_t q) const { return bounds_[q].fine; }

 private:
  struct Bounds {
    CodeBound fine, rough;
  };
  std::span<const Question> questions_;
  std::vector<int8_t> halves_;
  std::vector<InterleavedQuery> coded_;
  std::vector<Bounds> bounds_;
  std::vector<bool> bounded_;
};

// A few queries in the order of their numbers, with their reaches as they are now.
struct Group {
  size_t first, count;
  InterleavedQuery queries[kInterleavedQueries];

  Group(const CodedQuestions& questions, size_t first_in)
      : first(first_in),
        count(std::min(static_cast<size_t>(kInterleavedQueries), questions.size() - first)) {
    for (size_t i = 0; i < count; ++i) queries[i] = questions.coded(first + i);
  }
  std::span<const InterleavedQuery> span() const { return {queries, count}; }
};

// Rows [first_row, ...) of `view` for all questions, on the calling thread.
void ScanPanel(const CodedQuestions& questions, const InterleavedView& view, int64_t first_row,
               int64_t dim, std::vector<CandidateList>* lists) {
  static const ThreadOwn<std::vector<CellBelow>> own;
  std::vector<CellBelow>& cells = own.Get();
  const int64_t most = view.rows.blocks * kInterleavedRows * kInterleavedQueries;
  if (static_cast<int64_t>(cells.size()) < most) cells.resize(static_cast<size_t>(most));
  for (size_t first = 0; first < questions.size(); first += kInterleavedQueries) {
    Group group(questions, first);
    for (size_t i = 0; i < group.count; ++i) {
      const CandidateList& list = (*lists)[first + i];
      group.queries[i] = questions.Within(first + i, list.bound());
      if (list.overflowed()) group.queries[i].rough.norm = kFindsNothing;
    }
    const int64_t found = ScanInterleaved(group.span(), view.rows, dim, cells.data());
    // Rows' own errors were not read by the scan: they come together, not one after the other.
    for (int64_t c = 0; c < found; ++c) __builtin_prefetch(view.errors + cells[c].key);
    for (int64_t c = 0; c < found; ++c) {
      const CellBelow& cell = cells[c];
      const size_t q = first + static_cast<size_t>(cell.query);
      CandidateList& list = (*lists)[q];
      if (first_row + cell.key == questions.excluded(q)) continue;
      const float error = view.errors[cell.key];
      const float lower = questions.bound(q).Lower(cell.value, error);
      if (lower > list.bound()) continue;
      list.Offer(lower, questions.bound(q).Upper(cell.value, view.rows.norms[cell.key], error),
                 first_row + cell.key);
    }
  }
}

void ScanBlocks(const CodedQuestions& questions, const InterleavedBlocks& blocks, int64_t begin,
                int64_t end, int64_t dim, std::vector<CandidateList>* lists) {
  const auto knows_nothing = [](const CandidateList& list) {
    return !list.overflowed() && list.bound() == std::numeric_limits<float>::max();
  };
  const int64_t panel = std::max<int64_t>(1, kPanelBytes / blocks.bytes_per_block());
  while (begin < end) {
    const bool blind = std::any_of(lists->begin(), lists->end(), knows_nothing);
    const int64_t step =
        std::min(blind ? std::min(panel, kBlocksWithoutBound) : panel, end - begin);
    ScanPanel(questions, blocks.View(begin, step), begin * kInterleavedRows, dim, lists);
    begin += step;
  }
}

// guesses[q] = a bound that at least k rows are probably within; infinite where nothing is known.
std::vector<float> GuessBounds(const CodedQuestions& questions, const InterleavedBlocks& sample,
                               int64_t k, int64_t rows, int64_t dim) {
  constexpr float kUnknown = std::numeric_limits<float>::max();
  std::vector<float> guesses(questions.size(), kUnknown);
  int64_t blocks = sample.count(), place = 0;
  for (; blocks > 0; blocks /= 2) {
    const double share = static_cast<double>(blocks * kInterleavedRows) / static_cast<double>(rows);
    place = RowSample::PlaceOfBound(k, share);
    if (place <= kInterleavedBuckets / 2) break;
  }
  if (blocks * kInterleavedRows < kInterleavedBuckets) return guesses;
  const InterleavedView view = sample.View(0, blocks);
  const float error = *std::max_element(view.rows.errors, view.rows.errors + blocks);
  for (size_t first = 0; first < questions.size(); first += kInterleavedQueries) {
    const Group group(questions, first);
    float least[kInterleavedQueries * kInterleavedBuckets];
    LeastInterleaved(group.span(), view.rows, dim, least);
    for (size_t i = 0; i < group.count; ++i) {
      float* of_query = least + static_cast<int64_t>(i) * kInterleavedBuckets;
      std::nth_element(of_query, of_query + place - 1, of_query + kInterleavedBuckets);
      const float value = of_query[place - 1];
      if (std::isinf(value)) continue;
      // The norm of a key that is so near is not far from the query's.
      const float norm = 4 * (group.queries[i].fine.norm + std::max(value, 0.0f));
      guesses[first + i] = questions.bound(first + i).Upper(value, norm, error);
    }
  }
  return guesses;
}

// All blocks, by a thread for `lists` and each of `others`.  A thread mostly begins with the part
// that it had before, of which its caches still hold the end; then it helps the others.
void ScanShared(const CodedQuestions& questions, const InterleavedKeys& codes, int64_t dim,
                const std::function<bool()>& stop, std::vector<CandidateList>* lists,
                std::span<std::vector<CandidateList>> others) {
  const InterleavedBlocks& blocks = codes.blocks();
  const int64_t piece = std::max<int64_t>(1, kPanelBytes / 2 / blocks.bytes_per_block());
  const bool back = codes.NextGoesBack();
  const int64_t parts = std::ssize(others) + 1;
  std::vector<std::atomic<int64_t>> handed_out(static_cast<size_t>(parts));  // blocks of each part
  ParallelFor(static_cast<int>(parts), parts, 1, [&](int64_t own, int64_t, int worker) {
    std::vector<CandidateList>* const found =
        worker == 0 ? lists : &others[static_cast<size_t>(worker) - 1];
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t part = (own + i) % parts;
      const int64_t first = blocks.count() * part / parts;
      const int64_t count = blocks.count() * (part + 1) / parts - first;
      while (!stop()) {
        const int64_t from = handed_out[static_cast<size_t>(part)].fetch_add(piece);
        if (from >= count) break;
        const int64_t size = std::min(piece, count - from);
        const int64_t begin = first + (back ? count - from - size : from);
        ScanBlocks(questions, blocks, begin, begin + size, dim, found);
      }
    }
  });
}

}  // namespace

void FindCandidatesInterleaved(const KeyStore& keys, const InterleavedKeys& codes,
                               std::span<const Question> questions, int64_t k, int threads,
                               const std::function<bool()>& stop,
                               std::vector<CandidateList>* answers) {
  const size_t workers = static_cast<size_t>(ResolveThreads(threads));
  const auto search = [&](std::span<const Question> asked, bool guess,
                          std::vector<CandidateList>* lists) {
    const CodedQuestions coded(asked, codes.origin());
    lists->assign(asked.size(), CandidateList(k));
    for (size_t q = 0; q < asked.size(); ++q) {
      if (!coded.bounded(q)) (*lists)[q].GiveUp();
    }
    if (guess) {
      const std::vector<float> guesses =
          GuessBounds(coded, codes.sample(), k, keys.visible_rows(), keys.dim());
      for (size_t q = 0; q < asked.size(); ++q) (*lists)[q].LowerBound(guesses[q]);
    }
    std::vector<std::vector<CandidateList>> others(workers - 1, *lists);
    ScanShared(coded, codes, keys.dim(), stop, lists, others);
    for (const std::vector<CandidateList>& other : others) {
      for (size_t q = 0; q < asked.size(); ++q) (*lists)[q].OfferAll(other[q]);
    }
  };
  SearchAndRepeatMissed(questions, search, answers);
}

}  // namespace resmem
