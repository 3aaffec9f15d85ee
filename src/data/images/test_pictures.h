// For the tests of this folder: records of CIFAR, and what an ImageSet holds.
#ifndef RESMEM_DATA_IMAGES_TEST_PICTURES_H_
#define RESMEM_DATA_IMAGES_TEST_PICTURES_H_

#include <lzma.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "resmem/image_set.h"

namespace resmem {

// One record: the label bytes, then red, green and blue planes.  The pixel at (y, x) has the
// channels y, x and `blue`.
inline std::string CifarRecord(const std::string& labels, uint8_t blue) {
  std::string record = labels;
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 32; ++x) {
        record.push_back(static_cast<char>(channel == 0 ? y : channel == 1 ? x : blue));
      }
    }
  }
  return record;
}

inline std::string XzText(const std::string& content) {
  std::string packed(lzma_stream_buffer_bound(content.size()), '\0');
  size_t size = 0;
  const lzma_ret code = lzma_easy_buffer_encode(
      1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(content.data()),
      content.size(), reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  EXPECT_EQ(code, LZMA_OK);
  packed.resize(size);
  return packed;
}

class ImageTest : public DataTest {
 protected:
  static ImageSetSource At(const std::string& path, const std::string& part = "") {
    ImageSetSource source;
    source.path = path;
    source.part = part;
    return source;
  }
  static std::vector<uint8_t> Pixels(const ImageSet& set, int64_t begin, int64_t count) {
    std::vector<uint8_t> pixels(static_cast<size_t>(count * set.shape().bytes()));
    const Status status = set.Read(begin, count, pixels);
    EXPECT_TRUE(status.ok()) << status.message();
    return pixels;
  }
  // The set, or a failed test and the end of the program.
  static ImageSet MustOpen(const ImageSetSource& source) {
    Result<ImageSet> set = ImageSet::Open(source);
    EXPECT_TRUE(set.ok()) << set.status().message();
    if (!set.ok()) std::abort();
    return std::move(set).value();
  }
  static void ExpectRefused(const ImageSetSource& source, ErrorCode code, const std::string& part) {
    const Result<ImageSet> set = ImageSet::Open(source);
    Status status = set.status();
    if (set.ok()) {  // only reading can show it
      std::vector<uint8_t> pixels(static_cast<size_t>(set->size() * set->shape().bytes()));
      status = set->Read(0, set->size(), pixels);
    }
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
};

}  // namespace resmem

#endif  // RESMEM_DATA_IMAGES_TEST_PICTURES_H_
