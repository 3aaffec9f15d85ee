// Our own endpoints for a person who looks into a memory: rows, recent queries, the map, the
// review.
#include <algorithm>
#include <charconv>
#include <random>

#include "memories/look_map.h"
#include "memories/look_review.h"
#include "memories/row_images.h"
#include "protocol/infer.h"
#include "protocol/json_text.h"
#include "service/endpoints.h"
#include "service/query_text.h"

namespace resmem::serve {
namespace {

constexpr int64_t kMostMapRows = 200'000;
constexpr int64_t kMostIds = 100;
constexpr int64_t kReviewedRows = 1000;
constexpr size_t kListedRows = 100;

// All that the memory has of a row; a frozen one has no logits.
std::string RowJson(const MemoryState& state, int64_t row) {
  const MemoryDescription& description = state.description();
  JsonText json;
  json.Add("id", state.memory.id(row));
  std::vector<float> values(static_cast<size_t>(description.outputs));
  const RowMiss miss = MissOf(state, row, values);
  if (state.classifies()) {
    json.Add("label", state.memory.label(row)).Add("base", miss.base);
  } else {
    json.AddNumbers("target", state.memory.target(row));
  }
  json.Add("residual", miss.residual);
  if (description.has_sources) json.Add("source", state.memory.source(row));
  std::vector<float> key(static_cast<size_t>(description.dim));
  state.memory.DecodeKey(row, key);
  json.AddNumbers("key", std::span<const float>(key));
  if (state.classifies() && description.form == ResidualForm::kLogits) {
    json.AddNumbers("logits", state.memory.logits(row));
  } else if (!state.classifies()) {  // the base's prediction: target - residual
    state.memory.Residual(row, description.parameters.temperature, values);
    const std::span<const float> target = state.memory.target(row);
    for (size_t c = 0; c < values.size(); ++c) values[c] = target[c] - values[c];
    json.AddNumbers("logits", std::span<const float>(values));
  }
  return json.Object();
}

// "1000,1001"
bool ParseIds(std::string_view text, std::vector<uint64_t>* ids) {
  while (true) {
    uint64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc()) return false;
    ids->push_back(id);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return ids->size() <= static_cast<size_t>(kMostIds);
    if (text[0] != ',') return false;
    text.remove_prefix(1);
  }
}

// Living rows at random.
std::vector<int64_t> DrawRows(const MemoryState& state, int64_t count) {
  std::minstd_rand random(std::random_device{}());
  std::vector<int64_t> rows;
  std::uniform_int_distribution<int64_t> any(0, std::max<int64_t>(0, state.memory.capacity() - 1));
  while (state.memory.rows() > 0 && static_cast<int64_t>(rows.size()) < count) {
    const int64_t row = any(random);
    if (!state.memory.deleted(row)) rows.push_back(row);
  }
  return rows;
}

Status ChooseRows(const MemoryState& state, std::string_view query, std::vector<int64_t>* rows) {
  const std::string_view ids_text = QueryText(query, "ids");
  if (ids_text.empty()) {
    const int64_t sample = QueryNumber(query, "sample", -1);
    if (sample < 1 || sample > kMostIds) {
      return {ErrorCode::kInvalidArgument,
              "give ?ids=1000,1001 or ?sample=N, from 1 to " + std::to_string(kMostIds)};
    }
    *rows = DrawRows(state, sample);
    return {};
  }
  std::vector<uint64_t> ids;
  if (!ParseIds(ids_text, &ids)) {
    return {
        ErrorCode::kInvalidArgument,
        "\"ids\" must be whole numbers with commas between, at most " + std::to_string(kMostIds)};
  }
  for (const uint64_t id : ids) {
    const std::optional<int64_t> row = state.memory.FindId(id);
    if (!row) return {ErrorCode::kNotFound, "no row has the id " + std::to_string(id)};
    rows->push_back(*row);
  }
  return {};
}

JsonText Begin(const Call& call, const MemoryState& state) {
  JsonText json;
  json.Add("memory", call.name()).Add("state", state.number);
  return json;
}

std::string QueryJson(const RecentQuery& query) {
  return JsonText()
      .Add("request", query.request)
      .Add("row", query.row)
      .AddNumbers("key", std::span<const float>(query.key))
      .AddNumbers("logits", std::span<const float>(query.logits))
      .Object();
}

// What the memory answers now to queries that it was asked.
Result<std::vector<std::string>> AnswerLines(const MemoryState& state,
                                             std::span<const RecentQuery> queries) {
  std::vector<std::string> lines;
  if (queries.empty()) return lines;
  const RowSet asked = StackQueries(queries);
  PredictOptions options = state.predictor.DefaultOptions();
  options.threads = 1;
  RESMEM_ASSIGN_OR_RETURN(const Answers answers,
                          Answer(state, asked.key_view(), asked.logit_view(), options));
  for (size_t q = 0; q < queries.size(); ++q) {
    JsonText json;
    json.Add("request", queries[q].request).Add("row", queries[q].row);
    if (state.classifies()) {
      json.Add("prediction", answers.prediction[q])
          .Add("base_prediction", answers.base_prediction[q]);
    }
    lines.push_back(json.Object());
  }
  return lines;
}

Tensor MapTensor(const char* name, DataType type, size_t rows) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape.sizes = {static_cast<int64_t>(rows)};
  return tensor;
}

