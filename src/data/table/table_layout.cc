#include <cmath>
#include <utility>

#include "resmem/data/table.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

Status NoLayout(const std::string& name, const std::string& what) {
  return {ErrorCode::kCorrupt,
          Text(name, ": its note \"", kTableNote, "\" ", what,
               "; name the columns (--key-columns, --label-column), or memorize the table again")};
}

// Each Read leaves `out` alone where the field is missing, and is false where it is of another
// kind.
bool ReadText(const Json& json, const char* field, std::string* out) {
  const auto found = json.find(field);
  if (found == json.end()) return true;
  if (!found->is_string()) return false;
  *out = found->get<std::string>();
  return true;
}

bool ReadTexts(const Json& json, const char* field, std::vector<std::string>* out) {
  const auto found = json.find(field);
  if (found == json.end()) return true;
  if (!found->is_array()) return false;
  for (const Json& value : *found) {
    if (!value.is_string()) return false;
    out->push_back(value.get<std::string>());
  }
  return true;
}

bool ReadNumber(const Json& json, const char* field, double* out) {
  const auto found = json.find(field);
  if (found == json.end()) return true;
  if (!found->is_number()) return false;
  *out = found->get<double>();
  return std::isfinite(*out);
}

bool ReadFlag(const Json& json, const char* field, bool* out) {
  const auto found = json.find(field);
  if (found == json.end()) return true;
  if (!found->is_boolean()) return false;
  *out = found->get<bool>();
  return true;
}

bool ReadKey(const Json& json, TableLayout::Key* key) {
  return json.is_object() && ReadText(json, "column", &key->column) && !key->column.empty() &&
         ReadTexts(json, "categories", &key->categories) && ReadNumber(json, "mean", &key->mean) &&
         ReadNumber(json, "deviation", &key->deviation) && key->deviation > 0;
}

bool ReadLayout(const Json& json, TableLayout* layout) {
  if (!json.is_object()) return false;
  const auto keys = json.find("keys");
  if (keys == json.end() || !keys->is_array() || keys->empty()) return false;
  for (const Json& value : *keys) {
    if (!ReadKey(value, &layout->keys.emplace_back())) return false;
  }
  std::string missing, scale;
  const bool read =
      ReadFlag(json, "named_labels", &layout->named_labels) &&
      ReadFlag(json, "probabilities", &layout->probabilities) &&
      ReadTexts(json, "logits", &layout->logits) && ReadTexts(json, "targets", &layout->targets) &&
      ReadTexts(json, "tags", &layout->tags) && ReadText(json, "label", &layout->label) &&
      ReadText(json, "id", &layout->id) && ReadText(json, "source", &layout->source) &&
      ReadText(json, "split", &layout->split) && ReadText(json, "slice", &layout->slice) &&
      ReadText(json, "missing", &missing) && ReadText(json, "scale", &scale);
  layout->missing = missing == "mean" ? MissingRule::kMean : MissingRule::kRefuse;
  layout->scale = scale == "standard" ? TableScale::kStandard : TableScale::kNone;
  return read;
}

}  // namespace

int64_t TableLayout::dim() const {
  int64_t dim = 0;
  for (const Key& key : keys) {
    dim += key.categories.empty() ? 1 : static_cast<int64_t>(key.categories.size());
  }
  return dim;
}

std::string TableLayoutText(const TableLayout& layout) {
  Json json;
  json["keys"] = Json::array();
  for (const TableLayout::Key& key : layout.keys) {
    Json one = {{"column", key.column}};
    if (key.categories.empty()) {
      one["mean"] = key.mean;
      one["deviation"] = key.deviation;
    } else {
      one["categories"] = key.categories;
    }
    json["keys"].push_back(std::move(one));
  }
  if (!layout.logits.empty()) json["logits"] = layout.logits;
  if (layout.probabilities) json["probabilities"] = true;
  if (!layout.targets.empty()) json["targets"] = layout.targets;
  if (!layout.tags.empty()) json["tags"] = layout.tags;
  for (const auto& [name, value] :
       {std::pair<const char*, const std::string&>{"label", layout.label},
        {"id", layout.id},
        {"source", layout.source},
        {"split", layout.split},
        {"slice", layout.slice}}) {
    if (!value.empty()) json[name] = value;
  }
  json["missing"] = layout.missing == MissingRule::kMean ? "mean" : "refuse";
  json["scale"] = layout.scale == TableScale::kStandard ? "standard" : "none";
  json["named_labels"] = layout.named_labels;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TableLayout> ParseTableLayout(const std::string& text, const std::string& name) {
  const Result<Json> json = ReadJson(text, {.levels = 4});
  if (!json.ok()) return NoLayout(name, "is no JSON");
  TableLayout layout;
  if (!ReadLayout(*json, &layout))
    return NoLayout(name, "does not describe the columns of a table");
  return layout;
}

}  // namespace resmem
