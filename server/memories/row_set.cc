#include "memories/row_set.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

Status Bad(std::string words) {
  return {ErrorCode::kBadData, std::move(words)};
}

// rows x columns floats; sets `rows` from the first array that is read.
Status ReadMatrix(const JsonValue& object, const char* member, int64_t columns, int64_t most_rows,
                  int64_t* rows, std::vector<float>* values) {
  const JsonValue* array = object.Find(member);
  const std::string wanted = "\"" + std::string(member) + "\" must be an array of rows x " +
                             std::to_string(columns) + " numbers";
  if (array == nullptr || array->kind != JsonValue::Kind::kNumbers || array->shape.size() > 2) {
    return Bad(wanted);
  }
  const int64_t found = array->shape.size() == 1 ? 1 : array->shape[0];
  if (array->shape.back() != columns || found < 1) return Bad(wanted);
  if (found > most_rows) {
    return Bad("\"" + std::string(member) + "\" has " + std::to_string(found) + " rows, at most " +
               std::to_string(most_rows) + " (--max-rows)");
  }
  if (*rows >= 0 && found != *rows) {
    return Bad(wanted + "; it has " + std::to_string(found) + " rows, not " +
               std::to_string(*rows));
  }
  *rows = found;
  for (const JsonNumber& number : array->numbers) {
    const double value = number.AsDouble();
    if (std::fabs(value) > std::numeric_limits<float>::max()) {
      return Bad("\"" + std::string(member) + "\" holds a number that is no float32");
    }
    values->push_back(static_cast<float>(value));
  }
  return {};
}

Status ReadLabel(const JsonValue& value, const MemoryState& state, int32_t* label) {
  if (value.kind == JsonValue::Kind::kText) {
    const std::optional<int32_t> found = state.FindClass(value.text);
    if (!found) return Bad("the memory has no class named '" + value.text.substr(0, 100) + "'");
    *label = *found;
    return {};
  }
  int64_t number = -1;
  if (value.kind != JsonValue::Kind::kNumber || !value.number.AsInt64(&number) || number < 0 ||
      number >= state.description().outputs) {
    return Bad("a label must be a class's name or a whole number from 0 to " +
               std::to_string(state.description().outputs - 1));
  }
  *label = static_cast<int32_t>(number);
  return {};
}

// `member` as a list of values, whichever way it was written.
std::vector<JsonValue> AsList(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kList) return value.list;
  if (value.kind != JsonValue::Kind::kNumbers) return {value};
  std::vector<JsonValue> list;
  for (const JsonNumber& number : value.numbers) {
    JsonValue& each = list.emplace_back();
    each.kind = JsonValue::Kind::kNumber;
    each.number = number;
  }
  return list;
}

Status ReadTexts(const JsonValue& object, const std::string& member, int64_t rows,
                 std::vector<std::string>* texts) {
  const JsonValue* given = object.Find(member);
  if (given == nullptr) return {};
  for (const JsonValue& value : AsList(*given)) {
    if (value.kind != JsonValue::Kind::kText || value.text.size() > 4096) {
      return Bad("\"" + member + "\" must be texts of at most 4,096 bytes");
    }
    texts->push_back(value.text);
  }
  if (static_cast<int64_t>(texts->size()) == rows) return {};
  return Bad("there are " + std::to_string(texts->size()) + " " + member + " for " +
             std::to_string(rows) + " rows");
}

}  // namespace

Status ReadLabels(const JsonValue& object, const MemoryState& state, RowSet* set) {
  const JsonValue* given = object.Find("labels");
  if (given == nullptr) given = object.Find("label");
  if (given == nullptr) return Bad("\"labels\" is missing");
  const std::vector<JsonValue> list = AsList(*given);
  if (static_cast<int64_t>(list.size()) != set->rows) {
    return Bad("there are " + std::to_string(list.size()) + " labels for " +
               std::to_string(set->rows) + " rows");
  }
  for (const JsonValue& value : list) {
    RESMEM_RETURN_IF_ERROR(ReadLabel(value, state, &set->labels.emplace_back()));
  }
  return {};
}

Rows RowSet::View() const {
  Rows view;
  view.keys = key_view();
  view.logits = logit_view();
  view.labels = labels;
  if (!targets.empty()) view.targets = MatrixView(targets.data(), rows, outputs);
  view.ids = ids;
  view.sources = sources;
  view.tags = tags;
  return view;
}

void RowSet::Append(const RowSet& other) {
  // Rows without tags beside rows that have some have empty ones.
  if (!tags.empty() || !other.tags.empty()) {
    tags.resize(static_cast<size_t>(rows));
    tags.insert(tags.end(), other.tags.begin(), other.tags.end());
    tags.resize(static_cast<size_t>(rows + other.rows));
  }
  const auto add = [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  dim = other.dim;
  outputs = other.outputs;
  rows += other.rows;
  add(keys, other.keys);
  add(logits, other.logits);
  add(targets, other.targets);
  add(labels, other.labels);
  add(ids, other.ids);
  add(sources, other.sources);
}

Result<std::vector<uint64_t>> ReadIds(const JsonValue& object, const char* member,
                                      int64_t most_rows) {
  std::vector<uint64_t> ids;
  const JsonValue* given = object.Find(member);
  const std::string wanted =
      "\"" + std::string(member) + "\" must be a list of row ids, whole numbers from 0 on";
  if (given == nullptr) return Bad(wanted);
  for (const JsonValue& value : AsList(*given)) {
    uint64_t id = 0;
    if (value.kind != JsonValue::Kind::kNumber || !value.number.AsUint64(&id)) return Bad(wanted);
    ids.push_back(id);
  }
  if (ids.empty() || static_cast<int64_t>(ids.size()) > most_rows) {
    return Bad(wanted + ", from 1 to " + std::to_string(most_rows) + " of them");
  }
  std::vector<uint64_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Bad("\"" + std::string(member) + "\" holds an id twice");
  }
  return ids;
}

