#include "memory/index/memory_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"
#include "resmem/residual_memory.h"
#include "search/approximate/lists/inverted_file_writer.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::Write;
using fixtures::WriteBytes;

constexpr int64_t kDim = 6, kOutputs = 2;

MemoryDescription Described() {
  return fixtures::DescribeShape(kDim, kOutputs, 20);
}

// Rows with ids from `first_id` on, in 12 clusters.
RowData Rows12(int64_t count, uint64_t first_id, uint64_t seed) {
  RowData data = MakeRows(count, kDim, kOutputs, seed);
  for (int64_t row = 0; row < count; ++row) {
    data.ids[static_cast<size_t>(row)] = first_id + static_cast<uint64_t>(row);
    for (int64_t i = 0; i < kDim; ++i) {
      data.keys[static_cast<size_t>(row * kDim + i)] +=
          static_cast<float>((row % 12 + 1) * (i + 3) % 7 * 2);
    }
  }
  return data;
}

void AppendRows(const std::string& path, const Rows& rows) {
  auto writer = MemoryWriter::Append(path, rows.count());
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->Add(rows).ok());
  const Status finished = writer->Finish();
  ASSERT_TRUE(finished.ok()) << finished.message();
}

void Index(const std::string& path, double recall, int code_bits = 8) {
  const Status status = IndexMemory(path, {.recall = recall, .code_bits = code_bits});
  ASSERT_TRUE(status.ok()) << status.message();
}

// The only file whose name starts so; empty: there is none.
std::string FileOf(const std::string& path, const std::string& prefix) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().filename().string().starts_with(prefix)) found = entry.path();
  }
  return found;
}
std::string IndexFile(const std::string& path) {
  return FileOf(path, "index-");
}

// Altered, shortened, emptied or taken away.
void ExpectDamageIsRefused(const std::string& path, const std::string& file) {
  const std::string sound = ReadBytes(file);
  std::string altered = sound;
  altered[sound.size() / 2] = static_cast<char>(altered[sound.size() / 2] ^ 8);
  for (const std::string& bytes : {altered, sound.substr(0, sound.size() - 1), std::string()}) {
    WriteBytes(file, bytes);
    EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kCorrupt);
  }
  std::filesystem::remove(file);
  EXPECT_EQ(ResidualMemory::Open(path).status().code(), ErrorCode::kCorrupt);
}

// Answers as ids, so that memories with other row numbers can be compared.
std::vector<std::pair<uint64_t, float>> Answers(const ResidualMemory& memory, MatrixView queries,
                                                int64_t k) {
  SearchOptions options;
  options.k = k;
  Neighbors found;
  const Status status = memory.index().Search(queries, options, &found);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::pair<uint64_t, float>> answers;
  for (size_t i = 0; i < found.rows.size(); ++i) {
    answers.emplace_back(found.rows[i] < 0 ? UINT64_MAX : memory.id(found.rows[i]),
                         found.distances[i]);
  }
  return answers;
}

double Recall(const ResidualMemory& memory, MatrixView queries, int64_t k) {
  SearchOptions options;
  options.k = k;
  Neighbors truth, found;
  EXPECT_TRUE(memory.exact_index().Search(queries, options, &truth).ok());
  EXPECT_TRUE(memory.index().Search(queries, options, &found).ok());
  int64_t right = 0;
  for (int64_t q = 0; q < queries.rows; ++q) {
    for (int64_t i = 0; i < k; ++i) {
      right += found.distances_of(q)[i] <= truth.distances_of(q)[k - 1] ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(queries.rows * k);
}

TEST(MemoryIndex, AnIndexedMemoryTellsWhatItPromises) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(1500, 0, 1);
  Write(path, Described(), data.view(Described()));
  EXPECT_FALSE(Open(path).index_info().has_value());
  Index(path, 0.9);
  const ResidualMemory memory = Open(path);
  ASSERT_TRUE(memory.index_info().has_value());
  EXPECT_EQ(memory.index_info()->recall, 0.9);
  EXPECT_GE(memory.index_info()->measured_recall, 0.9);
  EXPECT_EQ(memory.index_info()->rows, 1500);
  EXPECT_EQ(memory.index_info()->unindexed_rows, 0);
  EXPECT_TRUE(memory.Verify().ok());
  EXPECT_GE(Recall(memory, MatrixView(data.keys.data(), 200, kDim), 20), 0.88);
  const auto exact = ResidualMemory::Open(path, {.exact = true});
  EXPECT_FALSE(exact->index_info().has_value());
  EXPECT_EQ(&exact->index(), &exact->exact_index());

  ASSERT_TRUE(RemoveIndex(path).ok());
  EXPECT_FALSE(Open(path).index_info().has_value());
  EXPECT_EQ(IndexFile(path), "");
}

TEST(MemoryIndex, TheSameSeedGivesTheSameFileOnAnyNumberOfThreads) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = Rows12(500, 0, 2);
  std::vector<std::string> files;
  for (const int threads : {1, 3}) {
    const std::string path = folder / ("m" + std::to_string(threads));
    Write(path, Described(), data.view(Described()));
    ASSERT_TRUE(IndexMemory(path, {.recall = 0.8, .threads = threads}).ok());
    files.push_back(ReadBytes(IndexFile(path)));
  }
  EXPECT_EQ(files[0], files[1]);
}

