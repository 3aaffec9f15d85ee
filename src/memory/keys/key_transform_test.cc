#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "fixtures/every_memory.h"
#include "memory/keys/key_transformer.h"
#include "memory/memory_parts.h"
#include "resmem/ram_memory.h"
#include "resmem/scrub.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

constexpr int64_t kDim = 6, kClasses = 4;
constexpr KeyTransform kTransforms[] = {KeyTransform::kUnit, KeyTransform::kWhiten};

// Keys off the origin, whose dimensions differ much in spread and hang together.
RowData MakeStretched(int64_t count, uint64_t seed = 1) {
  RowData data = MakeRows(count, kDim, kClasses, seed);
  for (int64_t row = 0; row < count; ++row) {
    float* const key = data.keys.data() + row * kDim;
    for (int64_t d = 0; d < kDim; ++d) key[d] = key[d] * std::pow(3.0f, static_cast<float>(d)) + 5;
    key[1] += key[5] / 50;
  }
  return data;
}

MemoryDescription Described(KeyTransform transform, KeyType type = KeyType::kFloat32) {
  MemoryDescription description;
  description.dim = kDim;
  description.outputs = kClasses;
  description.key_type = type;
  description.key_transform = transform;
  return description;
}

Neighbors Nearest(const ResidualMemory& memory, MatrixView queries, int64_t k, int threads = 0) {
  SearchOptions options;
  options.k = k;
  options.threads = threads;
  Neighbors neighbors;
  const Status status = memory.index().Search(queries, options, &neighbors);
  EXPECT_TRUE(status.ok()) << status.message();
  return neighbors;
}

void ExpectSame(const Neighbors& a, const Neighbors& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.distances, b.distances);
}

// Name and bytes of every file.
std::map<std::string, std::string> FilesIn(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

Status Change(const std::string& path, KeyTransform transform) {
  MemoryDescription description = Open(path).description();
  description.key_transform = transform;
  return UpdateDescription(path, description);
}

// The matrix W undoes the shrunk covariance: W^T (0.9 C + 0.1 mean(diag C)) W = 1.
TEST(KeyTransform, WhitenedKeysHaveUnitCovarianceWithinClasses) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(300);
  Write(folder / "m", Described(KeyTransform::kWhiten),
        data.view(Described(KeyTransform::kWhiten)));
  const ResidualMemory memory = Open(folder / "m");
  const StoredRows& rows = MemoryParts::Rows(memory);
  double given[kDim][kDim] = {}, white[kDim][kDim] = {};
  for (int label = 0; label < kClasses; ++label) {
    std::vector<std::vector<double>> of_class[2];  // as given, as stored
    std::vector<float> key(kDim);
    for (int64_t row = 0; row < 300; ++row) {
      if (data.labels[static_cast<size_t>(row)] != label) continue;
      of_class[0].emplace_back(data.keys.begin() + row * kDim,
                               data.keys.begin() + (row + 1) * kDim);
      rows.DecodeKey(row, key);
      of_class[1].emplace_back(key.begin(), key.end());
    }
    for (int side = 0; side < 2; ++side) {
      std::vector<double> mean(kDim);
      for (const auto& one : of_class[side]) {
        for (size_t d = 0; d < kDim; ++d) {
          mean[d] += one[d] / static_cast<double>(of_class[side].size());
        }
      }
      for (const auto& one : of_class[side]) {
        for (size_t i = 0; i < kDim; ++i) {
          for (size_t j = 0; j < kDim; ++j) {
            (side == 0 ? given : white)[i][j] += (one[i] - mean[i]) * (one[j] - mean[j]) / 300;
          }
        }
      }
    }
  }
  double spread = 0;
  for (size_t d = 0; d < kDim; ++d) spread += given[d][d] / kDim;
  const std::span<const float> matrix = rows.transformer().matrix();
  for (size_t i = 0; i < kDim; ++i) {
    for (size_t j = 0; j < kDim; ++j) {
      double shrunk = 0.9 * white[i][j];
      for (size_t d = 0; d < kDim; ++d) {
        shrunk += 0.1 * spread * matrix[d * kDim + i] * matrix[d * kDim + j];
      }
      EXPECT_NEAR(shrunk, i == j ? 1 : 0, 1e-4) << i << ", " << j;
    }
  }
}

