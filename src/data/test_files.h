// For the tests of this folder: a folder that vanishes with the test, and all values of a file.
#ifndef RESMEM_DATA_TEST_FILES_H_
#define RESMEM_DATA_TEST_FILES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/test_seeds.h"
#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem {

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
