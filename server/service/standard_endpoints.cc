// The protocol's own endpoints but inference: health, metadata, repository; metrics; the document.
#include "http/http_server.h"
#include "operation/log.h"
#include "protocol/json_text.h"
#include "resmem/version.h"
#include "resmem_program/simd.h"
#include "service/assets.h"
#include "service/context.h"
#include "service/endpoints.h"
#include "service/query_text.h"
#include "shards/shard_set.h"

namespace resmem::serve {
namespace {

std::string TensorJson(const char* name, const char* type, std::vector<int64_t> shape) {
  return JsonText()
      .Add("name", name)
      .Add("datatype", type)
      .AddNumbers("shape", std::span<const int64_t>(shape))
      .Object();
}

std::vector<std::string> InputsOf(const MemoryState& state) {
  const MemoryDescription& description = state.description();
  std::vector<std::string> inputs = {TensorJson("keys", "FP32", {-1, description.dim}),
                                     TensorJson("logits", "FP32", {-1, description.outputs})};
  if (state.model == nullptr) return inputs;
  const ModelManifest& manifest = state.model->manifest();
  if (manifest.takes_images()) {
    inputs.push_back(
        TensorJson("image", "UINT8", {-1, manifest.height, manifest.width, manifest.channels}));
    inputs.push_back(TensorJson("image_file", "BYTES", {-1}));
  } else if (manifest.takes_tokens()) {
    if (state.model->tokenizer() != nullptr) inputs.push_back(TensorJson("text", "BYTES", {-1}));
  } else {
    inputs.push_back(TensorJson("input", "FP32", {-1, manifest.columns}));
  }
  return inputs;
}

std::vector<std::string> OutputsOf(const MemoryState& state) {
  const int64_t outputs = state.description().outputs;
  std::vector<std::string> all;
  if (state.classifies()) {
    all = {TensorJson("prediction", "INT64", {-1}),
           TensorJson("probabilities", "FP32", {-1, outputs}),
           TensorJson("base_prediction", "INT64", {-1})};
    if (state.has_class_names()) {
      all.push_back(TensorJson("class_name", "BYTES", {-1}));
    }
  }
  all.push_back(TensorJson("scores", "FP32", {-1, outputs}));
  all.push_back(TensorJson("distance_percentile", "FP32", {-1}));
  if (state.tells_distances()) all.push_back(TensorJson("unknown", "BOOL", {-1}));
  all.push_back(TensorJson("keys", "FP32", {-1, state.description().dim}));
  all.push_back(TensorJson("logits", "FP32", {-1, outputs}));
  return all;
}

// Why the memory cannot answer; "" where it can.
std::string Obstacle(const Hosted& hosted) {
  const std::shared_ptr<const MemoryState> state = hosted.memory->state();
  if (state == nullptr) return hosted.memory->error();
  const Status damage = state->damage();
  if (!damage.ok()) return damage.message();
  return hosted.follower == nullptr ? "" : hosted.follower->stuck();
}

// Which shards do not answer; "" for none, or where there are none.
std::string LackingShards(const MemoryState& state) {
  return state.shards == nullptr ? ""
                                 : state.shards->client().NotReady(std::chrono::milliseconds(0));
}

}  // namespace

Response Live(Context&, const Call&) {
  return JsonResponse(JsonText().Add("live", true).Object());
}

Response Ready(Context& context, const Call&) {
  if (context.draining()) return ErrorResponse(503, "the server is stopping");
  // Anybody may ask: the reason is for those with a key, and in the log.
  for (const auto& [name, hosted] : context.memories) {
    if (!Obstacle(hosted).empty()) {
      return ErrorResponse(503,
                           "a memory is not loaded, its files are damaged, or it cannot follow its "
                           "stream of edits");
    }
    const std::shared_ptr<const MemoryState> state = hosted.memory->state();
    const std::string lacking = state == nullptr ? "" : LackingShards(*state);
    if (!lacking.empty()) {  // its number; why is told with the model's own readiness
      return ErrorResponse(503, lacking.substr(0, lacking.find(':')) + " does not answer");
    }
  }
  return JsonResponse(JsonText().Add("ready", true).Object());
}

Response ServerMetadata(Context&, const Call&) {
  return JsonResponse(JsonText()
                          .Add("name", "resmem")
                          .Add("version", Version())
                          .AddJson("extensions", "[\"binary_tensor_data\",\"model_repository\"]")
                          .Object());
}

Response ModelMetadata(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const MemoryState& state = *found.state;
  const MemoryDescription& description = state.description();
  const Parameters parameters = state.predictor.DefaultOptions().parameters;
  JsonText about;
  about.Add("task", state.classifies() ? "classification" : "regression")
      .Add("rows", state.rows())
      .Add("answer", MethodName(description.answer))
      .Add("k", parameters.k)
      .Add("sigma", parameters.sigma)
      .Add("temperature", parameters.temperature)
      .Add("tuned", description.tuned)
      .Add("row_images", state.images != nullptr && description.has_sources)
      .Add("state", state.number);
  std::vector<std::string> names;
  // Tokens are many, and few clients want them all.
  const bool tokens = description.class_names.empty() && state.has_class_names();
  if (!tokens || QueryText(call.query, "class_names") == "all") {
    const int64_t count = state.has_class_names() ? description.outputs : 0;
    for (int64_t c = 0; c < count; ++c) AppendText(state.ClassName(c), &names.emplace_back());
  }
  about.AddJson("class_names", JsonList(names));
  return JsonResponse(JsonText()
                          .Add("name", call.name())
                          .AddJson("versions", "[\"1\"]")
                          .Add("platform", "resmem")
                          .AddJson("inputs", JsonList(InputsOf(state)))
                          .AddJson("outputs", JsonList(OutputsOf(state)))
                          .AddJson("parameters", about.Object())
                          .Object());
}

Response ModelReady(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  const std::string obstacle = Obstacle(*found.hosted);
  if (!obstacle.empty()) return ErrorResponse(503, obstacle);
  const std::string lacking = LackingShards(*found.state);
  if (!lacking.empty()) return ErrorResponse(503, lacking);
  return JsonResponse(JsonText().Add("name", call.name()).Add("ready", true).Object());
}

Response RepositoryIndex(Context& context, const Call&) {
  std::vector<std::string> all;
  for (const auto& [name, hosted] : context.memories) {
    const std::string obstacle = Obstacle(hosted);
    all.push_back(JsonText()
                      .Add("name", name)
                      .Add("version", "1")
                      .Add("state", obstacle.empty() ? "READY" : "UNAVAILABLE")
                      .Add("reason", obstacle)
                      .Object());
  }
  return JsonResponse(JsonList(all));
}

namespace {

// What was asked for cannot be taken: 409 where its files are gone or damaged, since the request is
// right and the service is sound.
Response NotLoaded(const Status& status) {
  LogWarning("not_reloaded", JsonText().Add("reason", status.message()));
  int code = HttpStatusOf(status.code());
  switch (status.code()) {
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kTooNew:
    case ErrorCode::kUnsupported:
      code = 409;
      break;
    default:
      break;
  }
  return ErrorResponse(code, status.message() + "; what was loaded before goes on answering");
}

Hosted* FindHosted(Context& context, const Call& call, Response* failure) {
  const auto at = context.memories.find(call.name());
  if (at != context.memories.end()) return &at->second;
  *failure = ErrorResponse(404, "no memory is named '" + call.name().substr(0, 100) + "'");
  return nullptr;
}

}  // namespace

Response RepositoryLoad(Context& context, const Call& call) {
  Response failure;
  Hosted* hosted = FindHosted(context, call, &failure);
  if (hosted == nullptr) return failure;
  const std::lock_guard<std::mutex> lock(hosted->memory->changing());
  Result<std::shared_ptr<const MemoryState>> state = hosted->memory->Open(/*verify=*/true);
  if (!state.ok()) return NotLoaded(state.status());
  hosted->memory->Publish(std::move(*state));
  return JsonResponse("{}");
}

Response RepositoryUnload(Context& context, const Call& call) {
  Response failure;
  Hosted* hosted = FindHosted(context, call, &failure);
  if (hosted == nullptr) return failure;
  const std::lock_guard<std::mutex> lock(hosted->memory->changing());
  hosted->memory->Unload("unloaded by " + call.who.name);
  return JsonResponse("{}");
}

Response Reload(Context& context, const Call&) {
  const Status status = context.reload();
  if (!status.ok()) return NotLoaded(status);
  return JsonResponse(JsonText().Add("reloaded", true).Object());
}

Response OpenApi(Context&, const Call& call) {
  return AssetResponse("openapi.json", call.request.header("if-none-match"));
}

Response PageAsset(Context&, const Call& call) {
  return AssetResponse(call.names.empty() ? "page/index.html" : "page/" + call.names[0],
                       call.request.header("if-none-match"));
}

}  // namespace resmem::serve
