#include <algorithm>

#include "reproduce/cifar100/experiments/experiments.h"
#include "reproduce/cifar100/measure.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

constexpr const char* kPartRun = "size-resnet8-40";  // leaves 60 % of the rows unseen
constexpr float kMassTemperatures[] = {0.5f, 1.0f, 1.4f, 2.0f, 3.0f};

// Every second value of the usual grid, and the paper's T range: enough to see a shape.
Grid CoarseGrid(double typical_distance, int64_t rows) {
  const Grid full = DefaultGrid(typical_distance, rows);
  Grid grid;
  for (size_t i = 0; i < full.k.size(); i += 2) grid.k.push_back(full.k[i]);
  for (size_t i = 0; i < full.sigma.size(); i += 2) grid.sigma.push_back(full.sigma[i]);
  grid.temperature = {0.3f, 0.5f, 0.7f, 1.0f, 1.4f, 2.0f, 2.5f, 3.0f, 4.0f, 5.0f};
  return grid;
}

// The best that any k, sigma and T give, chosen on the test rows themselves: an upper bound that
// tells whether tuning can be the reason for a small gain, and never a result.
Result<Json> Hindsight(const Workspace& workspace, const ResidualMemory& memory,
                       const Embedded& test) {
  RESMEM_ASSIGN_OR_RETURN(const double typical, TypicalDistance(workspace, memory, test.view()));
  RESMEM_ASSIGN_OR_RETURN(
      const Choice choice,
      Choose(workspace, memory, test.view(), Objective::kGain, CoarseGrid(typical, memory.rows())));
  Json json = choice.json;
  json["typical_distance"] = typical;
  return json;
}

// The same base with two memories of equally many rows: those that it has learned from, and rows
// that it has never seen, whose residuals it had no chance to shrink.
Result<Json> SeenAndUnseen(const Context& context) {
  Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, kPartRun));
  const Embedded held_out = base.train.Take(base.split.validation);
  std::vector<int64_t> used = base.split.train;
  used.insert(used.end(), base.split.validation.begin(), base.split.validation.end());
  std::sort(used.begin(), used.end());
  std::vector<int64_t> unseen;
  for (int64_t row = 0; row < base.train.count(); ++row) {
    if (!std::binary_search(used.begin(), used.end(), row)) unseen.push_back(row);
  }
  const size_t count = std::min(unseen.size(), base.split.train.size());
  Json result = {{"run", kPartRun}, {"rows", count}};
  const std::pair<const char*, std::span<const int64_t>> memories[] = {
      {"seen", std::span(base.split.train).first(count)},
      {"unseen", std::span(unseen).first(count)}};
  for (const auto& [name, rows] : memories) {
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory memory,
        OpenMemory(workspace, base, base.name + "-" + name, base.train.Take(rows)));
    RESMEM_ASSIGN_OR_RETURN(const Choice choice,
                            Choose(workspace, memory, held_out.view(), Objective::kGain));
    RESMEM_ASSIGN_OR_RETURN(result[name],
                            Judge(workspace, memory, base.test.view(), choice.parameters));
  }
  return result;
}

}  // namespace

Result<Json> Diagnose(const Context& context) {
  Workspace& workspace = context.workspace;
  Json result = {{"run", context.base}};
  {
    RESMEM_ASSIGN_OR_RETURN(const Base base, LoadBase(workspace, context.base));
    const Embedded learned = base.train.Take(base.split.train);
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            OpenMemory(workspace, base, base.name, learned));
    result["train_accuracy"] = At(context.ResultOf(context.base), "train/base");
    result["test_accuracy"] = At(context.ResultOf(context.base), "test/base");
    Json masses = Json::array();
    for (const float temperature : kMassTemperatures) {
      Json mass = ToJson(Parameters{1, 1, temperature});
      masses.push_back({{"temperature", mass["temperature"]},
                        {"mean_residual_mass", memory.MeanResidualMass(temperature)}});
    }
    result["residuals"] = std::move(masses);
    RESMEM_ASSIGN_OR_RETURN(result["hindsight"]["keys as they are"],
                            Hindsight(workspace, memory, base.test));
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory unit,
        OpenMemory(workspace, base, base.name + "-unit", WithUnitKeys(learned)));
    RESMEM_ASSIGN_OR_RETURN(result["hindsight"]["keys of unit length"],
                            Hindsight(workspace, unit, WithUnitKeys(base.test)));
  }
  if (!context.ResultOf(kPartRun).is_null()) {
    RESMEM_ASSIGN_OR_RETURN(result["memories"], SeenAndUnseen(context));
  }
  return result;
}

}  // namespace resmem::cli::reproduce::cifar100
