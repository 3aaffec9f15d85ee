// Tuning, evaluation and diagnosis on rows of the caller's.
#include "capi/handle.h"
#include "resmem/diagnosis.h"
#include "resmem/tuner.h"

using namespace resmem;        // NOLINT: this file is a border, with names of both sides
using namespace resmem::capi;  // NOLINT

namespace resmem::capi {
namespace {

// The caller's rows, or none: then the memory's own.
struct GivenRows {
  RowsView view;
  bool given = false;
};

Status ReadGivenRows(const resmem_memory& memory, const State& state, const resmem_rows* rows,
                     bool any_model, GivenRows* out) {
  if (rows == nullptr) return {};
  out->given = true;
  RESMEM_RETURN_IF_ERROR(ReadRowsView(rows, &out->view));
  return any_model ? Status() : CheckModel(memory, state, out->view.rows);
}

template <class Value>
Status ReadAxis(const Value* values, int64_t count, const char* name, std::vector<Value>* axis) {
  if (count < 0 || (count > 0 && values == nullptr)) {
    return Invalid(std::string(name) + " of the grid is NULL or negative");
  }
  if (count > 0) axis->assign(values, values + count);
  return {};
}

Result<std::vector<KeyTransform>> ReadKeyTransforms(const char* wanted) {
  const std::string name = wanted == nullptr ? "auto" : wanted;
  if (name == "keep") return std::vector<KeyTransform>();
  if (name == "auto") {
    return std::vector{KeyTransform::kNone, KeyTransform::kUnit, KeyTransform::kWhiten};
  }
  const auto one = FindByName<KeyTransform>(wanted, "key_transform", KeyTransformName);
  if (!one.ok()) return Invalid(one.status().message() + ", auto, keep");
  return std::vector{*one};
}

Result<TuneOptions> ReadTuneOptions(const resmem_tune_options& wanted) {
  TuneOptions options;
  RESMEM_RETURN_IF_ERROR(ReadAxis(wanted.k, wanted.k_count, "k", &options.grid.k));
  RESMEM_RETURN_IF_ERROR(ReadAxis(wanted.sigma, wanted.sigma_count, "sigma", &options.grid.sigma));
  RESMEM_RETURN_IF_ERROR(ReadAxis(wanted.temperature, wanted.temperature_count, "temperature",
                                  &options.grid.temperature));
  if (wanted.objective != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(options.objective,
                            FindByName<Objective>(wanted.objective, "objective", ObjectiveName));
  }
  if (wanted.method != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(options.method,
                            FindByName<Method>(wanted.method, "method", MethodName));
  }
  options.fpr_limit = wanted.fpr_limit;
  if (wanted.folds >= 0) options.folds = wanted.folds;
  options.seed = wanted.seed;
  options.threads = wanted.threads;
  options.fit_megabytes = wanted.fit_megabytes;
  RESMEM_ASSIGN_OR_RETURN(options.key_transforms, ReadKeyTransforms(wanted.key_transform));
  return options;
}

// The memory's parameters where the caller gives none: then its own answer is judged.
std::optional<Parameters> ReadParameters(const State& state, int64_t k, float sigma,
                                         float temperature) {
  if (k < 0 && sigma == 0 && temperature == 0) return std::nullopt;
  Parameters parameters = state.memory.description().parameters;
  if (k >= 0) parameters.k = k;
  if (sigma != 0) parameters.sigma = sigma;
  if (temperature != 0) parameters.temperature = temperature;
  return parameters;
}

}  // namespace
}  // namespace resmem::capi

void resmem_tune_options_init(resmem_tune_options* options) {
  *options = {};
  options->size = sizeof(*options);
  options->fpr_limit = TuneOptions().fpr_limit;
  options->folds = -1;
  options->fit_megabytes = TuneOptions().fit_megabytes;
}

int resmem_tune(resmem_memory* memory, const resmem_rows* rows, const resmem_tune_options* options,
                char** json) {
  return Guarded([&]() -> Status {
    if (memory == nullptr) return Invalid("the memory is NULL");
    RESMEM_ASSIGN_OR_RETURN(const resmem_tune_options wanted,
                            ReadOptions(options, resmem_tune_options_init));
    // The choice is written into the state that it was made on.
    const std::lock_guard<std::mutex> lock(memory->changing);
    const auto state = CurrentState(memory);
    GivenRows given;
    RESMEM_RETURN_IF_ERROR(ReadGivenRows(*memory, *state, rows, wanted.any_model != 0, &given));
    Watch watch(&wanted.watch);
    RESMEM_ASSIGN_OR_RETURN(TuneOptions tuning_options, ReadTuneOptions(wanted));
    tuning_options.progress = &watch;
    tuning_options.leave_one_out = !given.given;
    RESMEM_ASSIGN_OR_RETURN(
        const Tuning tuning,
        Tune(state->predictor, given.given ? ReadRows(given.view.rows) : ReadMemory(state->memory),
             tuning_options));
    RunInfo run = DescribeCall("tune", *memory, *state);
    run.seeds["folds"] = wanted.seed;
    const std::string document = json != nullptr ? TuningJson(tuning, run) : "";
    if (wanted.dry_run == 0 && tuning.answer.has_value()) {
      RESMEM_RETURN_IF_ERROR(UpdateDescription(memory->path,
                                               ApplyTuning(state->memory.description(), tuning),
                                               {memory->wait_seconds, &watch}));
      RESMEM_RETURN_IF_ERROR(Load(memory, /*verify=*/false));
    }
    return GiveText(document, json);
  });
}