std::string SuspectJson(const MemoryState& state, const SuspectRow& suspect) {
  JsonText json;
  json.Add("id", state.memory.id(suspect.row))
      .Add("label", state.memory.label(suspect.row))
      .Add("suggested", suspect.suggested)
      .Add("disagreement", suspect.disagreement)
      .Add("residual", suspect.residual);
  if (state.description().has_sources) json.Add("source", state.memory.source(suspect.row));
  return json.Object();
}

std::string TwinsJson(const MemoryState& state, const TwinRows& twins) {
  JsonText json;
  json.Add("id", state.memory.id(twins.row))
      .Add("other", state.memory.id(twins.other))
      .Add("distance", twins.distance);
  if (state.classifies()) {
    json.Add("label", state.memory.label(twins.row))
        .Add("other_label", state.memory.label(twins.other));
  }
  return json.Object();
}

}  // namespace

Response ShowRows(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const MemoryState& state = *found.state;
  std::vector<int64_t> rows;
  const Status status = ChooseRows(state, call.query, &rows);
  if (!status.ok()) return ErrorResponse(status);
  std::vector<std::string> lines;
  for (const int64_t row : rows) lines.push_back(RowJson(state, row));
  if (!state.memory.damage().ok()) return ErrorResponse(state.memory.damage());
  return JsonResponse(Begin(call, state).AddJson("rows", JsonList(lines)).Object());
}

Response ImageOfRow(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const MemoryState& state = *found.state;
  std::vector<uint64_t> ids;
  if (!ParseIds(call.names[1], &ids) || ids.size() != 1) {
    return ErrorResponse(400, "a row's id is a whole number");
  }
  const std::optional<int64_t> row = state.memory.FindId(ids[0]);
  if (!row) return ErrorResponse(404, "no row has the id " + std::to_string(ids[0]));
  if (state.images == nullptr || !state.description().has_sources) {
    return ErrorResponse(404, "this memory's rows have no images here (--images)");
  }
  Result<std::string> png = state.images->Png(state.memory.source(*row));
  if (!png.ok()) return ErrorResponse(png.status());
  Response response;
  response.type = "image/png";
  response.body = std::move(*png);
  return response;
}

