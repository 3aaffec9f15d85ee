#include "resmem/lm/token_windows.h"

#include <algorithm>
#include <charconv>

#include "support/check.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr std::string_view kEvery = " every ";

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

int64_t WindowsOf(int64_t rows, const WindowShape& shape) {
  if (rows <= shape.length) return 1;
  return 1 + (rows - shape.length + shape.stride - 1) / shape.stride;
}

}  // namespace

std::string WindowsText(const WindowShape& shape) {
  return Text(shape.length, kEvery, shape.stride);
}

std::optional<WindowShape> ParseWindows(std::string_view text) {
  const size_t middle = text.find(kEvery);
  if (middle == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> length = WholeNumber(text.substr(0, middle));
  const std::optional<int64_t> stride = WholeNumber(text.substr(middle + kEvery.size()));
  if (!length || !stride || *stride < 1 || *length < *stride) return std::nullopt;
  return WindowShape{*length, *stride};
}

TokenWindows::TokenWindows(const TokenSet& set, const WindowShape& shape)
    : set_(&set), shape_(shape) {
  first_window_.reserve(static_cast<size_t>(set.documents()) + 1);
  first_window_.push_back(0);
  for (int64_t i = 0; i < set.documents(); ++i) {
    first_window_.push_back(first_window_.back() + WindowsOf(set.document(i).size() - 1, shape));
  }
}

Result<TokenWindows> TokenWindows::Make(const TokenSet& set, const WindowShape& shape) try {
  if (shape.stride < 1 || shape.length < shape.stride) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("windows of ", shape.length, " tokens that begin every ", shape.stride,
                       "; the second must be 1 to the first, or tokens would be left out"));
  }
  return TokenWindows(set, shape);
} catch (...) {
  return CaughtException("cut windows");
}

int64_t TokenWindows::rows() const {
  return set_->size() - set_->documents();
}

TokenWindow TokenWindows::window(int64_t index) const {
  RESMEM_DCHECK(index >= 0 && index < size());
  const auto after = std::upper_bound(first_window_.begin(), first_window_.end(), index);
  TokenWindow window;
  window.document = after - first_window_.begin() - 1;
  const int64_t inside = index - *(after - 1);
  const TokenRange document = set_->document(window.document);
  window.begin = document.begin + inside * shape_.stride;
  window.end = std::min(window.begin + shape_.length, document.end - 1);
  window.kept = inside == 0 ? window.begin : window.begin + shape_.length - shape_.stride;
  window.first_row = window.kept - window.document;  // each document has a token more than rows
  return window;
}

int64_t TokenWindows::DocumentOfRow(int64_t row) const {
  RESMEM_DCHECK(row >= 0 && row < rows());
  int64_t low = 0, high = set_->documents() - 1;  // the first whose rows end after `row`
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (set_->document(middle).end - (middle + 1) > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

int64_t TokenWindows::PositionOfRow(int64_t row) const {
  return row + DocumentOfRow(row);
}

int64_t TokenWindows::WindowOfRow(int64_t row) const {
  const int64_t document = DocumentOfRow(row);
  const int64_t inside = row + document - set_->document(document).begin;
  const int64_t windows_before =
      inside < shape_.length ? 0 : 1 + (inside - shape_.length) / shape_.stride;
  return first_window_[static_cast<size_t>(document)] + windows_before;
}

}  // namespace resmem
