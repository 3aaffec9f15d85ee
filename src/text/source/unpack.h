// Decoders that make bytes out of the front of an input.
#ifndef RESMEM_TEXT_SOURCE_UNPACK_H_
#define RESMEM_TEXT_SOURCE_UNPACK_H_

#include <memory>
#include <span>
#include <string>

#include "resmem/status.h"

namespace resmem {

class Decoder {
 public:
  struct Step {
    size_t used = 0, made = 0;
    bool ended = false;  // a whole stream: the next input begins another one
  };
  virtual ~Decoder() = default;
  // `input` is all that is left.
  virtual Result<Step> Run(std::span<const std::byte> input, std::span<char> out) = 0;
};

bool LooksLikeGzip(std::span<const std::byte> bytes);
bool LooksLikeZstd(std::span<const std::byte> bytes);
bool LooksLikeXzStream(std::span<const std::byte> bytes);

// `name` outlives them; for messages.
std::unique_ptr<Decoder> MakeGzipDecoder(const std::string& name);
std::unique_ptr<Decoder> MakeZstdDecoder(const std::string& name);
std::unique_ptr<Decoder> MakeXzDecoder(const std::string& name);

}  // namespace resmem

#endif  // RESMEM_TEXT_SOURCE_UNPACK_H_
