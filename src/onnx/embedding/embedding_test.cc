#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "fixtures/faulty_file_system.h"
#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "onnx/embedding/embedding_writer.h"
#include "resmem/data/dataset.h"
#include "support/text.h"

namespace resmem {
namespace {

namespace fs = std::filesystem;
using fixtures::FaultyFileSystem;

constexpr int64_t kRows = 23, kDim = 3, kClasses = 2, kBlock = 4;

class EmbeddingFolder : public testing::Test {
 protected:
  EmbeddingFolder() {
    for (int32_t row = 0; row < kRows; ++row) labels_.push_back(row % 3 == 0 ? 1 : 0);
    rows_ = {kRows,
             kDim,
             kClasses,
             kBlock,
             [this](int64_t begin, int64_t count, std::span<float> keys, std::span<float> logits) {
               return Run(begin, count, keys, logits);
             },
             labels_,
             [](int64_t row) { return Text("image ", row); },
             Role::kTest,
             {"model m", "data d"}};
  }

  // Row r: keys r, r + 0.25, ...; the logits say class 1 for even rows.
  Status Run(int64_t begin, int64_t count, std::span<float> keys, std::span<float> logits) {
    ++blocks_run_;
    if (begin == fails_at_) return {ErrorCode::kBadData, "a broken image"};
    for (int64_t i = 0; i < count; ++i) {
      const auto row = static_cast<float>(begin + i);
      for (int64_t d = 0; d < kDim; ++d) {
        keys[static_cast<size_t>(i * kDim + d)] = row + 0.25f * static_cast<float>(d);
      }
      logits[static_cast<size_t>(2 * i)] = 0;
      logits[static_cast<size_t>(2 * i + 1)] = (begin + i) % 2 == 0 ? 1.0f : -1.0f;
    }
    return {};
  }
  Result<EmbeddedRows> Write(const EmbeddingFolderOptions& options = {}) {
    return WriteEmbeddingFolder(rows_, target_, options);
  }
  // Every file of the folder, by name.
  std::map<std::string, std::string> Content() const {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::directory_iterator(target_)) {
      content[entry.path().filename()] = fixtures::ReadBytes(entry.path());
    }
    return content;
  }
  void Clean() {
    fs::remove_all(target_);
    fs::remove_all(target_ + ".partial");
  }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const std::string target_ = folder_ / "arrays";
  std::vector<int32_t> labels_;
  RowsToEmbed rows_;
  int blocks_run_ = 0;
  int64_t fails_at_ = -1;
};

TEST_F(EmbeddingFolder, IsADataset) {
  const auto written = Write();
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(written->found, 0);
  DatasetSources sources;
  sources.all = target_;
  const auto dataset = Dataset::Open(sources);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->rows(), kRows);
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(0, kRows, &block).ok());
  int64_t correct = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(block.view.keys.row(row)[1], static_cast<float>(row) + 0.25f);
    EXPECT_EQ(block.view.sources[static_cast<size_t>(row)], Text("image ", row));
    EXPECT_EQ(block.view.roles[static_cast<size_t>(row)], Role::kTest);
    correct += (row % 2 == 0) == (row % 3 == 0) ? 1 : 0;
  }
  EXPECT_EQ(written->correct, correct);
  EXPECT_FALSE(fs::exists(target_ + ".partial"));
  EXPECT_FALSE(fs::exists(target_ + ".lock"));
}

TEST_F(EmbeddingFolder, EachRowMayHaveItsRole) {
  std::vector<Role> roles(static_cast<size_t>(kRows), Role::kTrain);
  roles[1] = Role::kValidation, roles[2] = Role::kTest;
  rows_.roles = roles;
  ASSERT_TRUE(Write().ok());
  const auto read = ReadSplit({target_ + "/split.npy", {}, {}}, kRows);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, roles);
  EXPECT_EQ(ReadSplit({target_ + "/split.npy", {}, {}}, kRows + 1).status().code(),
            ErrorCode::kBadData);
  roles[1] = Role::kTest;
  EXPECT_FALSE(Write().ok());  // other roles are other work
}

TEST_F(EmbeddingFolder, AgainTheSameIsNoWork) {
  const int64_t correct = Write()->correct;
  const int before = blocks_run_;
  const auto again = Write();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->found, kRows);
  EXPECT_EQ(again->correct, correct);
  EXPECT_EQ(blocks_run_, before);
}

