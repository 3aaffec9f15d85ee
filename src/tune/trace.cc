// The trace of a tuning run in the memory's manifest: its axes, its best points and its gain, small
// enough to stay a note.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

#include "memory/manifest/answer.h"
#include "memory/manifest/rivals.h"
#include "resmem/tuner.h"
#include "support/json.h"
#include "tune/choice.h"
#include "tune/former_note.h"

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

SortedJson Decimals(const std::vector<float>& values) {
  SortedJson list = SortedJson::array();
  for (const float value : values) list.push_back(Decimal(value));
  return list;
}

SortedJson GainJson(const PairedGain& gain) {
  return {{"rows", gain.total},
          {"fixed", gain.fixed},
          {"harmed", gain.harmed},
          {"gain", gain.gain},
          {"interval", {gain.interval.low, gain.interval.high}}};
}

// Why its keys are as they are.
SortedJson KeysJson(const KeyTuning& keys) {
  SortedJson json = {{"transform", KeyTransformName(keys.chosen)}};
  if (!keys.reason.empty()) json["reason"] = keys.reason;
  if (keys.trials.empty()) return json;
  json["gain"] = keys.gain;
  json["interval"] = {keys.interval.low, keys.interval.high};
  for (const KeyTuning::Trial& trial : keys.trials) {
    SortedJson& line = json["tried"][KeyTransformName(trial.transform)];
    if (trial.reason.empty()) {
      line = trial.nll;
    } else {
      line = trial.reason;
    }
  }
  return json;
}

// Why the memory answers as it does.
void AddBlend(const Tuning& tuning, SortedJson* trace) {
  if (!tuning.blend) return;
  const BlendTuning& blend = *tuning.blend;
  SortedJson& json = (*trace)["blend"] = {{"method", MethodName(blend.method)},
                                          {"adopted", blend.adopted},
                                          {"reason", blend.reason},
                                          {"rows", blend.rows}};
  if (!blend.blend) return;
  json["folds"] = blend.folds;
  json["points"] = blend.points;
  json["base_nll"] = blend.base_nll;
  json["scaled_nll"] = blend.scaled_nll;
  json["nll"] = blend.nll;
  json["nll_interval"] = {blend.nll_interval.low, blend.nll_interval.high};
  if (tuning.task == Task::kClassification) json["gain"] = GainJson(blend.gain);
}

std::string Trace(const Tuning& tuning) {
  const bool regression = tuning.task == Task::kRegression;
  SortedJson trace = {
      {"rows", tuning.rows},
      {"objective", regression ? "mean squared error" : ObjectiveName(tuning.objective)},
      {"grid",
       {{"k", tuning.grid.k},
        {"sigma", Decimals(tuning.grid.sigma)},
        {"temperature", Decimals(tuning.grid.temperature)}}},
  };
  trace["keys"] = KeysJson(tuning.keys);
  if (!tuning.resmem_reason.empty()) trace["resmem_reason"] = tuning.resmem_reason;
  const ChoiceRule rule{tuning.task, tuning.objective, tuning.fpr_limit};
  const std::vector<size_t> order = RankPoints(rule, tuning.points, tuning.rows);
  SortedJson& best = trace["best"] = SortedJson::array();
  for (size_t i = 0; i < std::min(order.size(), kTracePoints); ++i) {
    const TuningPoint& point = tuning.points[order[i]];
    SortedJson line = {{"k", point.parameters.k},
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
    AddBlend(tuning, &trace);
    return trace.dump();
  }
  if (tuning.objective == Objective::kTprUnderFpr) trace["fpr_limit"] = tuning.fpr_limit;
  trace["chosen_gain"] = GainJson(tuning.chosen_gain);
  if (tuning.cross_validated_gain) {
    trace["cross_validated_gain"] = GainJson(*tuning.cross_validated_gain);
  }
  AddBlend(tuning, &trace);
  trace[kRivalsField] = RivalsToJson(tuning.rivals);
  return trace.dump();
}

// Everything that ApplyTuning() changes, for UndoTuning().
std::string FormerState(const MemoryDescription& description) {
  const auto trace = description.notes.find(kTuningNote);
  return Json{{"k", description.parameters.k},
              {"sigma", description.parameters.sigma},
              {"temperature", description.parameters.temperature},
              {"key_transform", KeyTransformName(description.key_transform)},
              {"tuned", description.tuned},
              {"calibrator_temperature", description.calibrator_temperature},
              {"answer", AnswerToJson(description)},
              {"tuning", trace == description.notes.end() ? "" : trace->second}}
      .dump();
}

}  // namespace

MemoryDescription ApplyTuning(MemoryDescription description, const Tuning& tuning) {
  if (!tuning.answer) return description;  // nothing was fitted
  description.notes[kFormerNote] = FormerState(description);
  description.key_transform = tuning.keys.chosen;
  description.notes[kTuningNote] = Trace(tuning);
  description.answer = *tuning.answer;
  const bool fitted = tuning.blend && tuning.blend->blend;
  description.blend = fitted && tuning.blend->adopted ? tuning.blend->blend : std::nullopt;
  // Beside a blend ResMem is no answer but what others are compared with, tuned as they are.
  if (!fitted && description.answer != Method::kResMem) return description;
  description.parameters = tuning.chosen;
  description.tuned = true;
  if (!tuning.calibrator.empty()) {
    description.calibrator = tuning.calibrator;
    description.calibrator_temperature = tuning.calibrator_temperature;
  }
  return description;
}

Result<MemoryDescription> UndoTuning(MemoryDescription description) {
  const auto note = description.notes.find(kFormerNote);
  if (note == description.notes.end()) {
    return Status(ErrorCode::kNotFound,
                  "the memory keeps no earlier tuning: only the last one can be undone, once");
  }
  const Json json = Json::parse(note->second, nullptr, /*allow_exceptions=*/false);
  Fields fields(json, "the earlier tuning");
  const Json* const answer = fields.Find("answer");
  fields.Get("k", &description.parameters.k);
  fields.Get("sigma", &description.parameters.sigma);
  // A memory that was frozen since has residuals of one temperature only.
  const bool frozen = description.form != ResidualForm::kLogits;
  const float temperature = description.parameters.temperature;
  fields.Get("temperature", &description.parameters.temperature);
  if (frozen) description.parameters.temperature = temperature;
  if (json.contains("key_transform")) {
    fields.Get("key_transform",
               std::array{KeyTransform::kNone, KeyTransform::kUnit, KeyTransform::kWhiten},
               KeyTransformName, &description.key_transform);
  }
  fields.Get("tuned", &description.tuned);
  fields.Get("calibrator_temperature", &description.calibrator_temperature);
  std::string trace;
  fields.Get("tuning", &trace);
  RESMEM_RETURN_IF_ERROR(fields.status());
  description.blend.reset();
  RESMEM_RETURN_IF_ERROR(AnswerFromJson(*answer, &description));
  description.notes.erase(note);
  description.notes.erase(kTuningNote);
  if (!trace.empty()) description.notes[kTuningNote] = trace;
  return description;
}

}  // namespace resmem
