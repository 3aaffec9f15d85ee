#include "edits/edit_message.h"

#include <algorithm>

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

constexpr int64_t kFormat = 1;
constexpr size_t kMostTextBytes = 200;

Status BadEdit(std::string words) {
  return {ErrorCode::kBadData, "an edit of the stream: " + std::move(words)};
}

Status ReadShortText(const JsonValue& object, const char* member, std::string* text) {
  const JsonValue* value = object.Find(member);
  if (value == nullptr) return {};
  if (value->kind != JsonValue::Kind::kText || value->text.size() > kMostTextBytes) {
    return BadEdit("\"" + std::string(member) + "\" is no text of at most 200 bytes");
  }
  *text = value->text;
  return {};
}

RowSet OneRow(const RowSet& rows, int64_t row) {
  const auto part = [row](const auto& values, int64_t columns) {
    const auto begin = values.begin() + row * columns;
    return std::remove_cvref_t<decltype(values)>(begin, begin + columns);
  };
  RowSet one;
  one.rows = 1;
  one.dim = rows.dim;
  one.outputs = rows.outputs;
  one.keys = part(rows.keys, rows.dim);
  one.logits = part(rows.logits, rows.outputs);
  if (!rows.labels.empty()) one.labels = part(rows.labels, 1);
  if (!rows.targets.empty()) one.targets = part(rows.targets, rows.outputs);
  if (!rows.sources.empty()) one.sources = part(rows.sources, 1);
  return one;
}

}  // namespace

uint64_t StreamedId(int64_t sequence, int64_t row) {
  return kFirstStreamedId + static_cast<uint64_t>(sequence * kMostStreamedRows + row);
}

// Of splitmix64, so that ids in a row spread over the shards.
int64_t OwnerOf(uint64_t id, int64_t shards) {
  id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9;
  id = (id ^ (id >> 27)) * 0x94d049bb133111eb;
  id ^= id >> 31;
  return static_cast<int64_t>(id % static_cast<uint64_t>(shards)) + 1;
}

std::string WriteEditMessage(const EditMessage& edit) {
  JsonText json;
  json.Add("resmem", kFormat).Add("kind", KindName(edit.kind));
  json.Add("time", edit.time).Add("who", edit.who);
  if (!edit.token.empty()) json.Add("token", edit.token);
  if (edit.kind == Edit::Kind::kLearn) return json.AddJson("rows", WriteRowSet(edit.rows)).Object();
  json.AddNumbers("ids", std::span<const uint64_t>(edit.ids));
  if (edit.kind == Edit::Kind::kRelabel) {
    json.AddNumbers("labels", std::span<const int32_t>(edit.rows.labels));
  }
  return json.Object();
}

Result<EditMessage> ReadEditMessage(std::string_view text, const MemoryState& state) {
  RESMEM_ASSIGN_OR_RETURN(const JsonValue json, ParseJson(text));
  int64_t format = 0;
  const JsonValue* given = json.Find("resmem");
  if (given == nullptr || given->kind != JsonValue::Kind::kNumber ||
      !given->number.AsInt64(&format) || format != kFormat) {
    return BadEdit("\"resmem\" is not 1: a program of another version wrote it");
  }
  EditMessage edit;
  std::string kind;
  RESMEM_RETURN_IF_ERROR(ReadShortText(json, "kind", &kind));
  RESMEM_RETURN_IF_ERROR(ReadShortText(json, "time", &edit.time));
  RESMEM_RETURN_IF_ERROR(ReadShortText(json, "who", &edit.who));
  RESMEM_RETURN_IF_ERROR(ReadShortText(json, "token", &edit.token));
  if (kind == KindName(Edit::Kind::kLearn)) {
    const JsonValue* rows = json.Find("rows");
    if (rows == nullptr) return BadEdit("it has no \"rows\"");
    RESMEM_ASSIGN_OR_RETURN(edit.rows,
                            ReadRowSet(*rows, state, /*labelled=*/true, kMostStreamedRows));
    return edit;
  }
  RESMEM_ASSIGN_OR_RETURN(edit.ids, ReadIds(json, "ids", kMostStreamedRows));
  edit.kind = Edit::Kind::kForget;
  if (kind == KindName(edit.kind)) return edit;
  edit.kind = Edit::Kind::kRelabel;
  if (kind != KindName(edit.kind)) return BadEdit("there is no kind '" + kind + "'");
  edit.rows.rows = std::ssize(edit.ids);
  RESMEM_RETURN_IF_ERROR(ReadLabels(json, state, &edit.rows));
  return edit;
}

bool EditFold::Holds(uint64_t id) const {
  return learned_at_.contains(id) ||
         (!forgotten_.contains(id) && state_.memory.FindId(id).has_value());
}

void EditFold::Remove(uint64_t id) {
  const auto at = learned_at_.find(id);
  if (at != learned_at_.end()) {
    learned_[at->second] = RowSet();
    learned_at_.erase(at);
  } else {
    forgotten_.insert(id);
  }
}

void EditFold::Put(const RowSet& rows, int64_t row, uint64_t id) {
  learned_at_[id] = learned_.size();
  RowSet& one = learned_.emplace_back(OneRow(rows, row));
  one.ids = {id};
  const bool sources = state_.description().has_sources;
  if (sources && one.sources.empty()) one.sources = {"edit"};
  if (!sources) one.sources.clear();
}

Status EditFold::Relabel(uint64_t id, int32_t label) {
  const uint64_t ids[] = {id};
  RESMEM_ASSIGN_OR_RETURN(RowSet row, CopyRows(state_, ids));
  if (row.labels.empty()) return {ErrorCode::kUnsupported, "rows of a regression have no labels"};
  if (row.labels[0] == label) return {};
  row.labels[0] = label;
  Remove(id);
  Put(row, 0, id);
  return {};
}

bool EditFold::MustWait(const EditMessage& edit) const {
  return edit.kind == Edit::Kind::kRelabel &&
         std::any_of(edit.ids.begin(), edit.ids.end(),
                     [&](uint64_t id) { return learned_at_.contains(id); });
}

Status EditFold::Add(int64_t sequence, const EditMessage& edit) {
  if (edit.kind == Edit::Kind::kLearn) {
    for (int64_t row = 0; row < edit.rows.rows; ++row) {
      const uint64_t id = edit.rows.ids.empty() ? StreamedId(sequence, row)
                                                : edit.rows.ids[static_cast<size_t>(row)];
      if (Holds(id)) Remove(id);
      if (OwnerOf(id, shards_) == shard_) Put(edit.rows, row, id);
    }
    return {};
  }
  for (size_t i = 0; i < edit.ids.size(); ++i) {
    if (!Holds(edit.ids[i])) continue;
    if (edit.kind == Edit::Kind::kForget) {
      Remove(edit.ids[i]);
    } else {
      RESMEM_RETURN_IF_ERROR(Relabel(edit.ids[i], edit.rows.labels[i]));
    }
  }
  return {};
}

RowSet EditFold::learn() const {
  RowSet all;
  for (const RowSet& row : learned_) {
    if (row.rows > 0) all.Append(row);
  }
  return all;
}

std::vector<uint64_t> EditFold::forget() const {
  return {forgotten_.begin(), forgotten_.end()};
}

}  // namespace resmem::serve
