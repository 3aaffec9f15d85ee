// Codes of 4 bits, two in a byte: rows take half of the bytes, and stand for 8-bit codes, so that
// list_scan_kernel.h scans both alike.
//
// The number n, 0 .. 15, stands for the code 16 n - 120.  Byte 4 a + j of a row (j = 0 .. 3) holds
// the number of code 8 a + j in its lower four bits and that of code 8 a + 4 + j in the upper ones:
// eight codes in four bytes, which lie in blocks of 16 rows as four 8-bit codes do.
//
// Results are the same on every instruction set.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_HALF_BYTES_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_HALF_BYTES_H_

#include <cstdint>

namespace resmem {

// Of a row of `width` codes, a multiple of kCodePadding.
constexpr int64_t HalfBytes(int64_t width) {
  return width / 2;
}

constexpr int8_t kHalfByteOfZero = 8;  // there is no code 0; this one with scale 0 stands for it

// x[0 .. count) in codes, of which it returns the scale: of several steps the one whose codes come
// nearest, and of all multiples of these the nearest.  0 where x is too small to be told from 0.
float QuantizeHalfBytes(const float* x, int64_t count, int8_t* codes);

// Codes of one row, which must be among those of 4 bits.
void PackHalfBytes(const int8_t* codes, int64_t width, uint8_t* packed);

// `blocks` blocks of packed rows as the blocks of 8-bit codes that ScanBlocks() takes.
void UnpackHalfBytes(const uint8_t* packed, int64_t blocks, int64_t width, uint8_t* codes);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_HALF_BYTES_H_
