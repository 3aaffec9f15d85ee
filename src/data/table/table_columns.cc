#include "data/table/table_columns.h"

#include <algorithm>
#include <initializer_list>

#include "data/table/label_leak.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string ListNames(const std::vector<std::string>& names) {
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == kShown) return text + ", ...";
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

class ColumnFinder {
 public:
  ColumnFinder(const TableSource& source, const std::vector<std::string>& header)
      : source_(source), header_(header), roles_(header.size(), nullptr) {}

  // The columns of one role.  Names with a * take what is left: call them last.
  Status Take(const std::vector<std::string>& names, const char* role, std::vector<size_t>* taken) {
    for (const std::string& name : names) {
      if (name.ends_with('*') && !Find(name)) {
        RESMEM_RETURN_IF_ERROR(TakePrefix(name, role, taken));
        continue;
      }
      const std::optional<size_t> column = Find(name);
      if (!column) return Unknown(name, role);
      if (roles_[*column] != nullptr) {
        return {
            ErrorCode::kInvalidArgument,
            Text(source_.path, ": the column \"", name, "\" is to be ", roles_[*column], " and ",
                 role, "; a column has one role",
                 roles_[*column] == kLabel ? ", and a label among the keys would tell the answer"
                                           : "")};
      }
      roles_[*column] = role;
      taken->push_back(*column);
    }
    return {};
  }

  // The column that was named, or the first of the usual names that is there and has no role yet.
  Status TakeOne(const std::string& name, std::initializer_list<const char*> usual,
                 const char* role, std::optional<size_t>* taken) {
    std::vector<size_t> columns;
    if (!name.empty()) {
      RESMEM_RETURN_IF_ERROR(Take({name}, role, &columns));
    } else {
      for (const char* other : usual) {
        const std::optional<size_t> column = Find(other);
        if (!column || roles_[*column] != nullptr || !columns.empty()) continue;
        if (AskedFor(other)) continue;  // as a key, in so many words
        roles_[*column] = role;
        columns.push_back(*column);
      }
    }
    if (!columns.empty()) *taken = columns.front();
    return {};
  }

  std::vector<size_t> TakeRest(const char* role) {
    std::vector<size_t> rest;
    for (size_t c = 0; c < roles_.size(); ++c) {
      if (roles_[c] != nullptr) continue;
      roles_[c] = role;
      rest.push_back(c);
    }
    return rest;
  }

  std::optional<size_t> Find(const std::string& name) const {
    const auto at = std::find(header_.begin(), header_.end(), name);
    if (at == header_.end()) return std::nullopt;
    return static_cast<size_t>(at - header_.begin());
  }

  // A column that became a key without being named.
  Status CheckKeys(const std::vector<size_t>& keys, Task task) const {
    for (const size_t column : keys) {
      const std::string& name = header_[column];
      if (!NamesALabel(name, task) || AskedFor(name)) continue;
      return {ErrorCode::kInvalidArgument,
              Text(source_.path, ": the column \"", name,
                   "\" is named as a label is, and would be part of each key; leave it out with ",
                   "--ignore-columns ", name, ", or, if it is known of each new row, name it ",
                   "among the keys: --key-columns '", name, ",*'")};
    }
    return {};
  }

  static constexpr char kLabel[] = "the label";

 private:
  bool AskedFor(const std::string& name) const {
    const std::vector<std::string>& keys = source_.roles.keys;
    return std::find(keys.begin(), keys.end(), name) != keys.end();
  }

  Status TakePrefix(const std::string& pattern, const char* role, std::vector<size_t>* taken) {
    const std::string prefix = pattern.substr(0, pattern.size() - 1);
    const size_t before = taken->size();
    for (size_t c = 0; c < header_.size(); ++c) {
      if (roles_[c] != nullptr || !header_[c].starts_with(prefix)) continue;
      roles_[c] = role;
      taken->push_back(c);
    }
    if (taken->size() > before) return {};
    return Unknown(pattern, role);
  }

  Status Unknown(const std::string& name, const char* role) const {
    return {ErrorCode::kBadData,
            Text(source_.path, ": has no column ", name.ends_with('*') ? "that begins as \"" : "\"",
                 name, "\", which is to be ", role,
                 source_.layout ? " as in the table that the memory was made of" : "", "; it has ",
                 ListNames(header_))};
  }

  const TableSource& source_;
  const std::vector<std::string>& header_;
  std::vector<const char*> roles_;
};

// The columns of the memory's table: all of them, or (where the table has none) nothing.
Status TakeKnown(const std::vector<std::string>& known, const char* role, ColumnFinder* finder,
                 std::vector<size_t>* taken) {
  const bool any = std::any_of(known.begin(), known.end(),
                               [&](const std::string& name) { return finder->Find(name); });
  return any ? finder->Take(known, role, taken) : Status();
}

}  // namespace

