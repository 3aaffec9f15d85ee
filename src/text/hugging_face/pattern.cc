#include "text/hugging_face/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <new>

#include "support/text.h"
#include "support/thread_own.h"
#include "text/utf8.h"

namespace resmem {
namespace {

constexpr size_t kMaxExpressionBytes = 16384;
constexpr uint32_t kMaxSteps = 400'000;  // from one place in the text
constexpr uint32_t kMaxHeapKilobytes = 65536;
constexpr size_t kBytesTogether = 256;  // places that are tried between two looks at the clock
constexpr double kMaxSeconds = 10;

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// For one thread: what a match needs besides the expression.
struct Scratch {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  Scratch() {
    if (data == nullptr || context == nullptr) throw std::bad_alloc();
    pcre2_set_match_limit(context, kMaxSteps);
    pcre2_set_heap_limit(context, kMaxHeapKilobytes);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
};

// Oniguruma's \s is Unicode's White_Space, PCRE2's differs by two characters.  False where an
// escape has another meaning in the two and cannot be written otherwise.
bool Translate(std::string_view expression, std::string* translated) {
  bool in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c != '\\' || i + 1 == expression.size()) {
      if (in_class && expression.substr(i).starts_with("[:")) {  // [[:alpha:]]
        const size_t end = expression.find(":]", i);
        if (end == std::string_view::npos) return false;
        *translated += expression.substr(i, end + 2 - i);
        i = end + 1;
        continue;
      }
      if (in_class && (c == '[' || expression.substr(i).starts_with("&&"))) return false;
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      *translated += c;
      continue;
    }
    const char escaped = expression[++i];
    switch (escaped) {
      case 's':
        *translated += "\\p{White_Space}";
        break;
      case 'S':
        *translated += "\\P{White_Space}";
        break;
      case 'w':
        *translated += in_class ? "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
                                : "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]";
        break;
      case 'W':
        if (in_class) return false;
        *translated += "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]";
        break;
      case 'h':  // hexadecimal digits there, blanks here
      case 'H':
      case 'R':
      case 'X':
      case 'K':
        return false;
      default:
        *translated += '\\';
        *translated += escaped;
    }
  }
  return true;
}

}  // namespace

WorkLimit::WorkLimit() : begin_(ThreadSeconds()) {}

Status WorkLimit::Check() {
  constexpr uint32_t kCallsBetweenLooks = 32;
  if (++calls_ % kCallsBetweenLooks != 0 || ThreadSeconds() - begin_ < kMaxSeconds) return {};
  return {ErrorCode::kBadData,
          Text("the tokenizer's patterns take more than ", kMaxSeconds,
               " seconds for a part of the text; take a tokenizer from a source that you trust")};
}

struct Pattern::Code {
  explicit Code(pcre2_code* the_code) : code(the_code) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }
  pcre2_code* code;
};

Result<Pattern> Pattern::OfText(const std::string& text) {
  if (text.empty()) return Status(ErrorCode::kBadData, "a pattern is empty");
  Pattern pattern;
  pattern.text_ = text;
  return pattern;
}

Result<Pattern> Pattern::OfExpression(const std::string& expression) {
  if (expression.empty()) return Status(ErrorCode::kBadData, "a pattern is empty");
  const auto unsupported = [&](const std::string& why) {
    constexpr size_t kShown = 80;
    return Status(ErrorCode::kUnsupported,
                  Text("the pattern ", expression.substr(0, kShown),
                       expression.size() > kShown ? "..." : "", " cannot be used: ", why));
  };
  if (expression.size() > kMaxExpressionBytes) {
    return unsupported(Text("it has ", expression.size(), " bytes"));
  }
  std::string translated;
  if (!Translate(expression, &translated)) {
    return unsupported("it nests or intersects classes, or has an escape that is not known here");
  }
  int error = 0;
  size_t place = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT,
                    &error, &place, nullptr);
  if (code == nullptr) {
    if (error == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    return unsupported(reinterpret_cast<const char*>(words.data()));
  }
  Pattern pattern;
  pattern.code_ = std::make_shared<const Code>(code);
  return pattern;
}

Result<std::vector<ByteRange>> Pattern::Find(std::string_view text, WorkLimit* limit) const {
  std::vector<ByteRange> found;
  if (code_ != nullptr) {
    RESMEM_RETURN_IF_ERROR(FindExpression(text, limit, &found));
    return found;
  }
  for (size_t at = text.find(text_); at != std::string_view::npos;
       at = text.find(text_, at + text_.size())) {
    found.push_back({at, at + text_.size()});
  }
  return found;
}

Status Pattern::FindExpression(std::string_view text, WorkLimit* limit,
                               std::vector<ByteRange>* found) const {
  static const ThreadOwn<Scratch> kScratch;
  Scratch& scratch = kScratch.Get();
  for (size_t at = 0; at < text.size();) {
    RESMEM_RETURN_IF_ERROR(limit->Check());
    size_t end = std::min(text.size(), at + kBytesTogether);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    pcre2_set_offset_limit(scratch.context, end);
    const int result =
        pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                    PCRE2_NO_UTF_CHECK, scratch.data, scratch.context);
    if (result == PCRE2_ERROR_NOMATCH) {
      at = end;
      continue;
    }
    if (result == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    if (result < 0) {
      return {ErrorCode::kBadData,
              "a pattern of the tokenizer takes too many steps; take a tokenizer from a source "
              "that you trust"};
    }
    const size_t* place = pcre2_get_ovector_pointer(scratch.data);
    if (place[0] > place[1]) {
      return {ErrorCode::kBadData, "a pattern of the tokenizer ends before it begins"};
    }
    found->push_back({place[0], place[1]});
    at = place[1];
    if (place[0] == place[1] && at < text.size()) at += Utf8LengthBySight(text.substr(at));
  }
  return {};
}

}  // namespace resmem
