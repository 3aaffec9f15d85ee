#include "onnx/manifest_json.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "format/json_fields.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kVersion = 1;
constexpr int kMaxDepth = 4;
constexpr int64_t kMaxSide = 65536;
constexpr int64_t kMaxChannels = 4096;
constexpr int64_t kMaxValues = int64_t{1} << 28;  // of one row, one gigabyte
constexpr int64_t kMaxOutputs = int64_t{1} << 24;

// 0.507f as 0.507 and not as the double 0.50699996948242188.
Json Decimals(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    double decimal = 0;
    std::from_chars(text, end, decimal);
    list.push_back(decimal);
  }
  return list;
}

Json InputJson(const ModelManifest& m) {
  if (m.takes_tokens()) {
    return {{"name", m.input}, {"context", m.context}, {"tokenizer", m.tokenizer}};
  }
  if (!m.takes_images()) return {{"name", m.input}, {"columns", m.columns}};
  return {{"name", m.input},   {"channels", m.channels},   {"height", m.height},
          {"width", m.width},  {"mean", Decimals(m.mean)}, {"std", Decimals(m.deviation)},
          {"resize", m.resize}};
}
Json EmbeddingJson(const ModelManifest& m) {
  return {{"name", m.embedding}, {"dim", m.dim}};
}
Json LogitsJson(const ModelManifest& m) {
  return {{"name", m.logits}, {"classes", m.classes}};
}

Status Wrong(const std::string& message) {
  return {ErrorCode::kInvalidArgument, message};
}

Status CheckRange(const char* field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return Wrong(Text(field, " is ", value, ", allowed are ", least, " to ", most));
}

Status CheckName(const char* field, const std::string& name) {
  if (!name.empty() && name.find('\0') == std::string::npos) return {};
  return Wrong(Text(field, " is ", name.empty() ? "empty" : "no name: it holds a zero byte",
                    "; give the name of a tensor of the graph"));
}

Status CheckNormalization(const ModelManifest& m) {
  for (const auto& [field, list] : {std::pair{"mean", &m.mean}, std::pair{"std", &m.deviation}}) {
    if (static_cast<int64_t>(list->size()) != m.channels) {
      return Wrong(Text(field, " has ", list->size(), " values for ", m.channels, " channels"));
    }
    for (const float value : *list) {
      if (std::isfinite(value)) continue;
      return Wrong(Text(field, " holds ", value, ", which is not a finite number"));
    }
  }
  for (const float value : m.deviation) {
    if (value > 0 && std::isfinite(1 / value)) continue;
    return Wrong(Text("std holds ", value, "; it divides and must be above 0"));
  }
  return {};
}

Status CheckInput(const ModelManifest& m) {
  RESMEM_RETURN_IF_ERROR(CheckName("the input's name", m.input));
  if (!m.takes_tokens() && !m.tokenizer.empty()) {
    return Wrong("a tokenizer belongs to a model of tokens, which has a context");
  }
  if (!m.takes_images()) {
    if (m.channels != 0 || m.height != 0 || m.width != 0 || m.resize != 0 || !m.mean.empty() ||
        !m.deviation.empty()) {
      return Wrong("a model of tables or tokens has neither sides nor a normalization");
    }
    if (!m.takes_tokens()) return CheckRange("columns", m.columns, 1, kMaxValues);
    RESMEM_RETURN_IF_ERROR(CheckRange("columns", m.columns, 0, 0));
    return CheckRange("context", m.context, 1, kMaxSide);
  }
  RESMEM_RETURN_IF_ERROR(CheckRange("context", m.context, 0, 0));
  RESMEM_RETURN_IF_ERROR(CheckRange("columns", m.columns, 0, 0));
  RESMEM_RETURN_IF_ERROR(CheckRange("channels", m.channels, 1, kMaxChannels));
  RESMEM_RETURN_IF_ERROR(CheckRange("height", m.height, 1, kMaxSide));
  RESMEM_RETURN_IF_ERROR(CheckRange("width", m.width, 1, kMaxSide));
  RESMEM_RETURN_IF_ERROR(
      CheckRange("the number of values of an image", m.input_values(), 1, kMaxValues));
  RESMEM_RETURN_IF_ERROR(CheckRange("resize", m.resize, 0, kMaxSide));
  if (m.resize != 0 && (m.resize < m.height || m.resize < m.width)) {
    return Wrong(
        Text("resize is ", m.resize, ", too small to cut ", m.height, " x ", m.width, " from it"));
  }
  return CheckNormalization(m);
}