int resmem_undo_tuning(resmem_memory* memory, const resmem_watch* watch) {
  return Guarded([&]() -> Status {
    if (memory == nullptr) return Invalid("the memory is NULL");
    const std::lock_guard<std::mutex> lock(memory->changing);
    Watch progress(watch);
    RESMEM_ASSIGN_OR_RETURN(const MemoryDescription former,
                            UndoTuning(CurrentState(memory)->memory.description()));
    RESMEM_RETURN_IF_ERROR(UpdateDescription(memory->path, former, {.progress = &progress}));
    return Load(memory, /*verify=*/false);
  });
}

const char* resmem_answer(resmem_memory* memory) {
  if (memory == nullptr) return nullptr;
  const auto state = CurrentState(memory);
  return state == nullptr ? nullptr : MethodName(state->memory.description().answer);
}

void resmem_evaluate_options_init(resmem_evaluate_options* options) {
  *options = {};
  options->size = sizeof(*options);
  options->k = -1;
  options->sample = DiagnosisOptions().sample;
}

int resmem_evaluate(resmem_memory* memory, const resmem_rows* rows,
                    const resmem_evaluate_options* options, char** json) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || json == nullptr) return Invalid("the memory or json is NULL");
    RESMEM_ASSIGN_OR_RETURN(const resmem_evaluate_options wanted,
                            ReadOptions(options, resmem_evaluate_options_init));
    const auto state = CurrentState(memory);
    GivenRows given;
    RESMEM_RETURN_IF_ERROR(ReadGivenRows(*memory, *state, rows, wanted.any_model != 0, &given));
    Watch watch(&wanted.watch);
    EvaluationOptions judging;
    judging.parameters = ReadParameters(*state, wanted.k, wanted.sigma, wanted.temperature);
    judging.baselines = wanted.no_baselines == 0;
    judging.leave_one_out = !given.given || wanted.leave_one_out != 0;
    if (wanted.coarse_of_class != nullptr) {
      judging.coarse_of_class.assign(wanted.coarse_of_class,
                                     wanted.coarse_of_class + state->memory.description().outputs);
    }
    judging.keep_rows = std::max<int64_t>(0, wanted.keep_rows);
    judging.threads = wanted.threads;
    judging.progress = &watch;
    RESMEM_ASSIGN_OR_RETURN(
        const Evaluation evaluation,
        Evaluate(state->predictor,
                 given.given ? ReadRows(given.view.rows) : ReadMemory(state->memory), judging));
    return GiveText(EvaluationJson(evaluation, DescribeCall("evaluate", *memory, *state)), json);
  });
}

int resmem_doctor(resmem_memory* memory, const resmem_rows* rows,
                  const resmem_evaluate_options* options, char** json) {
  return Guarded([&]() -> Status {
    if (memory == nullptr || json == nullptr) return Invalid("the memory or json is NULL");
    RESMEM_ASSIGN_OR_RETURN(const resmem_evaluate_options wanted,
                            ReadOptions(options, resmem_evaluate_options_init));
    const std::lock_guard<std::mutex> lock(memory->changing);  // both states are the same
    const auto state = CurrentState(memory);
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory exact,
        ResidualMemory::Open(memory->path, {.verify_blocks = false, .exact = true}));
    GivenRows given;
    RESMEM_RETURN_IF_ERROR(ReadGivenRows(*memory, *state, rows, wanted.any_model != 0, &given));
    if (wanted.sample < 1) {
      return Invalid("sample " + std::to_string(wanted.sample) + ": give 1 or more rows");
    }
    Watch watch(&wanted.watch);
    DiagnosisOptions asking;
    asking.sample = wanted.sample;
    const Rows& view = given.view.rows;
    const bool labeled = state->memory.description().task == Task::kRegression
                             ? view.targets.rows > 0
                             : !view.labels.empty();
    asking.unlabeled = given.given && (!labeled || view.logits.rows == 0);
    asking.threads = wanted.threads;
    asking.progress = &watch;
    const RowSource source = ReadRows(view);
    RESMEM_ASSIGN_OR_RETURN(
        const Diagnosis diagnosis,
        Diagnose(state->memory, exact, given.given ? &source : nullptr, asking));
    return GiveText(DiagnosisJson(diagnosis, DescribeCall("doctor", *memory, *state)), json);
  });
}

int resmem_report(const char* json, char** html) {
  return Guarded([&]() -> Status {
    if (json == nullptr || html == nullptr) return Invalid("json or html is NULL");
    RESMEM_ASSIGN_OR_RETURN(const std::string page, RenderReport(json));
    return GiveText(page, html);
  });
}
