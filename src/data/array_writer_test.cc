#include "resmem/data/array_writer.h"

#include <gtest/gtest.h>

#include "data/test_files.h"

namespace resmem {
namespace {

class ArrayWriterTest : public DataTest {
 protected:
  static std::vector<ArrayToWrite> Arrays() {
    return {{{"keys", ElementType::kFloat32, {3, 2}}},
            {{"ids", ElementType::kUInt64, {3}}},
            {{"sources", ElementType::kText, {3}}, 4},
            {{"empty", ElementType::kInt32, {0, 5}}}};
  }
  // In an order that no single file could be written in.
  static void WriteAll(ArrayWriter& writer) {
    const std::vector<float> first = {1, 2}, rest = {3, 4, 5, 6};
    ASSERT_TRUE(writer.Write(0, first).ok());
    ASSERT_TRUE(writer.Write(1, std::vector<uint64_t>{7, 8}).ok());
    ASSERT_TRUE(writer.Write(0, rest).ok());
    ASSERT_TRUE(writer.Write(2, std::string("a\0\0\0bcde\0\0\0\0", 12)).ok());
    ASSERT_TRUE(writer.Write(1, std::vector<uint64_t>{9}).ok());
  }
  void ExpectAll(const std::string& prefix, const std::string& suffix) {
    const auto name = [&](const char* array) { return prefix + array + suffix; };
    EXPECT_EQ(Floats(name("keys")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(Shape(name("keys")), (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(Integers(name("ids")), (std::vector<int64_t>{7, 8, 9}));
    EXPECT_EQ(Shape(name("empty")), (std::vector<int64_t>{0, 5}));
    const Result<Array> sources = OpenArray({name("sources"), {}, {}});
    ASSERT_TRUE(sources.ok()) << sources.status().message();
    EXPECT_EQ(*sources->ReadText(0, 3), (std::vector<std::string>{"a", "bcde", ""}));
  }
};

TEST_F(ArrayWriterTest, OneFileOrAFolder) {
  for (const std::string& path : {folder_ + "/all.npz", folder_ + "/all"}) {
    Result<ArrayWriter> writer = ArrayWriter::Create(path, Arrays());
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    WriteAll(*writer);
    const Status closed = writer->Close();
    ASSERT_TRUE(closed.ok()) << closed.message();
    const bool npz = path.ends_with(".npz");
    ExpectAll(path + (npz ? ":" : "/"), npz ? "" : ".npy");
  }
}

TEST_F(ArrayWriterTest, ValuesCanBeMapped) {
  const std::string path = folder_ + "/all.npz";
  Result<ArrayWriter> writer = ArrayWriter::Create(path, Arrays());
  ASSERT_TRUE(writer.ok());
  WriteAll(*writer);
  ASSERT_TRUE(writer->Close().ok());
  const Result<Array> keys = OpenArray({path + ":keys", {}, {}});
  ASSERT_TRUE(keys.ok()) << keys.status().message();
  EXPECT_TRUE(keys->InPlace().has_value());
}

TEST_F(ArrayWriterTest, NothingAppearsUnlessAllIsWritten) {
  const std::string path = folder_ + "/half.npz";
  {
    Result<ArrayWriter> writer = ArrayWriter::Create(path, Arrays());
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(writer->Close().code(), ErrorCode::kInternal);
    EXPECT_EQ(writer->Write(0, std::vector<float>(7)).code(), ErrorCode::kInternal);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ArrayWriterTest, PlacesThatCannotBe) {
  const std::string file = Write("file", "x");
  EXPECT_EQ(ArrayWriter::Create(file, Arrays()).status().code(), ErrorCode::kIo);
  EXPECT_EQ(ArrayWriter::Create(folder_ + "/no/such/a.npz", Arrays()).status().code(),
            ErrorCode::kIo);
  std::filesystem::create_symlink("/dev/null", folder_ + "/device.npz");
  EXPECT_EQ(ArrayWriter::Create(folder_ + "/device.npz", Arrays()).status().code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace resmem
