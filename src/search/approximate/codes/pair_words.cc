#include "search/approximate/codes/pair_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/approximate/codes/pair_words.cc"
#include "hwy/foreach_target.h"  // compiles the rest of this file once per instruction set
#include "hwy/highway.h"
#include "kernels/simd_level.h"
#include "search/approximate/codes/list_scan_kernel.h"
#include "search/approximate/codes/pair_words_x86.h"

HWY_BEFORE_NAMESPACE();
namespace resmem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPiece = kBlockRows * 4;  // four bytes of each row of a block

#if HWY_TARGET != HWY_SCALAR

// A table has as many bytes as a shuffle reads, but four of them share a vector: each is looked up
// for its own bytes, which leaves zeros in the others.
void DecodePiece(const uint8_t* words, const uint8_t* tables, uint8_t* codes) {
  const hn::CappedTag<uint8_t, kPiece> d;
  const hn::Repartition<uint16_t, decltype(d)> shorts;
  const hn::Repartition<uint32_t, decltype(d)> lanes;
  const auto four_bits = hn::Set(d, uint8_t{15});
  for (int64_t place = 0; place < kPiece; place += static_cast<int64_t>(hn::Lanes(d))) {
    const auto both = hn::LoadU(d, words + place);
    const auto upper = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(shorts, both)));
    for (int64_t part = 0; part < 4; ++part) {
      const auto word = hn::And(part < 2 ? both : upper, four_bits);
      auto sum = hn::Zero(d);
      for (int64_t j = 0; j < 4; ++j) {
        const auto elsewhere =
            hn::BitCast(d, hn::Set(lanes, 0x80808080u & ~(uint32_t{0xff} << (8 * j))));
        const auto table = hn::LoadDup128(d, tables + (4 * part + j) * kWords);
        sum = hn::Or(sum, hn::TableLookupBytesOr0(table, hn::Or(word, elsewhere)));
      }
      hn::StoreU(sum, d, codes + part * kPiece + place);
    }
  }
}

#else

void DecodePiece(const uint8_t* words, const uint8_t* tables, uint8_t* codes) {
  for (int64_t place = 0; place < kPiece; ++place) {
    for (int64_t part = 0; part < 4; ++part) {
      const int word = part < 2 ? words[place] & 15 : words[place] >> 4;
      codes[part * kPiece + place] = tables[(4 * part + place % 4) * kWords + word];
    }
  }
}

#endif

void DecodeWordsHere(const uint8_t* words, const uint8_t* tables, int64_t blocks, int64_t width,
                     uint8_t* codes) {
#if HWY_TARGET == HWY_AVX3
  if (WidePermutesAvailable()) return DecodeWordsByPermutes(words, tables, blocks, width, codes);
#endif
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < width; i += 16) {
      const int64_t row = block * width + i;
      DecodePiece(words + WordBytes(row) * kBlockRows, tables + i * kWords,
                  codes + row * kBlockRows);
    }
  }
}

void NearestWordsHere(const float* first, const float* second, const WordValues& values,
                      int64_t pairs, uint8_t* words) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  for (int64_t p = 0; p < pairs; p += static_cast<int64_t>(hn::Lanes(d))) {
    const auto a = hn::LoadU(d, first + p), b = hn::LoadU(d, second + p);
    auto nearest = hn::Zero(integers);
    auto least = hn::Zero(d);
    for (int64_t w = 0; w < kWords; ++w) {
      const auto from_a = hn::Sub(a, hn::LoadU(d, values.first + w * pairs + p));
      const auto from_b = hn::Sub(b, hn::LoadU(d, values.second + w * pairs + p));
      const auto distance = hn::Add(hn::Mul(from_a, from_a), hn::Mul(from_b, from_b));
      if (w == 0) {
        least = distance;
        continue;
      }
      const auto nearer = hn::Lt(distance, least);
      least = hn::IfThenElse(nearer, distance, least);
      nearest = hn::IfThenElse(hn::RebindMask(integers, nearer),
                               hn::Set(integers, static_cast<int32_t>(w)), nearest);
    }
    hn::StoreU(hn::DemoteTo(bytes, nearest), bytes, words + p);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace resmem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace resmem {

HWY_EXPORT(DecodeWordsHere);
HWY_EXPORT(NearestWordsHere);

void DecodeWords(const uint8_t* words, const uint8_t* tables, int64_t blocks, int64_t width,
                 uint8_t* codes) {
  RESMEM_DISPATCH(DecodeWordsHere)(words, tables, blocks, width, codes);
}

void NearestWords(const float* first, const float* second, const WordValues& values, int64_t pairs,
                  uint8_t* words) {
  RESMEM_DISPATCH(NearestWordsHere)(first, second, values, pairs, words);
}

}  // namespace resmem
#endif  // HWY_ONCE
