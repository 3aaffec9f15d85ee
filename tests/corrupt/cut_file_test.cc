// A file of a memory that somebody makes shorter while it is mapped: an error for whoever reads it,
// and the process lives.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "fixtures/every_memory.h"
#include "fixtures/small_memory.h"
#include "resmem/evaluation.h"
#include "resmem/mapped_files.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;

// Rows of which some pages lie behind the first; smaller files are read and not mapped.
constexpr int64_t kRows = 4000, kQueries = 50;

class CutFile : public testing::Test {
 protected:
  CutFile() : data_(MakeRows(kRows, 3, 4)), rows_(data_.view(description_)) {
    GuardMappedFiles();
    fixtures::Write(path_, description_, rows_);
    fixtures::Write(other_, description_, rows_);
  }

  void Cut() const { std::filesystem::resize_file(path_ + "/segment-000001.resmem", 4096); }
  Status Predict(const ResidualMemory& memory) const {
    const Predictor predictor(memory);
    std::vector<float> scores(kQueries * 4);
    return predictor.Predict(rows_.keys.Slice(0, kQueries), rows_.logits.Slice(0, kQueries),
                             predictor.DefaultOptions(), scores);
  }

  const TemporaryFolder folder_{fixtures::FastParent()};
  const MemoryDescription description_ = Small();
  const RowData data_;
  const Rows rows_;
  const std::string path_ = folder_ / "cut", other_ = folder_ / "other";
};

TEST_F(CutFile, EveryAnswerFromItIsAnErrorFromThenOnAndOthersAreAnswered) {
  const ResidualMemory memory = Open(path_), other = Open(other_);
  ASSERT_TRUE(Predict(memory).ok());
  Cut();
  const int64_t before = LostPages();
  for (int again = 0; again < 2; ++again) {
    const Status status = Predict(memory);
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt);
    EXPECT_NE(status.message().find("cut/segment-000001.resmem: has become shorter"),
              std::string::npos)
        << status.message();
  }
  EXPECT_GT(LostPages(), before);
  EXPECT_TRUE(Predict(other).ok());
  EXPECT_TRUE(other.damage().ok());
  EXPECT_EQ(ResidualMemory::Open(path_).status().code(), ErrorCode::kCorrupt);
}

TEST_F(CutFile, FunctionsWithoutAStatusTellByDamage) {
  const ResidualMemory memory = Open(path_);
  Cut();
  EXPECT_TRUE(memory.damage().ok());  // nothing was read
  std::vector<float> key(3);
  memory.DecodeKey(kRows - 1, key);
  EXPECT_EQ(memory.damage().code(), ErrorCode::kCorrupt);
}

TEST_F(CutFile, ExplainAndEvaluateAreErrors) {
  const ResidualMemory memory = Open(path_);
  const Predictor predictor(memory);
  Cut();
  EXPECT_EQ(Explain(predictor, rows_.keys.row_span(kRows - 1), rows_.logits.row_span(kRows - 1),
                    predictor.DefaultOptions())
                .status()
                .code(),
            ErrorCode::kCorrupt);
  const RowSource source(kRows, [&](const RowSource::Use& use) { return use(0, rows_); });
  EXPECT_EQ(Evaluate(predictor, source, {}).status().code(), ErrorCode::kCorrupt);
}

TEST_F(CutFile, ThreadsThatReadItAtOnceAllGetTheError) {
  const ResidualMemory memory = Open(path_);
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (Predict(memory).ok()) {
      }
      ++refused;
    });
  }
  Cut();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 4);
}

TEST_F(CutFile, MemoryThatWasPutBackIsOpenedAgain) {
  {
    const ResidualMemory memory = Open(path_);
    Cut();
    EXPECT_FALSE(Predict(memory).ok());
  }
  std::filesystem::copy(
      other_, path_,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(Predict(Open(path_)).ok());
}

TEST(BusError, OfAnotherAddressEndsTheProcessAsWithoutUs) {
  GuardMappedFiles();
  // By the signal, or under a sanitizer by its own handler, which exits.
  const auto failed = [](int status) { return !(WIFEXITED(status) && WEXITSTATUS(status) == 0); };
  EXPECT_EXIT(
      {
        raise(SIGBUS);
        std::_Exit(0);
      },
      failed, "");
}

}  // namespace
}  // namespace resmem
