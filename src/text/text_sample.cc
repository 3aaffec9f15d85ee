#include "resmem/lm/text_sample.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/guard.h"
#include "support/random.h"

namespace resmem {
namespace {

// The next line of at most `limit` bytes, without blanks around it.
std::string_view TakeLine(std::string_view* text, size_t limit) {
  std::string_view line = text->substr(0, std::min(text->find('\n'), text->size()));
  if (line.size() > limit) {
    const size_t blank = line.substr(0, limit).rfind(' ');
    size_t end = blank == std::string_view::npos || blank == 0 ? limit : blank;
    while (end > 1 && (static_cast<uint8_t>(line[end]) & 0xC0) == 0x80) --end;
    line = line.substr(0, end);
    text->remove_prefix(end);
  } else {
    text->remove_prefix(std::min(line.size() + 1, text->size()));
  }
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

Result<TextSample> SampleLines(TextSource* source, const TextSampleOptions& options) try {
  if (options.lines < 1 || options.max_bytes < 8) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("a sample of ", options.lines, " lines of at most ", options.max_bytes,
                       " bytes; allowed are 1 and more lines of 8 and more bytes"));
  }
  // A reservoir: line n takes the place of a random one with the chance lines / n.
  std::vector<std::pair<int64_t, std::string>> kept;  // by number
  Random random(options.seed);
  TextSample sample;
  TextDocument document;
  while (true) {
    if (options.progress != nullptr) {
      options.progress->Report("reading", source->stored_bytes_read(), source->stored_bytes());
      if (options.progress->Cancelled()) return Status(ErrorCode::kCancelled, "stopped reading");
    }
    RESMEM_ASSIGN_OR_RETURN(const bool more, source->Next(&document));
    if (!more) break;
    for (std::string_view rest = document.text; !rest.empty();) {
      const std::string_view line = TakeLine(&rest, static_cast<size_t>(options.max_bytes));
      if (line.empty()) continue;
      const int64_t number = sample.lines_read++;
      if (number < options.lines) {
        kept.emplace_back(number, line);
        continue;
      }
      const uint64_t place = random.Below(static_cast<uint64_t>(number) + 1);
      if (place < kept.size()) kept[place] = {number, std::string(line)};
    }
  }
  std::sort(kept.begin(), kept.end());
  for (auto& [number, line] : kept) sample.lines.push_back(std::move(line));
  return sample;
} catch (...) {
  return CaughtException("sample the text");
}

}  // namespace resmem
