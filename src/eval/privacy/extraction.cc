#include "eval/privacy/extraction.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "support/random.h"

namespace resmem {
namespace {

constexpr double kRecovered = 1e-3;  // error in lengths of the key
constexpr int64_t kAtOnce = 256;     // queries

double Length(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(squares);
}

// Keys moved by `noise` of each one's distance, in a direction of the row's own.
std::vector<float> Moved(const AskedRows& rows, std::span<const float> distances, double noise,
                         uint64_t seed) {
  const auto dim = static_cast<size_t>(rows.keys.columns);
  std::vector<float> moved, direction(dim);
  for (int64_t q = 0; q < rows.count(); ++q) {
    Random random(seed, static_cast<uint64_t>(rows.self[static_cast<size_t>(q)]));
    for (float& value : direction) value = static_cast<float>(random.Normal());
    const double scale =
        noise * static_cast<double>(distances[static_cast<size_t>(q)]) / Length(direction);
    const std::span<const float> key = rows.keys.row_span(q);
    for (size_t d = 0; d < dim; ++d) {
      moved.push_back(key[d] + static_cast<float>(scale) * direction[d]);
    }
  }
  return moved;
}

class NearAsker {
 public:
  NearAsker(const Predictor& predictor, const PredictOptions& answer, const PrivacyOptions& options)
      : predictor_(predictor), answer_(answer), options_(options) {
    for (const double noise : {0.0, 0.1, 0.25, 0.5, 1.0}) near_.push_back({noise, 0, 0, 0, 0});
  }

  Status See(const AskedRows& rows) {
    RESMEM_RETURN_IF_ERROR(
        Report(options_, "asking near members", near_[0].members, options_.most_near));
    RESMEM_RETURN_IF_ERROR(
        predictor_.FindNeighbors(rows.keys, 1, rows.self, options_.threads, nullptr, &neighbors_));
    const std::vector<float> distances = neighbors_.distances;
    for (NearQuery& near : near_) {
      const std::vector<float> keys = Moved(rows, distances, near.noise, options_.seed);
      RESMEM_RETURN_IF_ERROR(
          Ask(rows, MatrixView(keys.data(), rows.count(), rows.keys.columns), &near));
    }
    return {};
  }

  std::vector<NearQuery> Take() { return std::move(near_); }

 private:
  Status Ask(const AskedRows& rows, MatrixView keys, NearQuery* near) {
    const auto outputs = static_cast<size_t>(rows.logits.columns);
    scores_.resize(static_cast<size_t>(rows.count()) * outputs);
    RESMEM_RETURN_IF_ERROR(predictor_.FindNeighbors(keys,
                                                    std::max<int64_t>(1, answer_.parameters.k), {},
                                                    options_.threads, nullptr, &neighbors_));
    RESMEM_RETURN_IF_ERROR(predictor_.Score(keys, rows.logits, neighbors_, answer_, scores_));
    for (int64_t q = 0; q < rows.count(); ++q) {
      const auto i = static_cast<size_t>(q);
      const bool wrong = ArgMax(rows.logits.row_span(q)) != rows.labels[i];
      const auto scores = std::span<const float>(scores_).subspan(i * outputs, outputs);
      ++near->members;
      near->nearest += neighbors_.rows_of(q)[0] == rows.self[i];
      near->base_wrong += wrong;
      near->recovered += wrong && ArgMax(scores) == rows.labels[i];
    }
    return {};
  }

  const Predictor& predictor_;
  const PredictOptions answer_;
  const PrivacyOptions& options_;
  std::vector<NearQuery> near_;
  Neighbors neighbors_;
  std::vector<float> scores_;
};

// One row's key, from what neighbor lists show of it.
class KeyFinder {
 public:
  KeyFinder(const Predictor& predictor, int64_t shown, const PrivacyOptions& options)
      : predictor_(predictor),
        dim_(predictor.memory().description().dim),
        shown_(shown),
        options_(options) {}

  int64_t queries() const { return queries_; }

  // The row nearest to `key`, and its distance; -1 in an empty memory.
  Result<int64_t> Nearest(std::span<const float> key) {
    RESMEM_RETURN_IF_ERROR(Ask(key, 1));
    return neighbors_.rows_of(0)[0];
  }

  // Twice: from afar, and again from where that led, whose rounding is smaller.
  Result<std::vector<float>> Find(std::span<const float> start, int64_t row) {
    RESMEM_ASSIGN_OR_RETURN(const std::vector<float> first, Approach(start, row));
    if (first.empty()) return first;
    RESMEM_ASSIGN_OR_RETURN(std::vector<float> second, Approach(first, row));
    return second.empty() ? first : second;
  }

 private:
  Status Ask(std::span<const float> keys, int64_t count) {
    queries_ += count;
    return predictor_.FindNeighbors(MatrixView(keys.data(), count, dim_), shown_, {},
                                    options_.threads, nullptr, &neighbors_);
  }

