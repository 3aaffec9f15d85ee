// Pairs of 8-bit codes as words of 4 bits: rows take a quarter of the bytes, and are decoded, with
// the tables of words in registers, into the blocks that list_scan_kernel.h scans.
//
// Of a row's codes, 8 a + j and 8 a + 4 + j (j = 0 .. 3) are pair 4 a + j.  Byte 4 c + j of its
// words holds pair 8 c + j in the lower four bits and pair 8 c + 4 + j in the upper ones: sixteen
// codes in four bytes, which lie in blocks of 16 rows as four 8-bit codes do.
//
// Results are the same on every instruction set.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_WORDS_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_WORDS_H_

#include <cstdint>

namespace resmem {

constexpr int64_t kWords = 16;  // of a pair

// Of a row of `width` codes, a multiple of kCodePadding.
constexpr int64_t WordBytes(int64_t width) {
  return width / 4;
}

// tables[kWords * i + w]: code i, plus 128, of a row whose pair with that code has word w.
// Decodes `blocks` blocks of words into as many of codes.
void DecodeWords(const uint8_t* words, const uint8_t* tables, int64_t blocks, int64_t width,
                 uint8_t* codes);

// The codes that words stand for, of all `pairs` (a multiple of 16) side by side: word w of pair p
// is first[w * pairs + p], second[w * pairs + p].
struct WordValues {
  const float* first;
  const float* second;
};

// The word nearest to each pair (first[p], second[p]); of equally near ones the lowest.
void NearestWords(const float* first, const float* second, const WordValues& values, int64_t pairs,
                  uint8_t* words);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_WORDS_H_
