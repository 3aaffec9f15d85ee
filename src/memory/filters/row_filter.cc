#include "resmem/row_filter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "memory/filters/tag_time.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kTag[] = "tag", kTime[] = "time";
constexpr char kTimeForm[] = "YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, in UTC";
constexpr size_t kMostConditions = 64;

// The pieces between marks; one more than there are marks.
template <typename Use>
void ForEachPiece(std::string_view text, char mark, const Use& use) {
  for (;;) {
    const size_t end = text.find(mark);
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, IsTagNameCharacter);
}

Status Bad(ErrorCode code, const std::string& message) {
  return {code, message};
}

Status CheckTagValue(std::string_view name, std::string_view value, ErrorCode code) {
  if (value.empty() || WithoutBlanks(value).size() != value.size()) {
    return Bad(code, Text("the tag \"", name, "\" has the value \"", value,
                          "\", but a value is some text without blanks around it"));
  }
  const bool marks = value.find_first_of(";,|=<>!") != std::string_view::npos;
  const bool control =
      std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) < 32; });
  if (marks || control) {
    return Bad(code, Text("the tag \"", name,
                          "\" has a value with one of the characters ; , | = < > ! or a control "
                          "character"));
  }
  if (name == kTime && !ParseTagTime(value)) {
    return Bad(code, Text("the tag \"time\" is \"", value, "\", but it is ", kTimeForm));
  }
  return {};
}

std::pair<std::string_view, std::string_view> NameAndValue(std::string_view tag) {
  const size_t equals = tag.find('=');
  if (equals == std::string_view::npos) return {kTag, tag};
  return {tag.substr(0, equals), tag.substr(equals + 1)};
}

std::optional<double> Number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

bool IsTagNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

Status CheckTags(std::string_view tags) {
  if (tags.empty()) return {};
  if (tags.size() > kMostTagBytes) {
    return Bad(ErrorCode::kBadData,
               Text("its tags take ", tags.size(), " bytes, at most ", kMostTagBytes, " are kept"));
  }
  Status bad;
  ForEachPiece(tags, ';', [&](std::string_view tag) {
    if (!bad.ok()) return;
    const auto [name, value] = NameAndValue(tag);
    bad = IsName(name) ? CheckTagValue(name, value, ErrorCode::kBadData)
                       : Bad(ErrorCode::kBadData,
                             Text("\"", name,
                                  "\" is no name of a tag: letters, digits, _, - and . are; tags "
                                  "are name=value, separated by ;"));
  });
  return bad;
}

Result<RowFilter::Condition> RowFilter::ParseCondition(std::string_view text) {
  const auto bad = [&](const auto&... words) {
    return Bad(ErrorCode::kInvalidArgument, Text("the condition \"", text, "\" ", words...));
  };
  const size_t mark = text.find_first_of("=!<>");
  if (mark == std::string_view::npos) {
    return bad("compares nothing; give NAME=VALUE, or one of !=, <, <=, > and >=");
  }
  Condition condition;
  condition.name = WithoutBlanks(text.substr(0, mark));
  if (!IsName(condition.name)) {
    return bad("begins with no name of a tag: letters, digits, _, - and . are");
  }
  const std::pair<std::string_view, Comparison> kinds[] = {
      {"!=", Comparison::kNotEqual},     {"<=", Comparison::kLessEqual},
      {">=", Comparison::kGreaterEqual}, {"=", Comparison::kEqual},
      {"<", Comparison::kLess},          {">", Comparison::kGreater}};
  const auto* const kind = std::ranges::find_if(
      kinds, [&](const auto& each) { return text.substr(mark).starts_with(each.first); });
  if (kind == std::end(kinds)) return bad("has a ! without =");
  condition.comparison = kind->second;
  const bool equality = kind->second == Comparison::kEqual || kind->second == Comparison::kNotEqual;
  Status wrong;
  ForEachPiece(text.substr(mark + kind->first.size()), '|', [&](std::string_view piece) {
    const std::string_view value = WithoutBlanks(piece);
    condition.values.emplace_back(value);
    if (wrong.ok()) wrong = CheckTagValue(condition.name, value, ErrorCode::kInvalidArgument);
    if (wrong.ok() && !equality && condition.name != kTime && !Number(value)) {
      wrong = bad("compares with \"", value, "\", but < and > need a number, or a date for time");
    }
  });
  RESMEM_RETURN_IF_ERROR(wrong);
  if (!equality && condition.values.size() != 1) return bad("compares with more than one value");
  return condition;
}

Result<RowFilter> RowFilter::Parse(const std::string& text) {
  RowFilter filter;
  filter.text_ = text;
  Status bad;
  ForEachPiece(text, ',', [&](std::string_view piece) {
    if (!bad.ok()) return;
    Result<Condition> condition = ParseCondition(WithoutBlanks(piece));
    bad = condition.status();
    if (bad.ok()) filter.conditions_.push_back(std::move(*condition));
  });
  RESMEM_RETURN_IF_ERROR(bad);
  if (filter.conditions_.size() <= kMostConditions) return filter;
  return Bad(ErrorCode::kInvalidArgument,
             Text(filter.conditions_.size(), " conditions were given, at most ", kMostConditions,
                  " are checked"));
}

bool RowFilter::Condition::Holds(std::string_view value) const {
  const bool is_time = name == kTime;
  const std::optional<TagTime> time = is_time ? ParseTagTime(value) : std::nullopt;
  const std::optional<double> number = is_time ? std::nullopt : Number(value);
  const auto equals = [&](const std::string& wanted) {
    if (value == wanted) return true;
    if (const auto point = time ? ParseTagTime(wanted) : std::nullopt) {
      return point->begin <= time->begin && time->begin < point->end;
    }
    const std::optional<double> other = number ? Number(wanted) : std::nullopt;
    return other && *other == *number;
  };
  if (comparison == Comparison::kEqual || comparison == Comparison::kNotEqual) {
    return std::ranges::any_of(values, equals);
  }
  if (!time && !number) return false;
  const std::optional<TagTime> point = ParseTagTime(values.front());
  const double low = time ? static_cast<double>(point->begin) : *Number(values.front());
  const double high = time ? static_cast<double>(point->end - 1) : low;  // of a day: its end
  const double at = time ? static_cast<double>(time->begin) : *number;
  switch (comparison) {
    case Comparison::kLess:
      return at < low;
    case Comparison::kLessEqual:
      return at <= high;
    case Comparison::kGreater:
      return at > high;
    default:
      return at >= low;
  }
}

bool RowFilter::Matches(std::string_view tags) const {
  return std::ranges::all_of(conditions_, [&](const Condition& condition) {
    bool any = false;
    if (!tags.empty()) {
      ForEachPiece(tags, ';', [&](std::string_view tag) {
        const auto [name, value] = NameAndValue(tag);
        any = any || (name == condition.name && condition.Holds(value));
      });
    }
    return any != (condition.comparison == Comparison::kNotEqual);
  });
}

}  // namespace resmem
