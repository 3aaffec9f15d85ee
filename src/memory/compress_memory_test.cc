// Memories of fewer bytes: every change and every answer of theirs.
#include "memory/compress_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fixtures/every_memory.h"
#include "memory/memory_parts.h"
#include "memory/residuals/packed_residuals.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

Status Compress(const std::string& from, const std::string& to, MemoryDescription form) {
  return WriteCompressed(FileSystem::Of(from), from, FileSystem::Of(to), to, form,
                         /*overwrite=*/false, nullptr);
}

MemoryDescription Packed(const MemoryDescription& own, float share, float least,
                         KeyType keys = KeyType::kInt4) {
  MemoryDescription form = own;
  form.key_type = keys;
  form.form = ResidualForm::kPacked;
  form.top = 255;
  form.packed_share = share;
  form.packed_least = least;
  return form;
}

TEST(PackedValues, AreTheNearestOfTheirTable) {
  const auto& values = PackedValues();
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[10], 0.5f);
  EXPECT_EQ(values[128], -1.0f);
  for (size_t i = 0; i < 127; ++i) EXPECT_NEAR(values[i + 1] / values[i], 0.933033f, 1e-6f);
  for (int i = -1100; i <= 1100; ++i) {
    const float value = static_cast<float>(i) / 1000;
    float nearest = 2;
    for (const float one : values) {
      if (std::abs(one - value) < std::abs(nearest - value)) nearest = one;
    }
    EXPECT_EQ(std::abs(values[PackValue(value)] - value), std::abs(nearest - value)) << value;
  }
}

TEST(ResidualPacker, KeepsTheFewestEntriesThatHoldTheShare) {
  MemoryDescription description;
  description.outputs = 6;
  description.top = 4;
  description.packed_share = 0.75f;
  const float residual[] = {-0.125f, 0.5f, 0, -0.25f, -0.125f, 0};
  PackedRow row;
  ResidualPacker(description).Pack(residual, &row);
  EXPECT_EQ(row.classes, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(row.kept, 0.75);
  EXPECT_EQ(row.dropped, 0.25);
  description.packed_share = 0.76f;  // the smaller class first among equals
  ResidualPacker(description).Pack(residual, &row);
  EXPECT_EQ(row.classes, (std::vector<uint32_t>{0, 1, 3}));
  description.top = 1;
  ResidualPacker(description).Pack(residual, &row);
  EXPECT_EQ(row.classes, (std::vector<uint32_t>{1}));
  description.packed_least = 0.51f;  // its mass is 0.5
  ResidualPacker(description).Pack(residual, &row);
  EXPECT_TRUE(row.classes.empty() && row.values.empty());
  EXPECT_EQ(row.dropped, 1.0);
}

TEST(CompressMemory, OfEveryFormKeepsRowsAndAnswersNearly) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = MakeRows(150, 6, 9);
  for (MemoryDescription description : EveryDescription(6, 9)) {
    if (description.task == Task::kRegression || description.form == ResidualForm::kPacked) {
      continue;
    }
    description.top = 9;  // so that nothing is lost before
    SCOPED_TRACE(NameOf(description));
    const std::string path = folder / NameOf(description), small = path + "_small";
    Write(path, description, data.view(description));
    const uint64_t gone[] = {data.ids[0], data.ids[70]};
    ASSERT_TRUE(DeleteRows(path, gone).ok());
    const Status status = Compress(path, small, Packed(description, 1.0f, 0));
    ASSERT_TRUE(status.ok()) << status.message();
    const ResidualMemory before = Open(path), after = Open(small);
    ASSERT_TRUE(after.Verify().ok());
    ASSERT_EQ(after.rows(), 148);
    EXPECT_EQ(after.capacity(), 148);
    std::vector<float> exact(9), packed(9), key(6), rounded(6);
    for (int64_t row = 0; row < after.rows(); ++row) {
      const auto old = before.FindId(after.id(row));
      ASSERT_TRUE(old.has_value());
      EXPECT_EQ(after.label(row), before.label(*old));
      EXPECT_EQ(after.source(row), before.source(*old));
      before.Residual(*old, description.parameters.temperature, exact);
      after.Residual(row, description.parameters.temperature, packed);
      for (size_t c = 0; c < 9; ++c)
        EXPECT_NEAR(packed[c], exact[c], 2e-4f + 0.036f * std::abs(exact[c]));
      before.DecodeKey(*old, key);
      after.DecodeKey(row, rounded);
      for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(rounded[i], key[i], 1.2f);
    }
    EXPECT_LT(after.dropped_mass(), 0.01);
  }
}

