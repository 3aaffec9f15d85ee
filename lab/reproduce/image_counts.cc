#include "reproduce/image_counts.h"

#include <algorithm>
#include <cmath>

#include "support/random.h"

namespace resmem::cli::reproduce {
namespace {

void Add(const ImageCounts& more, ImageCounts* sum) {
  sum->fixed += more.fixed;
  sum->fixed_same += more.fixed_same;
  sum->other += more.other;
  sum->other_same += more.other_same;
}

// 0 where there are no errors of one kind.
double DifferenceOf(const ImageCounts& total) {
  if (total.fixed == 0 || total.other == 0) return 0;
  return static_cast<double>(total.fixed_same) / static_cast<double>(total.fixed) -
         static_cast<double>(total.other_same) / static_cast<double>(total.other);
}

}  // namespace

void AddAnswers(std::span<const RowResult> rows, std::span<const int32_t> coarse_of_class,
                std::vector<ImageCounts>* counts) {
  counts->resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowResult& row = rows[i];
    if (row.base == row.label) continue;
    ImageCounts& image = (*counts)[i];
    const bool same = coarse_of_class[static_cast<size_t>(row.base)] ==
                      coarse_of_class[static_cast<size_t>(row.label)];
    const bool fixed = row.resmem == row.label;
    ++(fixed ? image.fixed : image.other);
    if (same) ++(fixed ? image.fixed_same : image.other_same);
  }
}

PooledDifference Pool(std::span<const ImageCounts> counts, int64_t samples, uint64_t seed) {
  PooledDifference pooled;
  for (const ImageCounts& image : counts) Add(image, &pooled.total);
  pooled.difference = DifferenceOf(pooled.total);
  Random random(seed, 0);
  std::vector<double> differences;
  for (int64_t sample = 0; sample < samples; ++sample) {
    ImageCounts total;
    for (size_t i = 0; i < counts.size(); ++i) Add(counts[random.Below(counts.size())], &total);
    differences.push_back(DifferenceOf(total));
  }
  std::sort(differences.begin(), differences.end());
  const auto at = [&](double share) {
    const auto last = static_cast<double>(differences.size() - 1);
    return differences[static_cast<size_t>(std::lround(share * last))];
  };
  if (!differences.empty()) pooled.interval = {at(0.025), at(0.975)};
  return pooled;
}

}  // namespace resmem::cli::reproduce
