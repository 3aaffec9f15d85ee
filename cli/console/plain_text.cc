#include "console/plain_text.h"

namespace resmem::cli {
namespace {

// Calls put(piece) for every piece of the plain text.
template <typename Put>
void EachPiece(std::string_view text, const Put& put) {
  while (!text.empty()) {
    size_t clean = 0;
    while (clean < text.size() && ControlBytes(text.substr(clean)) == 0) ++clean;
    if (clean > 0) put(text.substr(0, clean));
    text.remove_prefix(clean);
    if (text.empty()) return;
    for (size_t bytes = ControlBytes(text); bytes > 0; --bytes) {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text.front());
      const char code[] = {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      put(std::string_view(code, sizeof code));
      text.remove_prefix(1);
    }
  }
}

}  // namespace

size_t ControlBytes(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x20) return byte == '\t' || byte == '\n' ? 0 : 1;
  if (byte == 0x7f) return 1;
  const auto next = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0;
  return byte == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

std::string Plain(std::string_view text) {
  std::string plain;
  EachPiece(text, [&](std::string_view piece) { plain += piece; });
  return plain;
}

void PutPlain(std::string_view text, std::FILE* file) {
  EachPiece(text,
            [&](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), file); });
}

}  // namespace resmem::cli
