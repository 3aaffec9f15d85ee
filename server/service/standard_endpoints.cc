// The protocol's own endpoints but inference: health, metadata, repository; metrics; the document.
#include "http/http_server.h"
#include "protocol/json_text.h"
#include "resmem/simd.h"
#include "resmem/version.h"
#include "service/assets.h"
#include "service/context.h"
#include "service/endpoints.h"

namespace resmem::serve {
namespace {

std::string TensorJson(const char* name, const char* type, std::vector<int64_t> shape) {
  return JsonText()
      .Add("name", name)
      .Add("datatype", type)
      .AddNumbers("shape", std::span<const int64_t>(shape))
      .Object();
}

std::vector<std::string> InputsOf(const ServedMemory& memory, const MemoryState& state) {
  const MemoryDescription& description = state.description();
  std::vector<std::string> inputs = {TensorJson("keys", "FP32", {-1, description.dim}),
                                     TensorJson("logits", "FP32", {-1, description.outputs})};
  const std::shared_ptr<const OnnxModel> model = memory.model();
  if (model == nullptr) return inputs;
  const ModelManifest& manifest = model->manifest();
  if (manifest.takes_images()) {
    inputs.push_back(
        TensorJson("image", "UINT8", {-1, manifest.height, manifest.width, manifest.channels}));
  } else if (!manifest.takes_tokens()) {
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
    if (!state.description().class_names.empty()) {
      all.push_back(TensorJson("class_name", "BYTES", {-1}));
    }
  }
  all.push_back(TensorJson("scores", "FP32", {-1, outputs}));
  all.push_back(TensorJson("distance_percentile", "FP32", {-1}));
  return all;
}

bool AllLoaded(const Context& context) {
  for (const auto& [name, hosted] : context.memories) {
    if (hosted.memory->state() == nullptr) return false;
  }
  return true;
}

}  // namespace

Response Live(Context&, const Call&) {
  return JsonResponse(JsonText().Add("live", true).Object());
}

Response Ready(Context& context, const Call&) {
  if (context.draining()) return ErrorResponse(503, "the server is stopping");
  if (!AllLoaded(context)) return ErrorResponse(503, "a memory is not loaded");
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
      .Add("rows", state.memory.rows())
      .Add("answer", MethodName(description.answer))
      .Add("k", parameters.k)
      .Add("sigma", parameters.sigma)
      .Add("temperature", parameters.temperature)
      .Add("tuned", description.tuned)
      .Add("state", state.number);
  std::vector<std::string> names;
  for (const std::string& name : description.class_names) AppendText(name, &names.emplace_back());
  about.AddJson("class_names", JsonList(names));
  return JsonResponse(JsonText()
                          .Add("name", call.name())
                          .AddJson("versions", "[\"1\"]")
                          .Add("platform", "resmem")
                          .AddJson("inputs", JsonList(InputsOf(*found.hosted->memory, state)))
                          .AddJson("outputs", JsonList(OutputsOf(state)))
                          .AddJson("parameters", about.Object())
                          .Object());
}

Response ModelReady(Context& context, const Call& call) {
  Found found;
  Response failure;
  if (!FindMemory(context, call, &found, &failure)) return failure;
  return JsonResponse(JsonText().Add("name", call.name()).Add("ready", true).Object());
}

Response RepositoryIndex(Context& context, const Call&) {
  std::vector<std::string> all;
  for (const auto& [name, hosted] : context.memories) {
    const bool loaded = hosted.memory->state() != nullptr;
    all.push_back(JsonText()
                      .Add("name", name)
                      .Add("version", "1")
                      .Add("state", loaded ? "READY" : "UNAVAILABLE")
                      .Add("reason", hosted.memory->error())
                      .Object());
  }
  return JsonResponse(JsonList(all));
}

namespace {

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
  if (!state.ok()) return ErrorResponse(state.status());
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
  if (!status.ok()) return ErrorResponse(status);
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