Result<TableColumns> FindTableColumns(const TableSource& source,
                                      const std::vector<std::string>& header, Task task) {
  const TableRoles& roles = source.roles;
  const TableLayout* layout = source.layout ? &*source.layout : nullptr;
  ColumnFinder finder(source, header);
  TableColumns columns;
  const bool classes = task == Task::kClassification;
  std::vector<size_t> ignored;
  // Of the memory's table, where the roles say nothing; a column that a later table lacks is none.
  const auto known = [&](const std::string& role, const std::string& of_layout) {
    return role.empty() && layout != nullptr && finder.Find(of_layout) ? of_layout : role;
  };
  const std::string label = known(roles.label, layout ? layout->label : "");
  if (classes) {
    RESMEM_RETURN_IF_ERROR(finder.TakeOne(label, {"label", "labels", "target", "targets"},
                                          ColumnFinder::kLabel, &columns.label));
  } else if (!roles.targets.empty()) {
    RESMEM_RETURN_IF_ERROR(finder.Take(roles.targets, "a target", &columns.targets));
  } else if (layout != nullptr) {
    RESMEM_RETURN_IF_ERROR(TakeKnown(layout->targets, "a target", &finder, &columns.targets));
  } else {
    std::optional<size_t> target;
    RESMEM_RETURN_IF_ERROR(finder.TakeOne("", {"target", "targets"}, "a target", &target));
    if (target) columns.targets.push_back(*target);
  }
  const auto role = [&](const std::string& own, const std::string& of_layout,
                        std::initializer_list<const char*> usual, const char* word,
                        std::optional<size_t>* taken) {
    return finder.TakeOne(known(own, of_layout), usual, word, taken);
  };
  RESMEM_RETURN_IF_ERROR(
      role(roles.id, layout ? layout->id : "", {"id", "ids"}, "the id", &columns.id));
  RESMEM_RETURN_IF_ERROR(role(roles.source, layout ? layout->source : "", {"source", "sources"},
                              "the source", &columns.source));
  RESMEM_RETURN_IF_ERROR(
      role(roles.split, layout ? layout->split : "", {"split"}, "the split", &columns.split));
  RESMEM_RETURN_IF_ERROR(role(roles.slice, layout ? layout->slice : "", {"slice", "slices"},
                              "the slice", &columns.slice));
  RESMEM_RETURN_IF_ERROR(finder.Take(roles.tags, "a tag", &columns.tags));
  if (roles.tags.empty() && layout != nullptr) {
    for (const std::string& tag : layout->tags) {
      if (finder.Find(tag)) RESMEM_RETURN_IF_ERROR(finder.Take({tag}, "a tag", &columns.tags));
    }
  }
  RESMEM_RETURN_IF_ERROR(finder.Take(roles.ignored, "ignored", &ignored));
  if (!roles.logits.empty() && !roles.probabilities.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(source.path,
                       ": columns of logits and of probabilities exclude each other; "
                       "give one of them"));
  }
  RESMEM_RETURN_IF_ERROR(finder.Take(roles.logits, "a logit", &columns.logits));
  RESMEM_RETURN_IF_ERROR(finder.Take(roles.probabilities, "a probability", &columns.logits));
  if (columns.logits.empty() && layout != nullptr) {
    RESMEM_RETURN_IF_ERROR(TakeKnown(layout->logits, "a logit", &finder, &columns.logits));
  }
  if (!roles.keys.empty()) {
    RESMEM_RETURN_IF_ERROR(finder.Take(roles.keys, "a key", &columns.keys));
  } else if (layout != nullptr) {
    std::vector<std::string> names;
    for (const TableLayout::Key& key : layout->keys) names.push_back(key.column);
    RESMEM_RETURN_IF_ERROR(finder.Take(names, "a key", &columns.keys));
  } else if (!columns.label && columns.targets.empty()) {
    return Status(
        ErrorCode::kInvalidArgument,
        Text(source.path, ": which of its columns is ", classes ? "the label" : "the target",
             "? name it with ", classes ? "--label-column" : "--target-columns",
             ", or the keys with --key-columns; it has ", ListNames(header)));
  } else {
    columns.keys = finder.TakeRest("a key");
  }
  if (layout == nullptr) RESMEM_RETURN_IF_ERROR(finder.CheckKeys(columns.keys, task));
  if (columns.keys.empty()) {
    return Status(
        ErrorCode::kBadData,
        Text(source.path, ": no column is left for the keys; it has ", ListNames(header)));
  }
  return columns;
}

}  // namespace resmem
