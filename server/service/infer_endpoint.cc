// Inference: requests of one memory that wait together are answered by one search.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operation/log.h"
#include "protocol/infer.h"
#include "protocol/json_text.h"
#include "service/context.h"

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
  std::vector<float> made_keys, made_logits;  // by the model, of images
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
Status RunModel(const ServedMemory& memory, const Tensor& tensor, Asked* asked) {
  const std::shared_ptr<const OnnxModel> model = memory.model();
  if (model == nullptr) {
    return {ErrorCode::kUnsupported, "input \"" + tensor.name +
                                         "\": this memory has no model here to make keys of it; "
                                         "send \"keys\" and \"logits\""};
  }
  const ModelManifest& manifest = model->manifest();
  const int64_t rows = tensor.rows();
  const auto count = static_cast<int64_t>(tensor.bytes.size() + tensor.floats.size());
  if (rows < 1 || count != rows * manifest.input_values() || manifest.takes_tokens()) {
    return {ErrorCode::kBadData, "input \"" + tensor.name + "\": has the shape " +
                                     tensor.shape.Text() + "; the model reads " +
                                     std::to_string(manifest.input_values()) + " values a row"};
  }
  asked->made_keys.resize(static_cast<size_t>(rows * manifest.dim));
  asked->made_logits.resize(static_cast<size_t>(rows * manifest.classes));
  if (tensor.type == DataType::kUint8) {
    RESMEM_RETURN_IF_ERROR(model->Run(tensor.bytes, rows, asked->made_keys, asked->made_logits));
  } else {
    RESMEM_RETURN_IF_ERROR(
        model->RunFloats(MatrixView(tensor.floats.data(), rows, manifest.input_values()),
                         asked->made_keys, asked->made_logits));
  }
  asked->keys = MatrixView(asked->made_keys.data(), rows, manifest.dim);
  asked->logits = MatrixView(asked->made_logits.data(), rows, manifest.classes);
  return {};
}

Status ReadInputs(const ServedMemory& memory, Asked* asked) {
  const Tensor* keys = asked->request.Find("keys");
  const Tensor* logits = asked->request.Find("logits");
  const Tensor* image = asked->request.Find("image");
  const Tensor* input = asked->request.Find("input");
  const size_t given = asked->request.inputs.size();
  if (keys != nullptr && logits != nullptr && given == 2) {
    RESMEM_RETURN_IF_ERROR(ReadMatrix(*keys, &asked->keys));
    return ReadMatrix(*logits, &asked->logits);
  }
  if (image != nullptr && given == 1 && image->type == DataType::kUint8) {
    return RunModel(memory, *image, asked);
  }
  if (input != nullptr && given == 1 && !input->floats.empty()) {
    return RunModel(memory, *input, asked);
  }
  return {ErrorCode::kBadData,
          "give the inputs \"keys\" and \"logits\"; or \"image\" of UINT8, or \"input\" of FP32, "
          "for the memory's model"};
}

