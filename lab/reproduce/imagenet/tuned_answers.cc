#include <algorithm>
#include <filesystem>

#include "reproduce/imagenet/experiments.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

constexpr PaperLine kPaper[] = {
    {"0.35", {10, 0.6f, 0.4f}, 0.602, 0.612}, {"0.5", {10, 0.6f, 0.4f}, 0.653, 0.661},
    {"0.75", {10, 0.8f, 0.6f}, 0.696, 0.701}, {"1.0", {20, 0.4f, 0.4f}, 0.713, 0.718},
    {"1.3", {30, 0.4f, 0.4f}, 0.747, 0.751},
};

Result<Answers> AnswerBy(const Predictor& predictor, const PredictOptions& options, int threads,
                         const Embedded& rows, const std::string& name) {
  Neighbors neighbors;
  const Rows view = rows.view();
  RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(
      view.keys, std::max<int64_t>(options.parameters.k, 1), {}, threads, nullptr, &neighbors));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<float> probabilities,
                          ProbabilitiesOf(predictor, view, neighbors, options));
  return AnswersOf(name, {{"parameters", ToJson(options.parameters)}}, probabilities, view.labels);
}

}  // namespace

std::span<const PaperLine> PaperLines() {
  return kPaper;
}

const PaperLine* FindPaperLine(const std::string& name) {
  const auto* found = std::find_if(std::begin(kPaper), std::end(kPaper),
                                   [&](const PaperLine& line) { return name == line.name; });
  return found == std::end(kPaper) ? nullptr : found;
}

Result<Answers> AnswerAt(Workspace& workspace, const ResidualMemory& memory,
                         const Parameters& parameters, const Embedded& rows,
                         const std::string& name) {
  const Predictor predictor(memory);
  PredictOptions options = predictor.OptionsOf(Method::kResMem);
  options.parameters = parameters;
  return AnswerBy(predictor, options, workspace.threads(), rows, name);
}

Result<TunedAnswers> TunedAnswers::Make(Workspace& workspace, const std::string& name,
                                        const Fingerprint& fingerprint, const Embedded& rows,
                                        const Embedded* held_out) {
  const std::string path = workspace.Path("memories", name);
  // One that was tuned before would keep what was chosen then.
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory untuned, OpenMemoryOf(path, fingerprint, rows));
  TuneOptions options;
  options.leave_one_out = held_out == nullptr;
  options.key_transforms = {KeyTransform::kNone, KeyTransform::kUnit, KeyTransform::kWhiten};
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  const Rows view = held_out == nullptr ? rows.view() : held_out->view();
  RESMEM_ASSIGN_OR_RETURN(Tuning tuning, Tune(Predictor(untuned), ReadRows(view), options));
  RESMEM_RETURN_IF_ERROR(UpdateDescription(path, ApplyTuning(untuned.description(), tuning)));
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory tuned, ResidualMemory::Open(path));
  return TunedAnswers(std::move(tuned), std::move(tuning), workspace.threads());
}

Result<std::vector<Answers>> TunedAnswers::Answer(const Embedded& rows,
                                                  const std::string& beginning) const {
  const Predictor predictor(memory_);
  std::vector<std::pair<std::string, PredictOptions>> methods = {
      {"base", predictor.OptionsOf(Method::kBase)},
      {"k-NN", predictor.OptionsOf(Method::kKnn)},
      {"ResMem", predictor.OptionsOf(Method::kResMem)},
      {"blend", predictor.DefaultOptions()}};
  methods[0].second.parameters = {0, 1, 1};
  if (tuning_.rivals.knn.has_value()) {
    methods[1].second.parameters = {tuning_.rivals.knn->k, tuning_.rivals.knn->sigma, 1};
  }
  std::vector<Answers> all;
  for (const auto& [name, options] : methods) {
    RESMEM_ASSIGN_OR_RETURN(Answers answers,
                            AnswerBy(predictor, options, threads_, rows, beginning + name));
    all.push_back(std::move(answers));
  }
  return all;
}

Json TunedAnswers::Chosen() const {
  Json chosen = {{"keys", KeyTransformName(memory_.description().key_transform)},
                 {"memory_rows", memory_.rows()},
                 {"tuned_on", tuning_.rows},
                 {"parameters", ToJson(tuning_.chosen)}};
  chosen["adopted"] = tuning_.blend.has_value() && tuning_.blend->adopted;
  if (tuning_.blend.has_value()) chosen["reason"] = tuning_.blend->reason;
  return chosen;
}

}  // namespace resmem::cli::reproduce::imagenet
