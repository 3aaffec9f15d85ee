#include "reproduce/step_records.h"

#include <algorithm>
#include <filesystem>

namespace resmem::cli::reproduce {
namespace {

const Json kNothing;

}  // namespace

const char* StepStateName(StepState state) {
  switch (state) {
    case StepState::kMissing:
      return "not run";
    case StepState::kOutOfDate:
      return "out of date";
    case StepState::kFinished:
      return "finished";
  }
  return "";
}

const Json& StepContext::ResultOf(const std::string& step) const {
  return records.result(step);
}

Result<StepRecords> StepRecords::Open(std::string folder, std::span<const Step> steps,
                                      std::string data) {
  StepRecords records(std::move(folder), steps, std::move(data));
  for (const Step& step : records.steps_) {
    if (!std::filesystem::exists(records.File(step.name))) continue;
    RESMEM_ASSIGN_OR_RETURN(records.records_[step.name], ReadJson(records.File(step.name)));
  }
  records.JudgeAll();
  return records;
}

// In the order of the steps: whether a step is finished depends on those before it.
void StepRecords::JudgeAll() {
  states_.clear();
  for (const Step& step : steps_) {
    const auto found = records_.find(step.name);
    if (found == records_.end()) continue;
    const bool same = Missing(step).empty() && At(found->second, "inputs") == InputsOf(step);
    states_[step.name] = same ? StepState::kFinished : StepState::kOutOfDate;
  }
}

StepState StepRecords::state(const std::string& step) const {
  const auto found = states_.find(step);
  return found == states_.end() ? StepState::kMissing : found->second;
}

const Json& StepRecords::record(const std::string& step) const {
  const auto found = records_.find(step);
  return found == records_.end() ? kNothing : found->second;
}

const Json& StepRecords::result(const std::string& step) const {
  return state(step) == StepState::kFinished ? At(record(step), "result") : kNothing;
}

std::string StepRecords::BaseOf(const Step& step) const {
  const auto found =
      std::find_if(step.first_of.begin(), step.first_of.end(),
                   [&](const std::string& name) { return state(name) == StepState::kFinished; });
  return found == step.first_of.end() ? std::string() : *found;
}

std::string StepRecords::Missing(const Step& step) const {
  std::string missing;
  for (const std::string& name : step.needs) {
    if (state(name) == StepState::kFinished) continue;
    missing += (missing.empty() ? "" : " and ") + name;
  }
  if (missing.empty() && !step.first_of.empty() && BaseOf(step).empty()) {
    for (const std::string& name : step.first_of) missing += (missing.empty() ? "" : " or ") + name;
  }
  return missing.empty() ? missing
                         : step.name + " needs " + missing + ": give it in --steps as well";
}

Json StepRecords::InputsOf(const Step& step) const {
  Json from = Json::object();
  const auto add = [&](const std::string& name) {
    if (state(name) != StepState::kFinished) return;
    Digest digest;
    digest.Add(result(name).dump(-1, ' ', false, Json::error_handler_t::replace));
    from[name] = digest.Hex();
  };
  for (const std::string& name : step.needs) add(name);
  for (const std::string& name : step.uses) add(name);
  if (const std::string base = BaseOf(step); !base.empty()) add(base);
  return {{"data", data_}, {"settings", step.settings}, {"steps", std::move(from)}};
}

Status StepRecords::Finish(const Step& step, Json result, Json made) {
  Json record = {{"step", step.name},
                 {"inputs", InputsOf(step)},
                 {"result", std::move(result)},
                 {"made", std::move(made)}};
  RESMEM_RETURN_IF_ERROR(WriteJson(File(step.name), record));
  records_[step.name] = std::move(record);
  JudgeAll();
  return {};
}

StepRecords StepRecords::With(const Json& published) const {
  StepRecords shown = *this;
  for (const auto& [step, record] : published.items()) {
    if (!record.is_object() || state(step) == StepState::kFinished) continue;
    shown.records_[step] = record;
    shown.published_.insert(step);
  }
  shown.JudgeAll();
  return shown;
}

}  // namespace resmem::cli::reproduce
