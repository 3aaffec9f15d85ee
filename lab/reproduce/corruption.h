// Images made worse by a rule, to see what a shift of the inputs does to a prediction.
//
// Every rule is whole-number arithmetic, so that a corrupted image has the same bytes on every
// machine, for any thread count and whatever was corrupted before it:
//
//   gaussian-noise  each value + round(d * z), d = 6, 12, 18, 24, 30 of 255; z is the sum of twelve
//                   uniform 16-bit numbers, shifted and scaled to mean 0 and variance 1, drawn
//                   from (seed, number of the image)
//   blur            the kernel (1 2 1; 2 4 2; 1 2 1) / 16 applied 1 to 5 times, rounded each time,
//                   the border repeated: a standard deviation of sqrt(strength / 2) pixels
//   brightness      each value + 25, 50, 75, 100, 125
//
// Values are cut to 0 .. 255 at the end of a pass.
#ifndef RESMEM_LAB_REPRODUCE_CORRUPTION_H_
#define RESMEM_LAB_REPRODUCE_CORRUPTION_H_

#include <cstdint>
#include <span>

#include "resmem/models/image_set.h"
#include "resmem/status.h"

namespace resmem {

enum class Corruption { kGaussianNoise, kBlur, kBrightness };
const char* CorruptionName(Corruption corruption);  // "gaussian-noise", "blur", "brightness"

inline constexpr int kMostCorruption = 5;  // strengths are 1 .. 5

// Changes `pixels`, whole images of `shape` one after the other (height x width x channels), in
// place.  `first`: the number of the first of them in its set.  `seed` matters to noise only.
// kInvalidArgument for another strength, or bytes that are not whole images.
Status Corrupt(Corruption corruption, int strength, uint64_t seed, int64_t first,
               const ImageShape& shape, std::span<uint8_t> pixels);

}  // namespace resmem

#endif  // RESMEM_LAB_REPRODUCE_CORRUPTION_H_
