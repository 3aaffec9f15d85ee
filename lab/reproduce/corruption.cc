#include "reproduce/corruption.h"

#include <algorithm>
#include <new>
#include <vector>

#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int kNoiseStep = 6, kBrightnessStep = 25;
constexpr int kPiecesOfDraw = 4;   // 16-bit numbers in a draw
constexpr int kDrawsOfNormal = 3;  // twelve numbers: a variance of 65536^2, but for 1 in 2^32
constexpr int64_t kNormalUnit = 65536;

uint8_t Cut(int64_t value) {
  return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

// Nearly a standard normal, in units of 1 / 131072: the sum of twelve even 16-bit numbers minus
// its mean of 12 * 65535 / 2, doubled to stay whole.
int64_t DrawNormal(Random* random) {
  int64_t sum = 0;
  for (int draw = 0; draw < kDrawsOfNormal; ++draw) {
    uint64_t bits = random->Bits();
    for (int piece = 0; piece < kPiecesOfDraw; ++piece) {
      sum += static_cast<int64_t>(bits & 0xffff);
      bits >>= 16;
    }
  }
  constexpr int64_t kNumbers = kPiecesOfDraw * kDrawsOfNormal;
  return 2 * sum - kNumbers * (kNormalUnit - 1);
}

// Halves away from zero.
int64_t DivideRounded(int64_t value, int64_t by) {
  return value >= 0 ? (value + by / 2) / by : -((-value + by / 2) / by);
}

void AddNoise(int strength, Random random, std::span<uint8_t> image) {
  for (uint8_t& value : image) {
    const int64_t noise =
        DivideRounded(kNoiseStep * strength * DrawNormal(&random), 2 * kNormalUnit);
    value = Cut(value + noise);
  }
}

void BlurOnce(const ImageShape& shape, std::span<const uint8_t> from, std::span<uint8_t> to) {
  const auto at = [&](int64_t y, int64_t x, int64_t channel) {
    y = std::clamp<int64_t>(y, 0, shape.height - 1);
    x = std::clamp<int64_t>(x, 0, shape.width - 1);
    return int64_t{from[static_cast<size_t>((y * shape.width + x) * shape.channels + channel)]};
  };
  size_t out = 0;
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x) {
      for (int64_t c = 0; c < shape.channels; ++c) {
        const auto row = [&](int64_t line) {
          return at(line, x - 1, c) + 2 * at(line, x, c) + at(line, x + 1, c);
        };
        to[out++] = static_cast<uint8_t>((row(y - 1) + 2 * row(y) + row(y + 1) + 8) >> 4);
      }
    }
  }
}

}  // namespace

const char* CorruptionName(Corruption corruption) {
  switch (corruption) {
    case Corruption::kGaussianNoise:
      return "gaussian-noise";
    case Corruption::kBlur:
      return "blur";
    case Corruption::kBrightness:
      return "brightness";
  }
  return "";
}

Status Corrupt(Corruption corruption, int strength, uint64_t seed, int64_t first,
               const ImageShape& shape, std::span<uint8_t> pixels) try {
  if (strength < 1 || strength > kMostCorruption) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(CorruptionName(corruption), " has the strengths 1 to ", kMostCorruption,
                       ", not ", strength));
  }
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 ||
      std::ssize(pixels) % shape.bytes() != 0) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(pixels.size(), " bytes are not whole images of ", ImageShapeText(shape)));
  }
  const auto bytes = static_cast<size_t>(shape.bytes());
  std::vector<uint8_t> before(corruption == Corruption::kBlur ? bytes : 0);
  for (size_t begin = 0; begin < pixels.size(); begin += bytes) {
    const std::span<uint8_t> image = pixels.subspan(begin, bytes);
    const uint64_t number = static_cast<uint64_t>(first) + begin / bytes;
    switch (corruption) {
      case Corruption::kGaussianNoise:
        AddNoise(strength, Random(seed, number), image);
        break;
      case Corruption::kBlur:
        for (int pass = 0; pass < strength; ++pass) {
          std::copy(image.begin(), image.end(), before.begin());
          BlurOnce(shape, before, image);
        }
        break;
      case Corruption::kBrightness:
        for (uint8_t& value : image) value = Cut(int64_t{value} + kBrightnessStep * strength);
        break;
    }
  }
  return {};
} catch (const std::bad_alloc&) {
  return Status(ErrorCode::kResourceExhausted, "no memory left to corrupt an image");
}

}  // namespace resmem
