// What an index must not stand in the way of: appends, compaction, answers, other files.
#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"
#include "memory/index/far_keys.h"
#include "resmem/residual_memory.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::ReadBytes;
using fixtures::TemporaryFolder;
using fixtures::Write;
using fixtures::WriteBytes;

constexpr int64_t kWidth = 4;

MemoryDescription FourValues() {
  MemoryDescription description;
  description.dim = kWidth;
  description.outputs = 2;
  description.parameters.k = 5;
  return description;
}

// Rows with ids from `first_id` on; the key of row `far`, if any, lies 1e18 away.
RowData RowsFrom(int64_t count, uint64_t first_id, int64_t far = -1) {
  RowData data = MakeRows(count, kWidth, 2, 40 + first_id);
  for (size_t row = 0; row < data.ids.size(); ++row) data.ids[row] = first_id + row;
  if (far >= 0) data.keys[static_cast<size_t>(far * kWidth)] = 1e18f;
  return data;
}

Status AppendTo(const std::string& path, const RowData& data, Progress* progress = nullptr) {
  const Rows rows = data.view(FourValues());
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Append(path, rows.count()));
  RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  return writer.Finish(progress);
}

Status Memorize(const std::string& path, const RowData& data, const MemoryWriter::Options& options,
                Progress* progress = nullptr) {
  const Rows rows = data.view(FourValues());
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, FourValues(), rows.count(), options));
  RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  return writer.Finish(progress);
}

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string OnlyFile(const std::string& path, const std::string& prefix) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().filename().string().starts_with(prefix)) return entry.path();
  }
  return "";
}

// Says stop at the first report of this stage.
class StopAt : public Progress {
 public:
  explicit StopAt(std::string stage) : stage_(std::move(stage)) {}
  void Report(std::string_view stage, int64_t, int64_t) override { stopped_ |= stage == stage_; }
  bool Cancelled() const override { return stopped_; }
  bool stopped() const { return stopped_; }

 private:
  std::string stage_;
  bool stopped_ = false;
};

uint64_t Nearest(const ResidualMemory& memory, const std::vector<float>& key) {
  Neighbors found;
  SearchOptions one;
  one.k = 1;
  EXPECT_TRUE(memory.index().Search(MatrixView(key.data(), 1, kWidth), one, &found).ok());
  return memory.id(found.rows.at(0));
}

TEST(FarKeys, AreThoseFarFromTheMedianWhereverTheyPullTheMean) {
  std::vector<float> keys(3000, 1.0f);
  keys[700] = 1e25f;
  keys[2999] = -1e16f;
  KeyBlock block;
  block.data = keys.data();
  block.rows = 1000;
  const auto far = [&](std::vector<int64_t> hidden) {
    const FarKeys found = FindFarKeys(*KeyStore::Make(3, {block}, std::move(hidden)), 1e15);
    return std::pair(found.rows, found.farthest);
  };
  EXPECT_EQ(far({}), std::pair(std::vector<int64_t>{233, 999}, static_cast<double>(1e25f)));
  EXPECT_EQ(far({233}).first, std::vector<int64_t>{999});
  keys[5] = 2;
  EXPECT_EQ(far({233, 999}).first, std::vector<int64_t>{1});
}

