#include "data/dataset_sources.h"

#include <filesystem>
#include <map>
#include <utility>

#include "data/formats/format_table.h"
#include "data/formats/formats.h"
#include "data/table/label_leak.h"
#include "data/table/table_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

// From an array's bare name ("keys") to where it lies.
using NamedArrays = std::map<std::string, std::string, std::less<>>;

Result<NamedArrays> ListFolder(const std::string& folder) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> files, FileSystem::Posix().List(folder));
  const std::vector<std::string> extensions = FolderExtensions();
  NamedArrays found;
  for (const std::string& file : files) {
    for (const std::string& extension : extensions) {
      if (!file.ends_with(extension)) continue;
      const std::string name = file.substr(0, file.size() - extension.size());
      const auto [other, added] = found.emplace(name, Text(folder, "/", file));
      if (added) break;
      return Status(ErrorCode::kInvalidArgument,
                    Text(folder, ": holds both ", other->second, " and ", file,
                         "; remove one, or name the array to use"));
    }
  }
  return found;
}

Result<NamedArrays> ListAll(const std::string& all) {
  if (all.empty()) return NamedArrays();
  if (FileSystem::Posix().IsDirectory(all)) return ListFolder(all);
  RESMEM_ASSIGN_OR_RETURN(const FileContent content, ReadFile(all));
  NamedArrays found;
  for (const Member& member : content.members) {
    if (!member.info.member.empty()) {
      found.emplace(member.info.member, Text(all, ":", member.info.member));
    }
  }
  return found;
}

// The array named by the user, or the first of `names` that was found; nothing where neither is.
Status OpenOne(const std::optional<ArraySource>& named, const NamedArrays& found,
               std::initializer_list<const char*> names, std::optional<Array>* array) {
  ArraySource source;
  if (named) {
    source = *named;
  } else {
    for (const char* name : names) {
      if (const auto at = found.find(name); at != found.end()) {
        source.path = at->second;
        break;
      }
    }
  }
  if (source.path.empty()) return {};
  RESMEM_ASSIGN_OR_RETURN(*array, OpenArray(source));
  return {};
}

// A table read whole as keys must not hold what is to be learned, nor what only names the row.
Status CheckNoColumnInKeys(const DatasetSources& sources) {
  if (!sources.keys) return {};
  const ArrayPlace keys = FindArrayFile(sources.keys->path);
  if (keys.member) return {};
  const std::pair<const char*, const std::optional<ArraySource>*> others[] = {
      {"labels", &sources.labels}, {"targets", &sources.targets},
      {"logits", &sources.logits}, {"probabilities", &sources.probabilities},
      {"ids", &sources.ids},       {"sources", &sources.sources},
      {"split", &sources.split},   {"slices", &sources.slices},
      {"tags", &sources.tags}};
  for (const auto& [what, source] : others) {
    if (!*source) continue;
    const ArrayPlace place = FindArrayFile((*source)->path);
    std::error_code error;
    if (!place.member || !std::filesystem::equivalent(place.path, keys.path, error)) continue;
    return {
        ErrorCode::kInvalidArgument,
        Text(keys.path, ": all its columns are the keys, and its column ", *place.member,
             " is the ", what, ", which would be part of each key; give the table as --data, ",
             "which knows roles of columns (--label-column, --id-column, --ignore-columns), or ",
             "write the keys to a file without that column")};
  }
  return {};
}

// The names of keys that are all columns of a CSV file, none of which may be the label.
Result<std::vector<std::string>> NameKeyColumns(const DatasetSources& sources,
                                                const NamedArrays& found, Task task) {
  std::string path;
  if (sources.keys) {
    if (!sources.keys->raw_shape.empty()) return std::vector<std::string>();
    path = sources.keys->path;
  } else if (const auto at = found.find("keys"); at != found.end()) {
    path = at->second;
  }
  RESMEM_ASSIGN_OR_RETURN(std::vector<std::string> columns, CsvColumns(path));
  for (const std::string& column : columns) {
    if (!NamesALabel(column, task)) continue;
    return Status(
        ErrorCode::kInvalidArgument,
        Text(path, ": all its columns are the keys, and its column \"", column, "\" is named as ",
             "a label is; give the table as --data, which knows roles of columns ",
             "(--label-column, --ignore-columns, or --key-columns if it is known of each new ",
             "row), or write the keys to a file without that column"));
  }
  return columns;
}

// Those that are named, before those that are found; logits before probabilities.
Status OpenLogits(const DatasetSources& sources, const NamedArrays& found, DatasetArrays* arrays) {
  if (sources.logits && sources.probabilities) {
    return {ErrorCode::kInvalidArgument,
            "logits and probabilities exclude each other; give one of them"};
  }
  std::optional<Array> logits;
  if (!sources.probabilities) {
    RESMEM_RETURN_IF_ERROR(OpenOne(sources.logits, found, {"logits", "predictions"}, &logits));
    if (logits) arrays->probabilities = false;
  }
  if (!logits) {
    RESMEM_RETURN_IF_ERROR(OpenOne(sources.probabilities, found, {"probabilities"}, &logits));
    if (logits) arrays->probabilities = true;
  }
  if (logits) arrays->logits = std::move(logits);
  return {};
}

}  // namespace

