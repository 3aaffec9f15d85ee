#include "text/hugging_face/byte_letters.h"

#include <array>

#include "text/hugging_face/characters.h"

namespace resmem {
namespace {

constexpr char32_t kLetters = 0x144;  // all of them are below

struct Alphabet {
  std::array<std::string, 256> letter_of;
  std::array<int, kLetters> byte_of{};

  Alphabet() {
    byte_of.fill(-1);
    char32_t spare = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
                             (byte >= 0xAE && byte <= 0xFF);
      const char32_t letter = printable ? byte : spare++;
      AddCharacter(letter, &letter_of[byte]);
      byte_of[letter] = static_cast<int>(byte);
    }
  }
};

const Alphabet& TheAlphabet() {
  static const Alphabet alphabet;
  return alphabet;
}

}  // namespace

std::string BytesAsLetters(std::string_view bytes) {
  const Alphabet& alphabet = TheAlphabet();
  std::string letters;
  letters.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) letters += alphabet.letter_of[static_cast<unsigned char>(byte)];
  return letters;
}

std::optional<std::string> LettersAsBytes(std::string_view letters) {
  const Alphabet& alphabet = TheAlphabet();
  std::string bytes;
  while (!letters.empty()) {
    const char32_t letter = TakeCharacter(&letters);
    if (letter >= kLetters || alphabet.byte_of[letter] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet.byte_of[letter]);
  }
  return bytes;
}

}  // namespace resmem