TEST(CompressMemory, IdsOfRunsAreFoundAgainAfterEveryChange) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = MakeRows(300, 3, 4);
  const MemoryDescription description = Small();
  const std::string path = folder / "m", small = folder / "small";
  Write(path, description, data.view(description, /*with_ids=*/false));
  ASSERT_TRUE(Compress(path, small, Packed(description, 0.9f, 0)).ok());
  const std::vector<uint64_t> gone = {0, 1, 100, 299};
  ASSERT_TRUE(DeleteRows(small, gone).ok());
  auto writer = MemoryWriter::Append(small, 300);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->Add(data.view(description, false)).ok() && writer->Finish().ok());
  ASSERT_TRUE(CompactMemory(small).ok());
  const ResidualMemory memory = Open(small);
  ASSERT_TRUE(memory.Verify().ok());
  EXPECT_EQ(memory.rows(), 596);
  for (uint64_t id = 0; id < 600; ++id) {
    const bool is_gone = std::ranges::find(gone, id) != gone.end();
    const auto row = memory.FindId(id);
    ASSERT_EQ(row.has_value(), !is_gone) << id;
    if (!row) continue;
    EXPECT_EQ(memory.id(*row), id);
    EXPECT_EQ(memory.label(*row), data.labels[id % 300]);
  }
  EXPECT_FALSE(memory.FindId(600).has_value());
}

TEST(CompressMemory, AppendedKeysHaveTheCenterOfTheFirst) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = MakeRows(40, 3, 4), more = MakeRows(40, 3, 4, 2);
  const MemoryDescription description = Small();
  const std::string path = folder / "m", small = folder / "small";
  Write(path, description, data.view(description, false));
  ASSERT_TRUE(Compress(path, small, Packed(description, 0.9f, 0)).ok());
  auto writer = MemoryWriter::Append(small, 40);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Add(more.view(description, false)).ok() && writer->Finish().ok());
  const ResidualMemory memory = Open(small);
  ASSERT_EQ(memory.segments(), 2);
  const auto& segments = MemoryParts::Rows(memory).segments();
  EXPECT_TRUE(std::ranges::equal(segments[0].key_center(), segments[1].key_center()));
  EXPECT_NE(segments[0].key_center()[0], 0.0f);
}

TEST(CompressMemory, RefusesWhatItCannotDo) {
  const TemporaryFolder folder(fixtures::FastParent());
  MemoryDescription regression = Small();
  regression.task = Task::kRegression;
  regression.form = ResidualForm::kDense;
  const RowData data = MakeRows(20, 3, 4);
  Write(folder / "r", regression, data.view(regression));
  EXPECT_EQ(Compress(folder / "r", folder / "out", Packed(regression, 0.9f, 0)).code(),
            ErrorCode::kUnsupported);
  MemoryDescription keys = regression;
  keys.key_type = KeyType::kInt4;
  EXPECT_TRUE(Compress(folder / "r", folder / "keys", keys).ok());
  EXPECT_TRUE(Open(folder / "keys").Verify().ok());
  const MemoryDescription description = Small();
  Write(folder / "m", description, data.view(description));
  const MemoryDescription form = Packed(description, 0.9f, 0);
  ASSERT_TRUE(Compress(folder / "m", folder / "small", form).ok());
  EXPECT_EQ(Compress(folder / "small", folder / "again", form).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(Compress(folder / "m", folder / "small", form).code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "again"));
}

TEST(CompressMemory, KeysBeyondWhatFourBitsHoldAreRefusedWithTheirRow) {
  const TemporaryFolder folder(fixtures::FastParent());
  RowData data = MakeRows(20, 3, 4);
  data.keys[3 * 7 + 1] = 1e31f;
  const MemoryDescription description = Small();
  Write(folder / "m", description, data.view(description));
  const Status status = Compress(folder / "m", folder / "small", Packed(description, 0.9f, 0));
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("row 7, column 1"), std::string::npos) << status.message();
}

TEST(CompressMemory, WhitenedKeysKeepTheirMatrix) {
  const TemporaryFolder folder(fixtures::FastParent());
  const RowData data = MakeRows(200, 4, 4);
  MemoryDescription description = Small();
  description.dim = 4;
  description.key_transform = KeyTransform::kWhiten;
  Write(folder / "m", description, data.view(description));
  ASSERT_TRUE(Compress(folder / "m", folder / "small", Packed(description, 0.95f, 0)).ok());
  const ResidualMemory memory = Open(folder / "small");
  ASSERT_TRUE(memory.Verify().ok());
  std::vector<float> key(4);
  double error = 0, size = 0;
  for (int64_t row = 0; row < memory.rows(); ++row) {
    memory.DecodeKey(row, key);
    for (size_t i = 0; i < 4; ++i) {
      const float given = data.keys[static_cast<size_t>(row) * 4 + i];
      error += (key[i] - given) * (key[i] - given);
      size += given * given;
    }
  }
  EXPECT_LT(error, 0.02 * size);
  EXPECT_GT(error, 0);
}

}  // namespace
}  // namespace resmem
