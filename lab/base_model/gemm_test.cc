#include "base_model/gemm.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

std::vector<float> RandomValues(int64_t count, uint64_t stream) {
  Random random(7, stream);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

// Reads every value through its own sum, and around the product expects the poison untouched.
void ExpectProduct(int64_t rows, int64_t columns, int64_t inner, bool transposed) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", inner " << inner);
  const float poison = std::numeric_limits<float>::quiet_NaN();
  const int64_t b_stride = columns + 3, c_stride = columns + 1;
  const std::vector<float> a_values = RandomValues(rows * inner, 1);
  std::vector<float> b(static_cast<size_t>(inner * b_stride), poison);
  const std::vector<float> b_values = RandomValues(inner * columns, 2);
  for (int64_t i = 0; i < inner; ++i) {
    std::copy_n(&b_values[i * columns], columns, &b[i * b_stride]);
  }
  const StridedMatrix a = transposed ? StridedMatrix{a_values.data(), 1, rows}
                                     : StridedMatrix{a_values.data(), inner, 1};
  std::vector<float> c(static_cast<size_t>(rows * c_stride), poison);
  Multiply(rows, columns, inner, a, b.data(), b_stride, c.data(), c_stride);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t i = 0; i < inner; ++i) {
        sum += a.data[r * a.row_stride + i * a.column_stride] * b[i * b_stride + j];
      }
      ASSERT_EQ(c[r * c_stride + j], sum) << r << ", " << j;
    }
    ASSERT_NE(c[r * c_stride + columns], c[r * c_stride + columns]) << "wrote beyond row " << r;
  }
}

TEST(Multiply, IsThePlainSumBitForBitAtEveryLevel) {
  AtEverySimdLevel([] {
    for (const int64_t columns : {1, 3, 4, 10, 16, 17, 33, 64, 100}) {
      for (const int64_t rows : {1, 4, 7}) {
        for (const bool transposed : {false, true}) {
          ExpectProduct(rows, columns, 5, transposed);
          ExpectProduct(rows, columns, 600, transposed);
        }
      }
    }
  });
}

TEST(Multiply, OfNothingIsZero) {
  std::vector<float> c(12, 5.0f);
  const float unused = 1;
  Multiply(4, 3, 0, {&unused, 0, 0}, &unused, 3, c.data(), 3);
  EXPECT_EQ(c, std::vector<float>(12, 0.0f));
}

}  // namespace
}  // namespace resmem
