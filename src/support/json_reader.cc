#include "support/json_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/text.h"

namespace resmem {
namespace {

using Tree = Json;

// Called by the parser for each token; false stops it.
class TreeBuilder final : public nlohmann::json_sax<Tree> {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  const std::string& problem() const { return problem_; }
  Tree Take() { return std::move(root_); }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(int64_t value) override { return Add(value); }
  bool number_unsigned(uint64_t value) override { return Add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return Add(value); }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(Tree::binary_t& /*value*/) override { return Fail("its JSON holds binary values"); }
  bool start_object(size_t /*size*/) override { return Open(Tree::object()); }
  bool start_array(size_t /*size*/) override { return Open(Tree::array()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool key(std::string& name) override {
    const auto here = static_cast<int64_t>(open_.back()->size());
    if (here >= limits_.keys_in_object) {
      return Fail(Text("its JSON has an object of more than ", limits_.keys_in_object, " keys"));
    }
    if (++keys_ > limits_.keys) return Fail(Text("its JSON has more than ", limits_.keys, " keys"));
    key_ = std::move(name);
    return true;
  }

  bool end_object() override {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : *open_.back()->get_ptr<Tree::object_t*>()) {
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return Fail(Text('"', *twice, "\" comes twice in its JSON"));
    open_.pop_back();
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return Fail(Text("its JSON cannot be parsed at byte ", position));
  }

 private:
  bool Fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  // Appends to the innermost container, which alone may move: the outer ones are not touched.
  Tree* Place(Tree value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (auto* array = open_.back()->get_ptr<Tree::array_t*>()) {
      array->push_back(std::move(value));
      return &array->back();
    }
    auto* object = open_.back()->get_ptr<Tree::object_t*>();
    object->emplace_back(std::move(key_), std::move(value));  // no search: end_object() does it
    return &object->back().second;
  }
  bool Add(Tree value) {
    Place(std::move(value));
    return true;
  }
  bool Open(Tree container) {
    if (static_cast<int>(open_.size()) >= limits_.levels) {
      return Fail(Text("its JSON is nested deeper than ", limits_.levels, " levels"));
    }
    open_.push_back(Place(std::move(container)));
    return true;
  }

  const JsonLimits limits_;
  Tree root_;
  std::vector<Tree*> open_;  // from the root to the innermost
  std::string key_;          // of the next value
  int64_t keys_ = 0;
  std::string problem_;
};

}  // namespace

Result<Json> ReadJson(std::string_view text, const JsonLimits& limits) {
  TreeBuilder builder(limits);
  if (!Tree::sax_parse(text, &builder)) {
    return Status(ErrorCode::kCorrupt, builder.problem());
  }
  return builder.Take();
}

}  // namespace resmem
