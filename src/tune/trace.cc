// The trace of a tuning run in the memory's manifest: its axes, its best points and its gain, small
// enough to stay a note.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "resmem/tuner.h"
#include "tune/choice.h"

namespace resmem {
namespace {

constexpr size_t kTracePoints = 20;

// The shortest decimal that is this float: 0.7 and not 0.699999988079071.
double Decimal(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text - 1, value).ptr;
  *end = '\0';
  return std::strtod(text, nullptr);
}

nlohmann::json Decimals(const std::vector<float>& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const float value : values) list.push_back(Decimal(value));
  return list;
}

nlohmann::json GainJson(const PairedGain& gain) {
  return {{"rows", gain.total},
          {"fixed", gain.fixed},
          {"harmed", gain.harmed},
          {"gain", gain.gain},
          {"interval", {gain.interval.low, gain.interval.high}}};
}

std::string Trace(const Tuning& tuning) {
  const bool regression = tuning.task == Task::kRegression;
  nlohmann::json trace = {
      {"rows", tuning.rows},
      {"objective", regression ? "mean squared error" : ObjectiveName(tuning.objective)},
      {"grid",
       {{"k", tuning.grid.k},
        {"sigma", Decimals(tuning.grid.sigma)},
        {"temperature", Decimals(tuning.grid.temperature)}}},
  };
  const ChoiceRule rule{tuning.task, tuning.objective, tuning.fpr_limit};
  const std::vector<size_t> order = RankPoints(rule, tuning.points, tuning.rows);
  nlohmann::json& best = trace["best"] = nlohmann::json::array();
  for (size_t i = 0; i < std::min(order.size(), kTracePoints); ++i) {
    const TuningPoint& point = tuning.points[order[i]];
    nlohmann::json line = {{"k", point.parameters.k},
                           {"sigma", Decimal(point.parameters.sigma)},
                           {"temperature", Decimal(point.parameters.temperature)}};
    if (regression) {
      line["loss"] = point.loss;
    } else {
      line["fixed"] = point.fixed;
      line["harmed"] = point.harmed;
    }
    best.push_back(std::move(line));
  }
  if (regression) {
    trace["base_loss"] = tuning.base_loss;
    trace["chosen_loss"] = tuning.chosen_loss;
    if (tuning.cross_validated_loss) trace["cross_validated_loss"] = *tuning.cross_validated_loss;
    return trace.dump();
  }
  if (tuning.objective == Objective::kTprUnderFpr) trace["fpr_limit"] = tuning.fpr_limit;
  trace["chosen_gain"] = GainJson(tuning.chosen_gain);
  if (tuning.cross_validated_gain) {
    trace["cross_validated_gain"] = GainJson(*tuning.cross_validated_gain);
  }
  return trace.dump();
}

}  // namespace

MemoryDescription ApplyTuning(MemoryDescription description, const Tuning& tuning) {
  description.parameters = tuning.chosen;
  description.tuned = true;
  if (!tuning.calibrator.empty()) {
    description.calibrator = tuning.calibrator;
    description.calibrator_temperature = tuning.calibrator_temperature;
  }
  description.notes["tuning"] = Trace(tuning);
  return description;
}

}  // namespace resmem