TEST(KeyTransform, UnitKeysRankAsCosinesAndZeroStaysZero) {
  const TemporaryFolder folder;
  const MemoryDescription description = Described(KeyTransform::kUnit);
  RowData data = MakeStretched(50);
  std::fill_n(data.keys.begin() + 7 * kDim, kDim, 0.0f);
  Write(folder / "m", description, data.view(description));
  const ResidualMemory memory = Open(folder / "m");
  const RowData queries = MakeStretched(10, 5);
  const Neighbors found = Nearest(memory, queries.view(description).keys, 50);
  for (int64_t q = 0; q < 10; ++q) {
    for (size_t i = 0; i < 50; ++i) {
      const float* const key = data.keys.data() + found.rows_of(q)[i] * kDim;
      const float* const query = queries.keys.data() + q * kDim;
      double dot = 0, a = 0, b = 0;
      for (int64_t d = 0; d < kDim; ++d) {
        dot += static_cast<double>(key[d]) * query[d];
        a += static_cast<double>(key[d]) * key[d];
        b += static_cast<double>(query[d]) * query[d];
      }
      const double distance = a == 0 ? 1 : std::sqrt(std::max(0.0, 2 - 2 * dot / std::sqrt(a * b)));
      EXPECT_NEAR(found.distances_of(q)[i], distance, 1e-3);
    }
  }
  const std::vector<float> zero(kDim);
  const Neighbors near_zero = Nearest(memory, {zero.data(), 1, kDim}, 1);
  EXPECT_EQ(near_zero.rows[0], 7);
  EXPECT_EQ(near_zero.distances[0], 0);
}

TEST(KeyTransform, EveryRowFindsItselfAndIsGivenBack) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(200);
  for (const KeyTransform transform : kTransforms) {
    for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
      SCOPED_TRACE(std::string(KeyTransformName(transform)) + " " + KeyTypeName(type));
      const MemoryDescription description = Described(transform, type);
      const std::string path =
          folder / (std::string(KeyTransformName(transform)) + KeyTypeName(type));
      Write(path, description, data.view(description));
      const ResidualMemory memory = Open(path);
      EXPECT_EQ(memory.description().key_transform, transform);
      EXPECT_EQ(memory.description().key_type, type);
      const Neighbors found = Nearest(memory, data.view(description).keys, 1);
      std::vector<float> key(kDim);
      for (int64_t row = 0; row < 200; ++row) {
        EXPECT_EQ(found.rows[static_cast<size_t>(row)], row);
        if (type == KeyType::kFloat32) {
          EXPECT_EQ(found.distances[static_cast<size_t>(row)], 0);
        }
        memory.DecodeKey(row, key);
        const float* const given = data.keys.data() + row * kDim;
        const float largest = std::abs(*std::max_element(
            given, given + kDim, [](float a, float b) { return std::abs(a) < std::abs(b); }));
        const float allowed = type == KeyType::kFloat32   ? 1e-5f
                              : type == KeyType::kFloat16 ? 2e-3f
                                                          : 0.02f;
        for (int64_t d = 0; d < kDim; ++d) {
          EXPECT_NEAR(key[static_cast<size_t>(d)], given[d], allowed * (largest + 250));
        }
      }
    }
  }
}

TEST(KeyTransform, BitsDoNotDependOnThreadsOrBatches) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(100), queries = MakeStretched(37, 9);
  const MemoryDescription description = Described(KeyTransform::kWhiten);
  Write(folder / "m", description, data.view(description));
  const ResidualMemory memory = Open(folder / "m");
  const MatrixView keys = queries.view(description).keys;
  const Neighbors all = Nearest(memory, keys, 5, 1);
  ExpectSame(all, Nearest(memory, keys, 5, 3));
  for (int64_t q = 0; q < 37; ++q) {
    const Neighbors one = Nearest(memory, keys.Slice(q, 1), 5);
    EXPECT_TRUE(std::ranges::equal(one.rows, all.rows_of(q)));
    EXPECT_TRUE(std::ranges::equal(one.distances, all.distances_of(q)));
  }
}

