// resmem base run: a model of ours over rows; the arrays that the other commands read.
#include <filesystem>
#include <optional>
#include <system_error>

#include "base_model/base_model.h"
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/labeled_inputs.h"
#include "outputs/output_paths.h"
#include "resmem/data/array.h"
#include "resmem/data/dataset.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {
namespace {

class BaseRun : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("compute keys and logits with a model from 'base train'",
               "Writes keys.npy and logits.npy into a folder that other commands take as --data; "
               "also labels.npy with --labels and split.npy with --role.");
    line.Argument("MODEL", &model_, "a model written by resmem base train").File();
    inputs_.Declare(line, /*labels_required=*/false);
    line.Choice<std::optional<Role>, Role>(
        "--role", &role_,
        {{"train", Role::kTrain}, {"validation", Role::kValidation}, {"test", Role::kTest}},
        "what these rows are, recorded in split.npy; resmem tune refuses test rows");
    line.Group("Output");
    line.Value("--output", &output_, "FOLDER", "created if missing")
        .Short("-o")
        .Required()
        .Folder();
    DeclareThreads(line, &threads_);
    line.AddExample("a test set",
                    "resmem base run my.base --inputs images.gz --labels labels.gz \\\n"
                    "    --role test -o arrays/test");
  }

  Result<ExitCode> Run(Console& console) override;

 private:
  Status Write(const BaseModel& model, const LabeledInputs& inputs, std::vector<float>* logits);

  std::string model_, output_;
  LabeledInputsOptions inputs_;
  std::optional<Role> role_;
  int threads_ = 0;
};

Status BaseRun::Write(const BaseModel& model, const LabeledInputs& inputs,
                      std::vector<float>* logits) {
  const int64_t rows = inputs.rows();
  std::vector<float> keys(static_cast<size_t>(rows * model.dim()));
  logits->resize(static_cast<size_t>(rows * model.classes()));
  RESMEM_RETURN_IF_ERROR(model.Run(inputs.view(), threads_, keys, *logits));
  std::error_code error;
  std::filesystem::create_directories(output_, error);
  if (error) {
    return Status(CodeOfSystemError(error.value()),
                  output_ + ": the folder cannot be made: " + error.message());
  }
  const std::string folder = output_ + "/";
  RESMEM_RETURN_IF_ERROR(WriteNpy(folder + "keys.npy", MatrixView(keys.data(), rows, model.dim())));
  RESMEM_RETURN_IF_ERROR(
      WriteNpy(folder + "logits.npy", MatrixView(logits->data(), rows, model.classes())));
  if (!inputs.labels.empty()) {
    RESMEM_RETURN_IF_ERROR(
        WriteNpy(folder + "labels.npy", std::span<const int32_t>(inputs.labels)));
  }
  if (!role_.has_value()) return {};
  const int32_t split = *role_ == Role::kTrain ? 0 : *role_ == Role::kValidation ? 1 : 2;
  const std::vector<int32_t> splits(static_cast<size_t>(rows), split);
  return WriteNpy(folder + "split.npy", std::span<const int32_t>(splits));
}

Result<ExitCode> BaseRun::Run(Console&) {
  RESMEM_ASSIGN_OR_RETURN(const BaseModel model, BaseModel::Load(model_));
  std::vector<std::string> read = inputs_.Paths();
  read.push_back(model_);
  std::vector<OutputPath> written;
  for (const char* name : {"keys.npy", "logits.npy", "labels.npy", "split.npy"}) {
    written.push_back({"-o", output_ + "/" + name});
  }
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths(written, read));
  RESMEM_ASSIGN_OR_RETURN(const LabeledInputs inputs, inputs_.Load());
  std::vector<float> logits;
  RESMEM_RETURN_IF_ERROR(Write(model, inputs, &logits));
  Table table = Table::Facts();
  table.AddRow({"arrays", output_ + ": " + Counted(inputs.rows(), "row") + ", keys of " +
                              Counted(model.dim(), "value") + ", logits of " +
                              Count(model.classes()) + " classes"});
  if (!inputs.labels.empty()) {
    table.AddRow({"accuracy", Percent(AccuracyOfLogits(logits, inputs.labels)) + " by the base"});
  }
  RESMEM_RETURN_IF_ERROR(PrintResult(table.Text()));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeBaseRun() {
  return std::make_unique<BaseRun>();
}

}  // namespace resmem::cli
