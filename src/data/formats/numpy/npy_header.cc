#include "data/formats/numpy/npy_header.h"

#include <charconv>

#include "support/text.h"

namespace resmem {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::string Parse(NpyDictionary* dictionary) {
    if (!Take('{')) return Expected("{");
    bool seen[3] = {};
    while (!Take('}')) {
      std::string key;
      if (!TakeString(&key)) return Expected("a key in quotes");
      if (!Take(':')) return Expected(":");
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0) return Text("unknown key \"", key, "\"");
      if (seen[which]) return Text("the key \"", key, "\" comes twice");
      seen[which] = true;
      if (which == 0) {
        dictionary->structured = Take('[');
        if (dictionary->structured) return {};
        if (!TakeString(&dictionary->descriptor)) return Expected("a type in quotes");
      } else if (which == 1) {
        dictionary->fortran_order = TakeWord("True");
        if (!dictionary->fortran_order && !TakeWord("False")) return Expected("True or False");
      } else if (!TakeShape(&dictionary->shape)) {
        return Expected("a tuple of sizes");
      }
      if (!Take(',') && !Peek('}')) return Expected(", or }");
    }
    SkipSpace();
    if (at_ != text_.size()) return Expected("the end");
    if (!seen[0] || !seen[1] || !seen[2]) return "it lacks descr, fortran_order or shape";
    return {};
  }

 private:
  std::string Expected(const char* what) const {
    return Text("expected ", what, " at byte ", at_, " of it");
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Peek(char c) {
    SkipSpace();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool TakeString(std::string* value) {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Take(quote)) return false;
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return false;
    *value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value->find('\\') == std::string::npos;
  }
  bool TakeShape(std::vector<int64_t>* shape) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      SkipSpace();
      int64_t extent = 0;
      const char* end = text_.data() + text_.size();
      const auto parsed = std::from_chars(text_.data() + at_, end, extent);
      if (parsed.ec != std::errc()) return false;
      at_ = static_cast<size_t>(parsed.ptr - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
      shape->push_back(extent);
      if (!Take(',') && !Peek(')')) return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string ParseNpyDictionary(std::string_view text, NpyDictionary* dictionary) {
  return Parser(text).Parse(dictionary);
}

}  // namespace resmem
