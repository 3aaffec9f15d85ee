// For tests and fuzzing: a small sound file of every format, and a reader of all that a file
// offers.
#ifndef RESMEM_DATA_TEST_SEEDS_H_
#define RESMEM_DATA_TEST_SEEDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem {

template <typename T>
std::string BytesOf(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T)};
}

std::string NpyText(std::string_view descriptor, const std::vector<int64_t>& shape,
                    const std::string& values);

// Compression without compressing (deflate's stored blocks): NumPy's own is in numpy_test.py.
std::string GzipText(const std::string& content);

struct ZipMember {
  std::string name;
  std::string content;
  bool deflated = false;
  uint64_t claimed_size = 0;  // 0: the true one
};
std::string ZipText(const std::vector<ZipMember>& members, bool zip64 = false);

std::string SafetensorsText(const std::string& header, const std::string& values);
std::string IdxText(uint8_t type, std::initializer_list<uint8_t> sizes, const std::string& values);

struct Seed {
  std::string name;  // with the extension that leads to the reader
  std::string bytes;
  bool tells_size;  // every shorter file is an error
};
std::vector<Seed> Seeds();

// Opens every member of a file with this name and content, and reads all values in every way.
// The content is copied to memory of its exact size, where a sanitizer sees each wrong access.
// Gives the first error.
Status ReadEverything(const std::string& name, std::string_view content);

}  // namespace resmem

#endif  // RESMEM_DATA_TEST_SEEDS_H_
