// A question and its answer in the Open Inference Protocol v2: JSON, and the extension in which
// arrays follow the JSON as bytes.  The layout is the one that NVIDIA's tritonclient sends.
#ifndef RESMEM_SERVER_PROTOCOL_INFER_H_
#define RESMEM_SERVER_PROTOCOL_INFER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/tensor.h"
#include "resmem/status.h"

namespace resmem::serve {

struct RequestedOutput {
  std::string name;
  bool binary = false;
};

// How to answer, where the question says: "parameters" of the request.
struct AnswerParameters {
  std::optional<int64_t> k;
  std::optional<float> sigma, temperature;
  std::optional<double> unknown_rate;  // 0 .. 1
  std::string method;                  // "" for the memory's own
  std::string where;                   // only from rows whose tags match; "" for all
  std::optional<int64_t> timeout;      // microseconds in the queue
  bool allow_partial = false;          // of a gateway: answer though shards are missing

  bool operator==(const AnswerParameters&) const = default;
};
// From an object of "k", "sigma", "temperature", "method", "timeout", "allow_partial",
// "unknown_rate", "where"; others are not looked at.
Result<AnswerParameters> ReadAnswerParameters(const JsonValue& object);

struct InferRequest {
  std::string id;
  AnswerParameters parameters;
  std::vector<Tensor> inputs;
  std::vector<RequestedOutput> outputs;  // empty: the usual ones
  bool binary_outputs = false;           // of the usual ones

  const Tensor* Find(std::string_view name) const;
};

// `json_bytes`: the header Inference-Header-Content-Length; "" where it is absent: the body is all
// JSON.  `most_values`: of one input.
Result<InferRequest> ParseInferRequest(std::string_view body, std::string_view json_bytes,
                                       int64_t most_values, const JsonLimits& limits = {});

struct InferResponse {
  std::string body;
  size_t json_bytes = 0;  // the rest is bytes; equal to the body's size where there are none
};
// `parameters`: an object, or "" for none.  `outputs` and `binary` side by side.
InferResponse FormatInferResponse(std::string_view model, std::string_view id,
                                  std::span<const Tensor> outputs, std::span<const bool> binary,
                                  std::string_view parameters = {});

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_PROTOCOL_INFER_H_
