#include "report/html.h"

namespace resmem {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        const bool allowed = (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
        if (allowed) {
          escaped += c;
        } else {
          escaped += "\xEF\xBF\xBD";
        }
      }
    }
  }
  return escaped;
}

Html& Html::operator<<(std::string_view text) {
  markup_ += EscapeHtml(text);
  return *this;
}

Html OpenTag(std::string_view name, Html::Attributes attributes) {
  std::string tag = "<";
  tag += name;
  for (const Html::Attribute& attribute : attributes) {
    tag += ' ';
    tag += attribute.name;
    tag += "=\"";
    tag += EscapeHtml(attribute.value);
    tag += '"';
  }
  tag += '>';
  return Html(std::move(tag));
}

Html CloseTag(std::string_view name) {
  std::string tag = "</";
  tag += name;
  tag += '>';
  return Html(std::move(tag));
}

}  // namespace resmem
