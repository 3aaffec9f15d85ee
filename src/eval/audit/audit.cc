#include "resmem/audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "support/guard.h"

namespace resmem {
namespace {

constexpr double kDuplicateShare = 0.01;
constexpr float kMostAgreement = 0.5f;  // of the neighbors of a suspect
constexpr int64_t kRowsAtOnce = 4096;

// What the base said of a stored row.
struct StoredAnswer {
  float residual = 0;
  int32_t base = -1;
};

StoredAnswer AnswerOf(const ResidualMemory& memory, int64_t row, std::span<float> scratch) {
  const MemoryDescription& description = memory.description();
  memory.Residual(row, description.parameters.temperature, scratch);
  StoredAnswer answer;
  for (const float value : scratch) answer.residual += std::fabs(value) / 2;
  // The base's probabilities are onehot(label) - residual.
  for (float& value : scratch) value = -value;
  scratch[static_cast<size_t>(memory.label(row))] += 1;
  answer.base = static_cast<int32_t>(ArgMax(scratch));
  return answer;
}

// Living rows, at most so many (0: all), evenly spread over all of them.
std::vector<int64_t> EvenlySpread(const ResidualMemory& memory, int64_t most) {
  const int64_t living = memory.rows();
  const int64_t wanted = most > 0 ? std::min(living, most) : living;
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(wanted));
  int64_t seen = 0;
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (memory.deleted(row)) continue;
    // The living row number seen is taken if it is the first of its share.
    if (seen == 0 || seen * wanted / living != (seen - 1) * wanted / living) rows.push_back(row);
    ++seen;
  }
  return rows;
}

std::vector<int64_t> LargestResiduals(const ResidualMemory& memory, int64_t most) {
  if (most == 0 || most >= memory.rows()) return EvenlySpread(memory, 0);
  std::vector<float> scratch(static_cast<size_t>(memory.description().outputs));
  std::vector<std::pair<float, int64_t>> all;
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (!memory.deleted(row)) all.emplace_back(-AnswerOf(memory, row, scratch).residual, row);
  }
  std::partial_sort(all.begin(), all.begin() + most, all.end());
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < most; ++i) rows.push_back(all[static_cast<size_t>(i)].second);
  return rows;
}

// Calls use(rows, neighbors) for rows with their neighbors, each without itself, in blocks.
using UseNeighbors = std::function<void(std::span<const int64_t>, const Neighbors&)>;
Status AskRows(const Predictor& predictor, std::span<const int64_t> rows,
               const AuditOptions& options, const UseNeighbors& use) {
  const ResidualMemory& memory = predictor.memory();
  const auto dim = static_cast<size_t>(memory.description().dim);
  const int64_t k = std::max<int64_t>(1, predictor.DefaultOptions().parameters.k);
  const auto total = static_cast<int64_t>(rows.size());
  std::vector<float> keys;
  Neighbors neighbors;
  for (int64_t begin = 0; begin < total; begin += kRowsAtOnce) {
    if (options.progress != nullptr) {
      options.progress->Report("checking rows", begin, total);
      if (options.progress->Cancelled()) return {ErrorCode::kCancelled, "stopped while checking"};
    }
    const auto part = rows.subspan(static_cast<size_t>(begin),
                                   static_cast<size_t>(std::min(kRowsAtOnce, total - begin)));
    keys.resize(part.size() * dim);
    for (size_t i = 0; i < part.size(); ++i) {
      memory.DecodeKey(part[i], std::span(keys).subspan(i * dim, dim));
    }
    const MatrixView view(keys.data(), static_cast<int64_t>(part.size()), memory.description().dim);
    RESMEM_RETURN_IF_ERROR(
        predictor.FindNeighbors(view, k, part, options.threads, nullptr, &neighbors));
    use(part, neighbors);
  }
  if (options.progress != nullptr) options.progress->Report("checking rows", total, total);
  return {};
}

class SuspectFinder {
 public:
  explicit SuspectFinder(const Predictor& predictor)
      : memory_(predictor.memory()),
        parameters_(predictor.DefaultOptions().parameters),
        scratch_(static_cast<size_t>(memory_.description().outputs)) {}

  void See(std::span<const int64_t> rows, const Neighbors& neighbors) {
    const std::vector<float> weights = WeightsOf(neighbors, parameters_);
    const auto k = static_cast<size_t>(neighbors.k);
    for (size_t q = 0; q < rows.size(); ++q) {
      Judge(rows[q], neighbors.rows_of(static_cast<int64_t>(q)),
            std::span(weights).subspan(q * k, k));
    }
  }

