#include "tune/validation_rows.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "resmem/rivals.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kTypicalNeighbor = 10;
constexpr int64_t kDefaultFolds = 5;

class Collector {
 public:
  // `transforms`: see CollectValidationRows().
  Collector(const Predictor& predictor, const TuneOptions& options, int64_t largest_k,
            const std::vector<KeyTransform>& transforms)
      : predictor_(predictor),
        options_(options),
        largest_k_(largest_k),
        others_(std::ssize(transforms) -
                std::ranges::count(transforms, predictor.memory().description().key_transform)) {
    collected_.largest_k = largest_k;
  }

  // Which rows may be used is known only when all roles are: the first of two passes, without any
  // search.
  Status CountRoles(const RowSource& source) {
    return source.Read([&](int64_t begin, const Rows& rows) {
      CountRoles(begin, rows);
      const bool stop = options_.progress != nullptr && options_.progress->Cancelled();
      return stop ? Status(ErrorCode::kCancelled, "stopped while tuning") : Status();
    });
  }

  Status CheckRoles(int64_t total) {
    if (!split_exists() && test_rows_ > 0) {
      return {ErrorCode::kInvalidArgument,
              Text(test_rows_, " rows are marked test, the first is row ", first_test_row_,
                   "; tuning on them would make the test meaningless: tune on validation rows")};
    }
    const int64_t usable = split_exists() ? validation_rows_ : total;
    if (usable == 0) return {ErrorCode::kBadData, "there are no rows to tune on"};
    const bool many = usable >= TuneOptions::kFewestRows;
    collected_.folds = options_.folds.value_or(many ? kDefaultFolds : 0);
    if (collected_.folds > usable) {
      return {ErrorCode::kInvalidArgument,
              Text(collected_.folds, " folds were asked for, but there ", "are ", usable,
                   " rows; give at most as many")};
    }
    return {};
  }

  Status Add(int64_t begin, const Rows& rows, int64_t total) {
    RESMEM_RETURN_IF_ERROR(Collect(begin, rows));
    if (options_.progress != nullptr) {
      options_.progress->Report("search", begin + rows.count(), total);
      if (options_.progress->Cancelled()) return {ErrorCode::kCancelled, "stopped while tuning"};
    }
    return {};
  }

  ValidationRows Finish() && {
    SetFolds();
    collected_.typical_distance = TypicalDistance(collected_.blocks);
    return std::move(collected_);
  }

 private:
  bool split_exists() const { return validation_rows_ > 0; }

  void CountRoles(int64_t begin, const Rows& rows) {
    for (size_t i = 0; i < rows.roles.size(); ++i) {
      if (rows.roles[i] == Role::kValidation) ++validation_rows_;
      if (rows.roles[i] != Role::kTest) continue;
      if (test_rows_ == 0) first_test_row_ = begin + static_cast<int64_t>(i);
      ++test_rows_;
    }
  }

  Status Collect(int64_t begin, const Rows& rows) {
    const std::optional<Role> only =
        split_exists() ? std::optional<Role>(Role::kValidation) : std::nullopt;
    RESMEM_RETURN_IF_ERROR(
        selected_.Load(predictor_.memory(), begin, rows, only, options_.leave_one_out));
    const Rows& chosen = selected_.rows();
    if (chosen.count() == 0) return {};
    const int64_t outputs = predictor_.memory().description().outputs;
    const int64_t neighbors = std::min(largest_k_, predictor_.memory().rows());
    const MemoryDescription& description = predictor_.memory().description();
    const bool keep_keys =
        others_ > 0 || (description.task == Task::kClassification &&
                        description.dim <= Rivals::LastLayer::kMostWeights / outputs);
    bytes_ += chosen.count() * (4 * outputs + 12 * neighbors * (1 + others_) + 8 +
                                (keep_keys ? 4 * chosen.keys.columns : 0));
    if (bytes_ > options_.memory_limit) {
      return {ErrorCode::kResourceExhausted,
              Text("tuning would hold the logits and ", neighbors, " neighbors of more than ",
                   collected_.rows, " rows in ", options_.memory_limit >> 20,
                   " MB, the limit; give fewer rows, a smaller largest k or a higher limit")};
    }
    ValidationBlock block;
    block.outputs = outputs;
    block.dim = description.dim;
    const auto start = std::chrono::steady_clock::now();
    RESMEM_RETURN_IF_ERROR(predictor_.FindNeighbors(chosen.keys, largest_k_, selected_.exclude(),
                                                    options_.threads, nullptr, &block.neighbors));
    collected_.search_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Copy(chosen.logits, &block.logit_values);
    if (keep_keys) Copy(chosen.keys, &block.key_values);
    block.exclude.assign(selected_.exclude().begin(), selected_.exclude().end());
    block.labels.assign(chosen.labels.begin(), chosen.labels.end());
    Copy(chosen.targets, &block.target_values);
    if (options_.whole_slices) {
      for (const std::string& name : chosen.slices) {
        const auto known = slices_.try_emplace(name, static_cast<int32_t>(slices_.size())).first;
        block.slices.push_back(known->second);
      }
    }
    for (int64_t q = 0; q < block.count() && block.neighbors.k > 0; ++q) {
      collected_.rows_at_distance_zero += block.neighbors.distances_of(q)[0] == 0 ? 1 : 0;
    }
    collected_.train_rows += std::count(chosen.roles.begin(), chosen.roles.end(), Role::kTrain);
    collected_.rows += block.count();
    collected_.blocks.push_back(std::move(block));
    return {};
  }

