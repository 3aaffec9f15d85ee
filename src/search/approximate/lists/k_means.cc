#include "search/approximate/lists/k_means.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

#include "kernels/squared_distance.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/lists/centroids.h"
#include "support/parallel.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kSamplesPerList = 64;
constexpr int kRounds = 10;
// The first rounds move centroids far: a quarter of a large sample tells where to.
constexpr int kRoughRounds = 6;
constexpr int64_t kRoughShare = 4;
constexpr int64_t kPointsAtOnce = 512;

// `wanted` visible rows, ascending, each subset equally likely.
std::vector<int64_t> SampleRows(const KeyStore& keys, int64_t wanted, Random* random) {
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(wanted));
  int64_t left = keys.visible_rows();
  for (int64_t row = 0; row < keys.rows() && wanted > 0; ++row) {
    if (keys.hidden(row)) continue;
    if (static_cast<int64_t>(random->Below(static_cast<uint64_t>(left--))) < wanted) {
      rows.push_back(row);
      --wanted;
    }
  }
  return rows;
}

class Trainer {
 public:
  Trainer(const KeyStore& keys, int64_t lists, uint64_t seed, int threads)
      : keys_(keys),
        dim_(keys.dim()),
        lists_(lists),
        threads_(threads),
        random_(seed),
        rows_(SampleRows(keys, std::min(keys.visible_rows(), lists * kSamplesPerList), &random_)),
        points_(dim_, static_cast<int64_t>(rows_.size())) {}

  Result<TrainedCentroids> Train(Progress* progress) {
    RESMEM_RETURN_IF_ERROR(ReadSample());
    ChooseFirst();
    const bool large = count() == lists_ * kSamplesPerList;
    for (int round = 0; round < kRounds; ++round) {
      active_ = large && round < kRoughRounds ? count() / kRoughShare : count();
      if (progress != nullptr) {
        if (progress->Cancelled()) return Status(ErrorCode::kCancelled, "indexing was stopped");
        progress->Report("centroids", round, kRounds);
      }
      Assign();
      Move(/*last=*/round + 1 == kRounds);
    }
    if (progress != nullptr) progress->Report("centroids", kRounds, kRounds);
    return std::move(trained_);
  }

 private:
  int64_t count() const { return static_cast<int64_t>(rows_.size()); }

  // Points are in random order, so that the first of them are a sample, too; rows are read in
  // theirs.
  Status ReadSample() {
    std::vector<int64_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = count() - 1; i > 0; --i) {
      std::swap(order[i], order[random_.Below(static_cast<uint64_t>(i + 1))]);
    }
    std::vector<double> sums(static_cast<size_t>(dim_));
    std::vector<float> scratch(sums.size());
    for (const int64_t row : rows_) {
      const float* key = keys_.Rows(row, 1, scratch.data());
      for (int64_t i = 0; i < dim_; ++i) sums[i] += key[i];
    }
    for (const double sum : sums) {
      trained_.center.push_back(static_cast<float>(sum / static_cast<double>(count())));
    }
    for (int64_t i = 0; i < count(); ++i) {
      const float* key = keys_.Rows(rows_[i], 1, scratch.data());
      RESMEM_RETURN_IF_ERROR(
          CheckListedDistance(rows_[i], SquaredDistance(key, trained_.center.data(), dim_)));
      points_.Set(order[i], key, trained_.center.data());
    }
    return {};
  }

  void PutCentroid(int64_t list, int64_t point) {
    for (int64_t i = 0; i < dim_; ++i) {
      trained_.values[list * dim_ + i] =
          trained_.center[i] + points_.scale(point) * points_.codes(point)[i];
    }
  }

  void ChooseFirst() {
    trained_.values.resize(static_cast<size_t>(lists_ * dim_));
    for (int64_t list = 0; list < lists_; ++list) PutCentroid(list, list);
  }

  void Assign() {
    const Centroids centroids(trained_.values.data(), lists_, dim_, trained_.center.data());
    list_of_.resize(static_cast<size_t>(active_));
    ParallelFor(threads_, active_, kPointsAtOnce, [&](int64_t begin, int64_t end, int) {
      centroids.Assign(points_, begin, end - begin, list_of_.data() + begin);
    });
    starts_.assign(static_cast<size_t>(lists_) + 1, 0);
    for (const uint32_t list : list_of_) ++starts_[list + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    by_list_.resize(list_of_.size());
    std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
    for (int64_t i = 0; i < active_; ++i) by_list_[next[list_of_[i]]++] = i;
  }

  int64_t size(int64_t list) const { return starts_[list + 1] - starts_[list]; }

  void Move(bool last) {
    ParallelFor(threads_, lists_, 64, [&](int64_t begin, int64_t end, int) {
      std::vector<float> sums(static_cast<size_t>(dim_));
      for (int64_t list = begin; list < end; ++list) {
        if (size(list) == 0) continue;
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (int64_t p = starts_[list]; p < starts_[list + 1]; ++p) {
          const float scale = points_.scale(by_list_[p]);
          const int8_t* codes = points_.codes(by_list_[p]);
          for (int64_t i = 0; i < dim_; ++i) sums[i] += scale * static_cast<float>(codes[i]);
        }
        const float share = 1 / static_cast<float>(size(list));
        for (int64_t i = 0; i < dim_; ++i) {
          trained_.values[list * dim_ + i] = trained_.center[i] + sums[i] * share;
        }
      }
    });
    if (!last) SplitLargest();
  }

  // Each small list's centroid becomes a random member of the list that is largest then.
  void SplitLargest() {
    using Sized = std::pair<int64_t, int64_t>;  // size, minus list: equal sizes by list
    std::vector<Sized> sizes;
    for (int64_t list = 0; list < lists_; ++list) sizes.emplace_back(size(list), -list);
    std::priority_queue<Sized> largest(std::less<Sized>(), std::move(sizes));
    const int64_t mean = active_ / lists_;
    for (int64_t list = 0; list < lists_; ++list) {
      if (size(list) > mean / 4) continue;
      const auto [members, minus_list] = largest.top();
      if (members <= mean) return;
      largest.pop();
      const uint64_t member = random_.Below(static_cast<uint64_t>(size(-minus_list)));
      PutCentroid(list, by_list_[starts_[-minus_list] + static_cast<int64_t>(member)]);
      largest.emplace(members / 2, minus_list);
    }
  }

  const KeyStore& keys_;
  const int64_t dim_, lists_;
  const int threads_;
  Random random_;
  const std::vector<int64_t> rows_;  // of the sample
  CodedVectors points_;
  TrainedCentroids trained_;
  int64_t active_ = 0;             // points that count in this round
  std::vector<uint32_t> list_of_;  // of each of them
  std::vector<int64_t> starts_, by_list_;
};

}  // namespace

Status CheckListedDistance(int64_t row, double squared_distance) {
  if (squared_distance <= kLargestListedDistance * kLargestListedDistance) return {};
  if (!std::isfinite(squared_distance)) {
    return {ErrorCode::kBadData,
            Text("the key of row ", row, " is not finite; find out more with: resmem verify")};
  }
  return {ErrorCode::kUnsupported,
          Text("the key of row ", row, " lies ", std::sqrt(squared_distance),
               " from the mean, an index takes up to ", kLargestListedDistance,
               "; scale the embedding down, or search exactly")};
}

Result<TrainedCentroids> TrainCentroids(const KeyStore& keys, int64_t lists, uint64_t seed,
                                        int threads, Progress* progress) {
  return Trainer(keys, lists, seed, threads).Train(progress);
}

}  // namespace resmem
