#include "transformer/bfloat16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

float ToFloat(Bfloat16 value) {
  return std::bit_cast<float>(uint32_t{value} << 16);
}

std::vector<Bfloat16> RandomValues(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.Normal());
  std::vector<Bfloat16> rounded(values.size());
  RoundToBfloat16(values.data(), count, rounded.data());
  return rounded;
}

TEST(Bfloat16, RoundsToTheNearestAndTiesToEven) {
  AtEverySimdLevel([] {
    const std::vector<float> values = {1.0f,
                                       -2.5f,
                                       0.0f,
                                       std::bit_cast<float>(0x3f808000u),
                                       std::bit_cast<float>(0x3f818000u),
                                       std::bit_cast<float>(0x3f808001u),
                                       1e-40f,
                                       3e38f};
    std::vector<float> many;
    for (int i = 0; i < 5; ++i) many.insert(many.end(), values.begin(), values.end());
    many.pop_back();  // an end that fills no vector
    std::vector<Bfloat16> out(many.size());
    RoundToBfloat16(many.data(), static_cast<int64_t>(many.size()), out.data());
    const std::vector<Bfloat16> expected = {0x3f80, 0xc020, 0,      0x3f80,
                                            0x3f82, 0x3f81, 0x0001, 0x7f62};
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], expected[i % 8]) << many[i];
  });
}

TEST(Bfloat16, TransposesExactly) {
  constexpr int64_t kRows = 32, kColumns = 96, kIn = Bfloat16Stride(kColumns), kOut = 40;
  const std::vector<Bfloat16> in = RandomValues(kRows * kIn, 1);
  AtEverySimdLevel([&] {
    std::vector<Bfloat16> out(kColumns * kOut, 7);
    Transpose(in.data(), kIn, kRows, kColumns, out.data(), kOut);
    for (int64_t column = 0; column < kColumns; ++column) {
      for (int64_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(out[static_cast<size_t>(column * kOut + row)],
                  in[static_cast<size_t>(row * kIn + column)]);
      }
      EXPECT_EQ(out[static_cast<size_t>(column * kOut + kRows)], 7) << "beyond the rows";
    }
  });
}

struct Case {
  int64_t rows, columns, inner;
};

TEST(Bfloat16, ProductsAreThoseOfTheRoundedNumbers) {
  for (const auto& [rows, columns, inner] :
       {Case{32, 32, 32}, Case{64, 96, 64}, Case{96, 32, 1056}, Case{32, 64, 512}}) {
    const int64_t a_stride = Bfloat16Stride(inner), b_stride = Bfloat16Stride(columns);
    const int64_t c_stride = columns + 5;
    const auto a = RandomValues(rows * a_stride, 2), b = RandomValues(inner * b_stride, 3);
    std::vector<double> expected(static_cast<size_t>(rows * columns));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) {
          sum += double{ToFloat(a[static_cast<size_t>(i * a_stride + k)])} *
                 ToFloat(b[static_cast<size_t>(k * b_stride + j)]);
        }
        expected[static_cast<size_t>(i * columns + j)] = sum;
      }
    }
    AtEverySimdLevel([&, rows = rows, columns = columns, inner = inner] {
      std::vector<Bfloat16> panels(static_cast<size_t>(inner * columns)), again(panels.size());
      PanelsFromRows(b.data(), b_stride, inner, columns, panels.data());
      std::vector<Bfloat16> turned(static_cast<size_t>(columns * inner));
      Transpose(b.data(), b_stride, inner, columns, turned.data(), inner);
      PanelsFromColumns(turned.data(), inner, inner, columns, again.data());
      EXPECT_EQ(panels, again);
      std::vector<float> c(static_cast<size_t>(rows * c_stride), 1.0f);
      for (const bool add : {false, true}) {
        Multiply(rows, columns, inner, a.data(), a_stride, {panels.data(), inner}, add, c.data(),
                 c_stride);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            const double wanted = expected[static_cast<size_t>(i * columns + j)] * (add ? 2 : 1);
            ASSERT_NEAR(c[static_cast<size_t>(i * c_stride + j)], wanted, 1e-5 * inner)
                << rows << " x " << columns << " x " << inner << ", " << i << ", " << j;
          }
          EXPECT_EQ(c[static_cast<size_t>(i * c_stride + columns)], 1.0f) << "beyond the columns";
        }
      }
    });
  }
}

TEST(Bfloat16, AProductCanTakePartOfAPanel) {
  constexpr int64_t kInner = 128, kColumns = 64;
  const auto a = RandomValues(32 * kInner, 4), b = RandomValues(kInner * kColumns, 5);
  std::vector<Bfloat16> panels(kInner * kColumns);
  PanelsFromRows(b.data(), kColumns, kInner, kColumns, panels.data());
  AtEverySimdLevel([&] {
    // Inner values 32 .. 95 of columns 32 .. 63 are those of a smaller right side.
    std::vector<Bfloat16> part(64 * 32);
    PanelsFromRows(b.data() + 32 * kColumns + 32, kColumns, 64, 32, part.data());
    std::vector<float> c(32 * 32), expected(32 * 32);
    Multiply(32, 32, 64, a.data(), kInner, {part.data(), 64}, false, expected.data(), 32);
    Multiply(32, 32, 64, a.data(), kInner, Panels{panels.data(), kInner}.SkipColumns(32).Skip(32),
             false, c.data(), 32);
    EXPECT_EQ(c, expected);
  });
}

}  // namespace
}  // namespace resmem
