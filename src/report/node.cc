#include "report/node.h"

#include <cmath>
#include <limits>

#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kLargestDocument = size_t{256} << 20;
constexpr int kDeepest = 32;  // ours are at most 9 deep

// Before parsing: a parsed document of a hundred thousand levels overflows the stack later.
bool NestedTooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

const SortedJson& Null() {
  static const SortedJson null;
  return null;
}

}  // namespace

Result<SortedJson> ParseJson(std::string_view text) {
  if (text.size() > kLargestDocument) {
    return Status(ErrorCode::kBadData,
                  Text("the document has ", text.size(), " bytes; a report is made from at most ",
                       kLargestDocument, ": give fewer rows or examples"));
  }
  if (NestedTooDeep(text)) {
    return Status(ErrorCode::kBadData,
                  Text("the document is nested more than ", kDeepest,
                       " levels deep, which none of ours is; give the output of --json"));
  }
  SortedJson json;
  try {
    json = SortedJson::parse(text);
  } catch (const SortedJson::parse_error& error) {
    return Status(ErrorCode::kBadData, Text("the document is not JSON at byte ", error.byte,
                                            "; give the output of --json"));
  } catch (const SortedJson::exception& error) {
    return Status(ErrorCode::kBadData, Text("the document is not usable JSON (", error.what(),
                                            "); give the output of --json"));
  }
  return json;
}

// A step of a JSON pointer (RFC 6901).
Node Node::Child(const SortedJson& value, std::string_view name) const {
  std::string path = path_ + "/";
  for (const char c : name) {
    if (c == '~') {
      path += "~0";
    } else if (c == '/') {
      path += "~1";
    } else {
      path += c;
    }
  }
  return Node(&value, problem_, std::move(path));
}

void Node::Fail(std::string_view allowed) const {
  if (!problem_->ok()) return;
  constexpr size_t kShown = 40;
  std::string found = value_->dump(-1, ' ', true, SortedJson::error_handler_t::replace);
  if (found.size() > kShown) found = found.substr(0, kShown) + "...";
  *problem_ = Status(ErrorCode::kBadData, resmem::Text("field ", path_.empty() ? "/" : path_,
                                                       " is ", found, ", but must be ", allowed,
                                                       "; docs/json.md describes every field"));
}

Node Node::At(std::string_view name) const {
  if (!value_->is_object()) {
    Fail("an object");
    return Child(Null(), name);
  }
  const auto found = value_->find(name);
  if (found == value_->end()) {
    if (problem_->ok()) {
      *problem_ = Status(
          ErrorCode::kBadData,
          resmem::Text("field ", path_, "/", name, " is missing; docs/json.md describes it"));
    }
    return Child(Null(), name);
  }
  return Child(*found, name);
}

std::optional<Node> Node::Find(std::string_view name) const {
  if (!value_->is_object()) return std::nullopt;
  const auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return Child(*found, name);
}

std::vector<Node> Node::Items() const {
  std::vector<Node> items;
  if (!value_->is_array()) {
    Fail("a list");
    return items;
  }
  items.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i) {
    items.push_back(Child((*value_)[i], std::to_string(i)));
  }
  return items;
}

std::vector<std::pair<std::string, Node>> Node::Members() const {
  std::vector<std::pair<std::string, Node>> members;
  if (!value_->is_object()) {
    Fail("an object");
    return members;
  }
  for (const auto& [name, value] : value_->items()) members.emplace_back(name, Child(value, name));
  return members;
}

double Node::Number() const {
  // Beyond this a sum or a square of two would leave the doubles while a chart is laid out.
  constexpr double kLargest = 1e100;
  const double number = value_->is_number() ? value_->get<double>() : HUGE_VAL;
  if (std::isfinite(number) && std::abs(number) <= kLargest) return number;
  Fail("a finite number of magnitude up to 1e100");
  return 0;
}

double Node::NumberOrNan() const {
  return value_->is_null() && problem_->ok() ? std::numeric_limits<double>::quiet_NaN() : Number();
}

double Node::Share() const {
  const double share = Number();
  if (share >= 0 && share <= 1) return share;
  Fail("a share between 0 and 1");
  return 0;
}

int64_t Node::Integer() const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() ||
                     value_->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
  if (fits) return value_->get<int64_t>();
  Fail("an integer");
  return 0;
}

int64_t Node::Count() const {
  // So that sums of counts cannot overflow.
  constexpr int64_t kLargest = int64_t{1} << 53;
  const int64_t count = Integer();
  if (count >= 0 && count <= kLargest) return count;
  Fail("a count from 0 to 2^53");
  return 0;
}

std::string Node::Text() const {
  if (value_->is_string()) return value_->get<std::string>();
  Fail("a text");
  return "";
}

bool Node::Flag() const {
  if (value_->is_boolean()) return value_->get<bool>();
  Fail("true or false");
  return false;
}

std::string Node::Exact() const {
  return value_->is_number() ? value_->dump() : "";
}

}  // namespace resmem
