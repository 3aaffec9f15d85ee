#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "onnx/graph/graph_file.h"
#include "onnx/graph/tensor_data.h"
#include "onnx/graph_fit.h"
#include "onnx/manifest_json.h"
#include "onnx/token_trial.h"
#include "onnx/trial_run.h"
#include "resmem/models/onnx_model.h"
#include "resmem_program/output_file.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

Status Refused(const std::string& message) {
  return {ErrorCode::kInvalidArgument, message};
}

std::string Names(const std::vector<OnnxTensor>& tensors) {
  std::string text;
  for (const OnnxTensor& tensor : tensors) text += (text.empty() ? "" : ", ") + tensor.name;
  return text;
}

Result<std::string> OnlyInput(const GraphIndex& index) {
  const std::vector<OnnxTensor> inputs = index.Inputs();
  if (inputs.size() == 1) return inputs[0].name;
  return Status(ErrorCode::kUnsupported,
                Text("the graph has ", inputs.size(), " inputs (", Names(inputs),
                     "); a base model has one, export it with the others fixed"));
}

Result<std::string> ChooseTensor(const GraphIndex& index, const char* what,
                                 const std::string& wanted, const std::string& usual) {
  if (wanted.empty()) {
    if (!usual.empty()) return usual;
    return Status(ErrorCode::kUnsupported,
                  Text("the graph has no Gemm or MatMul with weights from which to tell the ", what,
                       "; name the tensor with --", what));
  }
  if (index.Knows(wanted)) return wanted;
  std::string like;
  for (const std::string& name : index.Like(wanted)) like += (like.empty() ? "" : ", ") + name;
  return Refused(Text("the graph has no tensor ", wanted, "; the names most like it are ", like));
}

// One entry a channel.
std::vector<float> Spread(const std::vector<float>& values, float usual, int64_t channels) {
  if (values.size() > 1) return values;
  return std::vector<float>(static_cast<size_t>(channels), values.empty() ? usual : values[0]);
}

Status ChooseSide(const char* what, int64_t side, int64_t wanted, int64_t* chosen) {
  if (side == -1 && wanted == 0) {
    return Refused(Text("the graph leaves the ", what, " of its images open; give the size"));
  }
  if (side != -1 && wanted != 0 && wanted != side) {
    return Refused(Text("the graph takes images with a ", what, " of ", side, ", not ", wanted));
  }
  *chosen = side == -1 ? wanted : side;
  return {};
}

bool IsChannelCount(int64_t side) {
  return side == 1 || side == 3 || side == 4;
}

// TensorFlow's order of the sides.
bool ChannelsLast(const std::vector<int64_t>& sides) {
  return sides.size() == 4 && !IsChannelCount(sides[1]) && IsChannelCount(sides[3]);
}

Status DescribeInput(std::vector<int64_t> sides, const PrepareOptions& options, ModelManifest* m) {
  if (ChannelsLast(sides)) sides = {sides[0], sides[3], sides[1], sides[2]};
  if (sides.size() == 2) {
    if (sides[1] == -1) {
      return {ErrorCode::kUnsupported,
              "the graph leaves the number of columns open; export it with a fixed one"};
    }
    if (!options.mean.empty() || !options.deviation.empty() || options.resize != 0 ||
        options.height != 0 || options.width != 0) {
      return Refused("the graph takes rows of numbers, to which no mean, std or size applies");
    }
    m->columns = sides[1];
    return {};
  }
  if (sides.size() != 4 || sides[1] == -1) {
    return {ErrorCode::kUnsupported,
            Text("input ", m->input, " has ", sides.size(),
                 " sides; a base model takes rows x columns, or rows x channels x height x width "
                 "with a known number of channels")};
  }
  m->channels = sides[1];
  RESMEM_RETURN_IF_ERROR(ChooseSide("height", sides[2], options.height, &m->height));
  RESMEM_RETURN_IF_ERROR(ChooseSide("width", sides[3], options.width, &m->width));
  m->mean = Spread(options.mean, 0.0f, m->channels);
  m->deviation = Spread(options.deviation, 1.0f, m->channels);
  m->resize = options.resize;
  return {};
}