Status ReadInput(const Json& object, ModelManifest* m) {
  Fields input(object, "input");
  input.Get("name", &m->input);
  if (object.is_object() && object.contains("context")) {
    input.Get("context", &m->context);
    input.Get("tokenizer", &m->tokenizer);
    return input.status();
  }
  if (object.is_object() && object.contains("columns")) {
    input.Get("columns", &m->columns);
    return input.status();
  }
  input.Get("channels", &m->channels);
  input.Get("height", &m->height);
  input.Get("width", &m->width);
  input.Get("mean", &m->mean);
  input.Get("std", &m->deviation);
  input.Get("resize", &m->resize);
  return input.status();
}

Status ReadFields(const Json& json, ModelManifest* m) {
  Fields fields(json, "the manifest");
  fields.Get("network", &m->network);
  fields.Get("class_names", &m->class_names);
  const Json* input = fields.Find("input");
  const Json* embedding = fields.Find("embedding");
  const Json* logits = fields.Find("logits");
  RESMEM_RETURN_IF_ERROR(fields.status());
  RESMEM_RETURN_IF_ERROR(ReadInput(*input, m));
  Fields embedding_fields(*embedding, "embedding");
  embedding_fields.Get("name", &m->embedding);
  embedding_fields.Get("dim", &m->dim);
  RESMEM_RETURN_IF_ERROR(embedding_fields.status());
  Fields logits_fields(*logits, "logits");
  logits_fields.Get("name", &m->logits);
  logits_fields.Get("classes", &m->classes);
  return logits_fields.status();
}

}  // namespace

Status CheckManifest(const ModelManifest& m) {
  RESMEM_RETURN_IF_ERROR(CheckInput(m));
  RESMEM_RETURN_IF_ERROR(CheckName("the embedding's name", m.embedding));
  RESMEM_RETURN_IF_ERROR(CheckName("the name of the logits", m.logits));
  if (m.embedding == m.logits) {
    return Wrong(Text("embedding and logits are both the tensor ", m.logits,
                      "; the embedding is one before the logits"));
  }
  RESMEM_RETURN_IF_ERROR(CheckRange("dim", m.dim, 1, kMaxOutputs));
  RESMEM_RETURN_IF_ERROR(CheckRange("classes", m.classes, 1, kMaxOutputs));
  if (!m.class_names.empty() && static_cast<int64_t>(m.class_names.size()) != m.classes) {
    return Wrong(Text("there are ", m.class_names.size(), " class names for ", m.classes,
                      " classes; give one a class, or none"));
  }
  return {};
}

Result<std::string> ModelManifestToJson(const ModelManifest& m) {
  const Json json = {{"resmem_model", kVersion}, {"network", m.network},
                     {"input", InputJson(m)},    {"embedding", EmbeddingJson(m)},
                     {"logits", LogitsJson(m)},  {"class_names", m.class_names}};
  try {
    return json.dump(1) + "\n";
  } catch (const Json::exception&) {
    return Wrong("a name in the manifest is not UTF-8; convert the text to UTF-8");
  }
}

Result<ModelManifest> ModelManifestFromJson(std::string_view text) {
  RESMEM_ASSIGN_OR_RETURN(const Json json, ParseShallowJson(text, kMaxDepth));
  Fields fields(json, "the manifest");
  int64_t version = 0;
  fields.Get("resmem_model", &version);
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (version != kVersion) {
    return Status(version > kVersion ? ErrorCode::kTooNew : ErrorCode::kCorrupt,
                  Text("resmem_model is version ", version, ", this program knows version ",
                       kVersion, version > kVersion ? "; use a newer resmem" : ""));
  }
  ModelManifest manifest;
  RESMEM_RETURN_IF_ERROR(ReadFields(json, &manifest));
  const Status status = CheckManifest(manifest);
  if (!status.ok()) return Status(ErrorCode::kCorrupt, status.message());
  return manifest;
}

std::string NumbersOfManifest(const ModelManifest& m) {
  const Json json = {InputJson(m), EmbeddingJson(m), LogitsJson(m)};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace resmem
