#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "fixtures/every_memory.h"
#include "fixtures/file_bytes.h"
#include "resmem/residual_memory.h"
#include "support/file_system.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

TEST(MemoryWriter, BadRowsAreNamedWithPlaceAndValueAndNothingIsAdded) {
  const TemporaryFolder folder;
  const RowData good = MakeRows(4, 3, 4);
  auto writer = MemoryWriter::Create(folder / "m", Small(), 8, {});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Add(good.view(Small())).ok());
  struct Lie {
    const char* expected;  // part of the message
    std::function<void(RowData&, Rows&)> tell;
  };
  const std::vector<Lie> lies = {
      {"keys, row 5, column 2: found nan", [](RowData& d, Rows&) { d.keys[5] = NAN; }},
      {"keys, row 4, column 0: found -inf", [](RowData& d, Rows&) { d.keys[0] = -INFINITY; }},
      {"logits, row 7, column 3: found inf", [](RowData& d, Rows&) { d.logits[15] = INFINITY; }},
      {"labels, row 6: found 4, allowed are 0 to 3", [](RowData& d, Rows&) { d.labels[2] = 4; }},
      {"labels, row 6: found -1", [](RowData& d, Rows&) { d.labels[2] = -1; }},
      {"keys have 2 columns", [](RowData&, Rows& r) { r.keys.columns = 2; }},
      {"logits have 3 columns", [](RowData&, Rows& r) { r.logits.columns = 3; }},
      {"3 logits were given for 4", [](RowData&, Rows& r) { r.logits.rows = 3; }},
      {"3 labels were given", [](RowData&, Rows& r) { r.labels = r.labels.first(3); }},
      {"3 ids were given", [](RowData&, Rows& r) { r.ids = r.ids.first(3); }},
      {"row 4 comes without an id", [](RowData&, Rows& r) { r.ids = {}; }},
      {"ids, row 5: found 9223372036854775808",
       [](RowData& d, Rows&) { d.ids[1] = uint64_t{1} << 63; }},
      {"4 sources were given", [](RowData& d, Rows& r) { r.sources = d.sources; }},
  };
  for (const Lie& lie : lies) {
    RowData data = good;
    Rows rows = data.view(Small());
    lie.tell(data, rows);
    const Status status = writer->Add(rows);
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << lie.expected;
    EXPECT_NE(status.message().find(lie.expected), std::string::npos) << status.message();
  }
  EXPECT_NE(writer->Finish().message().find("8 rows were announced, but 4"), std::string::npos);
  RowData rest = good;
  for (uint64_t& id : rest.ids) id += 100;
  ASSERT_TRUE(writer->Add(rest.view(Small())).ok());
  EXPECT_EQ(writer->Add(rest.view(Small())).code(), ErrorCode::kBadData);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(writer->Finish().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Open(folder / "m").rows(), 8);
}

TEST(MemoryWriter, RepeatedIdsAreRefusedByName) {
  const TemporaryFolder folder;
  RowData data = MakeRows(4, 3, 4);
  data.ids = {5, 9, 7, 9};
  auto writer = MemoryWriter::Create(folder / "m", Small(), 4, {});
  ASSERT_TRUE(writer->Add(data.view(Small())).ok());
  EXPECT_NE(writer->Finish().message().find("rows 1 and 3: both are 9"), std::string::npos);

  data.ids = {5, 9, 7, 8};
  Write(folder / "n", Small(), data.view(Small()));
  data.ids = {50, 51, 7, 52};
  auto more = MemoryWriter::Append(folder / "n", 4);
  ASSERT_TRUE(more.ok());
  const Status status = more->Add(data.view(Small()));
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("row 2: the id 7 "), std::string::npos);
}

TEST(MemoryWriter, AnIdMayComeBackOnceItsRowWasDeleted) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(4, 3, 4);
  Write(folder / "m", Small(), data.view(Small()));
  ASSERT_TRUE(DeleteRows(folder / "m", std::span(data.ids).first(1)).ok());
  auto writer = MemoryWriter::Append(folder / "m", 1);
  ASSERT_TRUE(writer->Add(data.Part(0, 1).view(Small())).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const ResidualMemory memory = Open(folder / "m");
  EXPECT_EQ(memory.FindId(data.ids[0]), 4);
  EXPECT_EQ(memory.rows(), 4);
}