Status Read(const Context& context, const ServedMemory& memory, const MemoryState& state,
            Asked* asked) {
  const int64_t most_values = context.limits.body_bytes;
  RESMEM_ASSIGN_OR_RETURN(
      asked->request,
      ParseInferRequest(asked->call.request.body,
                        asked->call.request.header("inference-header-content-length"), most_values,
                        {.depth = static_cast<int>(context.limits.json_depth)}));
  for (const Tensor& tensor : asked->request.inputs) {
    if (tensor.rows() <= context.limits.rows) continue;
    return {ErrorCode::kBadData, "input \"" + tensor.name + "\": has " +
                                     std::to_string(tensor.rows()) + " rows, at most " +
                                     std::to_string(context.limits.rows) + " (--max-rows)"};
  }
  RESMEM_ASSIGN_OR_RETURN(asked->options,
                          ChooseOptions(state, asked->request.parameters, context.limits.k));
  RESMEM_RETURN_IF_ERROR(ReadInputs(memory, asked));
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

Tensor NameOutput(const MemoryState& state, std::span<const int64_t> classes) {
  Tensor tensor;
  tensor.name = "class_name";
  tensor.type = DataType::kBytes;
  tensor.shape.sizes = {static_cast<int64_t>(classes.size())};
  for (const int64_t number : classes) {
    tensor.texts.push_back(state.description().class_names[static_cast<size_t>(number)]);
  }
  return tensor;
}

// Rows [begin, begin + rows) of the batch.
Result<Tensor> MakeOutput(const MemoryState& state, const Answers& answers, int64_t begin,
                          int64_t rows, const std::string& name) {
  const int64_t outputs = state.description().outputs;
  const auto floats = [&](const char* as, const std::vector<float>& all) {
    return FloatOutput(as, {rows, outputs},
                       std::span<const float>(all).subspan(static_cast<size_t>(begin * outputs),
                                                           static_cast<size_t>(rows * outputs)));
  };
  const auto part = [&](const auto& all) {
    return std::span(all).subspan(static_cast<size_t>(begin), static_cast<size_t>(rows));
  };
  if (name == "scores") return floats("scores", answers.scores);
  if (name == "distance_percentile") {
    return FloatOutput("distance_percentile", {rows}, part(answers.percentile));
  }
  if (state.classifies()) {
    if (name == "probabilities" && !answers.probabilities.empty()) {
      return floats("probabilities", answers.probabilities);
    }
    if (name == "prediction") return WholeOutput("prediction", part(answers.prediction));
    if (name == "base_prediction") {
      return WholeOutput("base_prediction", part(answers.base_prediction));
    }
    if (name == "class_name" && !state.description().class_names.empty()) {
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
    wanted.push_back({answers.probabilities.empty() ? "scores" : "probabilities", binary});
  }
  std::vector<Tensor> outputs;
  const auto binary = std::make_unique<bool[]>(wanted.size());
  bool any_binary = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Result<Tensor> output = MakeOutput(state, answers, begin, asked.keys.rows, wanted[i].name);
    if (!output.ok()) return ErrorResponse(output.status());
    outputs.push_back(std::move(*output));
    binary[i] = wanted[i].binary;
    any_binary |= wanted[i].binary;
  }
  InferResponse formatted = FormatInferResponse(model, asked.request.id, outputs,
                                                std::span<const bool>(binary.get(), wanted.size()));
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
    asked->call.reply(Format(state, memory.name(), *answers, first, *asked));
    first += asked->keys.rows;
  }
}

bool SameOptions(const PredictOptions& a, const PredictOptions& b) {
  return a.method == b.method && a.parameters == b.parameters;
}

void AnswerAll(ServedMemory& memory, const MemoryState& state, std::vector<Asked>& asked,
               int64_t most_rows, int threads) {
  std::vector<bool> done(asked.size());
  for (size_t first = 0; first < asked.size(); ++first) {
    if (done[first]) continue;
    std::vector<Asked*> together;
    int64_t rows = 0;
    for (size_t i = first; i < asked.size(); ++i) {
      if (done[i] || !SameOptions(asked[first].options, asked[i].options)) continue;
      if (rows > 0 && rows + asked[i].keys.rows > most_rows) continue;
      rows += asked[i].keys.rows;
      together.push_back(&asked[i]);
      done[i] = true;
    }
    AnswerTogether(memory, state, together, threads);
  }
}

bool Waited(const Context& context, const Job& job, const Asked& asked) {
  auto limit = std::chrono::duration_cast<std::chrono::microseconds>(context.limits.queue_wait);
  if (asked.request.parameters.timeout) {
    limit = std::min(limit, std::chrono::microseconds(*asked.request.parameters.timeout));
  }
  return limit.count() > 0 && WorkClock::now() - job.arrived > limit;
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
    } else if (Waited(context, job, asked)) {
      status = {ErrorCode::kResourceExhausted, "the request waited too long; try again"};
    } else {
      status = Read(context, memory, *state, &asked);
      if (status.ok() && Waited(context, job, asked)) {
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
