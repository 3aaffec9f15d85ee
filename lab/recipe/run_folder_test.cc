#include "recipe/run_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fixtures/small_memory.h"

namespace resmem {
namespace {

constexpr RunKind kKind = {"epoch", 4, "tensors"};

std::vector<StateArray> ArraysOf(std::vector<float>* values, const char* name = "weight") {
  StateArray array;
  array.words = {{"name", name}, {"shape", {values->size()}}};
  array.count = std::ssize(*values);
  array.give = [values](const AppendFloats& append) { return append(*values); };
  array.take = [values](std::span<const float> from) { std::ranges::copy(from, values->begin()); };
  return {array};
}

struct Restored {
  Status status;
  int64_t epoch = 0;
  std::vector<std::string> notes;
};

Restored Restore(const RunFolder& folder, const std::vector<StateArray>& state) {
  Restored restored;
  const auto take = [&](const std::string&, const Json& words) {
    restored.epoch = words["epochs"].get<int64_t>();
    return Status();
  };
  restored.status =
      folder.Restore(take, state, [&](const std::string& note) { restored.notes.push_back(note); });
  return restored;
}

TEST(RunFolder, KeepsTheNewestTwoCheckpointsAndRestoresTheNewest) {
  const fixtures::TemporaryFolder scratch;
  const RunFolder folder(scratch / "run", kKind);
  ASSERT_TRUE(MakeRunFolder(scratch / "run").ok());
  std::vector<float> values(2);
  EXPECT_EQ(Restore(folder, ArraysOf(&values)).epoch, 0);
  for (const int epoch : {8, 9, 10}) {
    values = {static_cast<float>(epoch), 0.5f};
    ASSERT_TRUE(folder.Save(epoch, {{"epochs", epoch}}, ArraysOf(&values)).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("checkpoint-0008")));
  EXPECT_TRUE(std::filesystem::exists(folder.File("checkpoint-0009")));
  values = {0, 0};
  const Restored restored = Restore(folder, ArraysOf(&values));
  EXPECT_TRUE(restored.status.ok());
  EXPECT_EQ(restored.epoch, 10);
  EXPECT_EQ(values, (std::vector<float>{10, 0.5f}));
}

TEST(RunFolder, PassesOverADamagedCheckpointAndSaysSo) {
  const fixtures::TemporaryFolder scratch;
  const RunFolder folder(scratch / "run", kKind);
  ASSERT_TRUE(MakeRunFolder(scratch / "run").ok());
  std::vector<float> values = {1, 2};
  ASSERT_TRUE(folder.Save(1, {{"epochs", 1}}, ArraysOf(&values)).ok());
  std::ofstream(folder.File("checkpoint-0002")) << "half a checkpoint";
  const Restored restored = Restore(folder, ArraysOf(&values));
  EXPECT_TRUE(restored.status.ok());
  EXPECT_EQ(restored.epoch, 1);
  ASSERT_EQ(restored.notes.size(), 1u);
  EXPECT_NE(restored.notes[0].find("checkpoint-0002"), std::string::npos);
}

TEST(RunFolder, RefusesTheCheckpointOfAnotherNetwork) {
  const fixtures::TemporaryFolder scratch;
  const RunFolder folder(scratch / "run", kKind);
  ASSERT_TRUE(MakeRunFolder(scratch / "run").ok());
  std::vector<float> values = {1, 2}, others = {3, 4};
  ASSERT_TRUE(folder.Save(1, {{"epochs", 1}}, ArraysOf(&values)).ok());
  const Restored restored = Restore(folder, ArraysOf(&others, "bias"));
  EXPECT_EQ(restored.status.code(), ErrorCode::kMismatch);
  EXPECT_EQ(others, (std::vector<float>{3, 4}));
}

TEST(RunFolder, CutsTheLogBehindTheCheckpoint) {
  const fixtures::TemporaryFolder scratch;
  const RunFolder folder(scratch / "run", kKind);
  ASSERT_TRUE(MakeRunFolder(scratch / "run").ok());
  ASSERT_TRUE(folder.CutLog(0).ok());  // no log yet
  for (const int epoch : {1, 2, 3}) ASSERT_TRUE(folder.Log({{"epoch", epoch}}).ok());
  ASSERT_TRUE(folder.CutLog(2).ok());
  std::ifstream log(folder.File("log.jsonl"));
  std::string line, lines;
  while (std::getline(log, line)) lines += line;
  EXPECT_EQ(lines, R"({"epoch":1}{"epoch":2})");
}

}  // namespace
}  // namespace resmem