TEST(IndexObstacle, AFarKeyHoldsUpNeitherCompactionNorAppendsAndIsNamed) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  Write(path, FourValues(), RowsFrom(300, 0).view(FourValues()));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  ASSERT_TRUE(AppendTo(path, RowsFrom(10, 300, /*far=*/7)).ok());
  EXPECT_EQ(Open(path).index_obstacle(), "");

  // The index refuses, with what helps, and stays as it was.
  const Status refused = IndexMemory(path, {.recall = 0.8});
  EXPECT_EQ(refused.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(refused.message(),
            path +
                ": the key of id 307 lies 1e+18 from the others, an index takes up to 1e+15; "
                "delete with: resmem delete " +
                path +
                " --ids 307; or go back to exact search "
                "with: resmem index " +
                path + " --remove");
  EXPECT_EQ(Open(path).index_info()->recall, 0.9);

  // Many rows with it among them: added, searched exactly, and the old part is kept.
  ASSERT_TRUE(AppendTo(path, RowsFrom(17000, 310)).ok());
  EXPECT_EQ(Open(path).index_info()->rows, 300);
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 17010);
  EXPECT_TRUE(Holds(Open(path).index_obstacle(), "resmem delete " + path + " --ids 307 &&"));
  EXPECT_EQ(Nearest(Open(path), {1e18f, 0, 0, 0}), 307u);

  ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{3}).ok());
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(Open(path).capacity(), 17309);
  EXPECT_FALSE(Open(path).index_info().has_value());
  EXPECT_TRUE(Holds(Open(path).index_obstacle(), "the key of id 307"));
  EXPECT_TRUE(Open(path).Verify().ok());
  const std::string manifest = ReadBytes(path + "/MANIFEST");
  ASSERT_TRUE(CompactMemory(path).ok());  // not tried in vain again
  EXPECT_EQ(ReadBytes(path + "/MANIFEST"), manifest);

  ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{307}).ok());
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_EQ(Open(path).index_obstacle(), "");
  EXPECT_EQ(Open(path).index_info()->rows, 17308);
  EXPECT_EQ(Open(path).index_info()->recall, 0.9);
}

TEST(IndexObstacle, IsTriedAgainWhenThereAreTwiceAsManyRows) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  ASSERT_TRUE(Memorize(path, RowsFrom(300, 0), {.index = IndexOptions{}}).ok());
  ASSERT_TRUE(AppendTo(path, RowsFrom(16400, 300, /*far=*/0)).ok());
  ASSERT_TRUE(DeleteRows(path, std::vector<uint64_t>{300}).ok());
  ASSERT_TRUE(AppendTo(path, RowsFrom(100, 16700)).ok());
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 16500);
  ASSERT_TRUE(AppendTo(path, RowsFrom(16300, 16800)).ok());
  EXPECT_EQ(Open(path).index_info()->unindexed_rows, 0);
  EXPECT_EQ(Open(path).index_obstacle(), "");
}

TEST(NewMemory, AppearsWithItsIndexOrNotAtAll) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const MemoryWriter::Options indexed{.overwrite = true, .index = IndexOptions{.recall = 0.8}};
  StopAt stop("centroids");
  EXPECT_EQ(Memorize(path, RowsFrom(500, 0), indexed, &stop).code(), ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(path));
  const Status far = Memorize(path, RowsFrom(500, 0, /*far=*/9), indexed);
  EXPECT_EQ(far.code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(Holds(far.message(), "the key of id 9 lies 1e+18")) << far.message();
  EXPECT_FALSE(std::filesystem::exists(path));
  RowData two = RowsFrom(500, 0, /*far=*/9);
  two.keys[400 * kWidth] = -1e25f;  // this one moves the mean away from every row
  const Status both = Memorize(path, two, indexed);
  EXPECT_TRUE(Holds(both.message(), "the keys of ids 9, 400 lie up to 1e+25")) << both.message();
  for (int64_t row = 0; row < 100; ++row) two.keys[row * kWidth] = 1e20f;
  const Status all = Memorize(path, two, indexed);
  EXPECT_TRUE(Holds(all.message(), "the keys of 101 rows lie up to")) << all.message();
  EXPECT_TRUE(Holds(all.message(), "scale the embedding down"));
  ASSERT_TRUE(Memorize(path, RowsFrom(500, 0), indexed).ok());
  EXPECT_EQ(Open(path).index_info()->rows, 500);

  // The same where there is one to be replaced; options are looked at before anything.
  StopAt again("centroids");
  EXPECT_EQ(Memorize(path, RowsFrom(200, 0), indexed, &again).code(), ErrorCode::kCancelled);
  const MemoryWriter::Options wrong{.overwrite = true, .index = IndexOptions{.recall = 1.5}};
  EXPECT_EQ(Memorize(path, RowsFrom(200, 0), wrong).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Open(path).rows(), 500);
  EXPECT_EQ(Open(path).index_info()->recall, 0.8);
}

