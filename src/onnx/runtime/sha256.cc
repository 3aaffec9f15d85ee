#include "onnx/runtime/sha256.h"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace resmem {
namespace {

// Fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t BigEndian(const std::byte* bytes) {
  return std::to_integer<uint32_t>(bytes[0]) << 24 | std::to_integer<uint32_t>(bytes[1]) << 16 |
         std::to_integer<uint32_t>(bytes[2]) << 8 | std::to_integer<uint32_t>(bytes[3]);
}

}  // namespace

void Sha256::PlainBlocks(const std::byte* bytes, size_t blocks, State* state) {
  using std::rotr;
  for (; blocks > 0; --blocks, bytes += kBlock) {
    uint32_t words[64];
    for (size_t i = 0; i < 16; ++i) words[i] = BigEndian(bytes + 4 * i);
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = words[i - 15], b = words[i - 2];
      words[i] = words[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + words[i - 7] +
                 (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = *state;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t one = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                           kRounds[i] + words[i];
      const uint32_t two = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one;
      d = c, c = b, b = a, a = one + two;
    }
    const State added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < added.size(); ++i) (*state)[i] += added[i];
  }
}

#if defined(__x86_64__)

bool Sha256::HasInstructions() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t kSha = 1u << 29, kSse41 = 1u << 19;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kSha) == 0) return false;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kSse41) != 0;
}

// The instructions keep the state as two vectors, ABEF and CDGH, highest word first, and do two
// rounds at a time; the words of four rounds are one vector.
__attribute__((target("sha,sse4.1"))) void Sha256::FastBlocks(const std::byte* bytes, size_t blocks,
                                                              State* state) {
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const words = reinterpret_cast<__m128i*>(state->data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; blocks > 0; --blocks, bytes += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i next[4];  // the words of the next 16 rounds
    for (int i = 0; i < 4; ++i) {
      const auto* const place = reinterpret_cast<const __m128i*>(bytes + 16 * i);
      next[i] = _mm_shuffle_epi8(_mm_loadu_si128(place), order);
    }
    for (int i = 0; i < 16; ++i) {
      const __m128i now = next[i % 4];
      const auto* const constants = reinterpret_cast<const __m128i*>(kRounds + 4 * i);
      const __m128i sum = _mm_add_epi32(now, _mm_load_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      const __m128i last = next[(i + 3) % 4];
      const __m128i middle = _mm_alignr_epi8(last, next[(i + 2) % 4], 4);
      const __m128i begun = _mm_sha256msg1_epu32(now, next[(i + 1) % 4]);
      next[i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(begun, middle), last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool Sha256::HasInstructions() {
  return false;
}

void Sha256::FastBlocks(const std::byte* bytes, size_t blocks, State* state) {
  PlainBlocks(bytes, blocks, state);
}

#endif

// Fractional parts of the square roots of the first 8 primes.
Sha256::Sha256(bool by_instructions)
    : blocks_(by_instructions ? FastBlocks : PlainBlocks),
      state_({0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
              0x5be0cd19}) {}

void Sha256::Add(std::span<const std::byte> bytes) {
  const size_t begun = size_ % kBlock;
  size_ += bytes.size();
  if (begun > 0) {
    const size_t taken = std::min(bytes.size(), kBlock - begun);
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(begun));
    if (begun + taken < kBlock) return;
    blocks_(rest_.data(), 1, &state_);
    bytes = bytes.subspan(taken);
  }
  blocks_(bytes.data(), bytes.size() / kBlock, &state_);
  bytes = bytes.subspan(bytes.size() / kBlock * kBlock);
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

std::string Sha256::Finish() {
  // A bit, zeros, and the number of bits in the last 8 bytes of a block.
  const uint64_t bits = size_ * 8;
  std::array<std::byte, 2 * kBlock> end = {std::byte{0x80}};
  const size_t zeros = (2 * kBlock - 9 - size_ % kBlock) % kBlock;
  for (size_t i = 0; i < 8; ++i) end[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  Add(std::span(end).first(1 + zeros + 8));
  std::string hex;
  for (const uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

}  // namespace resmem