Result<RowSet> ReadRowSet(const JsonValue& object, const MemoryState& state, bool labelled,
                          int64_t most_rows) {
  const MemoryDescription& description = state.description();
  RowSet set;
  set.dim = description.dim;
  set.outputs = description.outputs;
  set.rows = -1;
  RESMEM_RETURN_IF_ERROR(ReadMatrix(object, "keys", set.dim, most_rows, &set.rows, &set.keys));
  RESMEM_RETURN_IF_ERROR(
      ReadMatrix(object, "logits", set.outputs, most_rows, &set.rows, &set.logits));
  if (labelled && state.classifies()) {
    RESMEM_RETURN_IF_ERROR(ReadLabels(object, state, &set));
  } else if (labelled) {
    RESMEM_RETURN_IF_ERROR(
        ReadMatrix(object, "targets", set.outputs, most_rows, &set.rows, &set.targets));
  }
  if (object.Find("ids") != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(set.ids, ReadIds(object, "ids", most_rows));
    if (static_cast<int64_t>(set.ids.size()) != set.rows) {
      return Bad("there are " + std::to_string(set.ids.size()) + " ids for " +
                 std::to_string(set.rows) + " rows");
    }
  }
  RESMEM_RETURN_IF_ERROR(ReadTexts(object, "sources", set.rows, &set.sources));
  RESMEM_RETURN_IF_ERROR(ReadTexts(object, "tags", set.rows, &set.tags));
  return set;
}

std::string WriteRowSet(const RowSet& set) {
  const auto matrix = [&](const std::vector<float>& values, int64_t columns) {
    std::vector<std::string> lines;
    for (int64_t r = 0; r < set.rows; ++r) {
      AppendNumbers(std::span<const float>(values).subspan(static_cast<size_t>(r * columns),
                                                           static_cast<size_t>(columns)),
                    &lines.emplace_back());
    }
    return JsonList(lines);
  };
  JsonText json;
  json.AddJson("keys", matrix(set.keys, set.dim))
      .AddJson("logits", matrix(set.logits, set.outputs));
  if (!set.labels.empty()) json.AddNumbers("labels", std::span<const int32_t>(set.labels));
  if (!set.targets.empty()) json.AddJson("targets", matrix(set.targets, set.outputs));
  if (!set.ids.empty()) json.AddNumbers("ids", std::span<const uint64_t>(set.ids));
  for (const auto& [name, values] : {std::pair("sources", &set.sources), {"tags", &set.tags}}) {
    if (values->empty()) continue;
    std::vector<std::string> texts;
    for (const std::string& value : *values) AppendText(value, &texts.emplace_back());
    json.AddJson(name, JsonList(texts));
  }
  return json.Object();
}

Result<RowSet> CopyRows(const MemoryState& state, std::span<const uint64_t> ids) {
  const ResidualMemory& memory = state.memory;
  const MemoryDescription& description = state.description();
  const bool regression = !state.classifies();
  RowSet set;
  set.dim = description.dim;
  set.outputs = description.outputs;
  set.rows = static_cast<int64_t>(ids.size());
  set.keys.resize(static_cast<size_t>(set.rows * set.dim));
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::optional<int64_t> row = memory.FindId(ids[i]);
    if (!row) {
      return Status(ErrorCode::kNotFound, "no row has the id " + std::to_string(ids[i]));
    }
    if (!regression && description.form != ResidualForm::kLogits) {
      return Status(ErrorCode::kUnsupported, "the memory is frozen: it keeps no logits");
    }
    memory.DecodeKey(*row, std::span<float>(set.keys).subspan(i * static_cast<size_t>(set.dim),
                                                              static_cast<size_t>(set.dim)));
    if (regression) {
      // prediction = target - residual
      const std::span<const float> target = memory.target(*row);
      std::vector<float> residual(static_cast<size_t>(set.outputs));
      memory.Residual(*row, description.parameters.temperature, residual);
      set.targets.insert(set.targets.end(), target.begin(), target.end());
      for (size_t c = 0; c < residual.size(); ++c) set.logits.push_back(target[c] - residual[c]);
    } else {
      const std::span<const float> logits = memory.logits(*row);
      set.logits.insert(set.logits.end(), logits.begin(), logits.end());
      set.labels.push_back(memory.label(*row));
    }
    set.ids.push_back(ids[i]);
    if (description.has_sources) set.sources.emplace_back(memory.source(*row));
    if (memory.has_tags()) set.tags.emplace_back(memory.tags(*row));
  }
  RESMEM_RETURN_IF_ERROR(memory.damage());
  return set;
}

}  // namespace resmem::serve
