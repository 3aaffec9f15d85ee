#include "service/query_rows.h"

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

// Arrays of a query that was answered lately in the place of those of the body.
Status Resolve(const Found& found, const JsonValue& body, JsonValue* resolved) {
  *resolved = body;
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
  const auto put = [&](const char* name, const std::vector<float>& values) {
    JsonValue& array = resolved->object[name];
    array = JsonValue();
    array.kind = JsonValue::Kind::kNumbers;
    array.shape = {1, static_cast<int64_t>(values.size())};
    for (const float value : values) array.numbers.emplace_back().real = value;
  };
  put("keys", query->key);
  put("logits", query->logits);
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
  RESMEM_RETURN_IF_ERROR(Resolve(found, body, &resolved));
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
  Result<PredictOptions> options =
      ChooseOptions(*asking->found.state, *parameters, context.limits.k);
  if (!options.ok()) return fail(options.status());
  asking->options = *options;
  if (const JsonValue* apply = asking->body.Find("apply")) {
    if (apply->kind != JsonValue::Kind::kBool) {
      return fail({ErrorCode::kBadData, "\"apply\" is not true or false"});
    }
    asking->apply = apply->boolean;
  }
  return true;
}

}  // namespace resmem::serve
