#include "data/formats/numpy/fixed_text.h"

#include <cstdint>

#include "data/endian.h"

namespace resmem {
namespace {

void AppendUtf8(uint32_t point, std::string* text) {
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) point = 0xfffd;
  const auto tail = [&](int shift) {
    text->push_back(static_cast<char>(0x80 | ((point >> shift) & 0x3f)));
  };
  if (point < 0x80) {
    text->push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    text->push_back(static_cast<char>(0xc0 | (point >> 6)));
    tail(0);
  } else if (point < 0x10000) {
    text->push_back(static_cast<char>(0xe0 | (point >> 12)));
    tail(6);
    tail(0);
  } else {
    text->push_back(static_cast<char>(0xf0 | (point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::string FixedText(TextEncoding encoding, bool swapped, ByteSpan item) {
  while (!item.empty() && item.back() == std::byte{0} && encoding == TextEncoding::kBytes) {
    item = item.first(item.size() - 1);
  }
  if (encoding == TextEncoding::kBytes) {
    return {reinterpret_cast<const char*>(item.data()), item.size()};
  }
  std::string text;
  size_t length = 0;  // of the text without its padding
  for (size_t i = 0; i + 4 <= item.size(); i += 4) {
    const auto point = swapped ? Load<uint32_t, true>(&item[i]) : Load<uint32_t>(&item[i]);
    AppendUtf8(point, &text);
    if (point != 0) length = text.size();
  }
  text.resize(length);
  return text;
}

}  // namespace resmem
