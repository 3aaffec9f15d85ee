#include "inputs/evaluation_run.h"

#include <optional>
#include <utility>

#include "inputs/class_names.h"
#include "resmem/data/new_classes.h"

namespace resmem::cli {
namespace {

// Old and new classes apart, where the memory has classes that its base does not know and the rows
// are not in slices already.
RowSource ApartByClass(const RowSource& rows, int64_t base_classes) {
  return {rows.rows(), [rows, base_classes](const RowSource::Use& use) {
            std::vector<std::string> slices;
            return rows.Read([&](int64_t begin, Rows block) {
              slices.clear();
              for (const int32_t label : block.labels) {
                slices.emplace_back(label < base_classes ? "classes of the base" : "new classes");
              }
              if (block.slices.empty()) block.slices = slices;
              return use(begin, block);
            });
          }};
}

}  // namespace

void EvaluationRun::DeclareInput(CommandLine& line) {
  DeclareMemory(line, &memory_path_);
  data_.Declare(line, DatasetUse::kJudge);
  roles_.Declare(line, Role::kTest);
  line.Flag("--leave-one-out", &options_.leave_one_out,
            "evaluate on the memory's own rows, leaving each one out; needs no input if the memory "
            "keeps logits");
  answer_.Declare(line);
  searched_.Declare(line);
}

void EvaluationRun::DeclareModelAndOutput(CommandLine& line) {
  model_.Declare(line, /*check=*/true);
  output_.Declare(line);
  DeclareThreads(line, &options_.threads);
}

Result<Evaluation> EvaluationRun::Run(Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, searched_.Open(memory_path_, console));
  std::vector<std::string> inputs = data_.Paths();
  inputs.push_back(memory_path_);
  if (!coarse_file_.empty()) inputs.push_back(FilePart(coarse_file_));
  RESMEM_RETURN_IF_ERROR(output_.CheckPaths(inputs));
  const MemoryDescription& description = memory.description();
  if (description.task == Task::kRegression && !for_classes_only_.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  for_classes_only_ + ": " + memory_path_ + " is a regression and has no classes");
  }
  const Predictor predictor(memory);
  RESMEM_ASSIGN_OR_RETURN(const PredictOptions answer, answer_.Choose(predictor));
  options_.method = answer.method;
  RESMEM_ASSIGN_OR_RETURN(options_.parameters, answer_.ResMemParameters(description));
  std::optional<Input> input;
  if (data_.given() || !options_.leave_one_out) {
    RESMEM_ASSIGN_OR_RETURN(
        input, model_.OpenInput(data_, memory_path_, memory, options_.threads, console));
    if (!options_.leave_one_out) {
      RESMEM_ASSIGN_OR_RETURN(options_.only, roles_.Choose(input->dataset, console));
    }
  }
  if (!coarse_file_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(options_.coarse_of_class,
                            ReadCoarse(coarse_file_, description.outputs));
  } else if (input.has_value() && input->images != nullptr) {
    options_.coarse_of_class = CoarseOfClasses(input->images->images(), description.outputs);
  }
  options_.progress = console.progress();
  RowSource rows = input.has_value() ? ReadDataset(input->dataset) : ReadMemory(memory);
  const int64_t base_classes = BaseClasses(description);
  if (base_classes < description.outputs) rows = ApartByClass(rows, base_classes);
  RESMEM_ASSIGN_OR_RETURN(Evaluation evaluation, Evaluate(predictor, rows, options_));
  for (const std::string& warning : evaluation.warnings) console.Warn(warning);
  if (output_.wanted()) {
    RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
    run.memory = DescribeMemory(memory_path_, memory);
    RESMEM_RETURN_IF_ERROR(
        output_.Write(EvaluationJson(evaluation, FinishedRun(std::move(run), console)), console));
  }
  return evaluation;
}

}  // namespace resmem::cli