// Appends, deletions near and far, compactions: exact search answers as a fresh memory of the
// same rows, the index within its recall.
TEST(MemoryIndex, AnswersHoldAfterAnyMixtureOfChanges) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const std::string path = folder / ("m" + std::to_string(seed));
    Random random(seed);
    const RowData pool = Rows12(6000, 0, 10 + seed);
    const RowData queries = Rows12(100, 0, 20 + seed);
    const MatrixView view(queries.keys.data(), 100, kDim);
    int64_t used = 1500;
    std::vector<bool> alive(6000);
    std::fill(alive.begin(), alive.begin() + used, true);
    Write(path, Described(), pool.Part(0, used).view(Described()));
    const int code_bits = seed == 1 ? 8 : seed == 2 ? 4 : 2;
    Index(path, 0.9, code_bits);
    for (int step = 0; step < 6; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      const uint64_t what = random.Below(4);
      if (what == 0) {
        const auto more = static_cast<int64_t>(1 + random.Below(400));
        AppendRows(path, pool.Part(used, more).view(Described()));
        std::fill(alive.begin() + used, alive.begin() + used + more, true);
        used += more;
      } else if (what == 3) {
        ASSERT_TRUE(CompactMemory(path).ok());
      } else {
        // A third of the rows, or most of one cluster.
        std::vector<uint64_t> gone;
        const uint64_t cluster = random.Below(12);
        for (int64_t row = 0; row < used; ++row) {
          const bool hit =
              what == 1 ? random.Below(3) == 0 : row % 12 == static_cast<int64_t>(cluster);
          if (!alive[row] || !hit) continue;
          gone.push_back(static_cast<uint64_t>(row));
          alive[row] = false;
        }
        ASSERT_TRUE(DeleteRows(path, gone).ok());
      }
      std::vector<int64_t> dead;
      for (int64_t row = 0; row < used; ++row) {
        if (!alive[row]) dead.push_back(row);
      }
      const std::string fresh = folder / "fresh";
      std::filesystem::remove_all(fresh);
      Write(fresh, Described(), pool.Part(0, used).Without(dead).view(Described()));
      const auto exact = ResidualMemory::Open(path, {.exact = true});
      ASSERT_TRUE(exact.ok());
      EXPECT_EQ(Answers(*exact, view, 20), Answers(Open(fresh), view, 20));
      const ResidualMemory memory = Open(path);
      ASSERT_TRUE(memory.index_info().has_value());
      EXPECT_EQ(memory.index_info()->code_bits, code_bits);
      for (const int64_t k : {1, 20, 100}) EXPECT_GE(Recall(memory, view, k), 0.87) << "k = " << k;
      for (const auto& [id, distance] : Answers(memory, view, 20)) EXPECT_TRUE(alive[id]);
    }
  }
}

