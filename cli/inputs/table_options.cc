#include "inputs/table_options.h"

#include <utility>

#include "console/format.h"

namespace resmem::cli {
namespace {

// A note of a memory that was made of probabilities: their floor.
constexpr char kFloorNote[] = "probability_floor";

}  // namespace

void TableOptions::Declare(CommandLine& line, const Use& use) {
  const bool new_memory = use.new_memory;
  labels_ = use.labels;
  line.Group("Table (--data FILE.csv, or - for standard input; docs/tables.md)");
  const auto names = [&](const char* name, std::vector<std::string>* target,
                         const std::string& help) -> Option& {
    return line.Value(name, target, "NAMES", help).Needs({"--data"});
  };
  const std::string as_known = new_memory ? "" : "as in the memory's table";
  names("--key-columns", &roles_.keys,
        "columns that are the keys, separated by commas; emb_* stands for all that begin so")
      .Default(new_memory ? "all columns without another role" : as_known);
  if (new_memory) {
    names("--ignore-columns", &roles_.ignored, "columns to leave out");
  }
  if (use.labels) {
    line.Value("--label-column", &roles_.label, "NAME",
               "column of the label: a class name or number; it is never a key")
        .Needs({"--data"})
        .Default(new_memory ? "label, labels, target or targets" : as_known);
    names("--target-columns", &roles_.targets, "columns of the true values, for regression")
        .Default(new_memory ? "target or targets" : as_known);
  }
  if (use.logits) {
    names("--logit-columns", &roles_.logits,
          "columns of the base's output, one for each class; for regression, its predictions")
        .Default(as_known);
    names("--probability-columns", &roles_.probabilities,
          "instead of --logit-columns: the base's probabilities, see --probabilities")
        .Default(as_known);
  }
  line.Value("--id-column", &roles_.id, "NAME", "column of whole numbers that are the ids")
      .Needs({"--data"})
      .Default(new_memory ? "id or ids" : as_known);
  const auto one = [&](bool used, const char* name, std::string* target, const char* help,
                       const char* usual) {
    if (!used) return;
    line.Value(name, target, "NAME", help).Needs({"--data"}).Default(new_memory ? usual : as_known);
  };
  one(use.sources, "--source-column", &roles_.source,
      "column of text that says where each row came from", "source or sources");
  if (use.tags) {
    names("--tag-columns", &roles_.tags,
          "columns whose values are tags of the row, NAME=VALUE, and not keys (docs/filters.md)")
        .Default(as_known);
  }
  one(use.split, "--split-column", &roles_.split,
      "column that says train, validation or test of each row", "split");
  one(use.slices, "--slice-column", &roles_.slice,
      "column that names the group a row is reported under", "slice or slices");
  line.Choice<std::optional<MissingRule>, MissingRule>(
          "--missing", &roles_.missing,
          {{"refuse", MissingRule::kRefuse}, {"mean", MissingRule::kMean}},
          "what a key without a value counts as (an empty field, NA, NaN, null, ?): an error that "
          "names the place, or the mean of its column in the memory's rows")
      .Default(new_memory ? "refuse" : as_known)
      .Needs({"--data"});
  if (!new_memory) return;
  line.Choice<TableScale, TableScale>(
          "--scale", &roles_.scale,
          {{"standard", TableScale::kStandard}, {"none", TableScale::kNone}},
          "what is done to key columns: the column's mean subtracted and divided by its deviation, "
          "so that one in thousands does not drown one in tenths; or nothing, for embeddings")
      .Needs({"--data"});
}

bool TableOptions::IsTable(const std::string& data) const {
  if (data.empty()) return false;
  for (const char* ending : {".csv", ".tsv", ".csv.xz", ".tsv.xz", ".parquet"}) {
    if (data.ends_with(ending)) return true;
  }
  return data == "-" || !roles_.keys.empty() || !roles_.label.empty() || !roles_.targets.empty() ||
         !roles_.logits.empty() || !roles_.probabilities.empty() || !roles_.id.empty() ||
         !roles_.source.empty() || !roles_.split.empty() || !roles_.slice.empty() ||
         !roles_.ignored.empty() || !roles_.tags.empty();
}

Result<TableSource> TableOptions::Source(const std::string& data, const std::string& memory_name,
                                         const MemoryDescription* memory) const {
  TableSource source{data, roles_, std::nullopt, labels_};
  if (memory == nullptr) return source;
  const auto note = memory->notes.find(kTableNote);
  if (note != memory->notes.end()) {
    RESMEM_ASSIGN_OR_RETURN(source.layout, ParseTableLayout(note->second, memory_name));
    return source;
  }
  source.roles.scale = TableScale::kNone;  // the memory's keys are as they came
  if (!roles_.keys.empty()) return source;
  return Status(ErrorCode::kInvalidArgument,
                memory_name + " was not made of a table, so it does not know which columns of " +
                    data + " are keys; name them with --key-columns");
}

void NoteReading(const Dataset& dataset, Console& console) {
  const SkippedRows& skipped = dataset.skipped();
  if (skipped.rows > 0) {
    std::string places;
    for (const std::string& place : skipped.places) places += (places.empty() ? "" : ", ") + place;
    const bool more = skipped.rows > static_cast<int64_t>(skipped.places.size());
    console.Warn("skipped " + Count(skipped.rows) + " of " +
                 Counted(skipped.rows + dataset.rows(), "row") + ": " + places +
                 (more ? ", ..." : ""));
  }
  for (const std::string& column : dataset.telltale()) {
    console.Warn("each value of the key column \"" + column +
                 "\" goes with one label only: if it is a copy of the label, leave it out with " +
                 (dataset.table().has_value() ? "" : "--data FILE.csv ") + "--ignore-columns " +
                 column);
  }
  if (!dataset.table().has_value()) return;
  const TableReading& table = *dataset.table();
  if (table.filled > 0) {
    console.Note("filled in " + Counted(table.filled, "missing value") +
                 " with the mean of the column");
  }
  if (table.unknown_categories > 0) {
    console.Warn("the memory's table does not have the category of " +
                 Counted(table.unknown_categories, "value") + "; it counts as none of those known");
  }
}

void RememberReading(const Dataset& dataset, MemoryDescription* description) {
  if (dataset.table().has_value()) {
    description->notes[kTableNote] = TableLayoutText(dataset.table()->layout);
  }
  if (dataset.probability_floor().has_value()) {
    description->notes[kFloorNote] = ShowValue(static_cast<double>(*dataset.probability_floor()));
  }
}

std::optional<float> FloorOf(const MemoryDescription& memory) {
  const auto note = memory.notes.find(kFloorNote);
  float floor = 0;
  if (note == memory.notes.end() || !ParseValue(note->second, &floor).ok()) return std::nullopt;
  return floor;
}

}  // namespace resmem::cli
