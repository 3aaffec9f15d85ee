// resmem memorize: a training set's keys and residuals into a new memory.
#include <filesystem>
#include <system_error>

#include "console/command.h"
#include "console/format.h"
#include "console/interrupt.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/class_names.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_bundle.h"
#include "inputs/images/model_options.h"
#include "inputs/logits_check.h"
#include "inputs/memory_options.h"
#include "inputs/parameter_options.h"
#include "inputs/selected_rows.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "process/last_words.h"
#include "resmem/models/bundle.h"
#include "resmem/snapshots.h"

namespace resmem::cli {
namespace {

constexpr int64_t kSparseAboveClasses = 4096;  // where logits would be 16 kB a row and more

class Memorize : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Result<MemoryDescription> Describe(const Input& input);

  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  ParameterOptions parameters_;
  std::optional<Task> asked_task_;
  Task task_ = Task::kClassification;
  std::string output_, classes_file_, out_of_fold_logits_;
  KeyType key_type_ = KeyType::kFloat32;
  std::optional<KeyTransform> key_transform_, metric_;
  std::optional<ResidualForm> form_;
  int64_t top_ = 128;
  std::optional<double> recall_;
  std::optional<int> code_bits_;
  bool freeze_ = false, half_residuals_ = false, overwrite_ = false, bundle_ = false;
  double wait_seconds_ = 0;
  MemoryOutput printed_;
};

void Memorize::Declare(CommandLine& line) {
  line.About("store a training set's keys and residuals",
             "Reads the arrays in blocks of rows, so they may be larger than RAM. The new memory, "
             "with its index if you ask for one, appears complete or not at all.");
  data_.Declare(line, DatasetUse::kStore);
  line.Value("--out-of-fold-logits", &out_of_fold_logits_, "FILE",
             "instead of --logits: each row's logits from a model trained without that row, for a "
             "base that has memorized its training set")
      .File();
  roles_.Declare(line, Role::kTrain);
  line.Choice<std::optional<Task>, Task>(
          "--task", &asked_task_,
          {{"classification", Task::kClassification}, {"regression", Task::kRegression}},
          "what the base predicts")
      .Default("regression if there are targets and no labels, or one prediction a row");
  line.Value("--classes", &classes_file_, "FILE", "names of the classes, one per line").File();

  line.Group("Memory");
  line.Value("--output", &output_, "NAME.resmem", "the new memory, a folder")
      .Short("-o")
      .Required()
      .Folder();
  line.Choice<KeyType, KeyType>(
      "--key-type", &key_type_,
      {{"float32", KeyType::kFloat32}, {"float16", KeyType::kFloat16}, {"int8", KeyType::kInt8}},
      "how keys are stored, in 4, 2 or 1 bytes per value");
  line.Choice<std::optional<KeyTransform>, KeyTransform>(
          "--key-transform", &key_transform_,
          {{"none", KeyTransform::kNone},
           {"unit", KeyTransform::kUnit},
           {"whiten", KeyTransform::kWhiten}},
          "what is done to keys, these and every query's, before distances are measured: nothing, "
          "scaled to length 1, or whitened within classes; 'resmem tune' can choose")
      .Default("none");
  line.Choice<std::optional<KeyTransform>, KeyTransform>(
          "--metric", &metric_,
          {{"euclidean", KeyTransform::kNone}, {"cosine", KeyTransform::kUnit}},
          "cosine is --key-transform unit: of keys of length 1 the nearest has the largest cosine")
      .Default("euclidean");
  line.Choice<std::optional<ResidualForm>, ResidualForm>(
          "--form", &form_,
          {{"logits", ResidualForm::kLogits},
           {"dense", ResidualForm::kDense},
           {"sparse", ResidualForm::kSparse}},
          "what is stored for each row: logits (T can change later), all residuals at this T, or "
          "the --top largest of them")
      .Default("logits; sparse above " + Count(kSparseAboveClasses) +
               " classes; dense for regression");
  line.Value("--top", &top_, "N", "residuals kept per row, for --form sparse");
  line.Flag("--freeze", &freeze_, "same as --form dense: faster predictions, but T is fixed");
  line.Flag("--half-residuals", &half_residuals_,
            "store residuals in 2 bytes per value, for --form dense and sparse");
  line.Value("--recall", &recall_, "SHARE",
             "also make an index that finds this share of the true neighbors, like 'resmem index'")
      .Default("none: search is exact");
  line.Value("--codes", &code_bits_, "BITS", "bits per value of the index's codes: 8, 4 or 2")
      .Default("as in 'resmem index'")
      .Needs({"--recall"});
  line.Flag("--overwrite", &overwrite_, "replace an existing memory");
  DeclareWait(line, &wait_seconds_);
  parameters_.Declare(line, "");
  model_.Declare(line, /*check=*/false);
  line.Flag("--bundle", &bundle_, "put the model into the memory's folder, like 'resmem bundle'")
      .Needs({"--model"});
  printed_.Declare(line);

  line.AddExample("three files from any framework",
                  "resmem memorize --keys z.npy --logits f.npy --labels y.npy -o my.resmem");
  line.AddExample("one archive, half the size, tied to its model",
                  "resmem memorize --data train.npz --key-type float16 --model net.onnx \\\n"
                  "    --layer pool -o my.resmem");
  line.AddExample("images, through a base model",
                  "resmem memorize --model net.onnx --images cifar100 --part train -o my.resmem");
  line.AddExample("headerless floats",
                  "resmem memorize --keys z.bin,shape=-1x64,dtype=float32 --logits f.npy \\\n"
                  "    --labels y.npy -o my.resmem");
}

Result<MemoryDescription> Memorize::Describe(const Input& input) {
  const Dataset& dataset = input.dataset;
  MemoryDescription description;
  description.task = task_;
  description.dim = dataset.dim();
  description.outputs = dataset.outputs();
  description.key_type = key_type_;
  if (metric_ == KeyTransform::kUnit && key_transform_.value_or(KeyTransform::kUnit) != *metric_) {
    return Status(ErrorCode::kInvalidArgument,
                  std::string("--metric cosine and --key-transform ") +
                      KeyTransformName(*key_transform_) +
                      " exclude each other; cosine is --key-transform unit");
  }
  description.key_transform = key_transform_.value_or(metric_.value_or(KeyTransform::kNone));
  if (freeze_ && form_.has_value() && *form_ == ResidualForm::kLogits) {
    return Status(ErrorCode::kInvalidArgument,
                  "--freeze and --form logits exclude each other; give one of them");
  }
  if (form_.has_value()) {
    description.form = *form_;
  } else if (freeze_ || task_ == Task::kRegression) {
    description.form = ResidualForm::kDense;
  } else if (description.outputs > kSparseAboveClasses) {
    description.form = ResidualForm::kSparse;
  }
  description.top = std::min(top_, description.outputs);
  description.half_residuals = half_residuals_;
  description.cross_fitted = !out_of_fold_logits_.empty();
  description.has_sources = dataset.has_sources();
  RESMEM_ASSIGN_OR_RETURN(description.parameters, parameters_.Apply(Parameters(), task_));
  if (description.parameters.k == 0) {
    return Status(ErrorCode::kInvalidArgument,
                  "--k 0: a memory that consults no neighbors has no effect; give 1 or more");
  }
  RESMEM_ASSIGN_OR_RETURN(description.fingerprint, model_.Resolve());
  const std::string model = model_.Remembered();
  if (!model.empty()) description.notes[kModelNote] = model;
  RememberReading(dataset, &description);
  if (!classes_file_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(description.class_names,
                            ReadClassNames(classes_file_, description.outputs));
  } else if (!dataset.class_names().empty()) {
    description.class_names = dataset.class_names();
  } else if (input.images != nullptr) {
    const std::vector<std::string>& names = input.images->images().class_names();
    if (static_cast<int64_t>(names.size()) == description.outputs) description.class_names = names;
  }
  return description;
}

Result<ExitCode> Memorize::Run(Console& console) {
  AnnounceChange("the memory was written");
  if (bundle_ && model_.Remembered().empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  "--bundle: " + model_.file() +
                      " is no prepared ONNX model; prepare it with: resmem model prepare");
  }
  MemoryWriter::Options options{.overwrite = overwrite_};
  options.change = {wait_seconds_, console.progress()};
  if (recall_.has_value()) {
    options.index = {.recall = *recall_, .code_bits = code_bits_};
    RESMEM_RETURN_IF_ERROR(CheckIndexOptions(*options.index));
  }
  RESMEM_RETURN_IF_ERROR(data_.ReplaceLogits(out_of_fold_logits_));
  if (!classes_file_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(std::vector<std::string> names, ReadClassNames(classes_file_));
    data_.set_class_names(std::move(names));
  }
  if (asked_task_.has_value()) {
    task_ = *asked_task_;
  } else {
    RESMEM_ASSIGN_OR_RETURN(task_, data_.FindTask());
    if (task_ == Task::kRegression) console.Note("the data are those of a regression (--task)");
  }
  RESMEM_ASSIGN_OR_RETURN(const Input input, data_.Open(task_, model_.file(), {output_, nullptr},
                                                        /*threads=*/0, console));
  RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role, roles_.Choose(input.dataset, console));
  RESMEM_ASSIGN_OR_RETURN(const RowSource rows, SelectRows(input.dataset, role));
  RESMEM_ASSIGN_OR_RETURN(MemoryDescription description, Describe(input));
  options.tags = input.dataset.has_tags();
  std::error_code error;
  const bool new_folder = !std::filesystem::exists(output_, error);
  const bool at_once = bundle_ && BundleOfNewMemory::CanBeMade(output_);
  if (at_once) RESMEM_RETURN_IF_ERROR(BundleOfNewMemory::Describe(model_.file(), &description));
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(output_, description, rows.rows(), options));
  std::optional<BundleOfNewMemory> carried;
  if (at_once) {
    RESMEM_ASSIGN_OR_RETURN(
        BundleOfNewMemory copied,
        BundleOfNewMemory::Copy(output_, model_.file(), description, new_folder));
    carried.emplace(std::move(copied));
  }
  LogitsCheck check;
  const bool classification = task_ == Task::kClassification;
  const Status written = WriteRows(classification ? check.Watch(rows) : rows, &writer, console);
  if (carried.has_value() && (written.ok() || ChangeWasMade())) carried->Keep();
  RESMEM_RETURN_IF_ERROR(written);
  if (bundle_ && !at_once) {
    AnnounceChange("the memory was written",
                   "the memory was written, without its model (resmem bundle)");
    RESMEM_RETURN_IF_ERROR(BundleModel(output_, model_.file(), options.change).status());
  }
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                          ResidualMemory::Open(output_, {.verify_blocks = false}));
  WarnIfNothingToAdd(memory, console);
  if (classification) check.Warn(console);
  Table table = MemoryTable(output_, memory);
  if (classification) {
    table.AddRow({"base", "right on " + Percent(check.accuracy()) + " of these rows" +
                              (description.cross_fitted ? ", out of fold" : "")});
  }
  RESMEM_RETURN_IF_ERROR(printed_.Print(output_, memory, data_.Paths(), table.Text(), console));
  RESMEM_ASSIGN_OR_RETURN(const SnapshotList snapshots, ListSnapshots(output_, memory));
  if (!snapshots.snapshots.empty()) {
    std::string names;
    for (const SnapshotInfo& info : snapshots.snapshots) {
      names += (names.empty() ? "" : ", ") + info.name;
    }
    console.Note(output_ + ": snapshots of the former memory stay: " + names +
                 "; to go back: resmem rollback; to remove them: resmem snapshot drop");
  }
  std::vector<std::string> next = {"tune", output_, input.images != nullptr ? "--images" : "--data",
                                   "VALIDATION"};
  if (input.images == nullptr) model_.AddWords(output_, memory.description(), &next);
  SuggestNext(next, console);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeMemorize() {
  return std::make_unique<Memorize>();
}

}  // namespace resmem::cli
