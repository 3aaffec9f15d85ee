// Our own endpoints that change a memory, and those that tell what would change or has changed.

#include <algorithm>

#include "memories/preview.h"
#include "memories/recent_queries.h"
#include "protocol/json_text.h"
#include "resmem/row_filter.h"
#include "service/endpoints.h"
#include "service/query_rows.h"
#include "service/query_text.h"

namespace resmem::serve {
namespace {

constexpr size_t kMostTokenBytes = 200;
constexpr size_t kListedAnswers = 100;  // of validation rows

std::string ResultJson(const EditResult& result) {
  JsonText json;
  json.AddJson("edit", EditJson(result.edit)).Add("rows", result.rows).Add("state", result.state);
  if (result.repeated) json.Add("repeated", true);
  if (!result.in_snapshots.empty()) {
    std::vector<std::string> snapshots;
    for (const SnapshotRows& rows : result.in_snapshots) {
      snapshots.push_back(JsonText()
                              .Add("name", rows.name)
                              .AddNumbers("ids", std::span<const uint64_t>(rows.ids))
                              .Object());
    }
    json.AddJson("in_snapshots", JsonList(snapshots));
  }
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
  MemoryMetrics& metrics = found.hosted->memory->metrics();
  if (found.hosted->door != nullptr) {
    const Feedback feedback = request.feedback;
    request.done = [&](const Result<EditResult>& result) {
      if (result.ok() && !result->repeated) metrics.Count(feedback);
      reply(result.ok() ? JsonResponse(ResultJson(*result)) : ErrorResponse(result.status()));
    };
    return found.hosted->door->Submit(*found.state, std::move(request));
  }
  request.done = [reply](const Result<EditResult>& result) {
    reply(result.ok() ? JsonResponse(ResultJson(*result)) : ErrorResponse(result.status()));
  };
  if (!found.hosted->editor->Submit(std::move(request))) {
    reply(ErrorResponse(429, "too many edits wait; try again"));
  }
}

// What base and memory say now of rows whose labels are known.
Result<Feedback> JudgeAnswers(const MemoryState& state, const RowSet& rows) {
  Feedback feedback;
  if (!state.classifies()) return feedback;
  PredictOptions options = state.predictor.DefaultOptions();
  options.threads = 1;
  RESMEM_ASSIGN_OR_RETURN(const Answers answers,
                          Answer(state, rows.key_view(), rows.logit_view(), options));
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    const bool base = answers.base_prediction[i] == rows.labels[i];
    const bool ours = answers.prediction[i] == rows.labels[i];
    ++(base   ? ours ? feedback.both_right : feedback.harmed
       : ours ? feedback.fixed
              : feedback.both_wrong);
  }
  return feedback;
}

// `feedback`: the rows are answers that were judged.
void LearnRows(Context& context, Call call, bool feedback) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return call.reply(std::move(failure));
  Result<RowSet> rows = ReadBodyRows(found, body, /*labelled=*/true, context.limits.rows);
  if (!rows.ok()) return call.reply(ErrorResponse(rows.status()));
  EditRequest request;
  if (feedback) {
    const Result<Feedback> judged = JudgeAnswers(*found.state, *rows);
    if (!judged.ok()) return call.reply(ErrorResponse(judged.status()));
    request.feedback = *judged;
  }
  request.rows = std::move(*rows);
  Submit(found, std::move(call), body, std::move(request));
}

// `json`: what names the query.
std::string ChangedJson(const MemoryState& state, JsonText json, const ChangedAnswer& change) {
  json.Add("largest_change", change.most);
  if (!state.classifies()) return json.Object();
  json.Add("before", change.before).Add("after", change.after);
  if (state.has_class_names()) {
    json.Add("before_name", state.ClassName(change.before))
        .Add("after_name", state.ClassName(change.after));
  }
  return json.Object();
}

std::string RecentJson(const MemoryState& state, std::span<const RecentQuery> queries,
                       std::span<const ChangedAnswer> changes) {
  std::vector<std::string> lines;
  for (const ChangedAnswer& change : changes) {
    const RecentQuery& query = queries[change.query];
    JsonText json;
    json.Add("request", query.request).Add("row", query.row);
    lines.push_back(ChangedJson(state, json, change));
  }
  return JsonList(lines);
}

