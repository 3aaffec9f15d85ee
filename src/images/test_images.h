// For the tests of this folder: files of images, and what an ImageSet reads from them.
#ifndef RESMEM_IMAGES_TEST_IMAGES_H_
#define RESMEM_IMAGES_TEST_IMAGES_H_

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "resmem/models/image_set.h"

namespace resmem {

// One record: the label bytes, then red, green and blue planes.  The pixel at (y, x) has the
// channels y, x and `blue`.
std::string CifarRecord(const std::string& labels, uint8_t blue);

std::string XzText(const std::string& content);

// A PNG file of these parts, sound or not.
struct PngParts {
  uint32_t width = 0, height = 0;
  int bits = 8, color = 2;  // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha
  std::string lines;        // each begins with its filter, '\0': none
  std::string chunks;       // before the pixels
};
std::string PngText(const PngParts& parts);
std::string PngChunk(const std::string& type, const std::string& data);

// At the best quality; 4 channels are CMYK as Adobe stores it.
std::string JpegText(const ImageShape& shape, const std::string& pixels, bool progressive = false);

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

#endif  // RESMEM_IMAGES_TEST_IMAGES_H_
