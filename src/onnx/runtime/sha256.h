// SHA-256 (FIPS 180-4), for code that is loaded from a file: a digest that nobody can make another
// file for, which XXH3 is not.
//
// Our own, because a cryptographic library would become a dependency of every program that reads
// images, for one function.  Test vectors stand in sha256_test.cc.
#ifndef RESMEM_ONNX_RUNTIME_SHA256_H_
#define RESMEM_ONNX_RUNTIME_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace resmem {

class Sha256 {
 public:
  // By the processor's instructions for it, ten times as fast, where it has them.
  explicit Sha256(bool by_instructions = HasInstructions());
  void Add(std::span<const std::byte> bytes);
  // 64 hexadecimal digits.  Nothing may be added afterwards.
  std::string Finish();

  static bool HasInstructions();

 private:
  static constexpr size_t kBlock = 64;
  using State = std::array<uint32_t, 8>;
  using Blocks = void (*)(const std::byte* bytes, size_t blocks, State* state);
  static void PlainBlocks(const std::byte* bytes, size_t blocks, State* state);
  static void FastBlocks(const std::byte* bytes, size_t blocks, State* state);

  Blocks blocks_;
  State state_;
  uint64_t size_ = 0;                        // bytes so far
  std::array<std::byte, kBlock> rest_ = {};  // those of them that do not fill a block yet
};

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_SHA256_H_
