// DecodeWords() for processors whose shuffles read 64 bytes (AVX-512 VBMI), which Highway 1.0.3
// does not offer.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_WORDS_X86_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_WORDS_X86_H_

#include <cstdint>

namespace resmem {

bool WidePermutesAvailable();

void DecodeWordsByPermutes(const uint8_t* words, const uint8_t* tables, int64_t blocks,
                           int64_t width, uint8_t* codes);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_PAIR_WORDS_X86_H_
