#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/base64.h"
#include "report/document.h"
#include "report/png.h"

namespace resmem {
namespace {

// A single explanation shows every class up to here; beyond it, as many of the largest.
constexpr size_t kOutputsOfExplanation = 1024;
constexpr size_t kOutputsOfExample = 8;

// Which outputs a ledger covers: those named, then the largest by |base| + |score|, in order.
std::vector<size_t> ChooseOutputs(const Explanation& explanation, std::vector<int64_t> named,
                                  size_t limit) {
  const size_t outputs = std::min(explanation.base.size(), explanation.score.size());
  std::vector<size_t> order(outputs);
  std::iota(order.begin(), order.end(), size_t{0});
  if (outputs <= limit) return order;
  const auto rank = [&](size_t output) {
    const bool is_named =
        std::find(named.begin(), named.end(), static_cast<int64_t>(output)) != named.end();
    return is_named ? HUGE_VAL
                    : std::abs(explanation.base[output]) +
                          std::abs(static_cast<double>(explanation.score[output]));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank(a) > rank(b); });
  order.resize(limit);
  std::sort(order.begin(), order.end());
  return order;
}

template <typename Value>
Json Pick(const std::vector<Value>& values, const std::vector<size_t>& outputs) {
  Json list = Json::array();
  for (const size_t output : outputs) {
    // Scores are float32; as doubles they are the exact sum of the other columns.
    list.push_back(Number(output < values.size() ? static_cast<double>(values[output]) : 0.0));
  }
  return list;
}

Json LedgerJson(const Explanation& explanation, const std::vector<size_t>& outputs) {
  Json lines = Json::array();
  for (const Explanation::Line& line : explanation.lines) {
    lines.push_back({{"row", line.row},
                     {"id", line.id},
                     {"source", line.source},
                     {"label", line.label},
                     {"distance", Number(line.distance)},
                     {"weight", Number(line.weight)},
                     {"contribution", Pick(line.contribution, outputs)}});
    if (!line.exact.empty()) lines.back()["exact"] = Pick(line.exact, outputs);
  }
  Json ledger = {{"method", MethodName(explanation.method)},
                 {"outputs", outputs},
                 {"base", Pick(explanation.base, outputs)},
                 {"lines", std::move(lines)},
                 {"rounding", Pick(explanation.rounding, outputs)},
                 {"score", explanation.parts ? Pick(explanation.eta, outputs)
                                             : Pick(explanation.score, outputs)},
                 {"base_prediction", explanation.base_prediction},
                 {"prediction", explanation.prediction},
                 {"flip_set", explanation.flip_set}};
  if (!explanation.probability.empty()) {
    ledger["base_probability"] = Pick(explanation.base_probability, outputs);
    ledger["probability"] = Pick(explanation.probability, outputs);
  }
  if (explanation.distance) {
    const Explanation::Distance& distance = *explanation.distance;
    ledger["distance_percentile"] = Number(static_cast<double>(distance.percentile));
    ledger["unknown"] = distance.unknown;
    ledger["unknown_rate"] = Number(distance.unknown_rate);
  }
  if (!explanation.parts) return ledger;
  ledger["parts"] = {{"base", Pick(explanation.parts->base, outputs)},
                     {"labels", Pick(explanation.parts->labels, outputs)},
                     {"expected", Pick(explanation.parts->expected, outputs)},
                     {"residual", Pick(explanation.parts->residual, outputs)}};
  return ledger;
}

// Null where there is no image, or none that a PNG could hold.
Json ImageJson(const Thumbnail& image) {
  if (image.empty()) return nullptr;
  const Result<std::vector<uint8_t>> png = EncodePng(image);
  if (!png.ok()) return nullptr;
  return {{"height", image.height}, {"width", image.width}, {"png", EncodeBase64(*png)}};
}

const char* KindOf(const Example& example) {
  const bool base_right = example.explanation.base_prediction == example.truth;
  const bool resmem_right = example.explanation.prediction == example.truth;
  if (base_right == resmem_right) return "unchanged";
  return resmem_right ? "fixed" : "harmed";
}

Json ExampleJson(const Example& example) {
  const Explanation& explanation = example.explanation;
  const std::vector<size_t> outputs = ChooseOutputs(
      explanation, {example.truth, explanation.base_prediction, explanation.prediction},
      kOutputsOfExample);
  Json neighbor_images = Json::array();
  for (const Thumbnail& image : example.neighbor_images) {
    neighbor_images.push_back(ImageJson(image));
  }
  return {{"kind", KindOf(example)},
          {"row", example.row},
          {"truth", example.truth},
          {"change", Number(example.change)},
          {"image", ImageJson(example.image)},
          {"text", example.text},
          {"neighbor_images", std::move(neighbor_images)},
          {"neighbor_texts", example.neighbor_texts},
          {"ledger", LedgerJson(explanation, outputs)}};
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation,
                            std::span<const std::string> class_names, const RunInfo& run) {
  Json document = StartDocument("explanation", run);
  document["class_names"] = std::vector<std::string>(class_names.begin(), class_names.end());
  document["ledger"] = LedgerJson(
      explanation, ChooseOutputs(explanation, {explanation.base_prediction, explanation.prediction},
                                 kOutputsOfExplanation));
  return WriteDocument(document);
}

std::string ExamplesJson(std::span<const Example> examples, std::string_view rule,
                         std::span<const std::string> class_names, const RunInfo& run) {
  Json document = StartDocument("examples", run);
  document["rule"] = rule;
  document["class_names"] = std::vector<std::string>(class_names.begin(), class_names.end());
  Json list = Json::array();
  for (const Example& example : examples) list.push_back(ExampleJson(example));
  document["examples"] = std::move(list);
  return WriteDocument(document);
}

}  // namespace resmem