TEST_F(EmbeddingFolder, AnythingElseIsReplacedOnlyWhenAsked) {
  ASSERT_TRUE(Write().ok());
  rows_.made_from[0] = "another model";
  EXPECT_EQ(Write().status().code(), ErrorCode::kInvalidArgument);
  rows_.source = nullptr;
  EXPECT_TRUE(Write({.overwrite = true, .progress = nullptr}).ok());
  EXPECT_FALSE(fs::exists(target_ + "/sources.npy"));

  fixtures::WriteBytes(target_ + "/thesis.tex", "years of work");
  rows_.made_from[0] = "a third";
  EXPECT_EQ(Write({.overwrite = true, .progress = nullptr}).status().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(fs::exists(target_ + "/thesis.tex"));
  EXPECT_TRUE(fs::exists(target_ + "/keys.npy"));
}

TEST_F(EmbeddingFolder, StoppedWorkGoesOnWhereItStopped) {
  struct StopAt : Progress {
    void Report(std::string_view, int64_t done, int64_t) override { stop = done >= 12; }
    bool Cancelled() const override { return stop; }
    bool stop = false;
  } progress;
  ASSERT_TRUE(Write().ok());
  const auto whole = Content();
  const int64_t correct = Write()->correct;
  Clean();

  const Status status = Write({.overwrite = false, .progress = &progress}).status();
  EXPECT_EQ(status.code(), ErrorCode::kCancelled);
  EXPECT_FALSE(fs::exists(target_));
  const auto resumed = Write();
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  EXPECT_EQ(resumed->found, 12);
  EXPECT_EQ(resumed->correct, correct);
  EXPECT_EQ(Content(), whole);
}

TEST_F(EmbeddingFolder, RowsOfOtherWorkAreNotTakenOver) {
  ASSERT_TRUE(Write().ok());
  fs::rename(target_, target_ + ".partial");
  labels_[0] = 0;  // of a row that is done
  EXPECT_EQ(Write()->found, 0);
  EXPECT_EQ(Write()->found, kRows);
  fs::rename(target_, target_ + ".partial");
  rows_.source = [](int64_t row) { return Text("other image ", row); };
  EXPECT_EQ(Write()->found, 0);
  fs::rename(target_, target_ + ".partial");
  rows_.made_from[1] = "other data";
  EXPECT_EQ(Write()->found, 0);
}

TEST_F(EmbeddingFolder, AKillAtAnyMomentLeavesWorkThatGoesOnToTheSameBytes) {
  ASSERT_TRUE(Write().ok());
  const auto whole = Content();
  FaultyFileSystem counting(FaultyFileSystem::Fault::kFailOnce, -1);
  Clean();
  ASSERT_TRUE(EmbeddingWriter(counting, rows_, target_, {}).Write().ok());
  ASSERT_GT(counting.calls(), 20);
  for (int64_t call = 0; call < counting.calls(); ++call) {
    Clean();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      FaultyFileSystem files(FaultyFileSystem::Fault::kKill, call);
      (void)EmbeddingWriter(files, rows_, target_, {}).Write().ok();
      ::_exit(0);
    }
    int state = 0;
    ASSERT_EQ(::waitpid(child, &state, 0), child);
    const auto resumed = Write();
    ASSERT_TRUE(resumed.ok()) << "call " << call << ": " << resumed.status().message();
    EXPECT_EQ(Content(), whole) << "call " << call;
  }
}

TEST_F(EmbeddingFolder, AFailureAtAnyMomentIsToldAndCanBeMadeGood) {
  ASSERT_TRUE(Write().ok());
  const auto whole = Content();
  for (int64_t call = 0;; ++call) {
    Clean();
    FaultyFileSystem files(FaultyFileSystem::Fault::kFailOnward, call);
    const auto written = EmbeddingWriter(files, rows_, target_, {}).Write();
    if (written.ok()) break;
    ASSERT_TRUE(Write().ok()) << "call " << call;
    EXPECT_EQ(Content(), whole) << "call " << call;
  }
}

TEST_F(EmbeddingFolder, AFileInTheWayIsRefused) {
  fixtures::WriteBytes(target_, "");
  EXPECT_EQ(Write().status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(EmbeddingFolder, ACutFileOfKeysOrLogitsIsNeverTakenForFinishedWork) {
  for (const char* name : {"keys.npy", "logits.npy"}) {
    Clean();
    ASSERT_TRUE(Write().ok());
    const std::string path = target_ + "/" + name;
    fs::resize_file(path, fs::file_size(path) - 4);
    // The arrays are refused as they are, and made again where that is asked for.
    EXPECT_FALSE(Write().ok()) << name;
    EmbeddingFolderOptions options;
    options.overwrite = true;
    const auto again = Write(options);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->found, 0) << name;
  }
}

TEST_F(EmbeddingFolder, ACutFileOfKeysOrLogitsIsNotGoneOnWith) {
  for (const char* name : {"keys.npy", "logits.npy"}) {
    Clean();
    fails_at_ = 2 * kBlock;
    class StopAt : public Progress {
     public:
      void Report(std::string_view, int64_t done, int64_t) override { done_ = done; }
      bool Cancelled() const override { return done_ >= kBlock; }

     private:
      int64_t done_ = 0;
    } stop;
    EmbeddingFolderOptions options;
    options.progress = &stop;
    ASSERT_EQ(Write(options).status().code(), ErrorCode::kCancelled);
    fails_at_ = -1;
    const std::string path = target_ + ".partial/" + name;
    fs::resize_file(path, fs::file_size(path) - 4);
    EXPECT_EQ(Write().status().code(), ErrorCode::kCorrupt) << name;
  }
}

TEST_F(EmbeddingFolder, AJournalThatLiesAboutItsRowsIsFoundOut) {
  fails_at_ = 8;
  EXPECT_FALSE(Write().ok());
  fails_at_ = -1;
  ASSERT_TRUE(WriteEmbeddingFolder(rows_, folder_ / "whole", {}).ok());
  EmbeddingJournal journal = *ReadJournal(FileSystem::Posix(), folder_ / "whole");
  journal.done = 20;
  ASSERT_TRUE(WriteJournal(FileSystem::Posix(), target_ + ".partial", journal).ok());
  EXPECT_EQ(Write().status().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace resmem
