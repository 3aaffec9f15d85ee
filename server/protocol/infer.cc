#include "protocol/infer.h"

#include <charconv>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

constexpr size_t kMostInputs = 16, kMostOutputs = 32, kMostNameBytes = 256;

Status Bad(std::string words) {
  return {ErrorCode::kBadData, std::move(words)};
}

Result<std::string> ReadName(const JsonValue& object, const char* what) {
  const JsonValue* name = object.Find("name");
  if (name == nullptr || name->kind != JsonValue::Kind::kText || name->text.empty() ||
      name->text.size() > kMostNameBytes) {
    return Bad(std::string("an ") + what + " has no \"name\", or one that is no short text");
  }
  return name->text;
}

Result<std::optional<bool>> ReadFlag(const JsonValue& object, const char* name) {
  const JsonValue* parameters = object.Find("parameters");
  if (parameters == nullptr) return std::optional<bool>();
  const JsonValue* flag = parameters->Find(name);
  if (flag == nullptr) return std::optional<bool>();
  if (flag->kind != JsonValue::Kind::kBool) {
    return Bad(std::string("parameter \"") + name + "\" is " + KindName(flag->kind) +
               ", not true or false");
  }
  return std::optional<bool>(flag->boolean);
}

// Takes what belongs to the input from the front of `binary`.
Result<Tensor> ReadInput(const JsonValue& object, int64_t most_values, std::string_view* binary) {
  Tensor tensor;
  RESMEM_ASSIGN_OR_RETURN(tensor.name, ReadName(object, "input"));
  const std::string where = "input \"" + tensor.name + "\": ";
  const JsonValue* type = object.Find("datatype");
  if (type == nullptr || type->kind != JsonValue::Kind::kText)
    return Bad(where + "no \"datatype\"");
  RESMEM_ASSIGN_OR_RETURN(tensor.type, FindDataType(type->text));
  const JsonValue* shape = object.Find("shape");
  if (shape == nullptr || shape->kind != JsonValue::Kind::kNumbers || shape->shape.size() != 1 ||
      shape->numbers.size() > 8) {
    return Bad(where + "no \"shape\" of at most 8 whole numbers");
  }
  for (const JsonNumber& number : shape->numbers) {
    int64_t size = 0;
    if (!number.AsInt64(&size)) return Bad(where + "its shape holds what is no whole number");
    tensor.shape.sizes.push_back(size);
  }
  RESMEM_ASSIGN_OR_RETURN(const int64_t count, tensor.shape.Count(most_values));
  const JsonValue* data = object.Find("data");
  const JsonValue* parameters = object.Find("parameters");
  const JsonValue* size = parameters == nullptr ? nullptr : parameters->Find("binary_data_size");
  if (size == nullptr) {
    if (data == nullptr) return Bad(where + "neither \"data\" nor \"binary_data_size\"");
    RESMEM_RETURN_IF_ERROR(ReadJsonValues(*data, count, &tensor));
    return tensor;
  }
  uint64_t bytes = 0;
  if (data != nullptr) return Bad(where + "has both \"data\" and \"binary_data_size\"");
  if (size->kind != JsonValue::Kind::kNumber || !size->number.AsUint64(&bytes) ||
      bytes > binary->size()) {
    return Bad(where + "its binary_data_size is more than the " + std::to_string(binary->size()) +
               " bytes that are left after the JSON");
  }
  RESMEM_RETURN_IF_ERROR(ReadBinaryValues(binary->substr(0, bytes), count, &tensor));
  binary->remove_prefix(bytes);
  return tensor;
}

Result<size_t> ReadJsonBytes(std::string_view text, size_t body) {
  if (text.empty()) return body;
  size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() || bytes > body) {
    return Bad("Inference-Header-Content-Length is no number of bytes up to the body's " +
               std::to_string(body));
  }
  return bytes;
}

