#include "onnx/token_trial.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "onnx/runtime/token_runner.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kTokens = 8;  // of the text that is tried
constexpr int64_t kUsualContext = 512, kLeastContext = 16;
constexpr int64_t kMostTried = 512;  // a longer window is believed: its logits could fill the RAM

std::vector<int32_t> SomeIds(int64_t count, int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<int32_t>((3 * i + 1) % std::min<int64_t>(vocabulary, 1000)));
  }
  return ids;
}

struct TriedAnswer {
  std::vector<float> keys, logits;
};

Result<TriedAnswer> Try(const Session& session, const TokenInputs& inputs,
                        std::span<const int32_t> ids, ModelManifest* manifest, PastTensors* past) {
  const std::string names[] = {manifest->embedding, manifest->logits};
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Session::Tensor> tensors,
                          RunIds(session, inputs, ids, names, past));
  const auto positions = std::ssize(ids);
  RESMEM_ASSIGN_OR_RETURN(manifest->dim, ColumnsOfPositions(names[0], tensors[0], positions));
  RESMEM_ASSIGN_OR_RETURN(manifest->classes, ColumnsOfPositions(names[1], tensors[1], positions));
  return TriedAnswer{{tensors[0].data(), tensors[0].data() + positions * manifest->dim},
                     {tensors[1].data(), tensors[1].data() + positions * manifest->classes}};
}

// Of the vectors that both begin with.  NaN of any text is the model's fault, and is found when it
// is run.
bool Agree(std::span<const float> a, std::span<const float> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::abs(a[i] - b[i]) > 1e-2f * (1 + std::abs(a[i]))) return false;
  }
  return true;
}

bool Agree(const TriedAnswer& a, const TriedAnswer& b) {
  return Agree(a.keys, b.keys) && Agree(a.logits, b.logits);
}

Status ChooseContext(const Session& session, const TokenInputs& inputs, ModelManifest* manifest) {
  const auto runs = [&](int64_t context) {
    const std::string names[] = {manifest->embedding};
    const std::vector<int32_t> ids = SomeIds(context, manifest->classes);
    return RunIds(session, inputs, ids, names, nullptr).status();
  };
  if (manifest->context > 0) {
    const Status status = runs(std::min(manifest->context, kMostTried));
    if (status.ok()) return {};
    return {
        ErrorCode::kUnsupported,
        Text("a window of ", std::min(manifest->context, kMostTried),
             " tokens does not run; name a shorter one with --context (", status.message(), ")")};
  }
  Status status;
  for (int64_t context = kUsualContext; context >= kLeastContext; context /= 2) {
    status = runs(context);
    manifest->context = context;
    if (status.ok()) return {};
  }
  return status;
}

}  // namespace

Status TokenTrial(const Session& session, const TokenInputs& inputs, ModelManifest* manifest) {
  const std::vector<int32_t> two = {0, 1};
  RESMEM_RETURN_IF_ERROR(Try(session, inputs, two, manifest, nullptr).status());
  const std::vector<int32_t> ids = SomeIds(kTokens, manifest->classes);
  const std::span<const int32_t> front = std::span(ids).first(kTokens / 2);
  const std::span<const int32_t> back = std::span(ids).subspan(kTokens / 2);
  RESMEM_ASSIGN_OR_RETURN(const TriedAnswer whole, Try(session, inputs, ids, manifest, nullptr));
  RESMEM_ASSIGN_OR_RETURN(const TriedAnswer begun, Try(session, inputs, front, manifest, nullptr));
  if (!Agree(begun, whole)) {
    return {ErrorCode::kUnsupported,
            "the answer to a token changes with the tokens behind it, or from run to run: this is "
            "no causal language model, or one that was exported for training"};
  }
  if (inputs.keeps_past()) {
    PastTensors past;
    RESMEM_RETURN_IF_ERROR(Try(session, inputs, front, manifest, &past).status());
    RESMEM_ASSIGN_OR_RETURN(const TriedAnswer rest, Try(session, inputs, back, manifest, &past));
    const auto last = [&](const std::vector<float>& all, int64_t columns) {
      return std::span(all).subspan(static_cast<size_t>(kTokens / 2 * columns));
    };
    if (!Agree(last(whole.keys, manifest->dim), rest.keys) ||
        !Agree(last(whole.logits, manifest->classes), rest.logits)) {
      return {ErrorCode::kUnsupported,
              "the answer to a token changes where the model goes on from its past; export it "
              "without past_key_values"};
    }
  }
  return ChooseContext(session, inputs, manifest);
}

}  // namespace resmem
