#include "edits/edit_door.h"

#include <algorithm>
#include <random>

#include "operation/log.h"
#include "protocol/json_text.h"
#include "resmem/ram_memory.h"
#include "resmem_program/edit_stream.h"
#include "shards/shard_set.h"

namespace resmem::serve {
namespace {

constexpr std::chrono::milliseconds kDeadline{5000};

int64_t WholeNumber(const JsonValue& object, const char* member) {
  const JsonValue* value = object.Find(member);
  int64_t number = 0;
  const bool whole =
      value != nullptr && value->kind == JsonValue::Kind::kNumber && value->number.AsInt64(&number);
  return whole ? number : 0;
}

std::string NewToken() {
  std::random_device source;
  std::string token = "resmem-";
  for (int i = 0; i < 4; ++i) token += std::to_string(source());
  return token;
}

// Whether a memory like this takes the rows: a trial, so that no replica has to refuse them.
Status TryRows(const MemoryState& state, const RowSet& rows) {
  const RamFolder folder;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(folder.path(), state.description(), rows.rows, {}));
  return writer.Add(rows.View());
}

Status CheckKind(const MemoryState& state, const EditRequest& request) {
  using Kind = EditRequest::Kind;
  if (request.kind == Kind::kUndo) {
    return {ErrorCode::kUnsupported,
            "in a cluster edits cannot be undone by their number: forget what was learned, learn "
            "what was forgotten"};
  }
  if (request.kind == Kind::kForget && !request.keep) {
    return {ErrorCode::kUnsupported,
            "\"keep_for_undo\": false: the stream of edits keeps what was learned until it is "
            "trimmed (docs/cluster.md); forget without it"};
  }
  const bool relabel = request.kind == Kind::kRelabel;
  if (relabel && state.description().form != ResidualForm::kLogits) {
    return {ErrorCode::kUnsupported,
            "the memory is frozen: it keeps no logits; forget the rows and learn them again"};
  }
  const int64_t rows = std::max(request.rows.rows, std::ssize(request.ids));
  if (rows > kMostStreamedRows) {
    return {ErrorCode::kInvalidArgument, "the edit has " + std::to_string(rows) +
                                             " rows; in a cluster at most " +
                                             std::to_string(kMostStreamedRows)};
  }
  for (const uint64_t id : request.rows.ids) {
    if (id < kFirstStreamedId) continue;
    return {ErrorCode::kInvalidArgument, "the id " + std::to_string(id) + " is not below " +
                                             std::to_string(kFirstStreamedId) +
                                             ", where those begin that the stream gives"};
  }
  return request.kind == Kind::kLearn ? TryRows(state, request.rows) : Status();
}

std::vector<uint64_t> IdsOf(const EditRequest& request) {
  return request.kind == EditRequest::Kind::kLearn ? request.rows.ids : request.ids;
}

EditMessage MessageOf(EditRequest* request) {
  EditMessage edit;
  edit.kind = request->kind == EditRequest::Kind::kLearn    ? Edit::Kind::kLearn
              : request->kind == EditRequest::Kind::kForget ? Edit::Kind::kForget
                                                            : Edit::Kind::kRelabel;
  edit.rows = std::move(request->rows);
  if (edit.kind == Edit::Kind::kLearn && edit.rows.sources.empty()) {
    edit.rows.sources.assign(static_cast<size_t>(edit.rows.rows), "serve:" + request->request);
  }
  edit.ids = request->ids;
  edit.time = TimeNow();
  edit.who = request->who;
  edit.token = request->token;
  return edit;
}

EditResult ResultOf(const MemoryState& state, const EditRequest& request, const EditMessage& made,
                    const Published& published) {
  EditResult result;
  result.edit.number = published.sequence;
  result.edit.kind = made.kind;
  result.edit.outcome = Edit::Outcome::kDone;
  result.edit.time = made.time;
  result.edit.who = made.who;
  result.edit.request = request.request;
  result.edit.token = made.token;
  result.edit.feedback = request.feedback;
  result.edit.ids = made.kind == Edit::Kind::kLearn ? made.rows.ids : made.ids;
  if (result.edit.ids.empty()) {
    for (int64_t row = 0; row < made.rows.rows; ++row) {
      result.edit.ids.push_back(StreamedId(published.sequence, row));
    }
  }
  result.rows = state.rows();
  result.state = state.number;
  result.repeated = published.repeated;
  return result;
}

}  // namespace

Result<std::string> AnswerHeld(const MemoryState& state, const JsonValue& question) {
  const std::optional<StreamPosition> at = PositionOf(state.memory);
  const StreamPosition now = at.value_or(StreamPosition());
  if (now.sequence < WholeNumber(question, "after")) {
    return Status(ErrorCode::kResourceExhausted,
                  "has the edits up to " + std::to_string(now.sequence) + " so far");
  }
  std::vector<uint64_t> held;
  if (question.Find("ids") != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(const std::vector<uint64_t> ids,
                            ReadIds(question, "ids", kMostStreamedRows));
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(held),
                 [&](uint64_t id) { return state.memory.FindId(id).has_value(); });
  }
  int64_t named_as = 0;
  const JsonValue* token = question.Find("token");
  for (const NamedEdit& each : now.named) {
    if (token != nullptr && token->text == each.token) named_as = each.sequence;
  }
  return JsonText()
      .AddNumbers("held", std::span<const uint64_t>(held))
      .Add("named_as", named_as)
      .Add("sequence", now.sequence)
      .Add("created", now.created)
      .Object();
}

