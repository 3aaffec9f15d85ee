// Inference: requests of one memory that wait together are answered by one search.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operation/log.h"
#include "protocol/infer.h"
#include "protocol/json_text.h"
#include "service/context.h"
#include "shards/shard_set.h"

namespace resmem::serve {
namespace {

struct InferJob : JobData {
  explicit InferJob(Call call_in) : call(std::move(call_in)) {}
  Call call;
};

// A request that was read: its rows, and where its answer goes.
struct Asked {
  Call call;
  InferRequest request;
  PredictOptions options;
  std::shared_ptr<const MemoryState> part;  // where only some rows are to answer
  Embedded made;                            // by the model, of what is no array of keys
  MatrixView keys, logits;
};

Status ReadMatrix(const Tensor& tensor, MatrixView* view) {
  if (tensor.shape.sizes.size() != 2 || tensor.floats.empty()) {
    return {ErrorCode::kBadData, "input \"" + tensor.name + "\": has the shape " +
                                     tensor.shape.Text() + " and the type " +
                                     DataTypeName(tensor.type) +
                                     "; rows x columns of FP32, FP64 or FP16 are wanted"};
  }
  *view = MatrixView(tensor.floats.data(), tensor.shape.sizes[0], tensor.shape.sizes[1]);
  return {};
}

// Keys and logits from the model, for what is not an array of them.
Status RunModel(const MemoryState& state, const Tensor& tensor, Asked* asked) {
  if (state.model == nullptr) {
    return {ErrorCode::kUnsupported, "input \"" + tensor.name +
                                         "\": this memory has no model here to make keys of it; "
                                         "send \"keys\" and \"logits\""};
  }
  const MemoryModel& model = *state.model;
  const ModelManifest& manifest = model.manifest();
  const int64_t rows = tensor.rows();
  Embedded& made = asked->made;
  if (tensor.type == DataType::kBytes) {
    if (tensor.texts.empty()) {
      return {ErrorCode::kBadData, "input \"" + tensor.name + "\": holds no row"};
    }
    RESMEM_RETURN_IF_ERROR(tensor.name == "text" ? model.EmbedTexts(tensor.texts, &made)
                                                 : model.EmbedImageFiles(tensor.texts, &made));
  } else {
    const auto count = static_cast<int64_t>(tensor.bytes.size() + tensor.floats.size());
    if (rows < 1 || count != rows * manifest.input_values() || manifest.takes_tokens()) {
      return {ErrorCode::kBadData, "input \"" + tensor.name + "\": has the shape " +
                                       tensor.shape.Text() + "; the model reads " +
                                       std::to_string(manifest.input_values()) + " values a row"};
    }
    RESMEM_RETURN_IF_ERROR(
        tensor.type == DataType::kUint8
            ? model.EmbedPixels(tensor.bytes, rows, &made)
            : model.EmbedFloats({tensor.floats.data(), rows, manifest.input_values()}, &made));
  }
  asked->keys = MatrixView(made.keys.data(), made.rows, manifest.dim);
  asked->logits = MatrixView(made.logits.data(), made.rows, manifest.classes);
  return {};
}

Status ReadInputs(const MemoryState& state, Asked* asked) {
  const Tensor* keys = asked->request.Find("keys");
  const Tensor* logits = asked->request.Find("logits");
  if (keys != nullptr && logits != nullptr && asked->request.inputs.size() == 2) {
    RESMEM_RETURN_IF_ERROR(ReadMatrix(*keys, &asked->keys));
    return ReadMatrix(*logits, &asked->logits);
  }
  if (asked->request.inputs.size() == 1) {
    const Tensor& only = asked->request.inputs[0];
    const bool bytes = only.type == DataType::kBytes;
    if ((only.name == "image" && (only.type == DataType::kUint8 || bytes)) ||
        (only.name == "image_file" && bytes) || (only.name == "text" && bytes) ||
        (only.name == "input" && !only.floats.empty())) {
      return RunModel(state, only, asked);
    }
  }
  return {ErrorCode::kBadData,
          "give the inputs \"keys\" and \"logits\"; or one for the memory's model: \"image\" of "
          "UINT8, \"image_file\" of BYTES (PNG, JPEG or WebP), \"text\" of BYTES, or \"input\" of "
          "FP32"};
}

// The role answer gets what the memory says with its own settings: with k = 1 an answer is the
// nearest row's label, and a distance tells who is a row (docs/privacy.md).
Status CheckRole(const Asked& asked) {
  if (asked.call.who.permission != Permission::kAnswer) return {};
  const auto refuse = [&](const std::string& what) {
    return Status(ErrorCode::kInvalidArgument, what + ": the key '" + asked.call.who.name +
                                                   "' has the role answer; this needs predict");
  };
  const AnswerParameters& parameters = asked.request.parameters;
  if (parameters.k || parameters.sigma || parameters.temperature || !parameters.method.empty()) {
    return refuse("parameters k, sigma, temperature, method");
  }
  for (const RequestedOutput& output : asked.request.outputs) {
    constexpr std::string_view kOpen[] = {"prediction", "probabilities", "scores", "class_name",
                                          "base_prediction"};
    if (std::find(std::begin(kOpen), std::end(kOpen), output.name) == std::end(kOpen)) {
      return refuse("output \"" + output.name.substr(0, 100) + "\"");
    }
  }
  return {};
}

Status Read(const Context& context, const MemoryState& state, Asked* asked) {
  const int64_t most_values = context.limits.body_bytes;
  RESMEM_ASSIGN_OR_RETURN(
      asked->request,
      ParseInferRequest(asked->call.request.body,
                        asked->call.request.header("inference-header-content-length"), most_values,
                        {.depth = static_cast<int>(context.limits.json_depth)}));
  RESMEM_RETURN_IF_ERROR(CheckRole(*asked));
  for (const Tensor& tensor : asked->request.inputs) {
    if (tensor.rows() <= context.limits.rows) continue;
    return {ErrorCode::kBadData, "input \"" + tensor.name + "\": has " +
                                     std::to_string(tensor.rows()) + " rows, at most " +
                                     std::to_string(context.limits.rows) + " (--max-rows)"};
  }
  const AnswerParameters& parameters = asked->request.parameters;
  RESMEM_ASSIGN_OR_RETURN(asked->options, ChooseOptions(state, parameters, context.limits.k));
  if (!parameters.where.empty()) {
    RESMEM_ASSIGN_OR_RETURN(asked->part, state.Part(parameters.where));
  }
  RESMEM_RETURN_IF_ERROR(ReadInputs(state, asked));
  return CheckQueries(state, asked->keys, asked->logits);
}

Tensor FloatOutput(const char* name, std::vector<int64_t> shape, std::span<const float> values) {
  Tensor tensor;
  tensor.name = name;
  tensor.shape.sizes = std::move(shape);
  tensor.floats.assign(values.begin(), values.end());
  return tensor;
}

Tensor WholeOutput(const char* name, std::span<const int64_t> values) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = DataType::kInt64;
  tensor.shape.sizes = {static_cast<int64_t>(values.size())};
  tensor.whole.assign(values.begin(), values.end());
  return tensor;
}

Tensor UnknownOutput(std::span<const float> percentiles, double rate) {
  Tensor tensor;
  tensor.name = "unknown";
  tensor.type = DataType::kBool;
  tensor.shape.sizes = {static_cast<int64_t>(percentiles.size())};
  for (const float one : percentiles) tensor.bytes.push_back(IsUnknown(one, rate) ? 1 : 0);
  return tensor;
}

Tensor NameOutput(const MemoryState& state, std::span<const int64_t> classes) {
  Tensor tensor;
  tensor.name = "class_name";
  tensor.type = DataType::kBytes;
  tensor.shape.sizes = {static_cast<int64_t>(classes.size())};
  for (const int64_t number : classes) {
    tensor.texts.push_back(state.ClassName(number));
  }
  return tensor;
}

Tensor MatrixOutput(const char* name, MatrixView view) {
  return FloatOutput(name, {view.rows, view.columns},
                     {view.data, static_cast<size_t>(view.rows * view.columns)});
}

// Rows [begin, begin + rows) of the batch.
Result<Tensor> MakeOutput(const MemoryState& state, const Answers& answers, int64_t begin,
                          const Asked& asked, const std::string& name) {
  const int64_t outputs = state.description().outputs, rows = asked.keys.rows;
  const auto floats = [&](const char* as, const std::vector<float>& all) {
    return FloatOutput(as, {rows, outputs},
                       std::span<const float>(all).subspan(static_cast<size_t>(begin * outputs),
                                                           static_cast<size_t>(rows * outputs)));
  };
  const auto part = [&](const auto& all) {
    return std::span(all).subspan(static_cast<size_t>(begin), static_cast<size_t>(rows));
  };
  if (name == "scores") return floats("scores", answers.scores);
  // What was asked, or what the memory's model made of it.
  if (name == "keys") return MatrixOutput("keys", asked.keys);
  if (name == "logits") return MatrixOutput("logits", asked.logits);
  if (name == "distance_percentile") {
    return FloatOutput("distance_percentile", {rows}, part(answers.percentile));
  }
  if (name == "unknown" && state.tells_distances()) {
    return UnknownOutput(part(answers.percentile), asked.options.unknown_rate);
  }
  if (state.classifies()) {
    if (name == "probabilities" && !answers.probabilities.empty()) {
      return floats("probabilities", answers.probabilities);
    }
    if (name == "prediction") return WholeOutput("prediction", part(answers.prediction));
    if (name == "base_prediction") {
      return WholeOutput("base_prediction", part(answers.base_prediction));
    }
    if (name == "class_name" && state.has_class_names()) {
      return NameOutput(state, part(answers.prediction));
    }
  }
  return Status(ErrorCode::kNotFound, "output \"" + name.substr(0, 100) +
                                          "\": this memory, asked by this method, has "
                                          "no such output; its metadata lists them");
}

Response Format(const MemoryState& state, const std::string& model, const Answers& answers,
                int64_t begin, const Asked& asked) {
  std::vector<RequestedOutput> wanted = asked.request.outputs;
  if (wanted.empty()) {
    const bool binary = asked.request.binary_outputs;
    if (state.classifies()) wanted.push_back({"prediction", binary});
    // Of tokens there are so many that they come only where they are asked for.
    const bool tokens = state.description().class_names.empty() && state.has_class_names();
    wanted.push_back({tokens                          ? "class_name"
                      : answers.probabilities.empty() ? "scores"
                                                      : "probabilities",
                      binary});
    const bool trusted = asked.call.who.permission != Permission::kAnswer;  // see CheckRole()
    if (state.tells_distances() && trusted) {
      wanted.push_back({"distance_percentile", binary});
      wanted.push_back({"unknown", binary});
    }
  }
  std::vector<Tensor> outputs;
  const auto binary = std::make_unique<bool[]>(wanted.size());
  bool any_binary = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Result<Tensor> output = MakeOutput(state, answers, begin, asked, wanted[i].name);
    if (!output.ok()) return ErrorResponse(output.status());
    outputs.push_back(std::move(*output));
    binary[i] = wanted[i].binary;
    any_binary |= wanted[i].binary;
  }
  JsonText parameters;
  if (!answers.missing.empty()) {
    parameters.Add("partial", true)
        .AddNumbers("missing", std::span<const int64_t>(answers.missing));
  }
  if (asked.part != nullptr) parameters.Add("matching_rows", state.rows());
  const bool any_parameter = !answers.missing.empty() || asked.part != nullptr;
  InferResponse formatted = FormatInferResponse(model, asked.request.id, outputs,
                                                std::span<const bool>(binary.get(), wanted.size()),
                                                any_parameter ? parameters.Object() : "");
  Response response;
  response.headers.emplace_back("X-Memory-State", std::to_string(state.number));
  if (any_binary) {
    response.type = "application/octet-stream";
    response.headers.emplace_back("Inference-Header-Content-Length",
                                  std::to_string(formatted.json_bytes));
  }
  response.body = std::move(formatted.body);
  return response;
}

