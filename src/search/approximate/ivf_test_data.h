// Inverted files for the tests of this folder.
#ifndef RESMEM_SEARCH_APPROXIMATE_IVF_TEST_DATA_H_
#define RESMEM_SEARCH_APPROXIMATE_IVF_TEST_DATA_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "resmem/knn_index.h"
#include "search/approximate/ivf_index.h"
#include "search/approximate/lists/inverted_file.h"
#include "search/approximate/lists/inverted_file_writer.h"
#include "search/key_store.h"
#include "support/file_system.h"
#include "support/random.h"

namespace resmem {

// rows x dim around `clusters` centers; 0: no clusters, values uniform in 0 .. 1.
inline std::vector<float> ClusteredKeys(int64_t rows, int64_t dim, int64_t clusters,
                                        uint64_t seed) {
  Random random(seed);
  std::vector<float> centers(static_cast<size_t>(clusters * dim));
  for (float& value : centers) value = static_cast<float>(random.Normal());
  std::vector<float> keys(static_cast<size_t>(rows * dim));
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t cluster = clusters > 0 ? random.Below(static_cast<uint64_t>(clusters)) : 0;
    for (int64_t i = 0; i < dim; ++i) {
      keys[static_cast<size_t>(row * dim + i)] =
          clusters > 0 ? centers[cluster * static_cast<size_t>(dim) + static_cast<size_t>(i)] +
                             static_cast<float>(0.4 * random.Normal())
                       : static_cast<float>(random.Uniform());
    }
  }
  return keys;
}

// A file of its own, gone with the object.
class TemporaryPath {
 public:
  TemporaryPath()
      : path_(testing::TempDir() + "ivf_" + std::to_string(::getpid()) + "_" +
              std::to_string(next_++)) {}
  ~TemporaryPath() { (void)FileSystem::Posix().Remove(path_).ok(); }
  const std::string& get() const { return path_; }

 private:
  static inline int next_ = 0;
  std::string path_;
};

inline Result<InvertedFile> OpenInvertedFile(const std::string& path, int64_t dim, int64_t rows) {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader file,
                          ContainerReader::Open(FileSystem::Posix(), path, FileKind::kIndex));
  return InvertedFile::Open(std::move(file), dim, rows);
}

// Float32 keys with an exact index and, after Build(), an approximate one.
struct Indexed {
  std::vector<float> values;
  int64_t dim, rows;
  std::vector<int64_t> hidden;
  TemporaryPath path;
  std::unique_ptr<KnnIndex> exact, approximate;
  std::vector<MeasuredEffort> efforts;

  Indexed(std::vector<float> values_in, int64_t dim_in, std::vector<int64_t> hidden_in = {})
      : values(std::move(values_in)),
        dim(dim_in),
        rows(static_cast<int64_t>(values.size()) / dim),
        hidden(std::move(hidden_in)) {
    exact = MakeExactIndex(dim, {block()}, hidden).value();
  }

  KeyBlock block() const { return {KeyType::kFloat32, values.data(), nullptr, rows}; }
  KeyStore keys() const { return KeyStore::Make(dim, {block()}, hidden).value(); }

  Status Build(double recall, InvertedFileOptions options = {}) {
    RESMEM_RETURN_IF_ERROR(
        WriteInvertedFile(FileSystem::Posix(), path.get(), keys(), options).status());
    return Open(recall, options.threads);
  }
  // The same without trying.
  Status BuildUntried(double reach = 3, InvertedFileOptions options = {}) {
    RESMEM_RETURN_IF_ERROR(
        WriteInvertedFile(FileSystem::Posix(), path.get(), keys(), options).status());
    RESMEM_ASSIGN_OR_RETURN(std::vector<IndexedPart> parts, OpenPart());
    efforts.clear();
    for (const int64_t k : kEffortLadder) efforts.push_back({{k, reach, 3, 2 * k}, 0, false});
    parts[0].efforts = efforts;
    approximate = MakeIvfIndex(std::move(parts), std::nullopt, *exact);
    return {};
  }
  Result<std::vector<IndexedPart>> OpenPart() const {
    RESMEM_ASSIGN_OR_RETURN(InvertedFile file, OpenInvertedFile(path.get(), dim, rows));
    std::vector<IndexedPart> parts(1);
    parts[0].search = std::make_unique<ListSearch>(std::move(file), keys(), hidden);
    return parts;
  }
  Status Open(double recall, int threads = 0) {
    RESMEM_ASSIGN_OR_RETURN(std::vector<IndexedPart> parts, OpenPart());
    RESMEM_ASSIGN_OR_RETURN(
        efforts, ChooseEffort(*parts[0].search, *exact, {recall, 50, 0}, threads, nullptr));
    parts[0].efforts = efforts;
    approximate = MakeIvfIndex(std::move(parts), std::nullopt, *exact);
    return {};
  }
};

// Of the approximate answers, the share that is as near as the last of the exact ones.
inline double MeanRecall(const KnnIndex& exact, const KnnIndex& approximate, MatrixView queries,
                         const SearchOptions& options) {
  Neighbors truth, found;
  EXPECT_TRUE(exact.Search(queries, options, &truth).ok());
  EXPECT_TRUE(approximate.Search(queries, options, &found).ok());
  int64_t right = 0, all = 0;
  for (int64_t q = 0; q < queries.rows; ++q) {
    float last = -1;
    for (int64_t i = 0; i < options.k && truth.rows_of(q)[i] >= 0; ++i, ++all) {
      last = truth.distances_of(q)[i];
    }
    for (int64_t i = 0; i < options.k && found.rows_of(q)[i] >= 0; ++i) {
      right += found.distances_of(q)[i] <= last ? 1 : 0;
    }
  }
  return all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_IVF_TEST_DATA_H_
