#include "search/approximate/codes/row_coder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/every_simd_level.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/codes/half_bytes.h"
#include "search/approximate/ivf_test_data.h"

namespace resmem {
namespace {

double SquaredError(const RowCoder& coder, const float* residual, int64_t dim) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const double error = residual[i] - static_cast<double>(coder.scale()) * coder.codes()[i];
    sum += error * error;
  }
  return sum;
}

std::vector<float> NormalValues(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

// Sixteen words for two normal values: at best 0.116 of their variance is lost.
TEST(RowCoder, WordsLoseLittleMoreThanTheBestOnesWhateverTheScale) {
  constexpr int64_t kDim = 70, kRows = 3000;
  const std::vector<float> sample = NormalValues(kDim * kRows, 1);
  const PairCodebook codebook(sample, kDim, 0, 2);
  RowCoder coder(kDim, 2, &codebook);
  for (const float scale : {1e-12f, 1.0f, 1e12f}) {
    std::vector<float> rows = NormalValues(kDim * 200, 2);
    for (float& value : rows) value *= scale;
    double error = 0, square = 0;
    for (int64_t row = 0; row < 200; ++row) {
      coder.Code(rows.data() + row * kDim);
      error += SquaredError(coder, rows.data() + row * kDim, kDim);
    }
    for (const float value : rows) square += static_cast<double>(value) * value;
    EXPECT_LT(error / square, 0.135) << "scale " << scale;
    EXPECT_GT(error / square, 0.09) << "scale " << scale;
  }
}

TEST(RowCoder, StoredWordsDecodeToTheCodesThatWereMeasured) {
  constexpr int64_t kDim = 75;
  const int64_t width = CodeWidth(kDim);
  const std::vector<float> sample = NormalValues(kDim * 500, 3);
  const PairCodebook codebook(sample, kDim, 0, 1);
  RowCoder coder(kDim, 2, &codebook);
  CodedBlocks blocks(WordBytes(width), 2, 0);
  std::vector<uint8_t> decoded(static_cast<size_t>(2 * kBlockRows * width));
  for (int64_t row = 0; row < 20; ++row) {
    coder.Code(sample.data() + row * kDim);
    blocks.Set(row, coder.stored(), coder.scale(), 0);
    DecodeWords(blocks.codes().data(), codebook.tables().data(), 2, width, decoded.data());
    for (int64_t i = 0; i < width; ++i) {
      const int64_t byte =
          row / kBlockRows * kBlockRows * width + i / 4 * 64 + row % kBlockRows * 4 + i % 4;
      ASSERT_EQ(decoded[byte], coder.codes()[i] + 128) << "row " << row << ", code " << i;
    }
  }
}

TEST(RowCoder, PackedCodesAreTheOnesThatWereMeasured) {
  constexpr int64_t kDim = 75;
  const int64_t width = CodeWidth(kDim);
  const std::vector<float> sample = NormalValues(kDim * 40, 7);
  RowCoder coder(kDim, 4);
  CodedBlocks blocks(HalfBytes(width), 2, 0);
  std::vector<uint8_t> unpacked(static_cast<size_t>(2 * kBlockRows * width));
  for (int64_t row = 0; row < 20; ++row) {
    coder.Code(sample.data() + row * kDim);
    blocks.Set(row, coder.stored(), coder.scale(), 0);
    UnpackHalfBytes(blocks.codes().data(), 2, width, unpacked.data());
    for (int64_t i = 0; i < width; ++i) {
      const int64_t byte =
          row / kBlockRows * kBlockRows * width + i / 4 * 64 + row % kBlockRows * 4 + i % 4;
      ASSERT_EQ(unpacked[byte], coder.codes()[i] + 128) << "row " << row << ", code " << i;
    }
  }
}

TEST(RowCoder, PairsThatHaveNoMoreThanSixteenValuesLoseNothing) {
  constexpr int64_t kDim = 20;
  Random random(4);
  std::vector<float> sample(kDim * 600);
  for (float& value : sample) value = random.Below(2) == 0 ? -3.0f : 3.0f;
  const PairCodebook codebook(sample, kDim, 0, 1);
  RowCoder coder(kDim, 2, &codebook);
  for (int64_t row = 0; row < 600; ++row) {
    coder.Code(sample.data() + row * kDim);
    EXPECT_LT(SquaredError(coder, sample.data() + row * kDim, kDim), 1e-9) << row;
  }
}

TEST(RowCoder, AResidualOfZerosHasScaleZeroInEveryForm) {
  constexpr int64_t kDim = 12;
  const std::vector<float> sample = NormalValues(kDim * 50, 5), zeros(kDim);
  const PairCodebook codebook(sample, kDim, 0, 1), of_zeros(zeros, kDim, 0, 1);
  for (const int code_bits : {8, 4, 2}) {
    RowCoder coder(kDim, code_bits, code_bits == 2 ? &codebook : nullptr);
    coder.Code(zeros.data());
    EXPECT_EQ(coder.scale(), 0);
  }
  RowCoder coder(kDim, 2, &of_zeros);  // knows no other value
  coder.Code(sample.data());
  EXPECT_EQ(coder.scale(), 0);
}

TEST(PairCodebook, TablesAreTheSameForAnyThreadsAndInstructionSet) {
  constexpr int64_t kDim = 90;
  const std::vector<float> sample = NormalValues(kDim * 300, 6);
  const std::vector<uint8_t> expected = PairCodebook(sample, kDim, 7, 1).tables();
  EXPECT_NE(PairCodebook(sample, kDim, 8, 1).tables(), expected);
  AtEverySimdLevel([&] {
    for (const int threads : {1, 3}) {
      EXPECT_EQ(PairCodebook(sample, kDim, 7, threads).tables(), expected);
    }
  });
}

}  // namespace
}  // namespace resmem
