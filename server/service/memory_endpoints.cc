// Our own endpoints that read: the ledger of an answer, neighbors, judgment, tuning.
#include <algorithm>

#include "operation/log.h"
#include "protocol/json_text.h"
#include "resmem/diagnosis.h"
#include "resmem/report/report.h"
#include "resmem/tuner.h"
#include "service/endpoints.h"
#include "service/query_rows.h"

namespace resmem::serve {
namespace {

constexpr char kWholeMemoryOnly[] =
    "\"where\": a memory is tuned and examined as a whole; leave it out";

RunInfo DescribeCall(const char* call, const Hosted& hosted, const MemoryState& state) {
  RunInfo run = DescribeRun({"resmem-serve", call});
  run.memory = DescribeMemory(hosted.memory->name(), state.memory);
  return run;
}

std::string MemoryLine(const std::string& name, const Hosted& hosted) {
  JsonText json;
  json.Add("name", name);
  const std::shared_ptr<const MemoryState> state = hosted.memory->state();
  json.Add("loaded", state != nullptr);
  if (state == nullptr) return json.Add("reason", hosted.memory->error()).Object();
  return json.Add("rows", state->rows())
      .Add("dim", state->description().dim)
      .Add("outputs", state->description().outputs)
      .Add("task", state->classifies() ? "classification" : "regression")
      .Add("state", state->number)
      .Object();
}

// Where a row is from: what was stored with it, or the text before a memorized token.
std::string SourceOf(const MemoryState& state, int64_t row) {
  if (state.description().has_sources) return std::string(state.memory.source(row));
  if (state.model == nullptr || !state.classifies()) return {};
  return state.model->ContextOf(state.memory.id(row), state.memory.label(row));
}

std::string NeighborsJson(const MemoryState& state, const Neighbors& neighbors, int64_t q) {
  std::vector<std::string> lines;
  for (int64_t i = 0; i < neighbors.k; ++i) {
    const int64_t row = neighbors.rows_of(q)[static_cast<size_t>(i)];
    if (row < 0) break;
    JsonText json;
    json.Add("id", state.memory.id(row))
        .Add("distance", neighbors.distances_of(q)[static_cast<size_t>(i)]);
    if (state.classifies()) {
      const int32_t label = state.memory.label(row);
      json.Add("label", label);
      if (state.has_class_names()) json.Add("class_name", state.ClassName(label));
    } else {
      json.AddNumbers("target", state.memory.target(row));
    }
    const std::string source = SourceOf(state, row);
    if (!source.empty() || state.description().has_sources) json.Add("source", source);
    lines.push_back(json.Object());
  }
  return JsonList(lines);
}

// The stored row that the question is about and that must not answer it; -1 where there is none.
Result<int64_t> LeftOut(const MemoryState& state, const JsonValue& body) {
  const JsonValue* given = body.Find("leave_out");
  if (given == nullptr) return int64_t{-1};
  uint64_t id = 0;
  if (given->kind != JsonValue::Kind::kNumber || !given->number.AsUint64(&id)) {
    return Status(ErrorCode::kBadData, "\"leave_out\" must be the id of a row");
  }
  const std::optional<int64_t> row = state.memory.FindId(id);
  if (!row) return Status(ErrorCode::kNotFound, "no row has the id " + std::to_string(id));
  return *row;
}

// Whether a choice for the one is a choice for the other: rows may have come or gone.
bool SameSettings(const MemoryDescription& a, const MemoryDescription& b) {
  return a.task == b.task && a.dim == b.dim && a.outputs == b.outputs && a.form == b.form &&
         a.key_type == b.key_type && a.key_transform == b.key_transform &&
         a.parameters == b.parameters && a.tuned == b.tuned && a.answer == b.answer &&
         a.blend == b.blend && a.calibrator == b.calibrator &&
         a.calibrator_temperature == b.calibrator_temperature && a.fingerprint == b.fingerprint &&
         a.class_names == b.class_names && a.notes == b.notes;
}

// Writes the choice that was made on `tuned`, during which nobody waited, into the present state.
// kMismatch where its settings are others by now.
Status ApplyTo(ServedMemory& memory, const MemoryState& tuned, const Tuning& tuning) {
  const std::lock_guard<std::mutex> lock(memory.changing());
  const std::shared_ptr<const MemoryState> now = memory.state();
  if (now == nullptr || !SameSettings(tuned.description(), now->description())) {
    return {
        ErrorCode::kMismatch,
        "the memory was tuned, replaced or unloaded meanwhile; nothing was changed, tune again"};
  }
  RESMEM_RETURN_IF_ERROR(UpdateDescription(
      memory.source().path, ApplyTuning(now->description(), tuning), {.wait_seconds = 10}));
  RESMEM_ASSIGN_OR_RETURN(std::shared_ptr<const MemoryState> state, memory.Open(/*verify=*/false));
  memory.Publish(std::move(state));
  return {};
}

}  // namespace

Response ListMemories(Context& context, const Call&) {
  std::vector<std::string> all;
  for (const auto& [name, hosted] : context.memories) all.push_back(MemoryLine(name, hosted));
  return JsonResponse(JsonText().AddJson("memories", JsonList(all)).Object());
}

Response ExplainOne(Context& context, const Call& call) {
  Asking asking;
  Response failure;
  if (!ReadAsking(context, call, /*labelled=*/false, &asking, &failure)) return failure;
  if (asking.rows.rows != 1) {
    return ErrorResponse(400,
                         "one row is explained at a time, not " + std::to_string(asking.rows.rows));
  }
  const MemoryState& state = *asking.found.state;
  PredictOptions options = asking.options;
  options.threads = 1;
  const Result<int64_t> left_out = LeftOut(state, asking.body);
  if (!left_out.ok()) return ErrorResponse(left_out.status());
  Result<Explanation> explanation =
      Explain(state.predictor, asking.rows.keys, asking.rows.logits, options, *left_out);
  if (!explanation.ok()) {
    state.NoteDamage(explanation.status());
    return ErrorResponse(explanation.status());
  }
  for (Explanation::Line& line : explanation->lines) line.source = SourceOf(state, line.row);
  return JsonResponse(ExplanationJson(*explanation, state.description().class_names,
                                      DescribeCall("explain", *asking.found.hosted, state)));
}

Response FindNeighborRows(Context& context, const Call& call) {
  Asking asking;
  Response failure;
  if (!ReadAsking(context, call, /*labelled=*/false, &asking, &failure)) return failure;
  const MemoryState& state = *asking.found.state;
  const int64_t k = asking.options.parameters.k;
  if (asking.rows.rows * std::max<int64_t>(k, 1) > 100'000) {
    return ErrorResponse(400, "rows times k is above 100,000; ask for fewer");
  }
  Neighbors neighbors;
  const Status status =
      state.predictor.FindNeighbors(asking.rows.key_view(), k, {}, 1, nullptr, &neighbors);
  if (!status.ok()) {
    state.NoteDamage(status);
    return ErrorResponse(status);
  }
  std::vector<std::string> rows;
  for (int64_t q = 0; q < asking.rows.rows; ++q) rows.push_back(NeighborsJson(state, neighbors, q));
  return JsonResponse(JsonText()
                          .Add("memory", call.name())
                          .Add("state", state.number)
                          .AddJson("neighbors", JsonList(rows))
                          .Object());
}

Response Doctor(Context& context, const Call& call) {
  Asking asking;
  Response failure;
  const bool rows_given = !call.request.body.empty() && call.request.body != "{}";
  if (rows_given) {
    if (!ReadAsking(context, call, /*labelled=*/true, &asking, &failure)) return failure;
    if (asking.body.Find("where") != nullptr) return ErrorResponse(400, kWholeMemoryOnly);
  } else if (!FindMemory(context, call, &asking.found, &failure)) {
    return failure;
  }
  const MemoryState& state = *asking.found.state;
  const ResidualMemory exact = state.memory.Exact();
  const Rows view = asking.rows.View();
  const RowSource source = ReadRows(view);
  Context::UntilDrain progress(context);
  DiagnosisOptions options;
  options.threads = 1;
  options.progress = &progress;
  const Result<Diagnosis> diagnosis =
      Diagnose(state.memory, exact, rows_given ? &source : nullptr, options);
  if (!diagnosis.ok()) return ErrorResponse(diagnosis.status());
  return JsonResponse(
      DiagnosisJson(*diagnosis, DescribeCall("doctor", *asking.found.hosted, state)));
}

Response TuneMemory(Context& context, const Call& call) {
  Asking asking;
  Response failure;
  if (!ReadAsking(context, call, /*labelled=*/true, &asking, &failure)) return failure;
  if (asking.body.Find("where") != nullptr) return ErrorResponse(400, kWholeMemoryOnly);
  const MemoryState& state = *asking.found.state;
  Context::UntilDrain progress(context);
  const Rows view = asking.rows.View();
  TuneOptions options;
  options.threads = 1;
  options.progress = &progress;
  const Result<Tuning> tuning = Tune(state.predictor, ReadRows(view), options);
  if (!tuning.ok()) return ErrorResponse(tuning.status());
  const std::string document =
      TuningJson(*tuning, DescribeCall("tune", *asking.found.hosted, state));
  if (asking.apply && tuning->answer.has_value()) {
    ServedMemory& memory = *asking.found.hosted->memory;
    const Status applied = ApplyTo(memory, state, *tuning);
    if (!applied.ok()) return ErrorResponse(applied);
    LogInfo("tuned", JsonText().Add("memory", memory.name()).Add("who", call.who.name));
  }
  return JsonResponse(document);
}

}  // namespace resmem::serve