// Puts a Transpose before the graph, so that it takes channels first.
void TakeChannelsFirst(onnx::GraphProto* graph, ModelManifest* manifest) {
  const std::string inner = manifest->input;
  manifest->input = inner + "_channels_first";
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type("Transpose");
  node->add_input(manifest->input);
  node->add_output(inner);
  onnx::AttributeProto* order = node->add_attribute();
  order->set_name("perm");
  order->set_type(onnx::AttributeProto::INTS);
  for (const int64_t side : {0, 2, 3, 1}) order->add_ints(side);
  for (int i = graph->node_size() - 1; i > 0; --i) graph->mutable_node()->SwapElements(i, i - 1);
  for (onnx::ValueInfoProto& input : *graph->mutable_input()) {
    if (input.name() != inner) continue;
    input.set_name(manifest->input);
    auto* sides = input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
    sides->SwapElements(2, 3);
    sides->SwapElements(1, 2);
  }
}

void AddOutput(const std::string& name, onnx::GraphProto* graph) {
  for (const onnx::ValueInfoProto& output : graph->output()) {
    if (output.name() == name) return;
  }
  onnx::ValueInfoProto* output = graph->add_output();
  output->set_name(name);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
}

// The longest window by the file that comes with published models; 0 where it does not say.
int64_t ContextByConfig(const std::string& source) {
  constexpr int64_t kMost = 4096;
  const std::string folder = ParentDirectory(source);
  for (const std::string& path : {folder + "/config.json", folder + "/../config.json"}) {
    const auto file = FileSystem::Posix().Map(path);
    if (!file.ok()) continue;
    const std::span<const std::byte> bytes = file->bytes();
    const auto json =
        ReadJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, JsonLimits());
    if (!json.ok() || !json->is_object()) continue;
    for (const char* name : {"n_positions", "max_position_embeddings", "n_ctx"}) {
      const auto found = json->find(name);
      if (found == json->end() || !found->is_number_unsigned()) continue;
      const auto context = found->get<uint64_t>();
      return static_cast<int64_t>(std::min<uint64_t>(context, kMost));
    }
  }
  return 0;
}

Status DescribeTokens(const std::string& source, const GraphIndex& index,
                      const PrepareOptions& options, ModelManifest* m) {
  if (!options.mean.empty() || !options.deviation.empty() || options.resize != 0 ||
      options.height != 0 || options.width != 0) {
    return Refused("the graph takes token ids, to which no mean, std or size applies");
  }
  RESMEM_ASSIGN_OR_RETURN(const TokenInputs inputs, FindTokenInputs(index));
  m->input = inputs.ids();
  m->context = options.context > 0 ? options.context : ContextByConfig(source);
  m->tokenizer = options.tokenizer;
  return {};
}

// Everything of the manifest but dim and classes.
Status Choose(const std::string& source, const onnx::GraphProto& graph,
              const PrepareOptions& options, ModelManifest* m, bool* channels_last) {
  const GraphIndex index(graph);
  const bool tokens = TakesTokenIds(index);
  if (!tokens) {
    RESMEM_ASSIGN_OR_RETURN(m->input, OnlyInput(index));
  }
  const std::string usual_logits = index.Logits();
  const std::vector<OnnxTensor> candidates =
      tokens ? index.CandidatesBefore(options.logits.empty() ? usual_logits : options.logits)
             : index.Candidates();
  RESMEM_ASSIGN_OR_RETURN(m->embedding, ChooseTensor(index, "embedding", options.embedding,
                                                     candidates.empty() ? "" : candidates[0].name));
  RESMEM_ASSIGN_OR_RETURN(m->logits, ChooseTensor(index, "logits", options.logits, usual_logits));
  if (tokens) {
    RESMEM_RETURN_IF_ERROR(DescribeTokens(source, index, options, m));
  } else {
    if (options.context != 0 || !options.tokenizer.empty()) {
      return Refused("the graph takes no token ids, to which a context or a tokenizer applies");
    }
    RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> sides,
                            InputSides(index.Describe(m->input), "float32"));
    *channels_last = ChannelsLast(sides);
    RESMEM_RETURN_IF_ERROR(DescribeInput(sides, options, m));
  }
  m->class_names = options.class_names;
  m->network = options.network;
  if (m->embedding == m->input || m->logits == m->input) {
    return Refused(Text("tensor ", m->input, " is the input; choose one that the graph computes"));
  }
  return {};
}