Result<EditDoor::Held> EditDoor::AskShards(const MemoryState& state, const EditRequest& request,
                                           int64_t after) const {
  JsonText question;
  question.Add("after", after);
  const std::vector<uint64_t> ids = IdsOf(request);
  if (!ids.empty()) question.AddNumbers("ids", std::span<const uint64_t>(ids));
  if (!request.token.empty()) question.Add("token", request.token);
  const ShardSet& shards = *state.shards;
  Held all;
  all.sequence = INT64_MAX;
  std::vector<int64_t> missing;
  const std::vector<Result<std::string>> came = shards.client().AskAll(question.Object(), "held");
  for (size_t i = 0; i < came.size(); ++i) {
    if (!came[i].ok()) {
      missing.push_back(static_cast<int64_t>(i) + 1);
      continue;
    }
    RESMEM_ASSIGN_OR_RETURN(const JsonValue answer, ParseJson(*came[i]));
    const JsonValue* held = answer.Find("held");
    for (const JsonNumber& number : held == nullptr ? std::vector<JsonNumber>() : held->numbers) {
      uint64_t id = 0;
      if (number.AsUint64(&id)) all.ids.push_back(id);
    }
    all.named_as = std::max(all.named_as, WholeNumber(answer, "named_as"));
    all.sequence = std::min(all.sequence, WholeNumber(answer, "sequence"));
    const int64_t created = WholeNumber(answer, "created");
    if (created != 0) all.created = created;
  }
  if (missing.empty()) return all;
  return Status(ErrorCode::kResourceExhausted, shards.MissingText(missing) +
                                                   ", so the edit cannot be checked; nothing was "
                                                   "changed");
}

Status EditDoor::CheckHeld(const EditRequest& request, const Held& held) {
  const bool learns = request.kind == EditRequest::Kind::kLearn;
  for (const uint64_t id : IdsOf(request)) {
    const bool there = std::find(held.ids.begin(), held.ids.end(), id) != held.ids.end();
    if (there != learns) continue;
    return {learns ? ErrorCode::kMismatch : ErrorCode::kNotFound,
            learns ? "the memory has a row with the id " + std::to_string(id) + " already"
                   : "no row has the id " + std::to_string(id)};
  }
  return {};
}

Status EditDoor::CheckStream(const Held& held) const {
  const Result<EditLogState> log = log_->State();
  if (log.ok() && (held.created == 0 || held.created == log->created)) return {};
  const bool absent = log.status().code() == ErrorCode::kNotFound;
  if (absent && held.created == 0) {
    RESMEM_RETURN_IF_ERROR(log_->Create(stream_replicas_));
    LogInfo("stream_made", JsonText().Add("stream", log_->stream()));
    return {};
  }
  if (!log.ok() && !absent) {
    return {ErrorCode::kResourceExhausted, log.status().message() + "; nothing was changed"};
  }
  return {ErrorCode::kResourceExhausted,
          "the stream " + log_->stream() +
              " is not the one that the shards have followed; "
              "nothing was changed. docs/cluster.md says how to begin a new one"};
}

Result<EditResult> EditDoor::Make(const MemoryState& state, EditRequest* request) {
  RESMEM_RETURN_IF_ERROR(CheckKind(state, *request));
  if (!log_->connected()) {
    return Status(ErrorCode::kResourceExhausted,
                  "no node of the stream of edits can be reached; nothing was changed");
  }
  const int64_t acknowledged = last_;
  RESMEM_ASSIGN_OR_RETURN(Held held, AskShards(state, *request, 0));
  const auto known = [&] { return held.named_as != 0; };
  Status fits = CheckHeld(*request, held);
  if (!fits.ok() && !known() && held.sequence < acknowledged) {
    // Perhaps an edit of this gateway is on its way to the shards.
    RESMEM_ASSIGN_OR_RETURN(held, AskShards(state, *request, acknowledged));
    fits = CheckHeld(*request, held);
  }
  if (!known()) RESMEM_RETURN_IF_ERROR(fits);
  const std::string token = request->token.empty() ? NewToken() : request->token;
  EditMessage edit = MessageOf(request);
  edit.token = token;
  if (known()) return ResultOf(state, *request, edit, {held.named_as, true});
  RESMEM_RETURN_IF_ERROR(CheckStream(held));
  bool unknown = false;
  const Result<Published> published =
      log_->Publish(token, WriteEditMessage(edit), kDeadline, &unknown);
  if (!published.ok() && unknown) {
    return Status(ErrorCode::kResourceExhausted,
                  published.status().message() +
                      "; it is not known whether the stream has the edit: send it again with the "
                      "\"token\" \"" +
                      token + "\"");
  }
  if (!published.ok()) {
    return Status(published.status().code(),
                  published.status().message() + "; nothing was changed");
  }
  int64_t last = last_;
  while (last < published->sequence && !last_.compare_exchange_weak(last, published->sequence)) {
  }
  return ResultOf(state, *request, edit, *published);
}

void EditDoor::Submit(const MemoryState& state, EditRequest request) {
  Result<EditResult> result = Make(state, &request);
  if (result.ok() && !result->repeated) {
    LogInfo("edit", JsonText()
                        .Add("edit", result->edit.number)
                        .Add("kind", KindName(result->edit.kind))
                        .Add("rows", result->edit.ids.size())
                        .Add("who", request.who)
                        .Add("request", request.request));
  }
  request.done(std::move(result));
}

}  // namespace resmem::serve
