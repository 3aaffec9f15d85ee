// Narrow number formats to float32 and back, the same bits on every instruction set.
// Arrays need no alignment.
#ifndef RESMEM_KERNELS_NUMBER_CODEC_H_
#define RESMEM_KERNELS_NUMBER_CODEC_H_

#include <cstdint>

namespace resmem {

// IEEE binary16, as its bits.  Every value has an exact float; a NaN becomes quiet and keeps
// its sign and payload.
void HalfToFloat(const uint16_t* halves, int64_t n, float* out);

// Rounds to the nearest half, ties to even; beyond 65519.99 to infinity; a NaN becomes quiet
// and keeps its sign and the payload's upper bits.
void FloatToHalf(const float* x, int64_t n, uint16_t* out);

// out[i] = scale * codes[i], rounded to float.
void Int8ToFloat(const int8_t* codes, int64_t n, float scale, float* out);

// codes[i] = x[i] / scale rounded to nearest, ties to even, within -127 .. 127.  Returns
// scale = max |x| / 127, or 0 (and all codes 0) where that is below the smallest normal float.
// x must be finite.
float QuantizeInt8(const float* x, int64_t n, int8_t* codes);

}  // namespace resmem

#endif  // RESMEM_KERNELS_NUMBER_CODEC_H_