TEST(MemoryWriter, ValuesThatAHalfCannotHoldAreRefused) {
  const TemporaryFolder folder;
  MemoryDescription description = Small();
  description.key_type = KeyType::kFloat16;
  RowData data = MakeRows(2, 3, 4);
  data.keys[4] = 70000;
  auto writer = MemoryWriter::Create(folder / "m", description, 2, {});
  EXPECT_NE(writer->Add(data.view(description)).message().find("65504"), std::string::npos);

  description.task = Task::kRegression;
  description.key_type = KeyType::kFloat32;
  description.half_residuals = true;
  data.targets[3] = 60000;
  data.logits[3] = -60000;
  auto regression = MemoryWriter::Create(folder / "r", description, 2, {});
  ASSERT_TRUE(regression.ok());
  EXPECT_NE(regression->Add(data.view(description)).message().find("the residual is 120000"),
            std::string::npos);
}

TEST(MemoryWriter, RowsInPiecesAndWithStrideGiveTheSameFile) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(3000, 3, 4);
  for (const MemoryDescription& description : EveryDescription(3, 4)) {
    const std::string whole = folder / ("whole_" + NameOf(description));
    const std::string pieces = folder / ("pieces_" + NameOf(description));
    Write(whole, description, data.view(description));
    // Keys as three columns of five.
    std::vector<float> wide(3000 * 5, NAN);
    for (size_t i = 0; i < 9000; ++i) wide[i / 3 * 5 + i % 3] = data.keys[i];
    auto writer = MemoryWriter::Create(pieces, description, 3000, {});
    ASSERT_TRUE(writer.ok());
    for (int64_t begin = 0; begin < 3000; begin += 700) {
      const int64_t count = std::min<int64_t>(700, 3000 - begin);
      const RowData part = data.Part(begin, count);
      Rows rows = part.view(description);
      rows.keys = MatrixView(wide.data() + begin * 5, count, 3);
      rows.keys.stride = 5;
      ASSERT_TRUE(writer->Add(rows).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_EQ(fixtures::ReadBytes(whole + "/segment-000001.resmem"),
              fixtures::ReadBytes(pieces + "/segment-000001.resmem"))
        << NameOf(description);
  }
}

TEST(MemoryWriter, WithoutFinishNothingIsLeft) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const RowData data = MakeRows(4, 3, 4);
  {
    auto writer = MemoryWriter::Create(path, Small(), 4, {});
    ASSERT_TRUE(writer->Add(data.view(Small())).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  Write(path, Small(), data.view(Small()));
  { auto writer = MemoryWriter::Append(path, 4); }
  EXPECT_EQ(FileSystem::Posix().List(path).value().size(), 2u);
}

TEST(MemoryWriter, ASecondWriterIsRefusedWhileTheFirstIsAtWork) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const RowData data = MakeRows(4, 3, 4);
  Write(path, Small(), data.view(Small()));
  auto writer = MemoryWriter::Append(path, 4);
  ASSERT_TRUE(writer.ok());
  const Status append = MemoryWriter::Append(path, 1).status();
  EXPECT_EQ(append.code(), ErrorCode::kResourceExhausted);
  EXPECT_NE(append.message().find("try again"), std::string::npos);
  EXPECT_EQ(DeleteRows(path, data.ids).code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(CompactMemory(path).code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(UpdateDescription(path, Small()).code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(MemoryWriter::Create(path, Small(), 1, {true}).status().code(),
            ErrorCode::kResourceExhausted);
  EXPECT_TRUE(ResidualMemory::Open(path).ok());  // readers need no lock
  RowData more = data;
  for (uint64_t& id : more.ids) id += 100;
  ASSERT_TRUE(writer->Add(more.view(Small())).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(DeleteRows(path, data.ids).ok());  // the writer lives, but has finished
}

TEST(MemoryWriter, ReplacesAMemoryOnlyWhenAskedAndNeverAnythingElse) {
  const TemporaryFolder folder;
  const RowData data = MakeRows(4, 3, 4);
  const auto create = [&](const std::string& path, bool overwrite) {
    return MemoryWriter::Create(path, Small(), 4, {overwrite}).status().code();
  };
  Write(folder / "m", Small(), data.view(Small()));
  EXPECT_EQ(create(folder / "m", false), ErrorCode::kInvalidArgument);
  EXPECT_EQ(create(folder / "m", true), ErrorCode::kOk);
  EXPECT_EQ(Open(folder / "m").rows(), 4);  // unfinished: still the old one

  fixtures::WriteBytes(folder / "file", "text");
  std::filesystem::create_directory(folder / "photos");
  fixtures::WriteBytes(folder / "photos/cat.jpg", "cat");
  std::filesystem::create_directory(folder / "jar");
  fixtures::WriteBytes(folder / "jar/MANIFEST", "Manifest-Version: 1.0");
  std::filesystem::create_directory(folder / "empty");
  for (const bool overwrite : {false, true}) {
    EXPECT_EQ(create(folder / "file", overwrite), ErrorCode::kInvalidArgument);
    EXPECT_EQ(create(folder / "photos", overwrite), ErrorCode::kInvalidArgument);
    EXPECT_EQ(create(folder / "jar", overwrite), ErrorCode::kInvalidArgument);
    EXPECT_EQ(create(folder / "no/parent", overwrite), ErrorCode::kNotFound);
    EXPECT_EQ(create(folder / "empty", overwrite), ErrorCode::kOk);
    EXPECT_EQ(create("", overwrite), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(fixtures::ReadBytes(folder / "photos/cat.jpg"), "cat");
  EXPECT_EQ(FileSystem::Posix().List(folder / "photos").value().size(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "empty"));
  // Even a broken memory can be replaced.
  std::filesystem::resize_file(folder / "m/MANIFEST", 20);
  EXPECT_EQ(create(folder / "m", false), ErrorCode::kInvalidArgument);
  auto writer = MemoryWriter::Create(folder / "m", Small(), 4, {true});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Add(data.view(Small())).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Open(folder / "m").rows(), 4);
  EXPECT_EQ(FileSystem::Posix().List(folder / "m").value().size(), 2u);
}

TEST(MemoryWriter, DescriptionsThatCannotBeAreRefused) {
  const TemporaryFolder folder;
  const std::vector<std::function<void(MemoryDescription&)>> lies = {
      [](auto& d) { d.dim = 0; },
      [](auto& d) { d.outputs = 0; },
      [](auto& d) { d.outputs = int64_t{1} << 40; },
      [](auto& d) { d.parameters.sigma = 0; },
      [](auto& d) { d.class_names = {"one"}; },
      [](auto& d) { d.form = ResidualForm::kSparse, d.top = 0; },
      [](auto& d) { d.task = Task::kRegression, d.form = ResidualForm::kSparse; },
  };
  for (const auto& tell : lies) {
    MemoryDescription description = Small();
    tell(description);
    EXPECT_EQ(MemoryWriter::Create(folder / "m", description, 1, {}).status().code(),
              ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(MemoryWriter::Create(folder / "m", Small(), -1, {}).status().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(MemoryWriter::Create(folder / "m", Small(), INT64_MAX / 2, {}).status().code(),
            ErrorCode::kInvalidArgument);
  MemoryDescription sources = Small();
  sources.has_sources = true;
  EXPECT_EQ(MemoryWriter::Create(folder / "m", sources, INT64_MAX, {}).status().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));

  MemoryDescription latin = Small();
  latin.notes["note"] = "caf\xe9";
  auto writer = MemoryWriter::Create(folder / "m", latin, 0, {});
  ASSERT_TRUE(writer.ok());
  const Status status = writer->Finish();
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("notes"), std::string::npos);
}

}  // namespace
}  // namespace resmem