TEST(MemoryIndex, AppendedRowsAreFoundAtOnceAndListedOnceTheyAreMany) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(24000, 0, 3);
  Write(path, Described(), data.Part(0, 2000).view(Described()));
  Index(path, 0.9);
  AppendRows(path, data.Part(2000, 500).view(Described()));
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 500);
  // Each new row finds itself first.
  const auto own = Answers(Open(path), MatrixView(data.keys.data() + 2000 * kDim, 500, kDim), 1);
  for (size_t i = 0; i < own.size(); ++i) EXPECT_EQ(own[i].first, 2000 + i);

  AppendRows(path, data.Part(2500, 17000).view(Described()));
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 0);
  EXPECT_EQ(Open(path).index_info()->files, 1);  // the small one was taken in
  AppendRows(path, data.Part(19500, 4500).view(Described()));
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 4500);
  EXPECT_GE(Recall(Open(path), MatrixView(data.keys.data(), 100, kDim), 20), 0.87);
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 0);
  EXPECT_EQ(Open(path).index_info()->rows, 24000);
}

TEST(MemoryIndex, AMemoryOfDeletedRowsOnlyStillOpensCompactsAndGrows) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(100, 0, 4);
  Write(path, Described(), data.view(Described()));
  Index(path, 0.9);
  ASSERT_TRUE(DeleteRows(path, data.ids).ok());
  EXPECT_EQ(Answers(Open(path), MatrixView(data.keys.data(), 1, kDim), 2)[0].first, UINT64_MAX);
  EXPECT_EQ(IndexMemory(path, {}).code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(Open(path).rows(), 0);
  AppendRows(path, Rows12(50, 500, 5).view(Described()));
  EXPECT_EQ(Open(path).rows(), 50);
  ASSERT_TRUE(CompactMemory(path).ok());  // and now there is something to index again
  EXPECT_EQ(Open(path).index_info()->rows, 50);
}

TEST(MemoryIndex, OnceMostOfItsRowsAreDeletedSearchIsExactUntilItIsMadeAnew) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(3000, 0, 14);
  Write(path, Described(), data.view(Described()));
  // Of rows that were gone before it was made, lists know nothing.
  ASSERT_TRUE(DeleteRows(path, std::span(data.ids).first(1000)).ok());
  Index(path, 0.5);
  ASSERT_TRUE(DeleteRows(path, std::span(data.ids).subspan(1000, 900)).ok());
  EXPECT_TRUE(Open(path).index().Approximate(20));
  EXPECT_LT(Open(path).index_info()->measured_recall, 1);
  ASSERT_TRUE(DeleteRows(path, std::span(data.ids).subspan(1900, 200)).ok());
  EXPECT_FALSE(Open(path).index().Approximate(20));
  EXPECT_EQ(Open(path).index_info()->measured_recall, 1);
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_TRUE(Open(path).index().Approximate(20));
}

TEST(MemoryIndex, AnIndexOfAnotherMemoryIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  for (const char* name : {"a", "b"}) {
    Write(folder / name, Described(), Rows12(500, 0, name[0]).view(Described()));
    Index(folder / name, 0.9);
  }
  WriteBytes(IndexFile(folder / "a"), ReadBytes(IndexFile(folder / "b")));
  const auto memory = ResidualMemory::Open(folder / "a", {.verify_blocks = false});
  EXPECT_EQ(memory.status().code(), ErrorCode::kCorrupt);
  EXPECT_NE(memory.status().message().find("index-"), std::string::npos);
  // Exact search does not need it, and it can be rebuilt.
  EXPECT_TRUE(ResidualMemory::Open(folder / "a", {.exact = true}).ok());
  Index(folder / "a", 0.9);
  EXPECT_TRUE(ResidualMemory::Open(folder / "a").ok());
}

TEST(MemoryIndex, AnAlteredTruncatedOrMissingIndexFileIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  Write(path, Described(), Rows12(500, 0, 6).view(Described()));
  Index(path, 0.9);
  ExpectDamageIsRefused(path, IndexFile(path));
  Index(path, 0.9);
  EXPECT_TRUE(ResidualMemory::Open(path).ok());
}

class MemoryIndexOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(FewBits, MemoryIndexOf, testing::Values(4, 2));