// Whether what shards did answer may be given for the whole.
bool MayBePartial(const MemoryState& state, const Answers& answers, const Asked& asked) {
  return answers.missing.empty() || (asked.request.parameters.allow_partial &&
                                     answers.missing.size() < state.shards->file().shards.size());
}

// Those of one set of options, side by side.
void AnswerTogether(ServedMemory& memory, const MemoryState& state, std::span<Asked*> together,
                    int threads) {
  std::vector<float> keys, logits;
  MatrixView all_keys = together[0]->keys, all_logits = together[0]->logits;
  if (together.size() > 1) {
    for (const Asked* asked : together) {
      keys.insert(keys.end(), asked->keys.data,
                  asked->keys.data + asked->keys.rows * asked->keys.columns);
      logits.insert(logits.end(), asked->logits.data,
                    asked->logits.data + asked->logits.rows * asked->logits.columns);
    }
    const auto rows = static_cast<int64_t>(keys.size()) / all_keys.columns;
    all_keys = MatrixView(keys.data(), rows, all_keys.columns);
    all_logits = MatrixView(logits.data(), rows, all_logits.columns);
  }
  PredictOptions options = together[0]->options;
  options.threads = threads;
  const auto begin = WorkClock::now();
  const Result<Answers> answers = Answer(state, all_keys, all_logits, options);
  if (!answers.ok()) {
    // Somebody's rows are at fault; the others must not suffer.
    if (together.size() > 1) {
      for (Asked*& asked : together) AnswerTogether(memory, state, {&asked, 1}, threads);
    } else {
      together[0]->call.reply(ErrorResponse(answers.status()));
    }
    return;
  }
  MemoryMetrics& metrics = memory.metrics();
  const double seconds = std::chrono::duration<double>(WorkClock::now() - begin).count();
  metrics.search_seconds.Observe(seconds);
  metrics.latest_search.store(seconds, std::memory_order_relaxed);
  metrics.batch_rows.Observe(static_cast<double>(all_keys.rows));
  metrics.batch_requests.Observe(static_cast<double>(together.size()));
  metrics.Observe(*answers);
  int64_t first = 0;
  for (Asked* asked : together) {
    memory.recent().Add(asked->call.request.id, asked->keys, asked->logits);
    asked->call.reply(MayBePartial(state, *answers, *asked)
                          ? Format(state, memory.name(), *answers, first, *asked)
                          : ErrorResponse(503, state.shards->MissingText(answers->missing)));
    first += asked->keys.rows;
  }
}