TEST(KeyTransform, AppendedRowsAreTransformedAsTheFirstWere) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(120), queries = MakeStretched(20, 3);
  for (const KeyTransform transform : kTransforms) {
    const MemoryDescription description = Described(transform);
    const std::string path = folder / KeyTransformName(transform);
    Write(path, description, data.Part(0, 80).view(description));
    auto writer = MemoryWriter::Append(path, 40);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Add(data.Part(80, 40).view(description)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    const ResidualMemory memory = Open(path);
    const Neighbors self = Nearest(memory, data.view(description).keys, 1);
    for (int64_t row = 0; row < 120; ++row) EXPECT_EQ(self.rows[static_cast<size_t>(row)], row);

    const Neighbors before = Nearest(memory, queries.view(description).keys, 7);
    ASSERT_TRUE(CompactMemory(path).ok());
    ExpectSame(before, Nearest(Open(path), queries.view(description).keys, 7));
    RamFolder copy;
    ASSERT_TRUE(CopyMemory(path, copy.path()).ok());
    ExpectSame(before, Nearest(Open(copy.path()), queries.view(description).keys, 7));
  }
}

TEST(KeyTransform, AReturnToFormerKeysIsExact) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(120), queries = MakeStretched(20, 3);
  const MemoryDescription description = Described(KeyTransform::kNone, KeyType::kInt8);
  const std::string path = folder / "m";
  Write(path, description, data.view(description));
  ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{data.ids[3], data.ids[50]}).ok());
  const auto files = FilesIn(path);
  const Neighbors before = Nearest(Open(path), queries.view(description).keys, 7);
  for (const KeyTransform transform : kTransforms) {
    ASSERT_TRUE(Change(path, transform).ok());
    const ResidualMemory changed = Open(path);
    EXPECT_EQ(changed.description().key_transform, transform);
    EXPECT_EQ(changed.rows(), 118);
    EXPECT_GT(changed.former_bytes(), 0);
    EXPECT_TRUE(changed.Verify().ok());
    EXPECT_TRUE(ScrubMemory(path, {})->damage.empty());
    EXPECT_NE(Nearest(changed, queries.view(description).keys, 7).distances, before.distances);

    ASSERT_TRUE(Change(path, KeyTransform::kNone).ok());
    const ResidualMemory back = Open(path);
    ExpectSame(before, Nearest(back, queries.view(description).keys, 7));
    for (const auto& [name, bytes] : files) {
      if (name == "MANIFEST") continue;
      EXPECT_EQ(FilesIn(path)[name], bytes) << name;
    }
  }
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(Open(path).former_bytes(), 0);
  for (const auto& [name, bytes] : FilesIn(path)) {
    EXPECT_FALSE(name.starts_with("transform-")) << name;
  }
}

TEST(KeyTransform, WithoutFormerKeysTheyAreComputed) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(120);
  const MemoryDescription description = Described(KeyTransform::kNone);
  for (const KeyTransform transform : kTransforms) {
    const std::string path = folder / KeyTransformName(transform);
    Write(path, description, data.view(description));
    size_t deleted = 0;
    for (const KeyTransform next :
         {transform, KeyTransform::kWhiten, KeyTransform::kUnit, KeyTransform::kNone}) {
      ASSERT_TRUE(Change(path, next).ok());
      // Rows have changed: the former keys are gone.
      ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{data.ids[deleted++]}).ok());
      const ResidualMemory memory = Open(path);
      EXPECT_EQ(memory.former_bytes(), 0);
      EXPECT_EQ(memory.description().key_transform, next);
      std::vector<float> key(kDim);
      for (int64_t row = 0; row < 120; ++row) {
        memory.DecodeKey(row, key);
        for (size_t d = 0; d < kDim; ++d) {
          EXPECT_NEAR(key[d], data.keys[static_cast<size_t>(row) * kDim + d], 2e-3);
        }
      }
    }
  }
}