TEST_P(MemoryIndexOf, CodesAreSmallerAndAppendedRowsGetThemToo) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(17400, 0, 8);
  Write(path, Described(), data.Part(0, 1000).view(Described()));
  Index(path, 0.9, 8);
  const auto of_8 = std::filesystem::file_size(IndexFile(path));
  Index(path, 0.9, GetParam());
  const double share = GetParam() == 4 ? 0.7 : 0.5;  // rows and norms stay
  EXPECT_LT(static_cast<double>(std::filesystem::file_size(IndexFile(path))),
            share * static_cast<double>(of_8));
  AppendRows(path, data.Part(1000, 16400).view(Described()));
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 0);
  EXPECT_EQ(Open(path).index_info()->code_bits, GetParam());
  EXPECT_TRUE(Open(path).Verify().ok());
  EXPECT_GE(Recall(Open(path), MatrixView(data.keys.data(), 200, kDim), 20), 0.87);
}

TEST(MemoryIndex, CodesAreOf8BitsUntilTheyTakeAQuarterOfAGibibyte) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  Write(path, Described(), Rows12(100, 0, 7).view(Described()));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  EXPECT_EQ(Open(path).index_info()->code_bits, 8);
  EXPECT_EQ(SuitableCodeBits(int64_t{1} << 20, 256), 8);
  EXPECT_EQ(SuitableCodeBits((int64_t{1} << 20) + 1, 256), 4);
  EXPECT_EQ(SuitableCodeBits(int64_t{1} << 20, 257), 4);
}

TEST(MemoryIndex, CodesOfOtherBitsAreRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  Write(path, Described(), Rows12(100, 0, 7).view(Described()));
  for (const int bits : {0, 1, 3, 5, 16, -4}) {
    EXPECT_EQ(IndexMemory(path, {.code_bits = bits}).code(), ErrorCode::kInvalidArgument);
  }
}

// Half-way between two keys of different clusters, where no row is: neighbors lie in many lists.
std::vector<float> BetweenClusters(const RowData& data, int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> queries;
  const auto rows = static_cast<uint64_t>(data.ids.size());
  for (int64_t q = 0; q < count; ++q) {
    const uint64_t a = random.Below(rows), b = random.Below(rows);
    for (int64_t i = 0; i < kDim; ++i) {
      queries.push_back((data.keys[a * kDim + i] + data.keys[b * kDim + i]) / 2);
    }
  }
  return queries;
}

TEST(MemoryIndex, ChosenOnQueriesLikeThoseAskedTheRecallIsNearerToTheGoal) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(6000, 0, 8);
  Write(path, Described(), data.view(Described()));
  const std::vector<float> held_out = BetweenClusters(data, 600, 1);
  const std::vector<float> others = BetweenClusters(data, 600, 2);
  const MatrixView asked(others.data(), 600, kDim);
  Index(path, 0.9);
  EXPECT_EQ(Open(path).index_info()->given_queries, 0);
  EXPECT_GE(Open(path).index_info()->measured_recall, 0.9);
  // A query goes on where its lists are far, so that harder ones than were tried find it, too, but
  // more than was asked for.
  const double chosen_on_rows = Recall(Open(path), asked, 20);
  EXPECT_GE(chosen_on_rows, 0.9);

  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9, .queries = {held_out.data(), 600, kDim}}).ok());
  const ResidualMemory memory = Open(path);
  EXPECT_EQ(memory.index_info()->given_queries, 600);
  EXPECT_GE(memory.index_info()->measured_recall, 0.9);
  EXPECT_LT(memory.index_info()->measured_recall, 1);
  EXPECT_TRUE(memory.Verify().ok());
  for (const int64_t k : {10, 20, 100}) EXPECT_GE(Recall(memory, asked, k), 0.89) << "k = " << k;
  EXPECT_LT(Recall(memory, asked, 20), chosen_on_rows);
}