  std::vector<SuspectRow> Take() {
    std::stable_sort(found_.begin(), found_.end(), [](const SuspectRow& a, const SuspectRow& b) {
      return a.score() != b.score() ? a.score() > b.score() : a.row < b.row;
    });
    return std::move(found_);
  }

 private:
  void Judge(int64_t row, std::span<const int64_t> near, std::span<const float> weights) {
    const int32_t label = memory_.label(row);
    std::map<int32_t, float> by_label;
    for (size_t i = 0; i < near.size() && near[i] >= 0; ++i) {
      by_label[memory_.label(near[i])] += weights[i];
    }
    SuspectRow suspect;
    suspect.row = row;
    float most = 0;
    for (const auto& [other, weight] : by_label) {
      if (other != label) suspect.disagreement += weight;
      if (weight > most) {
        most = weight;
        suspect.suggested = other;
      }
    }
    if (suspect.disagreement <= 1 - kMostAgreement || suspect.suggested == label) return;
    const StoredAnswer answer = AnswerOf(memory_, row, scratch_);
    suspect.residual = answer.residual;
    suspect.base = answer.base;
    found_.push_back(suspect);
  }

  const ResidualMemory& memory_;
  const Parameters parameters_;
  std::vector<float> scratch_;
  std::vector<SuspectRow> found_;
};

// The nearest other row of each.
class TwinFinder {
 public:
  void See(std::span<const int64_t> rows, const Neighbors& neighbors) {
    for (size_t q = 0; q < rows.size(); ++q) {
      const auto query = static_cast<int64_t>(q);
      const int64_t other = neighbors.rows_of(query)[0];
      if (other < 0) continue;
      pairs_.push_back(
          {std::min(rows[q], other), std::max(rows[q], other), neighbors.distances_of(query)[0]});
    }
  }

  double Limit() const {
    if (pairs_.empty()) return 0;
    std::vector<float> distances;
    for (const TwinRows& pair : pairs_) distances.push_back(pair.distance);
    const auto middle = distances.begin() + static_cast<int64_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    return kDuplicateShare * static_cast<double>(*middle);
  }

  std::vector<TwinRows> Take(double limit) {
    std::set<std::pair<int64_t, int64_t>> seen;
    std::erase_if(pairs_, [&](const TwinRows& pair) {
      return static_cast<double>(pair.distance) > limit ||
             !seen.emplace(pair.row, pair.other).second;
    });
    std::stable_sort(pairs_.begin(), pairs_.end(), [](const TwinRows& a, const TwinRows& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    });
    return std::move(pairs_);
  }

 private:
  std::vector<TwinRows> pairs_;
};

template <typename T>
int64_t Cut(int64_t listed, std::vector<T>* list) {
  const auto all = static_cast<int64_t>(list->size());
  if (listed > 0 && all > listed) list->resize(static_cast<size_t>(listed));
  return all;
}

Result<Audit> RunAudit(const Predictor& predictor, const AuditOptions& options) {
  const ResidualMemory& memory = predictor.memory();
  Audit audit;
  if (memory.rows() == 0) return audit;
  const bool classes = memory.description().task == Task::kClassification;
  const std::vector<int64_t> spread = EvenlySpread(memory, options.most);
  const bool together = static_cast<int64_t>(spread.size()) == memory.rows();
  SuspectFinder suspects(predictor);
  TwinFinder twins;
  RESMEM_RETURN_IF_ERROR(AskRows(predictor, spread, options, [&](auto rows, const auto& near) {
    twins.See(rows, near);
    if (classes && together) suspects.See(rows, near);
  }));
  audit.checked = static_cast<int64_t>(spread.size());
  audit.suspected = classes ? audit.checked : 0;
  if (classes && !together) {
    const std::vector<int64_t> wrong = LargestResiduals(memory, options.most);
    RESMEM_RETURN_IF_ERROR(AskRows(predictor, wrong, options,
                                   [&](auto rows, const auto& near) { suspects.See(rows, near); }));
  }
  audit.duplicate_distance = twins.Limit();
  audit.twins = twins.Take(audit.duplicate_distance);
  audit.all_twins = Cut(options.listed, &audit.twins);
  audit.suspects = suspects.Take();
  audit.all_suspects = Cut(options.listed, &audit.suspects);
  RESMEM_RETURN_IF_ERROR(memory.damage());
  return audit;
}

}  // namespace

Result<Audit> AuditMemory(const Predictor& predictor, const AuditOptions& options) try {
  return RunAudit(predictor, options);
} catch (...) {
  return CaughtException("audit the memory");
}

}  // namespace resmem