  // Its distance from query q; negative if it is not shown.
  double Shown(int64_t q, int64_t row) const {
    const auto rows = neighbors_.rows_of(q);
    const auto place = std::find(rows.begin(), rows.end(), row);
    if (place == rows.end()) return -1;
    return static_cast<double>(
        neighbors_.distances_of(q)[static_cast<size_t>(place - rows.begin())]);
  }

  // A step along each coordinate; the two distances give that coordinate of the key.  Empty where
  // the row is lost from sight on the way.
  Result<std::vector<float>> Approach(std::span<const float> start, int64_t row) {
    RESMEM_RETURN_IF_ERROR(Ask(start, 1));
    const double from_start = Shown(0, row);
    const double farthest = static_cast<double>(LastShown());
    if (from_start < 0) return std::vector<float>();
    // Near the row a step of its distance would be lost in rounding.
    double step = std::max(from_start, farthest / 4);
    for (int attempt = 0; attempt < 5 && step > 0; ++attempt, step /= 3) {
      RESMEM_ASSIGN_OR_RETURN(std::vector<float> key, Steps(start, row, from_start, step));
      if (!key.empty()) return key;
    }
    return std::vector<float>();
  }

  float LastShown() const {
    float last = 0;
    for (const float distance : neighbors_.distances_of(0)) {
      if (std::isfinite(distance)) last = distance;
    }
    return last;
  }

  Result<std::vector<float>> Steps(std::span<const float> start, int64_t row, double from_start,
                                   double step) {
    std::vector<float> found;
    for (int64_t begin = 0; begin < dim_; begin += kAtOnce) {
      const int64_t count = std::min(kAtOnce, dim_ - begin);
      std::vector<float> keys;
      for (int64_t i = 0; i < count; ++i) {
        keys.insert(keys.end(), start.begin(), start.end());
        keys[static_cast<size_t>(i * dim_ + begin + i)] += static_cast<float>(step);
      }
      RESMEM_RETURN_IF_ERROR(Ask(keys, count));
      for (int64_t i = 0; i < count; ++i) {
        const double distance = Shown(i, row);
        if (distance < 0) return std::vector<float>();
        const double from = static_cast<double>(start[static_cast<size_t>(begin + i)]);
        const double moved =
            static_cast<double>(keys[static_cast<size_t>(i * dim_ + begin + i)]) - from;
        const double squares = from_start * from_start - distance * distance;
        found.push_back(static_cast<float>(from + (squares / moved + moved) / 2));
      }
    }
    return found;
  }

  const Predictor& predictor_;
  const int64_t dim_, shown_;
  const PrivacyOptions& options_;
  Neighbors neighbors_;
  int64_t queries_ = 0;
};

double ErrorOf(const ResidualMemory& memory, int64_t row, std::span<const float> found) {
  std::vector<float> key(found.size()), error(found.size());
  memory.DecodeKey(row, key);
  for (size_t d = 0; d < key.size(); ++d) error[d] = found[d] - key[d];
  return Length(error) / std::max(Length(key), 1e-30);
}

}  // namespace

Result<std::vector<NearQuery>> AskNearMembers(const Predictor& predictor,
                                              const PredictOptions& answer,
                                              std::span<const int64_t> members,
                                              const PrivacyOptions& options) {
  NearAsker asker(predictor, answer, options);
  RESMEM_RETURN_IF_ERROR(ReadMembers(predictor.memory(), members,
                                     [&](const AskedRows& rows) { return asker.See(rows); }));
  return asker.Take();
}

Result<KeyRecovery> RecoverKeys(const Predictor& predictor, MatrixView queries, int64_t k,
                                const PrivacyOptions& options) {
  KeyRecovery recovery;
  const MemoryDescription& description = predictor.memory().description();
  if (description.key_transform != KeyTransform::kNone) {
    recovery.obstacle =
        std::string("distances are measured between transformed keys (") +
        KeyTransformName(description.key_transform) +
        "), for which this attack is not written; one that also finds the transform may exist";
    return recovery;
  }
  if (k < 1) {
    recovery.obstacle = "with k = 0 no neighbor is shown";
    return recovery;
  }
  KeyFinder finder(predictor, k, options);
  std::set<int64_t> seen;
  std::vector<double> errors;
  for (int64_t q = 0; q < queries.rows && recovery.tried < options.most_keys; ++q) {
    RESMEM_RETURN_IF_ERROR(Report(options, "recovering keys", recovery.tried, options.most_keys));
    RESMEM_ASSIGN_OR_RETURN(const int64_t row, finder.Nearest(queries.row_span(q)));
    if (row < 0 || !seen.insert(row).second) continue;
    ++recovery.tried;
    RESMEM_ASSIGN_OR_RETURN(const std::vector<float> key, finder.Find(queries.row_span(q), row));
    if (key.empty()) continue;
    const double error = ErrorOf(predictor.memory(), row, key);
    if (error <= kRecovered) errors.push_back(error);
  }
  recovery.recovered = static_cast<int64_t>(errors.size());
  recovery.queries = finder.queries();
  if (!errors.empty()) {
    const auto middle = errors.begin() + static_cast<int64_t>(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    recovery.median_error = *middle;
  }
  return recovery;
}

}  // namespace resmem
