#include "lm_training/run_state.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "recipe/checkpoint_file.h"
#include "recipe/json_log.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kPrefix[] = "checkpoint-";
constexpr char kLog[] = "log.jsonl";
constexpr size_t kKept = 2;

std::string CheckpointName(int64_t step) {
  char name[64];
  std::snprintf(name, sizeof name, "%s%08lld", kPrefix, static_cast<long long>(step));
  return name;
}

Json Describe(const NamedValues& state) {
  Json arrays = Json::array();
  for (const auto& [name, values] : state) {
    arrays.push_back({{"name", name}, {"size", values.size()}});
  }
  return arrays;
}

// Calls visit(name, member) for every number.
template <typename Progress, typename Visit>
void EachNumber(Progress& p, Visit&& visit) {
  visit("step", p.step);
  visit("best_loss", p.best_loss);
  visit("seconds", p.seconds);
  visit("loss", p.loss);
  visit("predicted", p.predicted);
  visit("right", p.right);
  visit("report_seconds", p.report_seconds);
}

Json ReportJson(const LmReport& report) {
  Json json = {{"step", report.step},
               {"steps", report.steps},
               {"rate", report.rate},
               {"loss", report.loss},
               {"accuracy", report.accuracy}};
  if (report.validation_loss >= 0) {
    json["validation_loss"] = report.validation_loss;
    json["validation_accuracy"] = report.validation_accuracy;
  }
  json["tokens_per_second"] = report.tokens_per_second;
  json["seconds"] = report.seconds;
  return json;
}

}  // namespace

Result<std::vector<int64_t>> RunState::Checkpoints() const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, FileSystem::Posix().List(folder_));
  std::vector<int64_t> steps;
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    const char* begin = name.data() + sizeof(kPrefix) - 1;
    int64_t step = 0;
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), step);
    if (error == std::errc() && end == name.data() + name.size()) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Status RunState::Save(const RunProgress& progress, const NamedValues& state) const {
  Json words;
  EachNumber(progress, [&](const char* name, const auto& value) { words[name] = value; });
  words["data"] = data_;
  words["arrays"] = Describe(state);
  int64_t count = 0;
  for (const auto& [name, values] : state) count += std::ssize(values);
  const auto write = [&](const AppendFloats& append) -> Status {
    for (const auto& [name, values] : state) RESMEM_RETURN_IF_ERROR(append(values));
    return {};
  };
  RESMEM_RETURN_IF_ERROR(WriteCheckpoint(File(CheckpointName(progress.step)), words, count, write));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, Checkpoints());
  for (size_t i = 0; i + kKept < steps.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(FileSystem::Posix().Remove(File(CheckpointName(steps[i]))));
  }
  return {};
}

Result<RunProgress> RunState::Load(const std::string& path, const NamedValues& state) const {
  RESMEM_ASSIGN_OR_RETURN(const CheckpointFile file, ReadCheckpoint(path));
  const Json& words = file.words;
  RunProgress progress;
  bool sound = words.is_object() && words.contains("arrays") && words.contains("data");
  EachNumber(progress, [&](const char* name, auto& value) {
    sound = sound && words.contains(name) && words[name].is_number();
    if (sound) value = words[name].get<std::remove_reference_t<decltype(value)>>();
  });
  if (!sound || progress.step < 1)
    return file.reader.Corrupt("its words are not those of a checkpoint");
  if (words["data"] != data_) {
    return Status(ErrorCode::kMismatch,
                  Text(path, ": the run began with other tokens than those that are there now; ",
                       "bring them back, or train into a new folder"));
  }
  std::span<const float> values = file.values();
  int64_t expected = 0;
  for (const auto& [name, array] : state) expected += std::ssize(array);
  if (words["arrays"] != Describe(state) || std::ssize(values) != expected) {
    return Status(ErrorCode::kMismatch,
                  Text(path, ": the checkpoint of another model; its arrays are not those of this ",
                       "recipe. Train into a new folder"));
  }
  for (const auto& [name, array] : state) {
    std::copy_n(values.begin(), array.size(), array.begin());
    values = values.subspan(array.size());
  }
  return progress;
}

Result<RunProgress> RunState::Restore(const NamedValues& state,
                                      const std::function<void(const std::string&)>& note) const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, Checkpoints());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto loaded = Load(File(CheckpointName(*step)), state);
    if (loaded.ok() || loaded.status().code() == ErrorCode::kMismatch) return loaded;
    note(Text("passed over: ", loaded.status().message()));
  }
  return RunProgress{};
}

Status RunState::CutLog(int64_t step) const {
  return CutJsonLog(File(kLog), "step", step);
}

Status RunState::Log(const LmReport& report) const {
  return AppendToJsonLog(File(kLog), ReportJson(report));
}

}  // namespace resmem
