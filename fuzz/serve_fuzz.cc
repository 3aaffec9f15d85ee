// libFuzzer's entry for what the service reads of strangers: the first byte chooses the reader,
// JSON, a request with its arrays after the JSON, or keys; the rest is its input.  What is read
// must hold together, and what is written of it must be read again as the same.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/test_seeds.h"
#include "operation/keys.h"
#include "protocol/infer.h"
#include "protocol/json_text.h"
#include "protocol/json_value.h"

namespace resmem {
namespace {

using namespace serve;  // NOLINT: this file is about them

void Require(bool sound) {
  if (!sound) std::abort();
}

constexpr int64_t kMostValues = 1 << 16;

void ReadJson(std::string_view input) {
  const Result<JsonValue> value = ParseJson(input, {.depth = 8, .values = 1000});
  if (!value.ok()) Require(!value.status().message().empty());
  std::string text;
  AppendText(input, &text);
  const Result<JsonValue> again = ParseJson(text);
  Require(again.ok() && again->kind == JsonValue::Kind::kText);
}

// The first two bytes: how long the JSON is.
void ReadInfer(std::string_view input) {
  if (input.size() < 2) return;
  const size_t length = static_cast<uint8_t>(input[0]) + 256u * static_cast<uint8_t>(input[1]);
  const std::string_view body = input.substr(2);
  const Result<InferRequest> request =
      ParseInferRequest(body, std::to_string(std::min(length, body.size())), kMostValues);
  if (!request.ok()) {
    Require(!request.status().message().empty());
    return;
  }
  std::vector<Tensor> outputs = request->inputs;
  const auto binary = std::make_unique<bool[]>(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Result<int64_t> count = outputs[i].shape.Count(kMostValues);
    const Tensor& tensor = outputs[i];
    Require(count.ok() && static_cast<size_t>(*count) ==
                              tensor.floats.size() + tensor.bytes.size() + tensor.whole.size() +
                                  tensor.unsigned_whole.size() + tensor.texts.size());
    if (tensor.type == DataType::kFp64 || tensor.type == DataType::kFp16) {
      outputs[i].type = DataType::kFp32;
    }
    binary[i] = i % 2 == 0;
  }
  const InferResponse response =
      FormatInferResponse("m", request->id, outputs, {binary.get(), outputs.size()});
  Require(ParseJson(std::string_view(response.body).substr(0, response.json_bytes)).ok());
}

std::string WithLength(const std::string& json, const std::string& bytes) {
  return std::string(1, static_cast<char>(json.size() & 255)) +
         static_cast<char>(json.size() >> 8) + json + bytes;
}

}  // namespace

std::vector<Seed> Seeds() {
  const std::string input = R"({"name":"keys","shape":[1,2],"datatype":)";
  return {
      {"json", R"({"a":[[1,2],[3,4.5e-3]],"b":["x",null,true],"c":{"d":"\n"}})", false},
      {"nested", "[[[[1]]]]", false},
      {"infer",
       WithLength(
           R"({"id":"1","inputs":[)" + input + R"("FP32","data":[1,2]}],"outputs":[)" +
               R"({"name":"scores","parameters":{"binary_data":true}}],"parameters":{"k":5}})",
           ""),
       false},
      {"binary",
       WithLength(R"({"inputs":[)" + input + R"("FP32","parameters":{"binary_data_size":8}}],)" +
                      R"("parameters":{"binary_data_output":true,"sigma":0.5}})",
                  std::string("\0\0\x80\x3f\0\0\0\x40", 8)),
       false},
      {"texts",
       WithLength(R"({"inputs":[{"name":"t","shape":[2],"datatype":"BYTES",)"
                  R"("parameters":{"binary_data_size":11}}]})",
                  std::string("\1\0\0\0a\2\0\0\0bc", 11)),
       false},
      {"halves",
       WithLength(R"({"inputs":[{"name":"h","shape":[2],"datatype":"FP16",)"
                  R"("parameters":{"binary_data_size":4}}]})",
                  std::string("\0\x3c\0\xc0", 4)),
       false},
      {"keys",
       "# keys\nphone predict 0123456789abcdef\nb admin sha256:" + std::string(64, 'a') + "\n",
       false}};
}

}  // namespace resmem

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int kind = data[0] % 7;  // as the seeds are ordered
  if (kind < 2) {
    resmem::ReadJson(input);
  } else if (kind < 6) {
    resmem::ReadInfer(input);
  } else {
    const auto keys = resmem::serve::Keys::Parse(input, "keys");
    if (keys.ok()) resmem::Require(!keys->Find("Bearer x").has_value());
  }
  return 0;
}
