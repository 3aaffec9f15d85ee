#include "console/values.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "console/format.h"

namespace resmem::cli {
namespace {

constexpr int64_t kMaxListValues = 100'000;

Status Expected(std::string_view text, const std::string& what) {
  return Status(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' is not " + what);
}

template <typename T>
Status ParseNumber(std::string_view text, const std::string& what, T* out) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return Expected(text, what);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return Expected(text, what);
  }
  *out = value;
  return {};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// One item of a list of numbers: "3", or "low:high:count".
template <typename T>
Status ParseItem(std::string_view item, std::vector<T>* out) {
  const std::vector<std::string_view> parts = Split(item, ':');
  if (parts.size() == 1) {
    out->emplace_back();
    return ParseValue(item, &out->back());
  }
  if (parts.size() != 3) return Expected(item, "a number or a range low:high:count");
  double low = 0, high = 0;
  int64_t count = 0;
  RESMEM_RETURN_IF_ERROR(ParseValue(parts[0], &low));
  RESMEM_RETURN_IF_ERROR(ParseValue(parts[1], &high));
  RESMEM_RETURN_IF_ERROR(ParseValue(parts[2], &count));
  if (count < 2 || count > kMaxListValues || low >= high) {
    return Expected(item, "a range low:high:count with low < high and count of 2 to 100000");
  }
  for (int64_t i = 0; i < count; ++i) {
    const double value =
        low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
    if constexpr (std::is_floating_point_v<T>) {
      out->push_back(static_cast<T>(value));
    } else {
      const double rounded = std::round(value);
      if (std::abs(rounded) > 1e15) return Expected(item, "a range of whole numbers");
      const T whole = static_cast<T>(rounded);
      if (out->empty() || out->back() != whole) out->push_back(whole);
    }
  }
  return {};
}

template <typename T>
Status ParseList(std::string_view text, std::vector<T>* out) {
  std::vector<T> values;
  for (std::string_view item : Split(text, ',')) {
    RESMEM_RETURN_IF_ERROR(ParseItem(item, &values));
  }
  *out = std::move(values);
  return {};
}

}  // namespace

Status ParseValue(std::string_view text, std::string* out) {
  if (text.empty()) return Expected(text, "a value: it is empty");
  *out = text;
  return {};
}

Status ParseValue(std::string_view text, int64_t* out) {
  return ParseNumber(text, "a whole number", out);
}

Status ParseValue(std::string_view text, uint64_t* out) {
  return ParseNumber(text, "a whole number of 0 or more", out);
}

Status ParseValue(std::string_view text, int* out) {
  return ParseNumber(text, "a whole number", out);
}

Status ParseValue(std::string_view text, float* out) {
  return ParseNumber(text, "a number", out);
}

Status ParseValue(std::string_view text, double* out) {
  return ParseNumber(text, "a number", out);
}

Status ParseValue(std::string_view text, std::vector<std::string>* out) {
  out->clear();
  for (std::string_view item : Split(text, ',')) out->emplace_back(item);
  return {};
}

Status ParseValue(std::string_view text, std::vector<int64_t>* out) {
  return ParseList(text, out);
}

Status ParseValue(std::string_view text, std::vector<float>* out) {
  return ParseList(text, out);
}

Status ParseValue(std::string_view text, std::vector<double>* out) {
  return ParseList(text, out);
}

Status ParseValue(std::string_view text, std::vector<uint64_t>* out) {
  std::vector<uint64_t> values;
  for (std::string_view item : Split(text, ',')) {
    values.emplace_back();
    RESMEM_RETURN_IF_ERROR(ParseValue(item, &values.back()));
  }
  *out = std::move(values);
  return {};
}

std::string ShowValue(const std::string& value) {
  return value;
}
std::string ShowValue(int64_t value) {
  return std::to_string(value);
}
std::string ShowValue(uint64_t value) {
  return std::to_string(value);
}
std::string ShowValue(int value) {
  return std::to_string(value);
}
std::string ShowValue(double value) {
  return ShortNumber(value);
}

}  // namespace resmem::cli
