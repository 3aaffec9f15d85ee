#include "search/approximate/lists/inverted_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "format/container_writer.h"
#include "search/approximate/ivf_test_data.h"
#include "search/approximate/lists/k_means.h"

namespace resmem {
namespace {

constexpr int64_t kFileDim = 10, kFileRows = 700;

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Status WriteTo(const std::string& path, const KeyStore& keys, InvertedFileOptions options = {}) {
  return WriteInvertedFile(FileSystem::Posix(), path, keys, options).status();
}

// With codes of 8 bits and of 4.
class InvertedFileOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Bits, InvertedFileOf, testing::Values(8, 4, 2));

TEST_P(InvertedFileOf, HoldsEveryVisibleRowOnceAndNoHiddenOne) {
  const Indexed data(ClusteredKeys(kFileRows, kFileDim, 7, 1), kFileDim, {0, 5, 699});
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys(), {.code_bits = GetParam()}).ok());
  const auto file = OpenInvertedFile(data.path.get(), kFileDim, kFileRows);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->code_bits(), GetParam());
  EXPECT_TRUE(file->Verify(nullptr).ok());
  std::vector<int> times(kFileRows);
  for (int64_t list = 0; list < file->lists(); ++list) {
    for (int64_t i = 0; i < file->list_rows(list); ++i) ++times[file->row_numbers(list)[i]];
  }
  for (int64_t row = 0; row < kFileRows; ++row) {
    EXPECT_EQ(times[row], row == 0 || row == 5 || row == 699 ? 0 : 1) << row;
  }
}

// docs/memory_format.md, section 9: what a row takes beside its list's share.
TEST_P(InvertedFileOf, TakesTheDocumentedBytes) {
  constexpr int64_t kDim = 100, kRows = 3200;
  const Indexed data(ClusteredKeys(kRows, kDim, 7, 1), kDim);
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys(), {.code_bits = GetParam()}).ok());
  const auto file = OpenInvertedFile(data.path.get(), kDim, kRows);
  ASSERT_TRUE(file.ok());
  int64_t places = 0;
  for (int64_t list = 0; list < file->lists(); ++list) {
    places += (file->list_rows(list) + 15) / 16 * 16;
  }
  const int64_t of_lists = 4 * kDim * (file->lists() + 1) + 4 * file->lists();
  const int64_t of_places = places * (128 * GetParam() / 8 + 12);
  const int64_t tables = GetParam() == 2 ? 128 * 16 : 0;
  const int64_t header = 64 + 64 * 9, slack = 64 * 9 + 8 * 16;  // padding and checksums
  const int64_t bytes = file->file().file_bytes(), least = of_lists + of_places + tables;
  EXPECT_GE(bytes, least);
  EXPECT_LE(bytes, least + header + slack);
}

TEST_P(InvertedFileOf, BytesDoNotDependOnThreadsOrBuffer) {
  const Indexed data(ClusteredKeys(kFileRows, kFileDim, 7, 2), kFileDim);
  const TemporaryPath other;
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys(), {.code_bits = GetParam(), .threads = 1}).ok());
  ASSERT_TRUE(
      WriteTo(other.get(), data.keys(), {.code_bits = GetParam(), .threads = 3, .buffer_bytes = 1})
          .ok());
  EXPECT_EQ(ReadBytes(data.path.get()), ReadBytes(other.get()));
  ASSERT_TRUE(WriteTo(other.get(), data.keys(), {.seed = 1, .code_bits = GetParam()}).ok());
  EXPECT_NE(ReadBytes(data.path.get()), ReadBytes(other.get()));
}

TEST(InvertedFile, ListsAreOfAboutTheSameSize) {
  const Indexed data(ClusteredKeys(20000, kFileDim, 3, 3), kFileDim);
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys()).ok());
  const auto file = OpenInvertedFile(data.path.get(), kFileDim, 20000);
  ASSERT_TRUE(file.ok());
  // A query's cost: the mean size of the list that a row is in, against that of a list.
  double squares = 0;
  for (int64_t list = 0; list < file->lists(); ++list) {
    squares += static_cast<double>(file->list_rows(list)) * file->list_rows(list);
  }
  EXPECT_LT(squares / 20000, 2.0 * 20000 / file->lists());
}

