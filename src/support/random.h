// Random numbers that are the same on every machine and standard library: xoshiro256++
// seeded through splitmix64.
#ifndef RESMEM_SUPPORT_RANDOM_H_
#define RESMEM_SUPPORT_RANDOM_H_

#include <cmath>
#include <cstdint>

namespace resmem {

class Random {
 public:
  // Streams of one seed are independent of each other: give each block of parallel work its
  // own, and the result does not depend on the thread count.
  explicit Random(uint64_t seed, uint64_t stream = 0) {
    uint64_t x = seed ^ (stream * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du);
    for (uint64_t& word : state_) word = SplitMix(&x);
  }

  uint64_t Bits() {
    const uint64_t result = Rotate(state_[0] + state_[3], 23) + state_[0];
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }
  double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }  // [0, 1)
  // 0 .. bound - 1; the bias is below 2^-64 * bound.
  uint64_t Below(uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Bits()) * bound) >> 64);
  }
  double Normal() {  // Box-Muller, the second value thrown away: simple and stateless
    const double u = 1.0 - Uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * Uniform());
  }

 private:
  static uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t SplitMix(uint64_t* x) {
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_[4];
};

}  // namespace resmem

#endif  // RESMEM_SUPPORT_RANDOM_H_
