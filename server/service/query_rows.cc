#include "service/query_rows.h"

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

JsonValue Matrix(const std::vector<float>& values, int64_t rows) {
  JsonValue array;
  array.kind = JsonValue::Kind::kNumbers;
  array.shape = {rows, static_cast<int64_t>(values.size()) / rows};
  for (const float value : values) array.numbers.emplace_back().real = value;
  return array;
}

// "text" or "image" of the body, read by the memory's model.  False where it has neither.
Result<bool> ReadRaw(const Found& found, const JsonValue& body, int64_t most_rows,
                     JsonValue* resolved) {
  const JsonValue* text = body.Find("text");
  const JsonValue* raw = text == nullptr ? body.Find("image") : text;
  if (raw == nullptr || body.Find("keys") != nullptr) return false;
  const std::string name = text == nullptr ? "image" : "text";
  std::vector<std::string> rows;
  if (raw->kind == JsonValue::Kind::kText) rows.push_back(raw->text);
  for (const JsonValue& each : raw->list) {
    if (each.kind == JsonValue::Kind::kText) rows.push_back(each.text);
  }
  if (rows.empty() || (!raw->list.empty() && rows.size() != raw->list.size()) ||
      static_cast<int64_t>(rows.size()) > most_rows) {
    return Status(ErrorCode::kBadData,
                  "\"" + name + "\" must be a text or a list of texts, at most " +
                      std::to_string(most_rows) +
                      " (--max-rows); of an image: its PNG, JPEG or WebP file in "
                      "base64");
  }
  const MemoryModel* model = found.state->model.get();
  if (model == nullptr) {
    return Status(ErrorCode::kUnsupported, "\"" + name +
                                               "\": this memory has no model here; send \"keys\" "
                                               "and \"logits\"");
  }
  Embedded made;
  RESMEM_RETURN_IF_ERROR(text == nullptr ? model->EmbedImageFiles(rows, &made)
                                         : model->EmbedTexts(rows, &made));
  resolved->object["keys"] = Matrix(made.keys, made.rows);
  resolved->object["logits"] = Matrix(made.logits, made.rows);
  return true;
}

// Arrays in the place of what names a query: one that was answered lately, a text or an image.
Status Resolve(const Found& found, const JsonValue& body, int64_t most_rows, JsonValue* resolved) {
  *resolved = body;
  RESMEM_ASSIGN_OR_RETURN(const bool raw, ReadRaw(found, body, most_rows, resolved));
  if (raw) return {};
  const JsonValue* request = body.Find("request");
  if (request == nullptr) return {};
  if (request->kind != JsonValue::Kind::kText || body.Find("keys") != nullptr) {
    return {ErrorCode::kBadData, "\"request\" must be a request's id, without \"keys\""};
  }
  int64_t row = 0;
  const JsonValue* given = body.Find("row");
  if (given != nullptr &&
      (given->kind != JsonValue::Kind::kNumber || !given->number.AsInt64(&row))) {
    return {ErrorCode::kBadData, "\"row\" must be a whole number"};
  }
  const std::optional<RecentQuery> query = found.hosted->memory->recent().Find(request->text, row);
  if (!query) {
    return {ErrorCode::kNotFound, "row " + std::to_string(row) + " of request '" +
                                      request->text.substr(0, 64) +
                                      "' is not among the latest queries; send \"keys\" and "
                                      "\"logits\""};
  }
  resolved->object["keys"] = Matrix(query->key, 1);
  resolved->object["logits"] = Matrix(query->logits, 1);
  return {};
}

}  // namespace

bool ReadBody(Context& context, const Call& call, Found* found, JsonValue* body,
              Response* failure) {
  if (!FindMemory(context, call, found, failure)) return false;
  const std::string& text = call.request.body;
  Result<JsonValue> parsed = ParseJson(text.empty() ? "{}" : std::string_view(text),
                                       {.depth = static_cast<int>(context.limits.json_depth)});
  if (!parsed.ok() || parsed->kind != JsonValue::Kind::kObject) {
    *failure = parsed.ok() ? ErrorResponse(400, "the body is no JSON object")
                           : ErrorResponse(parsed.status());
    return false;
  }
  *body = std::move(*parsed);
  return true;
}

Result<RowSet> ReadBodyRows(const Found& found, const JsonValue& body, bool labelled,
                            int64_t most_rows) {
  JsonValue resolved;
  RESMEM_RETURN_IF_ERROR(Resolve(found, body, most_rows, &resolved));
  return ReadRowSet(resolved, *found.state, labelled, most_rows);
}

bool ReadAsking(Context& context, const Call& call, bool labelled, Asking* asking,
                Response* failure) {
  if (!ReadBody(context, call, &asking->found, &asking->body, failure)) return false;
  const auto fail = [&](const Status& status) {
    *failure = ErrorResponse(status);
    return false;
  };
  Result<RowSet> rows = ReadBodyRows(asking->found, asking->body, labelled, context.limits.rows);
  if (!rows.ok()) return fail(rows.status());
  asking->rows = std::move(*rows);
  const Result<AnswerParameters> parameters = ReadAnswerParameters(asking->body);
  if (!parameters.ok()) return fail(parameters.status());
  if (WaitedTooLong(context, call.arrived, parameters->timeout)) {
    return fail({ErrorCode::kResourceExhausted, "the request waited longer than its timeout"});
  }
  Result<PredictOptions> options =
      ChooseOptions(*asking->found.state, *parameters, context.limits.k);
  if (!options.ok()) return fail(options.status());
  asking->options = *options;
  if (!parameters->where.empty()) {
    Result<std::shared_ptr<const MemoryState>> part = asking->found.state->Part(parameters->where);
    if (!part.ok()) return fail(part.status());
    asking->found.state = std::move(*part);
  }
  if (const JsonValue* apply = asking->body.Find("apply")) {
    if (apply->kind != JsonValue::Kind::kBool) {
      return fail({ErrorCode::kBadData, "\"apply\" is not true or false"});
    }
    asking->apply = apply->boolean;
  }
  return true;
}

}  // namespace resmem::serve
