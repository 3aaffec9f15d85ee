#include "search_data.h"

#include "resmem/data/array.h"
#include "resmem/residual_memory.h"
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

std::vector<float> UniformPoints(int64_t rows, int64_t dim, uint64_t seed) {
  std::vector<float> points(static_cast<size_t>(rows * dim));
  ParallelFor(0, rows, 1000, [&](int64_t begin, int64_t end, int) {
    Random random(seed, static_cast<uint64_t>(begin));
    for (int64_t i = begin * dim; i < end * dim; ++i) {
      points[i] = static_cast<float>(random.Uniform());
    }
  });
  return points;
}

// The first `rows`, or all where that is negative.
std::optional<std::vector<float>> Values(const std::string& path, int64_t rows, int64_t* columns) {
  const auto array = OpenArray({path, {}, {}});
  if (!array.ok()) return std::nullopt;
  if (rows < 0) rows = array->rows();
  *columns = array->columns();
  std::vector<float> values(static_cast<size_t>(rows * *columns));
  if (array->rows() < rows || !array->ReadFloats(0, rows, values).ok()) return std::nullopt;
  return values;
}

}  // namespace

SearchData ClusteredData(int64_t rows, int64_t dim, int64_t queries) {
  return {
      Text("clustered ", rows, " x ", dim), dim, Points(rows, dim, 2), Points(queries, dim, 3), {}};
}

SearchData UniformData(int64_t rows, int64_t dim, int64_t queries) {
  return {Text("uniform ", rows, " x ", dim),
          dim,
          UniformPoints(rows, dim, 2),
          UniformPoints(queries, dim, 3),
          {}};
}

std::optional<SearchData> FashionMnistData(int64_t queries) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  return ArrayData("Fashion-MNIST pixels", folder + "train-images-idx3-ubyte.gz",
                   folder + "t10k-images-idx3-ubyte.gz", queries);
}

std::optional<SearchData> ArrayData(const std::string& name, const std::string& keys,
                                    const std::string& queries, int64_t count) {
  int64_t dim = 0, query_dim = 0;
  auto key_values = Values(keys, -1, &dim);
  auto query_values = Values(queries, count, &query_dim);
  if (!key_values || !query_values || dim == 0 || dim != query_dim) return std::nullopt;
  const int64_t rows = static_cast<int64_t>(key_values->size()) / dim;
  return SearchData{
      Text(name, " ", rows, " x ", dim), dim, *std::move(key_values), *std::move(query_values), {}};
}

std::optional<SearchData> MemoryData(const std::string& name, const std::string& memory,
                                     int64_t rows, int64_t queries) {
  const auto opened = ResidualMemory::Open(memory, {.verify_blocks = false});
  if (!opened.ok() || rows < 1 || opened->capacity() < rows + queries) return std::nullopt;
  const int64_t dim = opened->description().dim, step = (opened->capacity() - rows) / queries;
  const auto decode = [&](int64_t row, int64_t place, std::vector<float>* values) {
    opened->DecodeKey(row, std::span(*values).subspan(static_cast<size_t>(place * dim),
                                                      static_cast<size_t>(dim)));
  };
  SearchData data{Text(name, " ", rows, " x ", dim),
                  dim,
                  std::vector<float>(static_cast<size_t>(rows * dim)),
                  std::vector<float>(static_cast<size_t>(queries * dim)),
                  {}};
  for (int64_t row = 0; row < rows; ++row) decode(row, row, &data.keys);
  for (int64_t q = 0; q < queries; ++q) decode(rows + q * step, q, &data.queries);
  return data;
}

void HoldOutTwoThirds(SearchData* data) {
  std::vector<float> kept;
  const MatrixView queries = data->query_view();
  for (int64_t q = 0; q < queries.rows; ++q) {
    std::vector<float>& part = q % 3 == 0 ? kept : data->held_out;
    part.insert(part.end(), queries.row(q), queries.row(q) + queries.columns);
  }
  data->queries = std::move(kept);
}

}  // namespace resmem::bench