Status ReadOutputs(const JsonValue& root, InferRequest* request) {
  const JsonValue* outputs = root.Find("outputs");
  if (outputs == nullptr || outputs->kind == JsonValue::Kind::kNull) return {};
  if (outputs->kind == JsonValue::Kind::kNumbers && outputs->numbers.empty()) return {};
  if (outputs->kind != JsonValue::Kind::kList || outputs->list.size() > kMostOutputs) {
    return Bad("\"outputs\" is not a short list of objects");
  }
  for (const JsonValue& object : outputs->list) {
    RequestedOutput output;
    RESMEM_ASSIGN_OR_RETURN(output.name, ReadName(object, "output"));
    RESMEM_ASSIGN_OR_RETURN(const std::optional<bool> binary, ReadFlag(object, "binary_data"));
    output.binary = binary.value_or(request->binary_outputs);
    request->outputs.push_back(std::move(output));
  }
  return {};
}

Status ReadPositive(const JsonValue& object, const char* name, std::optional<float>* value) {
  const JsonValue* found = object.Find(name);
  if (found == nullptr) return {};
  const double number =
      found->kind == JsonValue::Kind::kNumber ? found->number.AsDouble() : std::nan("");
  if (!(number > 0 && number < 1e30)) return Bad(std::string(name) + " is no number above 0");
  *value = static_cast<float>(number);
  return {};
}

Status ReadWhole(const JsonValue& object, const char* name, std::optional<int64_t>* value) {
  const JsonValue* found = object.Find(name);
  if (found == nullptr) return {};
  int64_t number = 0;
  if (found->kind != JsonValue::Kind::kNumber || !found->number.AsInt64(&number) || number < 0) {
    return Bad(std::string(name) + " is no whole number from 0 on");
  }
  *value = number;
  return {};
}

// Where arrays follow as bytes, the JSON before them is the same in one request after another of a
// client: the latest one is kept as it was read.
class LatestHead {
 public:
  Result<std::shared_ptr<const JsonValue>> Parse(std::string_view text, const JsonLimits& limits) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (value_ != nullptr && text_ == text && limits_ == limits) return value_;
    }
    RESMEM_ASSIGN_OR_RETURN(JsonValue parsed, ParseJson(text, limits));
    auto value = std::make_shared<const JsonValue>(std::move(parsed));
    if (text.size() <= kMostBytes) {
      const std::lock_guard<std::mutex> lock(mutex_);
      text_ = text;
      limits_ = limits;
      value_ = value;
    }
    return std::shared_ptr<const JsonValue>(std::move(value));
  }

 private:
  static constexpr size_t kMostBytes = 4096;
  std::mutex mutex_;
  std::string text_;
  JsonLimits limits_;
  std::shared_ptr<const JsonValue> value_;
};

}  // namespace

Result<AnswerParameters> ReadAnswerParameters(const JsonValue& object) {
  AnswerParameters read;
  RESMEM_RETURN_IF_ERROR(ReadWhole(object, "k", &read.k));
  RESMEM_RETURN_IF_ERROR(ReadWhole(object, "timeout", &read.timeout));
  RESMEM_RETURN_IF_ERROR(ReadPositive(object, "sigma", &read.sigma));
  RESMEM_RETURN_IF_ERROR(ReadPositive(object, "temperature", &read.temperature));
  if (const JsonValue* rate = object.Find("unknown_rate")) {
    const double value = rate->kind == JsonValue::Kind::kNumber ? rate->number.AsDouble() : -1;
    if (!(value >= 0 && value <= 1)) return Bad("unknown_rate is no share, 0 to 1");
    read.unknown_rate = value;
  }
  if (const JsonValue* partial = object.Find("allow_partial")) {
    if (partial->kind != JsonValue::Kind::kBool) return Bad("allow_partial is not true or false");
    read.allow_partial = partial->boolean;
  }
  if (const JsonValue* method = object.Find("method")) {
    if (method->kind != JsonValue::Kind::kText) return Bad("method is no text");
    read.method = method->text.substr(0, 64);
  }
  if (const JsonValue* where = object.Find("where")) {
    if (where->kind != JsonValue::Kind::kText || where->text.empty() || where->text.size() > 1024) {
      return Bad("where is no text of conditions, such as \"site=north\", of at most 1,024 bytes");
    }
    read.where = where->text;
  }
  return read;
}

