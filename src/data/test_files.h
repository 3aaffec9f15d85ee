// For the tests of this folder: a folder that vanishes, and files made of bytes.
#ifndef RESMEM_DATA_TEST_FILES_H_
#define RESMEM_DATA_TEST_FILES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "data/npy.h"
#include "resmem/array.h"
#include "support/text.h"

namespace resmem {

template <typename T>
std::string BytesOf(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T)};
}

inline std::string NpyText(std::string_view descriptor, std::vector<int64_t> shape,
                           const std::string& values) {
  return NpyHeader(descriptor, shape) + values;
}

class DataTest : public testing::Test {
 protected:
  DataTest()
      : folder_(Text(testing::TempDir(), "resmem_data_", ::getpid(), "_",
                     testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~DataTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  // Every value of the array; a failed test and nothing where it cannot be read.
  static std::vector<float> Floats(const std::string& path) {
    Result<Array> array = OpenArray({path, {}, {}});
    EXPECT_TRUE(array.ok()) << array.status().message();
    if (!array.ok()) return {};
    std::vector<float> values(static_cast<size_t>(array->rows() * array->columns()));
    const Status status = array->ReadFloats(0, array->rows(), values);
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  static std::vector<int64_t> Integers(const std::string& path) {
    Result<Array> array = OpenArray({path, {}, {}});
    EXPECT_TRUE(array.ok()) << array.status().message();
    if (!array.ok()) return {};
    std::vector<int64_t> values(static_cast<size_t>(array->rows() * array->columns()));
    const Status status = array->ReadIntegers(0, array->rows(), values);
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  static std::vector<int64_t> Shape(const std::string& path) {
    Result<Array> array = OpenArray({path, {}, {}});
    EXPECT_TRUE(array.ok()) << array.status().message();
    if (!array.ok()) return {};
    return {array->shape().begin(), array->shape().end()};
  }
  static Status OpenError(const std::string& path) { return OpenArray({path, {}, {}}).status(); }

  std::string folder_;
};

}  // namespace resmem

#endif  // RESMEM_DATA_TEST_FILES_H_