TEST(Append, StoppedWhileItIndexesLeavesTheMemoryAsItWas) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  ASSERT_TRUE(Memorize(path, RowsFrom(300, 0), {.index = IndexOptions{}}).ok());
  StopAt stop("lists");
  EXPECT_EQ(AppendTo(path, RowsFrom(16400, 300), &stop).code(), ErrorCode::kCancelled);
  EXPECT_TRUE(stop.stopped());
  EXPECT_EQ(Open(path).rows(), 300);
  EXPECT_EQ(Open(path).segments(), 1);
}

TEST(BrokenIndex, SaysHowItIsMadeAgain) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = RowsFrom(500, 0);
  Write(path, FourValues(), data.view(FourValues()));
  const MatrixView queries(data.keys.data(), 200, kWidth);
  const IndexOptions options{.recall = 0.99, .code_bits = 4, .queries = queries, .seed = 3};
  ASSERT_TRUE(IndexMemory(path, options).ok());
  const std::string command =
      "resmem index " + path + " --recall 0.99 --codes 4 --seed 3, with rows";
  const std::string file = OnlyFile(path, "index-"), sound = ReadBytes(file);
  for (const std::string& bytes : {sound.substr(0, 900), std::string("foreign, "), sound + "x"}) {
    WriteBytes(file, bytes);
    const Status status = ResidualMemory::Open(path).status();
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt);
    EXPECT_TRUE(Holds(status.message(), command)) << status.message();
    EXPECT_TRUE(Holds(status.message(), "; --exact answers without it")) << status.message();
  }
  std::filesystem::remove(file);
  EXPECT_TRUE(Holds(ResidualMemory::Open(path).status().message(), command));
  EXPECT_TRUE(ResidualMemory::Open(path, {.exact = true}).ok());
}

TEST(KeptQueries, ArePartOfNoSearchButOfVerificationAndOfNewParts) {
  const TemporaryFolder folder(fixtures::FastParent());
  const std::string path = folder / "m";
  const RowData data = RowsFrom(500, 0);
  Write(path, FourValues(), data.view(FourValues()));
  const MatrixView queries(data.keys.data(), 200, kWidth);
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9, .queries = queries}).ok());
  const std::string file = OnlyFile(path, "queries-"), sound = ReadBytes(file);
  std::string altered = sound;
  altered[sound.size() / 2] = static_cast<char>(altered[sound.size() / 2] ^ 8);
  const auto refused = [&] {
    const auto memory = ResidualMemory::Open(path);
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    const Status status = memory->Verify();
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt);
    return Holds(status.message(), "queries-") && Holds(status.message(), "--recall 0.9 --codes 8");
  };
  for (const std::string& bytes : {altered, sound.substr(0, sound.size() - 1), std::string()}) {
    WriteBytes(file, bytes);
    EXPECT_TRUE(refused());
  }
  std::filesystem::remove(file);
  EXPECT_TRUE(refused());
  ASSERT_TRUE(AppendTo(path, RowsFrom(16400, 500)).ok());
  EXPECT_TRUE(Holds(Open(path).index_obstacle(), "the file of its queries"));
  EXPECT_EQ(Open(path).index_info()->rows, 500);
  ASSERT_TRUE(CompactMemory(path).ok());
  EXPECT_TRUE(Holds(Open(path).index_obstacle(), "resmem index " + path + " --recall 0.9"));
  ASSERT_TRUE(IndexMemory(path, {.recall = 0.9}).ok());
  EXPECT_EQ(Open(path).index_obstacle(), "");
}

TEST(IndexOptionsCheck, TellsWhatWasMeant) {
  const auto message = [](double recall, const std::string& memory) {
    return CheckIndexOptions({.recall = recall}, memory).message();
  };
  EXPECT_TRUE(Holds(message(95, "m"), "--recall 95: ")) << message(95, "m");
  EXPECT_TRUE(Holds(message(95, "m"), "did you mean 0.95?"));
  EXPECT_TRUE(Holds(message(1, "m"), "resmem index m --remove"));
  EXPECT_TRUE(Holds(message(1, ""), "leave --recall out"));
  EXPECT_TRUE(CheckIndexOptions({}).ok());
}

}  // namespace
}  // namespace resmem
