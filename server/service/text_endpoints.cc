// Text, token by token: what base and memory expect after each of the last tokens.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "protocol/json_text.h"
#include "service/endpoints.h"
#include "service/query_rows.h"

namespace resmem::serve {
namespace {

constexpr int64_t kMostLast = 64, kMostTop = 100;

std::vector<float> Softmax(std::span<const float> logits) {
  const float most = *std::max_element(logits.begin(), logits.end());
  std::vector<float> powers(logits.size());
  double sum = 0;
  for (size_t c = 0; c < logits.size(); ++c) {
    powers[c] = std::exp(logits[c] - most);
    sum += static_cast<double>(powers[c]);
  }
  for (float& power : powers) power = static_cast<float>(static_cast<double>(power) / sum);
  return powers;
}

std::string TopTokens(const MemoryModel& model, std::span<const float> probabilities, int64_t top) {
  std::vector<int64_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto end = order.begin() + std::min<int64_t>(top, std::ssize(order));
  std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
    const float left = probabilities[static_cast<size_t>(a)];
    const float right = probabilities[static_cast<size_t>(b)];
    return left > right || (left == right && a < b);
  });
  std::vector<std::string> all;
  for (auto id = order.begin(); id != end; ++id) {
    all.push_back(JsonText()
                      .Add("token", *id)
                      .Add("text", model.TokenText(*id))
                      .Add("probability", probabilities[static_cast<size_t>(*id)])
                      .Object());
  }
  return JsonList(all);
}

// A whole number of the body, from 1 to `most`.
Status ReadCount(const JsonValue& body, const char* name, int64_t most, int64_t* value) {
  const JsonValue* found = body.Find(name);
  if (found == nullptr) return {};
  if (found->kind == JsonValue::Kind::kNumber && found->number.AsInt64(value) && *value >= 1 &&
      *value <= most) {
    return {};
  }
  return {ErrorCode::kBadData,
          "\"" + std::string(name) + "\" must be a whole number from 1 to " + std::to_string(most)};
}

// A text as tokens, and what follows each of the last ones.
struct Reading {
  std::vector<int32_t> ids;
  int64_t last = 1, top = 5;
  Embedded made;
  Answers answers;
  double unknown_rate = 0;

  Result<std::string> Json(const MemoryState& state) const;
};

Status Read(const Context& context, const MemoryState& state, const JsonValue& body,
            Reading* reading) {
  const JsonValue* text = body.Find("text");
  if (text == nullptr || text->kind != JsonValue::Kind::kText) {
    return {ErrorCode::kBadData, "\"text\" must be a text"};
  }
  const MemoryModel* model = state.model.get();
  if (model == nullptr || model->tokenizer() == nullptr) {
    return {ErrorCode::kUnsupported,
            "this memory does not read text here: it needs its language model and tokenizer "
            "(--models, --tokenizers)"};
  }
  RESMEM_RETURN_IF_ERROR(ReadCount(body, "last", kMostLast, &reading->last));
  RESMEM_RETURN_IF_ERROR(ReadCount(body, "top", kMostTop, &reading->top));
  RESMEM_RETURN_IF_ERROR(model->tokenizer()->Encode(text->text, &reading->ids));
  if (reading->ids.empty()) return {ErrorCode::kBadData, "\"text\" holds no token"};
  const ModelManifest& manifest = model->manifest();
  reading->last = std::min({reading->last, std::ssize(reading->ids), manifest.context});
  RESMEM_ASSIGN_OR_RETURN(const AnswerParameters parameters, ReadAnswerParameters(body));
  RESMEM_ASSIGN_OR_RETURN(PredictOptions options,
                          ChooseOptions(state, parameters, context.limits.k));
  options.threads = 1;
  reading->unknown_rate = options.unknown_rate;
  Embedded& made = reading->made;
  RESMEM_RETURN_IF_ERROR(model->EmbedTokens(reading->ids, reading->last, &made));
  RESMEM_ASSIGN_OR_RETURN(reading->answers,
                          Answer(state, {made.keys.data(), made.rows, manifest.dim},
                                 {made.logits.data(), made.rows, manifest.classes}, options));
  return {};
}

Result<std::string> Reading::Json(const MemoryState& state) const {
  const MemoryModel& model = *state.model;
  const auto outputs = static_cast<size_t>(state.description().outputs);
  const std::vector<float>& memory =
      answers.probabilities.empty() ? answers.scores : answers.probabilities;
  const auto first = ids.size() - static_cast<size_t>(last);
  std::string before;
  if (first > 0) {
    RESMEM_ASSIGN_OR_RETURN(before, model.tokenizer()->Decode(std::span(ids).first(first)));
  }
  const std::string head = before;
  std::vector<std::string> lines;
  for (int64_t row = 0; row < last; ++row) {
    const size_t at = first + static_cast<size_t>(row);
    RESMEM_ASSIGN_OR_RETURN(const std::string now,
                            model.tokenizer()->Decode(std::span(ids).first(at + 1)));
    const bool grew = now.starts_with(before);
    const auto line = [&](const std::vector<float>& all) {
      return std::span(all).subspan(static_cast<size_t>(row) * outputs, outputs);
    };
    const std::vector<float> base = Softmax(line(made.logits));
    JsonText json;
    json.Add("token", ids[at])
        .Add("text", grew ? now.substr(before.size()) : model.TokenText(ids[at]))
        .AddJson("base", TopTokens(model, base, top))
        .AddJson("memory", TopTokens(model, line(memory), top));
    if (state.tells_distances()) {
      const float percentile = answers.percentile[static_cast<size_t>(row)];
      json.Add("distance_percentile", percentile)
          .Add("unknown", IsUnknown(percentile, unknown_rate));
    }
    if (at + 1 < ids.size()) {
      const auto next = static_cast<size_t>(ids[at + 1]);
      json.Add("next", ids[at + 1])
          .Add("next_base", base[next])
          .Add("next_memory", line(memory)[next]);
    }
    lines.push_back(json.Object());
    before = now;
  }
  return JsonText()
      .Add("state", state.number)
      .Add("head", head)
      .AddJson("tokens", JsonList(lines))
      .Object();
}

}  // namespace

Response ReadTokens(Context& context, const Call& call) {
  Found found;
  JsonValue body;
  Response failure;
  if (!ReadBody(context, call, &found, &body, &failure)) return failure;
  Reading reading;
  const Status status = Read(context, *found.state, body, &reading);
  if (!status.ok()) return ErrorResponse(status);
  Result<std::string> json = reading.Json(*found.state);
  return json.ok() ? JsonResponse(std::move(*json)) : ErrorResponse(json.status());
}

}  // namespace resmem::serve
