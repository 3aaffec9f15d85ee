// GPT-2's alphabet: each byte as one printable letter, so that any bytes are a text.
#ifndef RESMEM_TEXT_HUGGING_FACE_BYTE_LETTERS_H_
#define RESMEM_TEXT_HUGGING_FACE_BYTE_LETTERS_H_

#include <optional>
#include <string>
#include <string_view>

namespace resmem {

std::string BytesAsLetters(std::string_view bytes);
// Nothing where the text has another letter.
std::optional<std::string> LettersAsBytes(std::string_view letters);

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_BYTE_LETTERS_H_