const Tensor* InferRequest::Find(std::string_view name) const {
  for (const Tensor& tensor : inputs) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

Result<InferRequest> ParseInferRequest(std::string_view body, std::string_view json_bytes,
                                       int64_t most_values, const JsonLimits& limits) {
  RESMEM_ASSIGN_OR_RETURN(const size_t length, ReadJsonBytes(json_bytes, body.size()));
  static LatestHead latest;
  const std::string_view text = body.substr(0, length);
  std::shared_ptr<const JsonValue> head;
  if (length < body.size()) {
    RESMEM_ASSIGN_OR_RETURN(head, latest.Parse(text, limits));
  } else {
    RESMEM_ASSIGN_OR_RETURN(JsonValue parsed, ParseJson(text, limits));
    head = std::make_shared<const JsonValue>(std::move(parsed));
  }
  const JsonValue& root = *head;
  std::string_view binary = body.substr(length);
  if (root.kind != JsonValue::Kind::kObject) return Bad("the request is no JSON object");
  InferRequest request;
  if (const JsonValue* id = root.Find("id")) {
    if (id->kind != JsonValue::Kind::kText || id->text.size() > kMostNameBytes) {
      return Bad("\"id\" is no short text");
    }
    request.id = id->text;
  }
  if (const JsonValue* parameters = root.Find("parameters")) {
    RESMEM_ASSIGN_OR_RETURN(request.parameters, ReadAnswerParameters(*parameters));
    RESMEM_ASSIGN_OR_RETURN(const std::optional<bool> all, ReadFlag(root, "binary_data_output"));
    request.binary_outputs = all.value_or(false);
  }
  const JsonValue* inputs = root.Find("inputs");
  if (inputs == nullptr || inputs->kind != JsonValue::Kind::kList ||
      inputs->list.size() > kMostInputs) {
    return Bad("\"inputs\" is missing or not a short list of objects");
  }
  for (const JsonValue& object : inputs->list) {
    RESMEM_ASSIGN_OR_RETURN(Tensor tensor, ReadInput(object, most_values, &binary));
    if (request.Find(tensor.name) != nullptr) {
      return Bad("input \"" + tensor.name + "\" comes twice");
    }
    request.inputs.push_back(std::move(tensor));
  }
  if (!binary.empty()) {
    return Bad(std::to_string(binary.size()) + " bytes after the JSON belong to no input");
  }
  RESMEM_RETURN_IF_ERROR(ReadOutputs(root, &request));
  return request;
}

InferResponse FormatInferResponse(std::string_view model, std::string_view id,
                                  std::span<const Tensor> outputs, std::span<const bool> binary,
                                  std::string_view parameters) {
  std::string bytes, list = "[";
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = outputs[i];
    if (i > 0) list += ',';
    list += "{\"name\":";
    AppendText(tensor.name, &list);
    list += std::string(",\"datatype\":\"") + DataTypeName(tensor.type) + "\",\"shape\":";
    AppendNumbers(std::span<const int64_t>(tensor.shape.sizes), &list);
    if (binary[i]) {
      const size_t before = bytes.size();
      AppendBinaryValues(tensor, &bytes);
      list +=
          ",\"parameters\":{\"binary_data_size\":" + std::to_string(bytes.size() - before) + "}";
    } else {
      list += ",\"data\":";
      AppendJsonValues(tensor, &list);
    }
    list += '}';
  }
  list += ']';
  JsonText object;
  object.Add("model_name", model).Add("model_version", "1");
  if (!id.empty()) object.Add("id", id);
  if (!parameters.empty()) object.AddJson("parameters", parameters);
  InferResponse response;
  response.body = object.AddJson("outputs", list).Object();
  response.json_bytes = response.body.size();
  response.body += bytes;
  return response;
}

}  // namespace resmem::serve