  static void Copy(MatrixView from, std::vector<float>* to) {
    to->reserve(static_cast<size_t>(from.rows * from.columns));
    for (int64_t r = 0; r < from.rows; ++r) {
      const std::span<const float> row = from.row_span(r);
      to->insert(to->end(), row.begin(), row.end());
    }
  }

  // Folds of equal size, drawn with the seed.
  void SetFolds() {
    if (slices_.size() >= 2 && collected_.folds >= 2) return SetFoldsOfSlices();
    for (ValidationBlock& block : collected_.blocks) block.slices.clear();
    std::vector<int64_t> order(static_cast<size_t>(collected_.rows));
    std::iota(order.begin(), order.end(), 0);
    Random random(options_.seed);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random.Below(i)]);
    }
    const int64_t folds = std::max<int64_t>(collected_.folds, 1);
    size_t next = 0;
    for (ValidationBlock& block : collected_.blocks) {
      for (int64_t q = 0; q < block.count(); ++q) {
        block.folds.push_back(static_cast<int32_t>(order[next++] % folds));
      }
    }
  }

  // Each slice, in an order drawn with the seed, to the fold with the fewest rows.
  void SetFoldsOfSlices() {
    std::vector<int64_t> rows(slices_.size());
    for (const ValidationBlock& block : collected_.blocks) {
      for (const int32_t slice : block.slices) ++rows[static_cast<size_t>(slice)];
    }
    std::vector<size_t> order(slices_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Random random(options_.seed);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
    collected_.folds = std::min(collected_.folds, std::ssize(slices_));
    std::vector<int64_t> filled(static_cast<size_t>(collected_.folds));
    std::vector<int32_t> fold_of(slices_.size());
    for (const size_t slice : order) {
      const auto least = std::min_element(filled.begin(), filled.end());
      *least += rows[slice];
      fold_of[slice] = static_cast<int32_t>(least - filled.begin());
    }
    for (ValidationBlock& block : collected_.blocks) {
      for (const int32_t slice : block.slices) {
        block.folds.push_back(fold_of[static_cast<size_t>(slice)]);
      }
    }
  }

  const Predictor& predictor_;
  const TuneOptions& options_;
  const int64_t largest_k_;
  const int64_t others_;  // transforms to be tried beside the memory's own
  int64_t validation_rows_ = 0, test_rows_ = 0, first_test_row_ = -1;
  int64_t bytes_ = 0;
  RowBlock selected_;
  std::map<std::string, int32_t> slices_;  // by name, where whole ones are wanted
  ValidationRows collected_;
};

}  // namespace

double TypicalDistance(const std::vector<ValidationBlock>& blocks) {
  std::vector<float> distances;
  for (const ValidationBlock& block : blocks) {
    const int64_t at = std::min(kTypicalNeighbor, block.neighbors.k) - 1;
    for (int64_t q = 0; q < block.count() && at >= 0; ++q) {
      // In leave-one-out of a tiny memory the last neighbor may be missing.
      for (int64_t i = at; i >= 0; --i) {
        if (block.neighbors.rows_of(q)[static_cast<size_t>(i)] < 0) continue;
        distances.push_back(block.neighbors.distances_of(q)[static_cast<size_t>(i)]);
        break;
      }
    }
  }
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<int64_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return static_cast<double>(*middle);
}

Result<ValidationRows> CollectValidationRows(const Predictor& predictor, const RowSource& source,
                                             const TuneOptions& options, int64_t largest_k,
                                             const std::vector<KeyTransform>& transforms) {
  Collector collector(predictor, options, largest_k, transforms);
  RESMEM_RETURN_IF_ERROR(collector.CountRoles(source));
  RESMEM_RETURN_IF_ERROR(collector.CheckRoles(source.rows()));
  RESMEM_RETURN_IF_ERROR(source.Read(
      [&](int64_t begin, const Rows& rows) { return collector.Add(begin, rows, source.rows()); }));
  return std::move(collector).Finish();
}

}  // namespace resmem
