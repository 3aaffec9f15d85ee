#include "search/approximate/lists/centroids.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/amx.h"
#include "support/parallel.h"

namespace resmem {

Centroids::Centroids(const float* values, int64_t count, int64_t dim, const float* center)
    : values_(values),
      count_(count),
      dim_(dim),
      center_(center),
      blocks_(CodeWidth(dim), BlocksOfRows(count), /*empty=*/128) {
  CodedVectors coded(dim, 1);
  std::vector<uint8_t> bytes(static_cast<size_t>(coded.width()));
  for (int64_t list = 0; list < count; ++list) {
    coded.Set(0, centroid(list), center);
    CodesToBytes(coded.codes(0), coded.width(), bytes.data());
    blocks_.Set(list, bytes.data(), coded.scale(0), coded.SquaredNorm(0));
  }
}

template <class Threshold, class Found>
void Centroids::Scan(const CodedVectors& points, int64_t begin, int64_t count, int64_t first_list,
                     int64_t end_list, const Threshold& threshold, const Found& found) const {
  std::optional<TileScope> tiles;
  if (AmxActive() && count > 1) tiles.emplace();
  const int64_t width = points.width();
  // A part of the codes stays in the second cache while all points pass by.
  const int64_t part = std::max<int64_t>(kMostCells, (1 << 17) / width);
  CellFound cells[kMostCells];
  for (int64_t first = first_list; first < end_list; first += part) {
    const int64_t end = std::min(end_list, first + part);
    for (int64_t q = 0; q < count; q += kGroupQueries) {
      QueryGroup group;
      group.count = std::min(kGroupQueries, count - q);
      group.codes = points.codes(begin + q);
      for (int64_t i = 0; i < group.count; ++i) {
        points.PutScales(begin + q + i, i, &group);
        group.bases[i] = 0;
      }
      for (int64_t row = first; row < end; row += kRowsACall) {
        for (int64_t i = 0; i < group.count; ++i) group.thresholds[i] = threshold(q + i);
        const int64_t hits = ScanBlocks(group, blocks_.From(row / kBlockRows),
                                        std::min(kRowsACall, end - row), width, cells);
        for (int64_t i = 0; i < hits; ++i) {
          found(q + cells[i].query,
                Candidate(cells[i].value, static_cast<uint32_t>(row + cells[i].row)));
        }
      }
    }
  }
}

void Centroids::Nearest(const CodedVectors& points, std::span<CandidatePool> pools,
                        int threads) const {
  const auto offer = [&](int64_t first_list, int64_t end_list, std::span<CandidatePool> to) {
    Scan(
        points, 0, points.count(), first_list, end_list,
        [&](int64_t i) { return to[i].threshold(); },
        [&](int64_t i, Candidate candidate) { to[i].Offer(candidate); });
  };
  if (points.count() > 1 || threads == 1 || count_ * points.width() < kFewestSharedBytes) {
    offer(0, count_, pools);
    return;
  }
  std::vector<CandidatePool> shares(static_cast<size_t>(threads), pools[0]);
  const int64_t grain = (count_ / threads + kRowsACall) / kRowsACall * kRowsACall;
  ParallelFor(threads, count_, grain, [&](int64_t begin, int64_t end, int worker) {
    offer(begin, end, std::span(shares).subspan(worker, 1));
  });
  for (CandidatePool& share : shares) pools[0].OfferAll(&share);
}

void Centroids::Assign(const CodedVectors& points, int64_t begin, int64_t count,
                       uint32_t* lists) const {
  std::vector<Candidate> best(static_cast<size_t>(count),
                              Candidate(std::numeric_limits<float>::max(), UINT32_MAX));
  Scan(
      points, begin, count, 0, count_, [&](int64_t i) { return best[i].value(); },
      [&](int64_t i, Candidate candidate) { best[i] = std::min(best[i], candidate); });
  for (int64_t i = 0; i < count; ++i) lists[i] = best[i].number();
}

}  // namespace resmem