// `first`: which of the queries was the first validation row.
std::string ValidationJson(const MemoryState& state, size_t first,
                           std::span<const ChangedAnswer> changes) {
  const RowSet& rows = *state.validation;
  std::vector<std::string> lines;
  int64_t fixed = 0, harmed = 0;
  for (const ChangedAnswer& change : changes) {
    const size_t row = change.query - first;
    JsonText json;
    json.Add("row", row);
    if (state.classifies()) {
      const int32_t label = rows.labels[row];
      json.Add("label", label);
      fixed += change.after == label;
      harmed += change.before == label;
    }
    if (lines.size() < kListedAnswers) lines.push_back(ChangedJson(state, json, change));
  }
  JsonText json;
  json.Add("rows", rows.rows).Add("changed", changes.size());
  if (state.classifies()) json.Add("fixed", fixed).Add("harmed", harmed);
  return json.AddJson("answers", JsonList(lines)).Object();
}

// "ids", or the rows of "where" now.
Result<std::vector<uint64_t>> FindForgotten(const Found& found, const JsonValue& body,
                                            int64_t most_rows) {
  const JsonValue* where = body.Find("where");
  if (where == nullptr) return ReadIds(body, "ids", most_rows);
  if (where->kind != JsonValue::Kind::kText || body.Find("ids") != nullptr) {
    return Status(ErrorCode::kBadData,
                  "\"where\" must be a text of conditions, without \"ids\" beside it");
  }
  if (found.state->shards != nullptr) {
    return Status(ErrorCode::kUnsupported, "a gateway has no rows that it could forget");
  }
  RESMEM_ASSIGN_OR_RETURN(const RowFilter filter, RowFilter::Parse(where->text));
  std::vector<uint64_t> ids = IdsWhere(found.state->memory, filter);
  if (ids.empty()) return Status(ErrorCode::kNotFound, "no row matches " + where->text);
  if (static_cast<int64_t>(ids.size()) <= most_rows) return ids;
  return Status(ErrorCode::kInvalidArgument,
                std::to_string(ids.size()) + " rows match, at most " + std::to_string(most_rows) +
                    " are forgotten at once (--max-rows); use resmem delete --where");
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
  Result<std::vector<uint64_t>> ids = FindForgotten(found, body, context.limits.rows);
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

void RelabelRows(Context& context, Call call) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return call.reply(std::move(failure));
  EditRequest request;
  request.kind = EditRequest::Kind::kRelabel;
  Result<std::vector<uint64_t>> ids = ReadIds(body, "ids", context.limits.rows);
  if (!ids.ok()) return call.reply(ErrorResponse(ids.status()));
  request.ids = std::move(*ids);
  request.rows.rows = static_cast<int64_t>(request.ids.size());
  const Status labels =
      found.state->classifies()
          ? ReadLabels(body, *found.state, &request.rows)
          : Status(ErrorCode::kUnsupported,
                   "the rows of a regression have no labels: forget them and learn "
                   "them again");
  if (!labels.ok()) return call.reply(ErrorResponse(labels));
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
  const MemoryState& state = *found.state;
  const std::vector<RecentQuery> queries = found.hosted->memory->recent().All();
  RowSet asked = StackQueries(queries);
  if (state.validation != nullptr) asked.Append(*state.validation);
  const Result<Preview> preview = PreviewEdit(state, found.hosted->memory->source().path,
                                              asked.key_view(), asked.logit_view(), learn, forget);
  if (!preview.ok()) return ErrorResponse(preview.status());
  const auto rest = std::partition_point(
      preview->begin(), preview->end(),
      [&](const ChangedAnswer& change) { return change.query < queries.size(); });
  JsonText json;
  json.Add("memory", call.name())
      .Add("state", state.number)
      .Add("queries", queries.size())
      .AddJson("changed", RecentJson(state, queries, {preview->begin(), rest}));
  if (state.validation != nullptr) {
    json.AddJson("validation", ValidationJson(state, queries.size(), {rest, preview->end()}));
  }
  return JsonResponse(json.Object());
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
