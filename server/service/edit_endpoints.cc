// Our own endpoints that change a memory, and those that tell what would change or has changed.

#include "memories/preview.h"
#include "protocol/json_text.h"
#include "service/endpoints.h"
#include "service/query_rows.h"
#include "service/query_text.h"

namespace resmem::serve {
namespace {

constexpr size_t kMostTokenBytes = 200;

std::string ResultJson(const EditResult& result) {
  JsonText json;
  json.AddJson("edit", EditJson(result.edit)).Add("rows", result.rows).Add("state", result.state);
  if (result.repeated) json.Add("repeated", true);
  return json.Object();
}

Status ReadToken(const JsonValue& body, std::string* token) {
  const JsonValue* given = body.Find("token");
  if (given == nullptr) return {};
  if (given->kind != JsonValue::Kind::kText || given->text.empty() ||
      given->text.size() > kMostTokenBytes) {
    return {ErrorCode::kBadData, "\"token\" must be a text of 1 to 200 bytes"};
  }
  *token = given->text;
  return {};
}

// Hands the edit to the memory's editor; the answer comes when it is made.
void Submit(Found& found, Call call, const JsonValue& body, EditRequest request) {
  const Status token = ReadToken(body, &request.token);
  if (!token.ok()) return call.reply(ErrorResponse(token));
  request.who = call.who.name;
  request.request = call.request.id;
  const Reply reply = call.reply;
  request.done = [reply](const Result<EditResult>& result) {
    reply(result.ok() ? JsonResponse(ResultJson(*result)) : ErrorResponse(result.status()));
  };
  if (!found.hosted->editor->Submit(std::move(request))) {
    reply(ErrorResponse(429, "too many edits wait; try again"));
  }
}

// What base and memory had said of rows whose labels are known now.
Status CountFeedback(ServedMemory& memory, const MemoryState& state, const RowSet& rows) {
  if (!state.classifies()) return {};
  PredictOptions options = state.predictor.DefaultOptions();
  options.threads = 1;
  RESMEM_ASSIGN_OR_RETURN(const Answers answers,
                          Answer(state, rows.key_view(), rows.logit_view(), options));
  MemoryMetrics& metrics = memory.metrics();
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    const bool base = answers.base_prediction[i] == rows.labels[i];
    const bool ours = answers.prediction[i] == rows.labels[i];
    (base   ? ours ? metrics.both_right : metrics.harmed
     : ours ? metrics.fixed
            : metrics.both_wrong)
        .fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

// `feedback`: the rows are answers that were judged.
void LearnRows(Context& context, Call call, bool feedback) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return call.reply(std::move(failure));
  Result<RowSet> rows = ReadBodyRows(found, body, /*labelled=*/true, context.limits.rows);
  if (!rows.ok()) return call.reply(ErrorResponse(rows.status()));
  if (feedback) {
    const Status counted = CountFeedback(*found.hosted->memory, *found.state, *rows);
    if (!counted.ok()) return call.reply(ErrorResponse(counted));
  }
  EditRequest request;
  request.rows = std::move(*rows);
  Submit(found, std::move(call), body, std::move(request));
}

std::string ChangedJson(const MemoryState& state, const RecentQuery& query,
                        const ChangedAnswer& change) {
  JsonText json;
  json.Add("request", query.request).Add("row", query.row).Add("largest_change", change.most);
  if (!state.classifies()) return json.Object();
  json.Add("before", change.before).Add("after", change.after);
  const auto& names = state.description().class_names;
  if (!names.empty()) {
    json.Add("before_name", names[static_cast<size_t>(change.before)])
        .Add("after_name", names[static_cast<size_t>(change.after)]);
  }
  return json.Object();
}

// What the preview is of: rows to learn, ids to forget, or an edit to undo.
Status ReadChange(const Found& found, const JsonValue& body, int64_t most_rows, RowSet* learn,
                  std::vector<uint64_t>* forget) {
  const JsonValue* learned = body.Find("learn");
  const JsonValue* forgotten = body.Find("forget");
  if (learned != nullptr && learned->kind == JsonValue::Kind::kObject) {
    RESMEM_ASSIGN_OR_RETURN(*learn, ReadBodyRows(found, *learned, /*labelled=*/true, most_rows));
  }
  if (forgotten != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(*forget, ReadIds(body, "forget", most_rows));
  }
  if (learn->rows > 0 || !forget->empty()) return {};
  return {ErrorCode::kBadData,
          "give \"learn\", an object of rows, or \"forget\", a list of ids, or both"};
}

}  // namespace

void Learn(Context& context, Call call) {
  LearnRows(context, std::move(call), /*feedback=*/false);
}

void Correct(Context& context, Call call) {
  LearnRows(context, std::move(call), /*feedback=*/true);
}

void Forget(Context& context, Call call) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return call.reply(std::move(failure));
  EditRequest request;
  request.kind = EditRequest::Kind::kForget;
  Result<std::vector<uint64_t>> ids = ReadIds(body, "ids", context.limits.rows);
  if (!ids.ok()) return call.reply(ErrorResponse(ids.status()));
  request.ids = std::move(*ids);
  if (const JsonValue* keep = body.Find("keep_for_undo")) {
    if (keep->kind != JsonValue::Kind::kBool) {
      return call.reply(ErrorResponse(400, "\"keep_for_undo\" is not true or false"));
    }
    request.keep = keep->boolean;
  }
  Submit(found, std::move(call), body, std::move(request));
}

void Undo(Context& context, Call call) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return call.reply(std::move(failure));
  EditRequest request;
  request.kind = EditRequest::Kind::kUndo;
  const JsonValue* edit = body.Find("edit");
  if (edit == nullptr || edit->kind != JsonValue::Kind::kNumber ||
      !edit->number.AsInt64(&request.undo)) {
    return call.reply(ErrorResponse(400, "\"edit\" must be the number of an edit"));
  }
  Submit(found, std::move(call), body, std::move(request));
}

Response PreviewChange(Context& context, const Call& call) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return failure;
  RowSet learn;
  std::vector<uint64_t> forget;
  const Status read = ReadChange(found, body, context.limits.rows, &learn, &forget);
  if (!read.ok()) return ErrorResponse(read);
  const std::vector<RecentQuery> queries = found.hosted->memory->recent().All();
  const Result<Preview> preview =
      PreviewEdit(*found.state, found.hosted->memory->source().path, queries, learn, forget);
  if (!preview.ok()) return ErrorResponse(preview.status());
  std::vector<std::string> changed;
  for (const ChangedAnswer& change : preview->changed) {
    changed.push_back(ChangedJson(*found.state, queries[change.query], change));
  }
  return JsonResponse(JsonText()
                          .Add("memory", call.name())
                          .Add("state", found.state->number)
                          .Add("queries", preview->queries)
                          .AddJson("changed", JsonList(changed))
                          .Object());
}

Response History(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const int64_t limit = QueryNumber(call.query, "limit", 50);
  const int64_t before = QueryNumber(call.query, "before", INT64_MAX);
  if (limit < 1 || limit > 1000 || before < 1) {
    return ErrorResponse(400, "limit must be 1 to 1000 and before an edit's number");
  }
  std::vector<std::string> edits;
  for (const Edit& edit :
       found.hosted->editor->journal().History(before, static_cast<size_t>(limit))) {
    edits.push_back(EditJson(edit));
  }
  return JsonResponse(
      JsonText().Add("memory", call.name()).AddJson("edits", JsonList(edits)).Object());
}

}  // namespace resmem::serve