TEST_P(InvertedFileOf, NoticesEveryFlippedByte) {
  const Indexed data(ClusteredKeys(kFileRows, kFileDim, 7, 4), kFileDim);
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys(), {.code_bits = GetParam()}).ok());
  const std::string sound = ReadBytes(data.path.get());
  const TemporaryPath broken;
  for (size_t place = 0; place < sound.size(); place += 997) {
    std::string bytes = sound;
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    std::ofstream(broken.get(), std::ios::binary) << bytes;
    const auto file = OpenInvertedFile(broken.get(), kFileDim, kFileRows);
    const Status status = file.ok() ? file->Verify(nullptr) : file.status();
    EXPECT_TRUE(status.code() == ErrorCode::kCorrupt || status.code() == ErrorCode::kTooNew)
        << "byte " << place << ": " << status.message();
  }
}

TEST_P(InvertedFileOf, IsRefusedWhenTruncated) {
  const Indexed data(ClusteredKeys(kFileRows, kFileDim, 7, 4), kFileDim);
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys(), {.code_bits = GetParam()}).ok());
  const std::string sound = ReadBytes(data.path.get());
  const TemporaryPath broken;
  for (const size_t size : {size_t{0}, size_t{63}, size_t{500}, sound.size() - 1}) {
    std::ofstream(broken.get(), std::ios::binary) << sound.substr(0, size);
    EXPECT_EQ(OpenInvertedFile(broken.get(), kFileDim, kFileRows).status().code(),
              ErrorCode::kCorrupt);
  }
}

TEST(InvertedFile, RowsOrDimensionsOfAnotherMemoryAreRefused) {
  const Indexed data(ClusteredKeys(kFileRows, kFileDim, 7, 4), kFileDim);
  ASSERT_TRUE(WriteTo(data.path.get(), data.keys()).ok());
  EXPECT_EQ(OpenInvertedFile(data.path.get(), kFileDim + 1, kFileRows).status().code(),
            ErrorCode::kCorrupt);
  EXPECT_EQ(OpenInvertedFile(data.path.get(), kFileDim, kFileRows - 1).status().code(),
            ErrorCode::kCorrupt);
}

// A file with right checksums whose content lies.
struct Lie {
  int64_t lists = 2, blocks = 2;
  std::string codes_name = "codes";
  std::vector<float> center = {0}, centroids = {0, 0};
  std::vector<uint32_t> list_rows = {3, 2};
  std::vector<uint32_t> rows = std::vector<uint32_t>(32, UINT32_MAX);

  Lie() {
    rows[0] = 0, rows[1] = 1, rows[2] = 2;
    rows[16] = 3, rows[17] = 4;
  }
  Result<InvertedFile> Open(const std::string& path) const {
    InvertedLayout layout(1, lists, blocks, 8);
    layout.sections[InvertedLayout::kCodes].name = codes_name;
    RESMEM_ASSIGN_OR_RETURN(
        ContainerWriter writer,
        ContainerWriter::Create(FileSystem::Posix(), path, FileKind::kIndex, layout.sections));
    using Layout = InvertedLayout;
    const std::vector<float> floats(static_cast<size_t>(blocks * kBlockRows));
    const std::vector<uint8_t> codes(floats.size() * kCodePadding, uint8_t{128});
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(Layout::kCenter, center));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(Layout::kCentroids, centroids));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint32_t>(Layout::kListRows, list_rows));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint32_t>(Layout::kRows, rows));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(Layout::kScales, floats));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(Layout::kNorms, floats));
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint8_t>(Layout::kCodes, codes));
    RESMEM_RETURN_IF_ERROR(writer.Finish().status());
    return OpenInvertedFile(path, 1, 5);
  }
};

TEST(InvertedFile, ListsThatDoNotFitTheirBlocksAreRefused) {
  const TemporaryPath path;
  ASSERT_TRUE(Lie().Open(path.get()).ok());
  for (const std::vector<uint32_t>& list_rows :
       {std::vector<uint32_t>{3, 0}, {17, 2}, {UINT32_MAX, UINT32_MAX}, {3, 3}}) {
    Lie lie;
    lie.list_rows = list_rows;
    EXPECT_EQ(lie.Open(path.get()).status().code(), ErrorCode::kCorrupt);
  }
}

