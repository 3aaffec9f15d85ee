#include "memories/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace resmem::serve {
namespace {

// No file may grow beyond `bytes` while it lives: writes stop in the middle, as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
};

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/resmem_journal_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    folder_ = root_ + "/m.resmem.edits";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  static Edit Make(int64_t number, Edit::Kind kind = Edit::Kind::kLearn) {
    Edit edit;
    edit.number = number;
    edit.kind = kind;
    edit.ids = {UINT64_MAX, 5};
    edit.who = "a \"name\"";
    edit.token = "t" + std::to_string(number);
    return edit;
  }

  std::string root_, folder_;
};

TEST_F(JournalTest, ALineWithANumberThatNoEditHasIsPassedOver) {
  std::filesystem::create_directories(folder_);
  const std::string sound = R"({"edit":1,"kind":"learn","token":"k","ids":[7]})";
  std::ofstream(folder_ + "/journal.jsonl")
      << sound << "\n{\"edit\":9223372036854775807,\"kind\":\"learn\"}\n{\"edit\":-5}\n";
  Journal journal(folder_);
  ASSERT_TRUE(journal.Open().ok());
  EXPECT_EQ(journal.next_number(), 2);
  EXPECT_EQ(journal.History(INT64_MAX, 9).size(), 1u);
}

TEST_F(JournalTest, IsReadBackAsItWasWritten) {
  {
    Journal journal(folder_);
    ASSERT_TRUE(journal.Open().ok());
    EXPECT_FALSE(std::filesystem::exists(folder_));  // nothing before the first edit
    ASSERT_TRUE(journal.Begin({Make(1), Make(2, Edit::Kind::kForget)}, {"", "{\"x\":1}"}).ok());
    ASSERT_TRUE(journal.End(1, true).ok());
    ASSERT_TRUE(journal.End(2, true).ok());
    Edit undo = Make(3);
    undo.undoes = 2;
    ASSERT_TRUE(journal.Begin({undo}, {""}).ok());
    ASSERT_TRUE(journal.End(3, true).ok());
    ASSERT_TRUE(journal.Begin({Make(4)}, {""}).ok());
  }
  Journal journal(folder_);
  ASSERT_TRUE(journal.Open().ok());
  EXPECT_EQ(journal.next_number(), 5);
  const auto history = journal.History(INT64_MAX, 10);
  ASSERT_EQ(history.size(), 4u);
  EXPECT_EQ(history[0].number, 4);
  EXPECT_EQ(history[2].undone_by, 3);
  EXPECT_FALSE(history[2].undoable());
  EXPECT_EQ(history[3].ids, (std::vector<uint64_t>{UINT64_MAX, 5}));
  EXPECT_EQ(history[3].who, "a \"name\"");
  EXPECT_TRUE(history[3].undoable());
  EXPECT_EQ(*journal.ReadRows(2), "{\"x\":1}");
  ASSERT_EQ(journal.OpenEdits().size(), 1u);
  EXPECT_EQ(journal.OpenEdits()[0].number, 4);
  EXPECT_EQ(journal.FindToken("t2")->number, 2);
  EXPECT_FALSE(journal.FindToken("t9").has_value());
}

TEST_F(JournalTest, ALineThatWasCutOffIsDropped) {
  {
    Journal journal(folder_);
    ASSERT_TRUE(journal.Open().ok());
    ASSERT_TRUE(journal.Begin({Make(1)}, {""}).ok());
    ASSERT_TRUE(journal.End(1, true).ok());
  }
  std::ofstream(folder_ + "/journal.jsonl", std::ios::app) << "{\"edit\":2,\"kind\":\"lea";
  {
    Journal journal(folder_);
    ASSERT_TRUE(journal.Open().ok());
    EXPECT_EQ(journal.next_number(), 2);
    ASSERT_TRUE(journal.Begin({Make(2)}, {""}).ok());
  }
  Journal journal(folder_);
  ASSERT_TRUE(journal.Open().ok());
  EXPECT_EQ(journal.History(INT64_MAX, 10).size(), 2u);
}

TEST_F(JournalTest, AFullDiskLeavesNoHalfOfALine) {
  const std::string path = folder_ + "/journal.jsonl";
  {
    Journal journal(folder_);
    ASSERT_TRUE(journal.Open().ok());
    ASSERT_TRUE(journal.Begin({Make(1)}, {""}).ok());
    const auto before = std::filesystem::file_size(path);
    {
      const SmallFiles small(before + 20);
      EXPECT_FALSE(journal.End(1, true).ok());
      EXPECT_EQ(std::filesystem::file_size(path), before);
      const Status full = journal.Begin({Make(2), Make(3, Edit::Kind::kForget)}, {"", "{}"});
      EXPECT_EQ(full.code(), ErrorCode::kResourceExhausted) << full.message();
      EXPECT_EQ(std::filesystem::file_size(path), before);
      EXPECT_FALSE(std::filesystem::exists(folder_ + "/rows-3.json"));
    }
    EXPECT_EQ(journal.next_number(), 2);
    ASSERT_TRUE(journal.Begin({Make(2)}, {""}).ok());
    ASSERT_TRUE(journal.End(2, true).ok());
  }
  Journal journal(folder_);
  ASSERT_TRUE(journal.Open().ok());
  EXPECT_EQ(journal.next_number(), 3);
  EXPECT_EQ(journal.History(INT64_MAX, 10).size(), 2u);
  EXPECT_TRUE(journal.OpenEdits().empty());  // also the end that could not be written at once
  EXPECT_EQ(journal.FindToken("t2")->outcome, Edit::Outcome::kDone);
}

TEST_F(JournalTest, ALineAfterTheHalfOfAnotherIsRead) {
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ + "/journal.jsonl")
      << R"({"edit":1,"kind":"learn","who":"a","ids":[1,)"
      << R"({"edit":1,"kind":"learn","token":"t1","ids":[1,2]})"
      << "\n"
      << R"({"edit":1,"done":true})"
      << "\n"
      << std::string(100, '\0') << "\n";  // what a power cut may leave
  Journal journal(folder_);
  ASSERT_TRUE(journal.Open().ok());
  EXPECT_EQ(journal.FindToken("t1")->outcome, Edit::Outcome::kDone);
  ASSERT_TRUE(journal.Begin({Make(2)}, {""}).ok());
  std::ifstream file(folder_ + "/journal.jsonl");
  std::string line;
  for (int i = 0; i < 3; ++i) std::getline(file, line);
  EXPECT_TRUE(line.starts_with("{\"edit\":2")) << line;
}

TEST_F(JournalTest, RowsThatAreForgottenAreGone) {
  Journal journal(folder_);
  ASSERT_TRUE(journal.Begin({Make(1, Edit::Kind::kForget)}, {"{}"}).ok());
  ASSERT_TRUE(journal.End(1, true).ok());
  EXPECT_TRUE(journal.Find(1)->undoable());
  journal.ForgetRows(1);
  EXPECT_FALSE(journal.Find(1)->undoable());
  EXPECT_FALSE(journal.ReadRows(1).ok());
}

}  // namespace
}  // namespace resmem::serve
