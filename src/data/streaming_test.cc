// Reading a file larger than what stays in memory.
#include <fstream>

#include "data/test_files.h"
#include "resmem/data/dataset.h"

namespace resmem {
namespace {

int64_t ResidentBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes << 10;
  }
  return -1;
}

class StreamingTest : public DataTest {
 protected:
  static constexpr int64_t kRows = 1 << 20, kColumns = 64, kBlock = 4096;
  static constexpr int64_t kFileBytes = kRows * kColumns * 4;  // 256 MiB, all of it a hole

  // The most resident memory that reading all rows added.
  int64_t PeakGrowth(bool drop) {
    DatasetSources sources;
    sources.keys = ArraySource{folder_ + "/keys.npy", {}, {}};
    Result<Dataset> dataset = Dataset::Open(sources);
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    if (!dataset.ok()) return -1;
    const int64_t before = ResidentBytes();
    int64_t peak = before;
    Dataset::Block block;
    for (int64_t begin = 0; begin < kRows; begin += kBlock) {
      EXPECT_TRUE(dataset->Read(begin, kBlock, &block).ok());
      if (drop) dataset->Drop(begin, kBlock);
      if (begin % (64 * kBlock) == 0 || begin + kBlock == kRows) {
        peak = std::max(peak, ResidentBytes());
      }
    }
    return peak - before;
  }
};

TEST_F(StreamingTest, DroppedRowsLeaveMemoryWhileTheFileIsRead) {
  const std::string path = Write("keys.npy", NpyText("<f4", {kRows, kColumns}, ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + kFileBytes);
  EXPECT_LT(PeakGrowth(true), kFileBytes / 16);
  EXPECT_GT(PeakGrowth(false), kFileBytes / 2);  // so the first line measures something
}

}  // namespace
}  // namespace resmem
