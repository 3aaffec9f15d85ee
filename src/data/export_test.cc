#include "resmem/data/export.h"

#include <gtest/gtest.h>

#include "data/test_files.h"
#include "fixtures/every_memory.h"

namespace resmem {
namespace {

class ExportTest : public DataTest {
 protected:
  static constexpr int64_t kRows = 41, kDim = 7, kOutputs = 10;

  // Without the rows 3 and 40.
  ResidualMemory Make(const MemoryDescription& description) {
    const std::string path = folder_ + "/" + NameOf(description);
    const RowData data = MakeRows(kRows, kDim, kOutputs);
    fixtures::Write(path, description, data.view(description));
    const uint64_t gone[] = {data.ids[3], data.ids[40]};
    EXPECT_TRUE(DeleteRows(path, gone).ok());
    return fixtures::Open(path);
  }
};

TEST_F(ExportTest, EveryFormGivesWhatTheMemoryHolds) {
  for (const MemoryDescription& description : EveryDescription(kDim, kOutputs)) {
    SCOPED_TRACE(NameOf(description));
    const ResidualMemory memory = Make(description);
    const std::string file = folder_ + "/out.npz";
    const Result<ExportedArrays> exported = ExportMemory(memory, file, {{"residuals"}, nullptr});
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    const std::vector<float> residuals = Floats(file + ":residuals");
    const Result<ExportedArrays> usual = ExportMemory(memory, file, {});
    ASSERT_TRUE(usual.ok()) << usual.status().message();
    EXPECT_EQ(usual->rows, kRows - 2);
    const std::vector<int64_t> rows = Integers(file + ":rows"), ids = Integers(file + ":ids");
    const std::vector<float> keys = Floats(file + ":keys");
    ASSERT_EQ(std::ssize(rows), kRows - 2);
    ASSERT_EQ(std::ssize(residuals), (kRows - 2) * kOutputs);
    const bool sparse =
        description.form == ResidualForm::kSparse || description.form == ResidualForm::kPacked;
    std::vector<int64_t> top_classes;
    std::vector<float> top_values;
    if (sparse) {
      top_classes = Integers(file + ":top_classes");
      top_values = Floats(file + ":top_values");
    }
    std::vector<float> key(kDim), residual(kOutputs), entries(kOutputs);
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_FALSE(memory.deleted(rows[i]));
      EXPECT_EQ(static_cast<uint64_t>(ids[i]), memory.id(rows[i]));
      memory.DecodeKey(rows[i], key);
      EXPECT_TRUE(std::ranges::equal(key, std::span(keys).subspan(i * kDim, kDim)));
      memory.Residual(rows[i], description.parameters.temperature, residual);
      EXPECT_TRUE(
          std::ranges::equal(residual, std::span(residuals).subspan(i * kOutputs, kOutputs)));
      if (!sparse) continue;
      std::ranges::fill(entries, 0.0f);
      const auto top = static_cast<size_t>(description.top);
      for (size_t j = i * top; j < (i + 1) * top; ++j) {
        if (top_classes[j] >= 0) entries[static_cast<size_t>(top_classes[j])] = top_values[j];
      }
      EXPECT_EQ(entries, residual);
    }
    if (description.task == Task::kClassification) {
      const std::vector<int64_t> labels = Integers(file + ":labels");
      for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(labels[i], memory.label(rows[i]));
    } else {
      const std::vector<float> targets = Floats(file + ":targets");
      const std::vector<float> predictions = Floats(file + ":predictions");
      for (size_t j = 0; j < targets.size(); ++j) {
        EXPECT_EQ(targets[j], memory.target(rows[j / kOutputs])[j % kOutputs]);
        EXPECT_EQ(predictions[j], targets[j] - residuals[j]);
      }
    }
    if (description.form == ResidualForm::kLogits) {
      const std::vector<float> logits = Floats(file + ":logits");
      for (size_t j = 0; j < logits.size(); ++j) {
        EXPECT_EQ(logits[j], memory.logits(rows[j / kOutputs])[j % kOutputs]);
      }
    }
    if (description.has_sources) {
      const Result<Array> sources = OpenArray({file + ":sources", {}, {}});
      ASSERT_TRUE(sources.ok()) << sources.status().message();
      for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ((*sources->ReadText(static_cast<int64_t>(i), 1))[0], memory.source(rows[i]));
      }
    }
  }
}

TEST_F(ExportTest, PartsAreChosenByName) {
  const ResidualMemory memory = Make(EveryDescription(kDim, kOutputs).front());
  const auto exported = ExportMemory(memory, folder_ + "/some", {{"labels", "keys"}, nullptr});
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  ASSERT_EQ(exported->arrays.size(), 2u);
  EXPECT_EQ(exported->arrays[0].member, "keys");
  EXPECT_EQ(exported->arrays[1].member, "labels");
  const Status unknown = ExportMemory(memory, folder_ + "/x.npz", {{"lables"}, nullptr}).status();
  EXPECT_EQ(unknown.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(unknown.message().find("'lables' is no part of this memory; it has rows, ids, keys"),
            std::string::npos)
      << unknown.message();
}

class Stop : public Progress {
 public:
  bool Cancelled() const override { return true; }
};

TEST_F(ExportTest, StoppedLeavesNothing) {
  const ResidualMemory memory = Make(EveryDescription(kDim, kOutputs).front());
  Stop stop;
  EXPECT_EQ(ExportMemory(memory, folder_ + "/out.npz", {{}, &stop}).status().code(),
            ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out.npz"));
}

}  // namespace
}  // namespace resmem
