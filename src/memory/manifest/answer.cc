#include "memory/manifest/answer.h"

#include <algorithm>
#include <cmath>

#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kPercentiles = 101;

bool HasBlend(Method answer) {
  return answer == Method::kBlend || answer == Method::kLogitBoost;
}

bool AllFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

Json Floats(std::span<const float> values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(value);
  return list;
}

// A list of exactly so many numbers.
template <size_t kCount>
void GetNumbers(Fields* fields, const char* name, std::array<float, kCount>* out) {
  std::vector<float> values;
  fields->Get(name, &values);
  if (!fields->status().ok()) return;
  if (values.size() != kCount) {
    return fields->Fail(Text("answer: ", name, " holds ", values.size(), " numbers, not ", kCount));
  }
  std::copy(values.begin(), values.end(), out->begin());
}

bool ArePercentiles(const std::vector<float>& values) {
  return values.size() == kPercentiles && AllFinite(values) &&
         std::is_sorted(values.begin(), values.end()) && values.front() >= 0;
}

Status CheckBlend(const Blend& blend) {
  RESMEM_RETURN_IF_ERROR(CheckParameters(blend.parameters));
  const auto positive = [](float value) { return std::isfinite(value) && value > 0; };
  bool fine = positive(blend.prior) && positive(blend.base_temperature) &&
              AllFinite(blend.gate_means) && ArePercentiles(blend.distances) &&
              (blend.spreads.empty() || ArePercentiles(blend.spreads)) &&
              std::all_of(blend.gate_deviations.begin(), blend.gate_deviations.end(), positive);
  for (const auto& part : blend.coefficients) fine = fine && AllFinite(part);
  if (fine) return {};
  return {ErrorCode::kInvalidArgument,
          Text("the blend holds a number that is not allowed: prior, base temperature and "
               "deviations are finite and above 0, coefficients finite, distances and "
               "spreads ",
               kPercentiles, " ascending numbers; tune the memory again")};
}

}  // namespace

const char* MethodName(Method method) {
  switch (method) {
    case Method::kBase:
      return "base";
    case Method::kNearestClassMean:
      return "nearest-class-mean";
    case Method::kKnn:
      return "knn";
    case Method::kKnnLm:
      return "knn-lm";
    case Method::kResMem:
      return "resmem";
    case Method::kBlend:
      return "blend";
    case Method::kLogitBoost:
      return "logit-boost";
  }
  return "unknown";
}

Status CheckAnswer(const MemoryDescription& description) {
  if (description.answer != Method::kBase && description.answer != Method::kResMem &&
      !HasBlend(description.answer)) {
    return {ErrorCode::kInvalidArgument,
            Text("answer is ", MethodName(description.answer),
                 ", but a memory answers by base, resmem, blend or logit-boost")};
  }
  if (HasBlend(description.answer) != description.blend.has_value()) {
    return {ErrorCode::kInvalidArgument,
            Text("answer is ", MethodName(description.answer), " and the description has ",
                 description.blend ? "a" : "no", " blend; they belong together")};
  }
  if (!description.blend) return {};
  RESMEM_RETURN_IF_ERROR(CheckBlend(*description.blend));
  const bool frozen =
      description.task == Task::kClassification && description.form != ResidualForm::kLogits;
  if (frozen && description.blend->parameters.temperature != description.parameters.temperature) {
    return {ErrorCode::kInvalidArgument,
            Text("the blend's temperature is ", description.blend->parameters.temperature,
                 ", but the memory is frozen at ", description.parameters.temperature)};
  }
  return {};
}

Json AnswerToJson(const MemoryDescription& description) {
  Json json = {{"method", MethodName(description.answer)}, {"calibrator", description.calibrator}};
  if (!description.blend) return json;
  const Blend& blend = *description.blend;
  json["k"] = blend.parameters.k;
  json["sigma"] = blend.parameters.sigma;
  json["temperature"] = blend.parameters.temperature;
  json["prior"] = blend.prior;
  json["base_temperature"] = blend.base_temperature;
  std::vector<float> coefficients;
  for (const auto& part : blend.coefficients) {
    coefficients.insert(coefficients.end(), part.begin(), part.end());
  }
  json["coefficients"] = Floats(coefficients);
  json["gate_means"] = Floats(blend.gate_means);
  json["gate_deviations"] = Floats(blend.gate_deviations);
  json["distances"] = Floats(blend.distances);
  if (!blend.spreads.empty()) json["spreads"] = Floats(blend.spreads);
  return json;
}

Status AnswerFromJson(const Json& object, MemoryDescription* description) {
  Fields fields(object, "answer");
  std::string method;
  fields.Get("method", &method);
  fields.Get("calibrator", &description->calibrator);
  RESMEM_RETURN_IF_ERROR(fields.status());
  constexpr std::array kAnswers = {Method::kBase, Method::kResMem, Method::kBlend,
                                   Method::kLogitBoost};
  const auto found = std::find_if(kAnswers.begin(), kAnswers.end(),
                                  [&](Method one) { return method == MethodName(one); });
  if (found == kAnswers.end()) {
    return {ErrorCode::kUnsupported, Text("answer is by \"", method,
                                          "\", this program knows only base, resmem, blend and "
                                          "logit-boost; use a newer resmem")};
  }
  description->answer = *found;
  if (!HasBlend(*found)) return {};
  Blend blend;
  std::array<float, Blend::kParts*(1 + Blend::kGates)> coefficients{};
  fields.Get("k", &blend.parameters.k);
  fields.Get("sigma", &blend.parameters.sigma);
  fields.Get("temperature", &blend.parameters.temperature);
  fields.Get("prior", &blend.prior);
  fields.Get("base_temperature", &blend.base_temperature);
  GetNumbers(&fields, "coefficients", &coefficients);
  GetNumbers(&fields, "gate_means", &blend.gate_means);
  GetNumbers(&fields, "gate_deviations", &blend.gate_deviations);
  fields.Get("distances", &blend.distances);
  // Not in memories that were tuned before they were looked at.
  if (object.contains("spreads")) fields.Get("spreads", &blend.spreads);
  RESMEM_RETURN_IF_ERROR(fields.status());
  for (size_t i = 0; i < coefficients.size(); ++i) {
    blend.coefficients[i / (1 + Blend::kGates)][i % (1 + Blend::kGates)] = coefficients[i];
  }
  description->blend = std::move(blend);
  return {};
}

}  // namespace resmem
