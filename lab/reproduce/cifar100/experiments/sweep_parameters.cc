#include <algorithm>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

// The ranges of the paper's appendix.
constexpr int64_t kNeighbors[] = {27, 40, 53, 75, 100, 150, 200, 300, 400, 500};
constexpr float kSigmas[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f,
                             0.8f, 1.0f, 1.2f, 1.4f, 1.6f, 1.8f, 2.0f};
constexpr float kSweptTemperatures[] = {0.1f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f, 1.2f,
                                        1.4f, 1.7f, 2.0f, 2.5f, 3.0f, 4.0f, 5.0f};

class Sweep {
 public:
  Sweep(const Workspace& workspace, const Predictor& predictor, const Embedded& test)
      : workspace_(workspace), predictor_(predictor), rows_(test.view()) {}

  Status Search() {
    constexpr int64_t kMost = *std::max_element(std::begin(kNeighbors), std::end(kNeighbors));
    return predictor_.FindNeighbors(rows_.keys, std::min(kMost, predictor_.memory().rows()), {},
                                    workspace_.threads(), workspace_.console().progress(),
                                    &neighbors_);
  }

  Result<Json> At(Parameters parameters) {
    parameters.k = std::min(parameters.k, neighbors_.k);
    PredictOptions options = predictor_.DefaultOptions();
    options.parameters = parameters;
    options.threads = workspace_.threads();
    const auto classes = static_cast<size_t>(rows_.logits.columns);
    scores_.resize(classes * static_cast<size_t>(rows_.count()));
    RESMEM_RETURN_IF_ERROR(
        predictor_.Score(rows_.keys, rows_.logits, neighbors_, options, scores_));
    int64_t correct = 0;
    for (int64_t row = 0; row < rows_.count(); ++row) {
      const std::span<const float> line =
          std::span<const float>(scores_).subspan(static_cast<size_t>(row) * classes, classes);
      correct += ArgMax(line) == rows_.labels[static_cast<size_t>(row)] ? 1 : 0;
    }
    Json json = ToJson(parameters);
    json["accuracy"] = ToJson(MakeAccuracy(correct, rows_.count()));
    return json;
  }

 private:
  const Workspace& workspace_;
  const Predictor& predictor_;
  const Rows rows_;
  Neighbors neighbors_;
  std::vector<float> scores_;
};

}  // namespace

Result<Json> SweepParameters(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
  RESMEM_ASSIGN_OR_RETURN(
      const ResidualMemory memory,
      OpenMemory(workspace, base, base.name, base.train.Take(base.split.train)));
  const Predictor predictor(memory);
  Sweep sweep(workspace, predictor, base.test);
  RESMEM_RETURN_IF_ERROR(sweep.Search());
  Parameters parameters = kPaperParameters;
  parameters.k = 0;
  Json result = {{"run", context.base}, {"around", ToJson(kPaperParameters)}};
  RESMEM_ASSIGN_OR_RETURN(result["base"], sweep.At(parameters));
  Json by_k = Json::array(), by_sigma = Json::array(), by_temperature = Json::array();
  for (const int64_t k : kNeighbors) {
    parameters = kPaperParameters;
    parameters.k = k;
    RESMEM_ASSIGN_OR_RETURN(Json point, sweep.At(parameters));
    by_k.push_back(std::move(point));
  }
  for (const float sigma : kSigmas) {
    parameters = kPaperParameters;
    parameters.sigma = sigma;
    RESMEM_ASSIGN_OR_RETURN(Json point, sweep.At(parameters));
    by_sigma.push_back(std::move(point));
  }
  for (const float temperature : kSweptTemperatures) {
    parameters = kPaperParameters;
    parameters.temperature = temperature;
    RESMEM_ASSIGN_OR_RETURN(Json point, sweep.At(parameters));
    by_temperature.push_back(std::move(point));
  }
  result["by_k"] = std::move(by_k);
  result["by_sigma"] = std::move(by_sigma);
  result["by_temperature"] = std::move(by_temperature);
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
