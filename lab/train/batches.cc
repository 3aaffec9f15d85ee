#include "train/batches.h"

#include <algorithm>

#include "support/parallel.h"
#include "support/random.h"

namespace resmem::train {
namespace {

// Streams of one seed that must not meet.
constexpr uint64_t kShuffleStream = uint64_t{1} << 62;

constexpr int kBytes = 256;
constexpr int64_t kImagesATask = 16;

}  // namespace

std::vector<int64_t> ShuffledRows(std::vector<int64_t> rows, uint64_t seed, int64_t epoch) {
  Random random(seed, kShuffleStream + static_cast<uint64_t>(epoch));
  for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.Below(i)]);
  return rows;
}

BatchMaker::BatchMaker(const TrainingData& data, const Normalization& normalization, int threads)
    : data_(data), normalization_(normalization), threads_(threads) {
  if (data.table()) return;
  for (int64_t c = 0; c < data.shape.channels; ++c) {
    const auto channel = static_cast<size_t>(c);
    for (int byte = 0; byte < kBytes; ++byte) {
      table_.push_back((static_cast<float>(byte) / 255.0f - normalization.mean[channel]) /
                       normalization.deviation[channel]);
    }
  }
}

void BatchMaker::Image(const uint8_t* pixels, int64_t row, const Augmentation& augmentation,
                       float* out) const {
  const auto& [channels, height, width] = data_.shape;
  int64_t down = 0, right = 0;
  bool flipped = false;
  if (augmentation.padding > 0 || augmentation.flip) {
    Random random(augmentation.seed,
                  static_cast<uint64_t>(augmentation.epoch * data_.rows() + row));
    const auto range = static_cast<uint64_t>(2 * augmentation.padding + 1);
    down = static_cast<int64_t>(random.Below(range)) - augmentation.padding;
    right = static_cast<int64_t>(random.Below(range)) - augmentation.padding;
    flipped = augmentation.flip && random.Below(2) == 1;
  }
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t from_y = y + down, from_x = (flipped ? width - 1 - x : x) + right;
      const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
      for (int64_t c = 0; c < channels; ++c) {
        const uint8_t byte = inside ? pixels[(from_y * width + from_x) * channels + c] : 0;
        *out++ = table_[static_cast<size_t>(c * kBytes + byte)];
      }
    }
  }
}

torch::Tensor BatchMaker::TableRows(std::span<const int64_t> rows) const {
  const int64_t columns = data_.shape.channels;
  torch::Tensor batch = torch::empty({static_cast<int64_t>(rows.size()), columns});
  float* out = batch.data_ptr<float>();
  for (const int64_t row : rows) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto column = static_cast<size_t>(c);
      const float value = data_.columns[static_cast<size_t>(row * columns + c)];
      *out++ = (value - normalization_.mean[column]) / normalization_.deviation[column];
    }
  }
  return batch;
}

Result<torch::Tensor> BatchMaker::Inputs(std::span<const int64_t> rows,
                                         const Augmentation& augmentation) const {
  if (data_.table()) return TableRows(rows);
  const auto count = static_cast<int64_t>(rows.size());
  const auto& [channels, height, width] = data_.shape;
  const int64_t values = channels * height * width;
  std::vector<uint8_t> pixels(static_cast<size_t>(count * values));
  RESMEM_RETURN_IF_ERROR(data_.images->ReadRows(rows, pixels, threads_));
  torch::Tensor batch = torch::empty({count, height, width, channels});
  float* out = batch.data_ptr<float>();
  ParallelFor(threads_, count, kImagesATask, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      Image(pixels.data() + i * values, rows[static_cast<size_t>(i)], augmentation,
            out + i * values);
    }
  });
  return batch.permute({0, 3, 1, 2});
}

torch::Tensor BatchMaker::Labels(std::span<const int64_t> rows) const {
  torch::Tensor labels = torch::empty({static_cast<int64_t>(rows.size())}, torch::kLong);
  std::transform(rows.begin(), rows.end(), labels.data_ptr<int64_t>(),
                 [&](int64_t row) { return data_.labels[static_cast<size_t>(row)]; });
  return labels;
}

}  // namespace resmem::train
