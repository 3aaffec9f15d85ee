#include "text/source/line_reader.h"

#include <algorithm>

namespace resmem {
namespace {

constexpr size_t kStep = size_t{256} << 10;

// Where a part of a line that has `size` bytes ends best.
size_t CutAt(std::string_view text, size_t size) {
  constexpr size_t kNear = 1024;
  const size_t blank = text.substr(0, size).rfind(' ');
  if (blank != std::string_view::npos && blank + 1 + kNear > size) return blank + 1;
  size_t end = size;
  while (end > 0 && end + 4 > size && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return end > 0 ? end : size;
}

}  // namespace

Status LineReader::Fill(size_t wanted) {
  if (held() >= wanted || stream_ended_) return {};
  buffer_.erase(0, begin_);
  begin_ = 0;
  while (buffer_.size() < wanted && !stream_ended_) {
    const size_t old = buffer_.size();
    buffer_.resize(old + kStep);
    const auto made = stream_->Read({buffer_.data() + old, kStep});
    buffer_.resize(old + (made.ok() ? *made : 0));
    if (!made.ok()) return made.status();
    bytes_ += static_cast<int64_t>(*made);
    stream_ended_ = *made == 0;
  }
  return {};
}

Result<std::string_view> LineReader::Peek(size_t size) {
  RESMEM_RETURN_IF_ERROR(Fill(size));
  return std::string_view(buffer_).substr(begin_, size);
}

Status LineReader::SkipPrefix(std::string_view prefix) {
  RESMEM_RETURN_IF_ERROR(Fill(prefix.size()));
  if (std::string_view(buffer_).substr(begin_).starts_with(prefix)) begin_ += prefix.size();
  return {};
}

Result<bool> LineReader::Next(size_t limit, Line* line) {
  size_t searched = 0;
  size_t end = std::string::npos;
  // One byte beyond the limit, so that a line of just `limit` bytes is whole.
  while (true) {
    end = buffer_.find('\n', begin_ + searched);
    if (end != std::string::npos || held() > limit || stream_ended_) break;
    searched = held();
    RESMEM_RETURN_IF_ERROR(Fill(std::min(limit + 1, held() + kStep)));
    if (held() == searched && !stream_ended_) return false;
  }
  if (end == std::string::npos && held() == 0) return false;
  line->begins = !inside_line_;
  if (line->begins) ++line_number_;
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  const size_t length = end == std::string::npos ? rest.size() : end - begin_;
  if (length > limit) {
    const size_t cut = CutAt(rest, limit);
    line->text = rest.substr(0, cut);
    line->ends = false;
    begin_ += cut;
    inside_line_ = true;
    return true;
  }
  line->text = rest.substr(0, length);
  if (line->text.ends_with('\r')) line->text.remove_suffix(1);
  line->ends = true;
  begin_ += length + (end == std::string::npos ? 0 : 1);
  inside_line_ = false;
  return true;
}

}  // namespace resmem