// A search would look for such a list for ever.
TEST(InvertedFile, CentroidsThatNoQueryMeetsAreRefused) {
  const TemporaryPath path;
  Lie lie;
  lie.centroids = {1e15f, -1e15f};
  EXPECT_TRUE(lie.Open(path.get()).ok());
  for (const float far : {1e25f, -3e38f}) {
    lie.centroids = {0, far};
    EXPECT_EQ(lie.Open(path.get()).status().code(), ErrorCode::kCorrupt) << far;
    lie.centroids = {0, 0};
    lie.center = {far};
    EXPECT_EQ(lie.Open(path.get()).status().code(), ErrorCode::kCorrupt) << far;
    lie.center = {0};
  }
}

TEST(InvertedFile, CodesOfAFormThatIsNotKnownAreRefused) {
  const TemporaryPath path;
  Lie lie;
  lie.codes_name = "letters";
  const Status status = lie.Open(path.get()).status();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("letters"), std::string::npos) << status.message();
  for (const char* name : {"words", "packed"}) {  // without their tables; of twice their size
    lie.codes_name = name;
    EXPECT_EQ(lie.Open(path.get()).status().code(), ErrorCode::kCorrupt) << name;
  }
}

TEST(InvertedFile, RowNumbersOutOfRangeRepeatedOrUnorderedAreFoundByVerify) {
  const TemporaryPath path;
  EXPECT_TRUE(Lie().Open(path.get())->Verify(nullptr).ok());
  for (const auto& [slot, row] : {std::pair{2, 5u}, {17, 0u}, {1, 0u}, {16, UINT32_MAX}}) {
    Lie lie;
    lie.rows[static_cast<size_t>(slot)] = row;
    EXPECT_EQ(lie.Open(path.get())->Verify(nullptr).code(), ErrorCode::kCorrupt) << slot;
  }
}

TEST(InvertedFile, ARowNumberOutOfRangeIsAnErrorOfTheSearch) {
  const TemporaryPath path;
  Lie lie;
  lie.rows[2] = 5;
  const std::vector<float> values = {0, 1, 2, 3, 4};
  const KeyBlock block{KeyType::kFloat32, values.data(), nullptr, 5};
  const ListSearch search(lie.Open(path.get()).value(), KeyStore::Make(1, {block}, {}).value(), {});
  const Question question{values.data(), -1, 0};
  std::vector<MeasuredRow> found[1];
  EXPECT_EQ(search.Search({&question, 1}, {5, 2, 5}, 0, 1, found).code(), ErrorCode::kCorrupt);
}

TEST(InvertedFile, KeysTooFarApartOrNotFiniteAreRefused) {
  for (const auto& [value, code] :
       {std::pair{1e17f, ErrorCode::kUnsupported},
        {std::numeric_limits<float>::infinity(), ErrorCode::kBadData},
        {std::numeric_limits<float>::quiet_NaN(), ErrorCode::kBadData}}) {
    std::vector<float> values = ClusteredKeys(200, kFileDim, 2, 5);
    values[1234] = value;
    const KeyBlock block{KeyType::kFloat32, values.data(), nullptr, 200};
    const TemporaryPath path;
    EXPECT_EQ(WriteTo(path.get(), KeyStore::Make(kFileDim, {block}, {}).value()).code(), code);
    EXPECT_FALSE(FileSystem::Posix().Exists(path.get()));
  }
}

TEST(InvertedFile, ACancelledBuildLeavesNoFile) {
  struct Stop : Progress {
    bool Cancelled() const override { return true; }
  } stop;
  const Indexed data(ClusteredKeys(kFileRows, kFileDim, 7, 4), kFileDim);
  EXPECT_EQ(WriteTo(data.path.get(), data.keys(), {.progress = &stop}).code(),
            ErrorCode::kCancelled);
  EXPECT_FALSE(FileSystem::Posix().Exists(data.path.get()));
}

}  // namespace
}  // namespace resmem