Response ListQueries(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const int64_t limit = QueryNumber(call.query, "limit", 50);
  if (limit < 1 || limit > 1000) return ErrorResponse(400, "limit must be 1 to 1000");
  std::vector<RecentQuery> queries = found.hosted->memory->recent().All();
  std::reverse(queries.begin(), queries.end());
  if (static_cast<int64_t>(queries.size()) > limit) queries.resize(static_cast<size_t>(limit));
  const Result<std::vector<std::string>> lines = AnswerLines(*found.state, queries);
  if (!lines.ok()) return ErrorResponse(lines.status());
  return JsonResponse(Begin(call, *found.state).AddJson("queries", JsonList(*lines)).Object());
}

Response ShowQuery(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  std::vector<std::string> lines;
  for (const RecentQuery& query : found.hosted->memory->recent().All()) {
    if (query.request == call.names[1]) lines.push_back(QueryJson(query));
  }
  if (lines.empty()) {
    return ErrorResponse(
        404, "request '" + call.names[1].substr(0, 64) + "' is not among the latest queries");
  }
  return JsonResponse(Begin(call, *found.state).AddJson("queries", JsonList(lines)).Object());
}

Response MapOfRows(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  Result<MapPoints> points = MapRows(*found.state, kMostMapRows);
  if (!points.ok()) return ErrorResponse(points.status());
  const size_t rows = points->ids.size();
  std::vector<Tensor> tensors;
  for (const auto& [name, values] :
       {std::pair{"x", &points->x}, {"y", &points->y}, {"residual", &points->residual}}) {
    tensors.push_back(MapTensor(name, DataType::kFp32, rows));
    tensors.back().floats = std::move(*values);
  }
  if (found.state->classifies()) {
    for (const auto& [name, values] :
         {std::pair{"label", &points->label}, {"base", &points->base}}) {
      tensors.push_back(MapTensor(name, DataType::kInt32, rows));
      tensors.back().whole = std::move(*values);
    }
  }
  tensors.push_back(MapTensor("id", DataType::kUint64, rows));
  tensors.back().unsigned_whole = std::move(points->ids);
  const auto binary = std::make_unique<bool[]>(tensors.size());
  std::fill_n(binary.get(), tensors.size(), true);
  InferResponse formatted = FormatInferResponse(
      call.name(), "", tensors, std::span<const bool>(binary.get(), tensors.size()));
  Response response;
  response.type = "application/octet-stream";
  response.headers = {{"X-Memory-State", std::to_string(found.state->number)},
                      {"Inference-Header-Content-Length", std::to_string(formatted.json_bytes)}};
  response.body = std::move(formatted.body);
  return response;
}

Response ReviewMemory(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const MemoryState& state = *found.state;
  Context::UntilDrain progress(context);
  const Result<Review> review = ReviewRows(state, kReviewedRows, kListedRows, &progress);
  if (!review.ok()) return ErrorResponse(review.status());
  std::vector<std::string> suspects, twins, classes;
  for (const SuspectRow& suspect : review->audit.suspects)
    suspects.push_back(SuspectJson(state, suspect));
  for (const TwinRows& pair : review->audit.twins) twins.push_back(TwinsJson(state, pair));
  for (size_t c = 0; c < review->classes.size(); ++c) {
    const ClassCounts& counts = review->classes[c];
    if (counts.rows == 0) continue;
    classes.push_back(JsonText()
                          .Add("class", c)
                          .Add("rows", counts.rows)
                          .Add("fixed", counts.fixed)
                          .Add("harmed", counts.harmed)
                          .Object());
  }
  return JsonResponse(Begin(call, state)
                          .Add("rows", state.memory.rows())
                          .Add("checked", review->audit.checked)
                          .Add("suspected", review->audit.suspected)
                          .Add("cross_fitted", state.description().cross_fitted)
                          .Add("duplicate_distance", review->audit.duplicate_distance)
                          .AddJson("label_errors", JsonList(suspects))
                          .AddJson("duplicates", JsonList(twins))
                          .AddJson("classes", JsonList(classes))
                          .Object());
}

}  // namespace resmem::serve
