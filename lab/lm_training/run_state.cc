#include "lm_training/run_state.h"

#include <algorithm>

#include "recipe/recipe_codec.h"
#include "support/text.h"

namespace resmem {
namespace {

struct RunProgressLayout {
  static constexpr bool MayLack(std::string_view) { return false; }

  template <typename Progress, typename Visit>
  static void Each(Progress& p, Visit&& visit) {
    visit("step", p.step);
    visit("best_loss", p.best_loss);
    visit("seconds", p.seconds);
    visit("loss", p.loss);
    visit("predicted", p.predicted);
    visit("right", p.right);
    visit("report_seconds", p.report_seconds);
  }
};

std::vector<StateArray> Arrays(const NamedValues& state) {
  std::vector<StateArray> arrays;
  for (const auto& [name, values] : state) {
    arrays.push_back({{{"name", name}, {"size", values.size()}},
                      std::ssize(values),
                      [values = values](const AppendFloats& append) { return append(values); },
                      [values = values](std::span<const float> from) {
                        std::ranges::copy(from, values.begin());
                      }});
  }
  return arrays;
}

}  // namespace

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

Status SaveRun(const RunFolder& folder, const RunProgress& progress, const std::string& data,
               const NamedValues& state) {
  Json words;
  AddFields<RunProgressLayout>(progress, &words);
  words["data"] = data;
  return folder.Save(progress.step, std::move(words), Arrays(state));
}

Result<RunProgress> RestoreRun(const RunFolder& folder, const std::string& data,
                               const NamedValues& state,
                               const std::function<void(const std::string&)>& note) {
  RunProgress progress;
  const auto take = [&](const std::string& path, const Json& words) -> Status {
    RunProgress found;
    RESMEM_RETURN_IF_ERROR(ReadFields<RunProgressLayout>(words, path, &found));
    if (found.step < 1)
      return Status(ErrorCode::kCorrupt, Text(path, ": its step is not 1 or more"));
    if (words.value("data", "") != data) {
      return Status(ErrorCode::kMismatch,
                    Text(path, ": the run began with other tokens than those that are there now; ",
                         "bring them back, or train into a new folder"));
    }
    progress = found;
    return {};
  };
  RESMEM_RETURN_IF_ERROR(folder.Restore(take, Arrays(state), note));
  return progress;
}

}  // namespace resmem