bool SameOptions(const Asked& a, const Asked& b) {
  return a.options.method == b.options.method && a.options.parameters == b.options.parameters &&
         a.part == b.part;
}

void AnswerAll(ServedMemory& memory, const MemoryState& state, std::vector<Asked>& asked,
               int64_t most_rows, int threads) {
  std::vector<bool> done(asked.size());
  for (size_t first = 0; first < asked.size(); ++first) {
    if (done[first]) continue;
    std::vector<Asked*> together;
    int64_t rows = 0;
    for (size_t i = first; i < asked.size(); ++i) {
      if (done[i] || !SameOptions(asked[first], asked[i])) continue;
      if (rows > 0 && rows + asked[i].keys.rows > most_rows) continue;
      rows += asked[i].keys.rows;
      together.push_back(&asked[i]);
      done[i] = true;
    }
    const MemoryState* const part = asked[first].part.get();
    AnswerTogether(memory, part == nullptr ? state : *part, together, threads);
  }
}

void AnswerJobs(Context& context, ServedMemory& memory, std::vector<Job> jobs, bool alone) {
  const std::shared_ptr<const MemoryState> state = memory.state();
  std::vector<Asked> all;
  all.reserve(jobs.size());  // the views of one point into it
  for (Job& job : jobs) {
    Asked& asked = all.emplace_back();
    asked.call = std::move(static_cast<InferJob*>(job.data.get())->call);
    const Reply reply = asked.call.reply;
    Status status;
    if (state == nullptr) {
      status = {ErrorCode::kResourceExhausted,
                "memory '" + memory.name() + "' is not loaded: " + memory.error()};
    } else if (WaitedTooLong(context, job.arrived)) {
      status = {ErrorCode::kResourceExhausted, "the request waited too long; try again"};
    } else {
      status = Read(context, *state, &asked);
      if (status.ok() && WaitedTooLong(context, job.arrived, asked.request.parameters.timeout)) {
        status = {ErrorCode::kResourceExhausted, "the request waited longer than its timeout"};
      }
    }
    if (status.ok()) continue;
    all.pop_back();
    reply(ErrorResponse(status));
  }
  if (all.empty()) return;
  AnswerAll(memory, *state, all, context.limits.rows, alone ? context.limits.threads : 1);
}

}  // namespace

std::unique_ptr<JobData> MakeInferJob(Call call) {
  return std::make_unique<InferJob>(std::move(call));
}

Job::Group MakeInferGroup(Context* context, ServedMemory* memory) {
  return [context, memory](std::vector<Job> jobs, bool alone) {
    std::vector<Reply> replies;
    for (const Job& job : jobs) {
      replies.push_back(static_cast<InferJob*>(job.data.get())->call.reply);
    }
    try {
      AnswerJobs(*context, *memory, std::move(jobs), alone);
    } catch (const std::exception& error) {
      // A reply that was given already is not given twice: see Service.
      LogWarning("exception", JsonText().Add("memory", memory->name()).Add("what", error.what()));
      for (const Reply& reply : replies) {
        reply(ErrorResponse(503, "not enough memory for this request; send fewer rows"));
      }
    }
  };
}

}  // namespace resmem::serve