namespace {

// Whether an array of this many columns is a regression's predictions: classes have two or more.
Result<Task> TaskOfColumns(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const Array logits, OpenArray({path, {}, {}}));
  return logits.columns() == 1 ? Task::kRegression : Task::kClassification;
}

}  // namespace

Result<Task> FindTask(const DatasetSources& sources) {
  if (sources.labels || sources.made || sources.probabilities) return Task::kClassification;
  if (sources.targets) return Task::kRegression;
  if (sources.table) {
    const TableRoles& roles = sources.table->roles;
    if (!roles.label.empty() || !roles.probabilities.empty()) return Task::kClassification;
    const bool one = roles.logits.size() == 1 && !roles.logits[0].ends_with('*');
    if (!roles.targets.empty() || one) return Task::kRegression;
  }
  if (sources.logits) {
    return sources.logits->raw_shape.empty() ? TaskOfColumns(sources.logits->path)
                                             : Result<Task>(Task::kClassification);
  }
  if (sources.table) return Task::kClassification;
  RESMEM_ASSIGN_OR_RETURN(const NamedArrays found, ListAll(sources.all));
  const auto has = [&](const char* name) { return found.contains(name); };
  if (has("labels") || !has("targets")) return Task::kClassification;
  if (has("logits")) return TaskOfColumns(found.at("logits"));
  return has("predictions") ? Task::kRegression : Task::kClassification;
}

Result<DatasetArrays> OpenDatasetArrays(const DatasetSources& sources, Task task) {
  const bool classes = task == Task::kClassification;
  if (!classes && sources.probabilities) {
    return Status(ErrorCode::kInvalidArgument,
                  "probabilities belong to classification; a regression has predictions");
  }
  if (classes ? sources.targets.has_value() : sources.labels.has_value()) {
    return Status(ErrorCode::kInvalidArgument,
                  classes ? "targets belong to regression; give labels, or choose regression"
                          : "labels belong to classification; give targets, or choose "
                            "classification");
  }
  if (sources.made && (!sources.all.empty() || sources.table || sources.keys || sources.logits ||
                       sources.probabilities)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(sources.made->name(),
                       ": keys and logits are made, so no arrays of them can "
                       "be given"));
  }
  RESMEM_RETURN_IF_ERROR(CheckNoColumnInKeys(sources));
  DatasetArrays arrays;
  NamedArrays found;
  if (sources.table) {
    RESMEM_ASSIGN_OR_RETURN(OpenedTable table, OpenTable(*sources.table, task, sources.skip_bad));
    arrays = std::move(table.arrays);
    arrays.table = std::move(table.reading);
  } else {
    RESMEM_ASSIGN_OR_RETURN(found, ListAll(sources.all));
  }
  arrays.made = sources.made;
  RESMEM_RETURN_IF_ERROR(
      OpenOne(sources.keys, found, {"keys", "embeddings", "features"}, &arrays.keys));
  if (classes) {
    RESMEM_RETURN_IF_ERROR(OpenLogits(sources, found, &arrays));
    RESMEM_RETURN_IF_ERROR(OpenOne(sources.labels, found, {"labels", "targets"}, &arrays.labels));
  } else {
    RESMEM_RETURN_IF_ERROR(
        OpenOne(sources.logits, found, {"predictions", "logits"}, &arrays.logits));
    RESMEM_RETURN_IF_ERROR(OpenOne(sources.targets, found, {"targets", "labels"}, &arrays.targets));
  }
  RESMEM_RETURN_IF_ERROR(OpenOne(sources.ids, found, {"ids"}, &arrays.ids));
  RESMEM_RETURN_IF_ERROR(OpenOne(sources.sources, found, {"sources"}, &arrays.sources));
  RESMEM_RETURN_IF_ERROR(OpenOne(sources.split, found, {"split"}, &arrays.split));
  RESMEM_RETURN_IF_ERROR(OpenOne(sources.slices, found, {"slices"}, &arrays.slices));
  RESMEM_RETURN_IF_ERROR(OpenOne(sources.tags, found, {"tags"}, &arrays.tags));
  if (arrays.keys && !sources.table) {
    RESMEM_ASSIGN_OR_RETURN(arrays.key_columns, NameKeyColumns(sources, found, task));
  }
  if (!arrays.keys && !arrays.made) {
    if (sources.all.empty()) {
      return Status(ErrorCode::kInvalidArgument,
                    "no keys were given; name the array of embeddings");
    }
    return Status(ErrorCode::kNotFound,
                  Text(sources.all,
                       ": has no array named keys, embeddings or features; rename the "
                       "embeddings or name their array"));
  }
  return arrays;
}

}  // namespace resmem