TEST(MemoryIndex, AppendedAndCompactedRowsAreTriedOnTheSameQueriesAgain) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(18000, 0, 9);
  const std::vector<float> held_out = BetweenClusters(data, 400, 3);
  const std::vector<float> others = BetweenClusters(data, 200, 4);
  const MatrixView asked(others.data(), 200, kDim);
  Write(path, Described(), data.Part(0, 1500).view(Described()));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9, .queries = {held_out.data(), 400, kDim}}).ok());
  AppendRows(path, data.Part(1500, 16500).view(Described()));
  EXPECT_EQ(Open(path).index_info()->rows, 18000);
  EXPECT_EQ(Open(path).index_info()->given_queries, 400);
  EXPECT_GE(Recall(Open(path), asked, 20), 0.88);
  ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{7}).ok());
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(Open(path).index_info()->given_queries, 400);
  const double kept = Recall(Open(path), asked, 20);
  EXPECT_GE(kept, 0.88);
  // Without them the same rows lead to another effort.
  Index(path, 0.9);
  EXPECT_EQ(Open(path).index_info()->given_queries, 0);
  EXPECT_GT(Recall(Open(path), asked, 20), kept);
  EXPECT_EQ(FileOf(path, "queries-"), "");
}

TEST(MemoryIndex, TheSameQueriesAndSeedGiveTheSameEffortOnAnyNumberOfThreads) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = Rows12(1500, 0, 10);
  // More than are taken.
  const std::vector<float> held_out = BetweenClusters(data, 2500, 5);
  std::vector<double> recalls;
  std::vector<std::string> queries;
  std::vector<std::vector<std::pair<uint64_t, float>>> answers;
  for (const int threads : {1, 3}) {
    const std::string path = folder / ("m" + std::to_string(threads));
    Write(path, Described(), data.view(Described()));
    ASSERT_TRUE(IndexMemory(path, {.recall = 0.8,
                                   .queries = {held_out.data(), 2500, kDim},
                                   .seed = 7,
                                   .threads = threads})
                    .ok());
    EXPECT_EQ(Open(path).index_info()->given_queries, 2000);
    recalls.push_back(Open(path).index_info()->measured_recall);
    queries.push_back(ReadBytes(FileOf(path, "queries-")));
    answers.push_back(Answers(Open(path), MatrixView(held_out.data(), 300, kDim), 20));
  }
  EXPECT_EQ(recalls[0], recalls[1]);
  EXPECT_EQ(queries[0], queries[1]);
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(MemoryIndex, QueriesThatPromiseNothingAreRefusedAndNothingChanges) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(500, 0, 11);
  Write(path, Described(), data.view(Described()));
  const auto refused = [&](MatrixView queries) {
    const Status status = IndexMemory(path, {.recall = 0.9, .queries = queries});
    EXPECT_FALSE(Open(path).index_info().has_value());
    return std::pair(status.code(), status.message());
  };
  EXPECT_EQ(refused({data.keys.data(), 99, kDim}),
            std::pair(ErrorCode::kInvalidArgument,
                      std::string("99 queries are too few to promise a recall by; give 100 or more "
                                  "(up to 2000 are used), or none to measure it on rows of the "
                                  "memory")));
  EXPECT_EQ(refused({data.keys.data(), 0, kDim}).first, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused({data.keys.data(), 200, kDim - 1}),
            std::pair(ErrorCode::kBadData,
                      path + ": queries have 5 values a row, the keys 6; use the embedding layer "
                             "that the keys came from"));
  std::vector<float> broken(data.keys.begin(), data.keys.begin() + 200 * kDim);
  broken[17 * kDim + 3] = NAN;
  EXPECT_EQ(refused({broken.data(), 200, kDim}),
            std::pair(ErrorCode::kBadData,
                      path + ": query 17, column 3 is nan; every value must be finite"));
  EXPECT_EQ(FileOf(path, "queries-"), "");
}

TEST(MemoryIndex, QueriesFarFromAllKeysMakeSearchExact) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = Rows12(500, 0, 12);
  Write(path, Described(), data.view(Described()));
  const std::vector<float> far(100 * kDim, 1e30f);
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.5, .queries = {far.data(), 100, kDim}}).ok());
  EXPECT_EQ(Recall(Open(path), MatrixView(data.keys.data(), 100, kDim), 20), 1);
}

TEST(MemoryIndex, ARecallThatIsNoShareIsRefused) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  Write(path, Described(), Rows12(100, 0, 7).view(Described()));
  for (const double recall : {0.0, 1.0, -0.5, 95.0, std::nan("")}) {
    EXPECT_EQ(IndexMemory(path, {.recall = recall}).code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(IndexMemory(folder / "absent", {}).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace resmem
