#include "search_data.h"

#include "resmem/array.h"
#include "support/parallel.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem::bench {
namespace {

constexpr int64_t kClusters = 100;

std::vector<float> Points(int64_t rows, int64_t dim, uint64_t seed) {
  Random shared(1);
  std::vector<float> centers(static_cast<size_t>(kClusters * dim));
  for (float& value : centers) value = static_cast<float>(shared.Normal());
  std::vector<float> points(static_cast<size_t>(rows * dim));
  ParallelFor(0, rows, 1000, [&](int64_t begin, int64_t end, int) {
    Random random(seed, static_cast<uint64_t>(begin));
    for (int64_t row = begin; row < end; ++row) {
      const int64_t cluster = static_cast<int64_t>(random.Below(kClusters));
      const double width = 0.2 + 0.8 * static_cast<double>(cluster) / kClusters;
      for (int64_t i = 0; i < dim; ++i) {
        // Nearly normal, and cheaper.
        const double noise = random.Uniform() + random.Uniform() + random.Uniform() - 1.5;
        points[row * dim + i] = centers[cluster * dim + i] + static_cast<float>(width * 2 * noise);
      }
    }
  });
  return points;
}

std::optional<std::vector<float>> Images(const char* file, int64_t rows) {
  const auto array = OpenArray({Text("/usr/share/datasets/fashion-mnist/", file), {}, {}});
  if (!array.ok() || array->columns() != 784 || array->rows() < rows) return std::nullopt;
  std::vector<float> values(static_cast<size_t>(rows * 784));
  if (!array->ReadFloats(0, rows, values).ok()) return std::nullopt;
  return values;
}

}  // namespace

SearchData ClusteredData(int64_t rows, int64_t dim, int64_t queries) {
  return {Text("clustered ", rows, " x ", dim), dim, Points(rows, dim, 2), Points(queries, dim, 3)};
}

std::optional<SearchData> FashionMnistData(int64_t queries) {
  auto keys = Images("train-images-idx3-ubyte.gz", 60000);
  auto test = Images("t10k-images-idx3-ubyte.gz", queries);
  if (!keys || !test) return std::nullopt;
  return SearchData{"Fashion-MNIST pixels 60000 x 784", 784, *std::move(keys), *std::move(test)};
}

}  // namespace resmem::bench