Result<std::string> Serialize(const onnx::ModelProto& model) {
  std::string bytes;
  if (model.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) ||
      !model.SerializeToString(&bytes)) {
    return Status(ErrorCode::kUnsupported,
                  "with its external data the model is larger than 2 GB, more than an ONNX file "
                  "holds");
  }
  return bytes;
}

Result<std::string> Rewrite(const std::string& source, const PrepareOptions& options,
                            const Runtime& runtime, ModelManifest* manifest) {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(source));
  RESMEM_ASSIGN_OR_RETURN(const GraphModel model, ParseGraph(source, file.bytes()));
  bool channels_last = false;
  RESMEM_RETURN_IF_ERROR(Choose(source, model->graph(), options, manifest, &channels_last));
  Status status;
  const std::string folder = ParentDirectory(source);
  VisitTensors(*model, [&](onnx::TensorProto& tensor) {
    if (status.ok() && IsExternal(tensor)) status = TakeInExternalData(folder, &tensor);
  });
  RESMEM_RETURN_IF_ERROR(status);
  if (channels_last) TakeChannelsFirst(model->mutable_graph(), manifest);
  AddOutput(manifest->embedding, model->mutable_graph());
  AddOutput(manifest->logits, model->mutable_graph());
  const GraphIndex index(model->graph());
  TokenInputs tokens;
  int64_t fixed = 0;
  if (TakesTokenIds(index)) {
    RESMEM_ASSIGN_OR_RETURN(tokens, FindTokenInputs(index));
  } else {
    RESMEM_ASSIGN_OR_RETURN(const GraphFit fit, CheckFit(index, *manifest));
    fixed = fit.rows;
  }
  RESMEM_ASSIGN_OR_RETURN(std::string bytes, Serialize(*model));
  RESMEM_ASSIGN_OR_RETURN(const Session session,
                          Session::Create(runtime, std::as_bytes(std::span(bytes))));
  RESMEM_RETURN_IF_ERROR(tokens.inputs.empty() ? TrialRun(session, fixed, manifest)
                                               : TokenTrial(session, tokens, manifest));
  RESMEM_RETURN_IF_ERROR(CheckManifest(*manifest));
  return bytes;
}

}  // namespace

Result<ModelManifest> PrepareOnnx(const std::string& source, const PrepareOptions& options,
                                  const std::string& output, const OnnxOptions& runtime) try {
  RESMEM_ASSIGN_OR_RETURN(const Runtime* loaded, Runtime::Load(runtime.library));
  ModelManifest manifest;
  const auto bytes = Rewrite(source, options, *loaded, &manifest);
  if (!bytes.ok()) {
    const std::string& message = bytes.status().message();
    const bool named = message.rfind(source, 0) == 0;
    return Status(bytes.status().code(), named ? message : Text(source, ": ", message));
  }
  // A stop between the two files must not leave a new graph with an old manifest.
  FileSystem& files = FileSystem::Posix();
  RESMEM_ASSIGN_OR_RETURN(const std::string json, ModelManifestToJson(manifest));
  // Made while the old one is there, whose mode it takes.
  RESMEM_ASSIGN_OR_RETURN(OutputFile described, OutputFile::Create(ManifestPath(output)));
  RESMEM_RETURN_IF_ERROR(described.Write(json));
  if (files.Exists(ManifestPath(output))) {
    RESMEM_RETURN_IF_ERROR(files.Remove(ManifestPath(output)));
  }
  RESMEM_RETURN_IF_ERROR(WriteFileAtomically(files, output, std::as_bytes(std::span(*bytes))));
  RESMEM_RETURN_IF_ERROR(described.Close());
  return manifest;
} catch (...) {
  return CaughtException("prepare a model");
}

}  // namespace resmem