TEST(KeyTransform, TheIndexIsOfTransformedKeysAndItsQueriesAreGivenOnes) {
  const TemporaryFolder folder;
  const RowData data = MakeStretched(3000), queries = MakeStretched(200, 3);
  const MemoryDescription description = Described(KeyTransform::kNone);
  const std::string path = folder / "m";
  Write(path, description, data.view(description));
  IndexOptions options;
  options.queries = queries.view(description).keys;
  ASSERT_TRUE(IndexMemory(path, options).ok());
  const Neighbors before = Nearest(Open(path), options.queries, 10);
  for (const KeyTransform transform : kTransforms) {
    ASSERT_TRUE(Change(path, transform).ok());
    const ResidualMemory memory = Open(path);
    ASSERT_TRUE(memory.index_info().has_value());
    EXPECT_EQ(memory.index_info()->given_queries, 200);
    EXPECT_GE(memory.index_info()->measured_recall, 0.9);
    const Neighbors found = Nearest(memory, options.queries, 10);
    const Neighbors truth = Nearest(memory.Exact(), options.queries, 10);
    int64_t hits = 0;
    for (int64_t q = 0; q < 200; ++q) {
      for (const int64_t row : found.rows_of(q)) {
        hits += std::ranges::count(truth.rows_of(q), row);
      }
    }
    EXPECT_GT(hits, 1800);
    ASSERT_TRUE(Change(path, KeyTransform::kNone).ok());
    ExpectSame(before, Nearest(Open(path), options.queries, 10));
  }
}

TEST(KeyTransform, KeysThatCannotBeWhitenedAreRefused) {
  const TemporaryFolder folder;
  const MemoryDescription description = Described(KeyTransform::kWhiten);
  RowData data = MakeStretched(20);
  const auto refusal = [&](const RowData& rows) {
    auto writer = MemoryWriter::Create(folder / "m", description, rows.count, {});
    if (!writer.ok()) return writer.status();
    EXPECT_TRUE(writer->Add(rows.view(description)).ok());
    return writer->Finish();
  };
  for (float& value : data.keys) value = 3;
  EXPECT_EQ(refusal(data).code(), ErrorCode::kUnsupported);
  for (size_t i = 0; i < data.keys.size(); ++i) data.keys[i] = i % 5 < 2 ? 1e-44f : -1e-44f;
  EXPECT_EQ(refusal(data).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(refusal(RowData{0, kDim, kClasses, {}, {}, {}, {}, {}, {}}).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "m/MANIFEST"));
}

TEST(KeyTransform, FewRowsAndDeadDimensionsAreWhitenedAllTheSame) {
  const TemporaryFolder folder;
  const MemoryDescription description = Described(KeyTransform::kWhiten);
  RowData data = MakeStretched(5);
  data.labels.assign(5, 2);
  for (size_t row = 0; row < 5; ++row) data.keys[row * kDim + 2] = 0;
  Write(folder / "m", description, data.view(description));
  const Neighbors found = Nearest(Open(folder / "m"), data.view(description).keys, 5);
  for (int64_t row = 0; row < 5; ++row) EXPECT_EQ(found.rows_of(row)[0], row);
  for (const float distance : found.distances) EXPECT_TRUE(std::isfinite(distance));
}

TEST(KeyTransform, ABrokenMatrixIsCorrupt) {
  const TemporaryFolder folder;
  const MemoryDescription description = Described(KeyTransform::kWhiten);
  Write(folder / "m", description, MakeStretched(20).view(description));
  std::string name;
  for (const auto& [file, bytes] : FilesIn(folder / "m")) {
    if (file.starts_with("transform-")) name = folder / "m/" + file;
  }
  ASSERT_FALSE(name.empty());
  std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4 * kDim, std::ios::end);
  file.put('x');
  file.close();
  OpenOptions quick;
  quick.verify_blocks = false;
  EXPECT_EQ(ResidualMemory::Open(folder / "m", quick).status().code(), ErrorCode::kCorrupt);
  std::filesystem::remove(name);
  EXPECT_EQ(ResidualMemory::Open(folder / "m", quick).status().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace resmem
