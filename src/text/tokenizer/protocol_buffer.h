// Reads the wire format of protocol buffers out of bytes that may lie.
#ifndef RESMEM_TEXT_TOKENIZER_PROTOCOL_BUFFER_H_
#define RESMEM_TEXT_TOKENIZER_PROTOCOL_BUFFER_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace resmem {

// One field at a time: while (reader.Next()) switch (reader.field()) ...
class ProtocolBuffer {
 public:
  explicit ProtocolBuffer(std::string_view bytes) : rest_(bytes) {}

  // False at the end, and where the bytes are not a message: then ok() is false as well.
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    const uint64_t key = TakeVarint();
    field_ = key >> 3;
    switch (key & 7) {
      case 0:
        number_ = TakeVarint();
        text_ = {};
        break;
      case 1:
        text_ = Take(8);
        break;
      case 2:
        text_ = Take(TakeVarint());
        break;
      case 5:
        text_ = Take(4);
        break;
      default:
        ok_ = false;
    }
    ok_ = ok_ && field_ != 0;
    return ok_;
  }
  bool ok() const { return ok_; }

  uint64_t field() const { return field_; }
  uint64_t number() const { return number_; }      // of an integer field
  std::string_view text() const { return text_; }  // of any other
  // Of a field of 4 bytes; 0 where it has another size.
  float real() const {
    float value = 0;
    if (text_.size() == sizeof(value)) std::memcpy(&value, text_.data(), sizeof(value));
    return value;
  }

 private:
  uint64_t TakeVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_, text_;
  uint64_t field_ = 0, number_ = 0;
  bool ok_ = true;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKENIZER_PROTOCOL_BUFFER_H_
