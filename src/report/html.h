// Markup that cannot be injected into: text becomes Html only by being escaped.
//
//   Element("p", {{"class", "note"}}, "class ", name)
//
// The children may be text, which is escaped, or Html, which is taken as it is.
#ifndef RESMEM_REPORT_HTML_H_
#define RESMEM_REPORT_HTML_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace resmem {

class Html {
 public:
  Html() = default;

  Html& operator<<(std::string_view text);  // escaped
  Html& operator<<(const char* text) { return *this << std::string_view(text); }
  Html& operator<<(const Html& markup) {
    markup_ += markup.markup_;
    return *this;
  }
  bool empty() const { return markup_.empty(); }
  const std::string& markup() const { return markup_; }

  // Only for markup that we wrote ourselves, as a literal.
  template <size_t size>
  static Html Literal(const char (&markup)[size]) {
    return Html(std::string(markup, size - 1));
  }

  struct Attribute {
    std::string_view name;
    std::string value;
  };
  using Attributes = std::initializer_list<Attribute>;

 private:
  explicit Html(std::string markup) : markup_(std::move(markup)) {}
  friend Html OpenTag(std::string_view name, Attributes attributes);
  friend Html CloseTag(std::string_view name);
  std::string markup_;
};

Html OpenTag(std::string_view name, Html::Attributes attributes);
Html CloseTag(std::string_view name);

template <typename... Children>
Html Element(std::string_view name, Html::Attributes attributes, const Children&... children) {
  Html html = OpenTag(name, attributes);
  static_cast<void>((html << ... << children));
  html << CloseTag(name);
  return html;
}

// <, >, &, quotes; control characters that HTML forbids become U+FFFD.
std::string EscapeHtml(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_REPORT_HTML_H_
