// resmem embed: a base model over a data set; the arrays that the other commands read.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/images/runtime_options.h"
#include "inputs/logits_check.h"
#include "inputs/row_range.h"
#include "outputs/output_paths.h"
#include "process/last_words.h"
#include "resmem/data/array.h"
#include "resmem/models/embedding_folder.h"
#include "resmem/models/image_set.h"
#include "resmem/models/onnx_model.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {
namespace {

class Embed : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status OpenImages(const OnnxModel& model, Console& console);
  Status OpenTable(const OnnxModel& model);
  Status CheckLabels(const OnnxModel& model) const;
  // Leaves the rows of --rows, of `all`.
  Status ChooseRows(int64_t all);
  Status DescribeData(const std::vector<std::string>& paths);
  Status Print(const EmbeddedRows& done, double seconds, Console& console) const;

  std::string model_path_, data_, output_, part_, range_, labels_path_, split_path_;
  std::optional<int64_t> resize_;
  std::optional<Role> role_;
  OnnxOptions runtime_;
  EmbeddingFolderOptions options_;

  std::optional<ImageSet> images_;
  std::optional<Array> table_;
  int64_t first_ = 0;  // row of the data that is the first to be embedded
  std::vector<int32_t> labels_;
  std::vector<Role> roles_;  // of the rows chosen; empty: all have rows_.role
  RowsToEmbed rows_;
};

// A model counts the rows that it was given.
Status FromRow(int64_t begin, const Status& status) {
  if (status.code() != ErrorCode::kBadData || begin == 0) return status;
  return {status.code(), status.message() + " (counted from row " + std::to_string(begin) + ")"};
}

void Embed::Declare(CommandLine& line) {
  line.About("compute keys and logits of a data set with a base model",
             "Writes keys.npy, logits.npy and, if known, labels.npy, sources.npy and split.npy "
             "into a folder that other commands take as --data. If it is stopped or killed, the "
             "same command continues where it was.");
  line.Argument("MODEL", &model_path_, "FILE.onnx from resmem model prepare or resmem train")
      .File();
  line.Argument("DATA", &data_,
                "images: CIFAR or IDX files or their folder, .npy, .npz:member, PNG, JPEG, a "
                "folder of those, or one folder per class; for a table model, any array")
      .File();
  line.Choice<std::string, std::string>(
      "--part", &part_, {{"train", "train"}, {"test", "test"}},
      "which part of a folder that holds both to read; marks all its rows accordingly");
  DeclareRowRange(line, &range_);
  line.Value("--labels", &labels_path_, "FILE", "class numbers, one per row")
      .Default("the images' own labels")
      .File();
  line.Choice<std::optional<Role>, Role>(
      "--role", &role_,
      {{"train", Role::kTrain}, {"validation", Role::kValidation}, {"test", Role::kTest}},
      "what these rows are, recorded in split.npy; resmem tune refuses test rows");
  line.Value("--split", &split_path_, "FILE",
             "train, validation or test for each row, instead of --role, such as the split.npy of "
             "'resmem train --validation-rows'")
      .File()
      .Excludes({"--role"});
  line.Value("--resize", &resize_, "N",
             "resize the shorter side of each image to N pixels, then crop the center")
      .Default("from the model's manifest");
  line.Group("Output");
  line.Value("--output", &output_, "FOLDER",
             "folder for the arrays; appears when they are complete")
      .Short("-o")
      .Required()
      .Folder();
  line.Flag("--overwrite", &options_.overwrite, "replace arrays made from something else");
  line.Group("Runtime");
  DeclareRuntime(line, &runtime_);
  DeclareThreads(line, &runtime_.threads);
  line.AddExample("both parts of CIFAR-100",
                  "resmem embed base.onnx cifar100 --part train -o arrays/train\n"
                  "resmem embed base.onnx cifar100 --part test -o arrays/test\n"
                  "resmem memorize --data arrays/train --model base.onnx -o my.resmem\n"
                  "resmem eval my.resmem --data arrays/test --model base.onnx");
}

Status Embed::ChooseRows(int64_t all) {
  RESMEM_ASSIGN_OR_RETURN(const auto range, ParseRowRange(range_, all, data_));
  first_ = range.first;
  rows_.rows = range.second - range.first;
  if (!range_.empty()) {
    rows_.made_from.push_back("rows " + std::to_string(range.first) + " to " +
                              std::to_string(range.second));
  }
  if (!split_path_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(const ArraySource split, ParseArraySource(split_path_));
    RESMEM_ASSIGN_OR_RETURN(roles_, ReadSplit(split, all));
    roles_.erase(roles_.begin() + range.second, roles_.end());
    roles_.erase(roles_.begin(), roles_.begin() + range.first);
  }
  if (labels_.empty()) return {};
  labels_.erase(labels_.begin() + range.second, labels_.end());
  labels_.erase(labels_.begin(), labels_.begin() + range.first);
  return {};
}

// A line for each file, so that work does not go on with another file of the same name.
Status Embed::DescribeData(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
      return {ErrorCode::kNotFound, path + ": no longer exists"};
    }
    rows_.made_from.push_back(path + ", " + std::to_string(info.st_size) + " bytes, changed at " +
                              std::to_string(info.st_mtim.tv_sec));
  }
  return {};
}

Status Embed::OpenImages(const OnnxModel& model, Console& console) {
  const ModelManifest& manifest = model.manifest();
  ImageSetSource source;
  source.path = data_;
  source.part = part_;
  source.labels = labels_path_;
  source.shape = ImageShape{manifest.height, manifest.width, manifest.channels};
  source.resize = resize_.value_or(manifest.resize);
  source.class_names = manifest.class_names;
  source.classes = manifest.classes;
  RESMEM_ASSIGN_OR_RETURN(images_, ImageSet::Open(source));
  for (const std::string& note : images_->notes()) console.Note(note);
  labels_ = images_->labels();
  RESMEM_RETURN_IF_ERROR(ChooseRows(images_->size()));
  // As many as are decoded in a moment, whatever their size.
  constexpr int64_t kBytes = int64_t{32} << 20;
  const int64_t image_bytes = images_->shape().bytes();
  rows_.block = std::clamp<int64_t>(kBytes / image_bytes / 64 * 64, 64, 1024);
  rows_.run = [this, &model, pixels = std::vector<uint8_t>()](
                  int64_t begin, int64_t count, std::span<float> keys,
                  std::span<float> logits) mutable -> Status {
    pixels.resize(static_cast<size_t>(count * images_->shape().bytes()));
    RESMEM_RETURN_IF_ERROR(images_->Read(first_ + begin, count, pixels, runtime_.threads));
    return FromRow(first_ + begin, model.Run(pixels, count, keys, logits));
  };
  rows_.source = [this](int64_t row) { return images_->name(first_ + row); };
  rows_.made_from.push_back("images with the shorter side at " + std::to_string(source.resize));
  return DescribeData(images_->paths());
}

Status Embed::OpenTable(const OnnxModel& model) {
  if (!part_.empty() || resize_.has_value()) {
    return {ErrorCode::kInvalidArgument,
            model_path_ + " takes rows of numbers; --part and --resize are for images"};
  }
  RESMEM_ASSIGN_OR_RETURN(const ArraySource source, ParseArraySource(data_));
  RESMEM_ASSIGN_OR_RETURN(table_, OpenArray(source));
  if (table_->columns() != model.manifest().columns) {
    return {ErrorCode::kMismatch, data_ + ": has " + Counted(table_->columns(), "column") +
                                      ", but the model takes " + Count(model.manifest().columns)};
  }
  rows_.block = std::clamp<int64_t>((int64_t{1} << 22) / table_->columns() / 64 * 64, 64, 16384);
  rows_.run = [this, &model, values = std::vector<float>()](
                  int64_t begin, int64_t count, std::span<float> keys,
                  std::span<float> logits) mutable -> Status {
    values.resize(static_cast<size_t>(count * table_->columns()));
    RESMEM_RETURN_IF_ERROR(table_->ReadFloats(first_ + begin, count, values));
    const MatrixView rows(values.data(), count, table_->columns());
    return FromRow(first_ + begin, model.RunFloats(rows, keys, logits));
  };
  RESMEM_RETURN_IF_ERROR(DescribeData({FilePart(data_)}));
  if (labels_path_.empty()) return ChooseRows(table_->rows());
  RESMEM_ASSIGN_OR_RETURN(const ArraySource labels_source, ParseArraySource(labels_path_));
  RESMEM_ASSIGN_OR_RETURN(const Array labels, OpenArray(labels_source));
  if (labels.rows() != table_->rows() || labels.columns() != 1) {
    return {ErrorCode::kBadData, labels_path_ + ": is " + Count(labels.rows()) + " x " +
                                     Count(labels.columns()) + ", but " + data_ + " has " +
                                     Counted(table_->rows(), "row") + "; give one label per row"};
  }
  std::vector<int64_t> numbers(static_cast<size_t>(labels.rows()));
  RESMEM_RETURN_IF_ERROR(labels.ReadIntegers(0, labels.rows(), numbers));
  for (const int64_t number : numbers) {
    labels_.push_back(static_cast<int32_t>(std::clamp<int64_t>(number, -1, INT32_MAX)));
  }
  return ChooseRows(table_->rows());
}

Status Embed::CheckLabels(const OnnxModel& model) const {
  const int64_t classes = model.manifest().classes;
  for (size_t row = 0; row < labels_.size(); ++row) {
    if (labels_[row] >= 0 && labels_[row] < classes) continue;
    return {ErrorCode::kBadData,
            data_ + ": row " + std::to_string(first_ + static_cast<int64_t>(row)) + " has label " +
                std::to_string(labels_[row]) + ", but the model has " + Count(classes) +
                " classes, numbered from 0"};
  }
  return {};
}

Status Embed::Print(const EmbeddedRows& done, double seconds, Console& console) const {
  Table table = Table::Facts();
  table.AddRow({"arrays", output_ + ": " + Counted(rows_.rows, "row") + ", keys of " +
                              Counted(rows_.dim, "value") + ", logits of " + Count(rows_.outputs) +
                              " classes"});
  if (!labels_.empty()) {
    const double accuracy = static_cast<double>(done.correct) / static_cast<double>(rows_.rows);
    table.AddRow({"accuracy", Percent(accuracy) + " by the base"});
  }
  const int64_t run = rows_.rows - done.found;
  const auto rate = static_cast<int64_t>(static_cast<double>(run) / std::max(seconds, 1e-9));
  table.AddRow(
      {"run",
       run == 0
           ? "nothing to do: the arrays were already complete"
           : Counted(run, "row") + " in " + Duration(seconds) + ", " + Count(rate) + " rows/s" +
                 (done.found == 0 ? "" : "; " + Count(done.found) + " kept from an earlier run")});
  RESMEM_RETURN_IF_ERROR(PrintResult(table.Text()));
  if (!labels_.empty()) WarnOfChance(done.correct, rows_.rows, rows_.outputs, console);
  Role role = rows_.role.value_or(Role::kTrain);
  if (!roles_.empty()) {  // Role's order is that in which rows are used
    role = *std::min_element(roles_.begin(), roles_.end());
  }
  std::vector<std::string> next;
  if (labels_.empty()) {
    next = {"predict", "MEMORY.resmem", "--data", output_, "--model", model_path_};
  } else if (role == Role::kTrain) {
    next = {"memorize", "--data", output_, "--model", model_path_, "-o", "NEW.resmem"};
  } else {
    next = {role == Role::kValidation ? "tune" : "eval",
            "MEMORY.resmem",
            "--data",
            output_,
            "--model",
            model_path_};
  }
  SuggestNext(next, console);
  return {};
}

Result<ExitCode> Embed::Run(Console& console) {
  std::vector<OutputPath> written;
  for (const char* name : {"keys.npy", "logits.npy", "labels.npy", "sources.npy", "split.npy"}) {
    written.push_back({"-o", output_ + "/" + name});
  }
  RESMEM_RETURN_IF_ERROR(CheckOutputPaths(
      written, {model_path_, FilePart(data_), FilePart(labels_path_), FilePart(split_path_)}));
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(model_path_, runtime_));
  if (model.manifest().takes_tokens()) {
    return Status(ErrorCode::kMismatch,
                  model_path_ + ": a language model; use resmem lm memorize for its tokens");
  }
  rows_.dim = model.manifest().dim;
  rows_.outputs = model.manifest().classes;
  rows_.made_from = {FingerprintText(model.fingerprint())};
  RESMEM_RETURN_IF_ERROR(model.manifest().takes_images() ? OpenImages(model, console)
                                                         : OpenTable(model));
  RESMEM_RETURN_IF_ERROR(CheckLabels(model));
  rows_.labels = labels_;
  if (!labels_path_.empty()) RESMEM_RETURN_IF_ERROR(DescribeData({FilePart(labels_path_)}));
  rows_.role = role_;
  rows_.roles = roles_;
  if (!role_ && !part_.empty()) rows_.role = part_ == "train" ? Role::kTrain : Role::kTest;
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(output_).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) {
    return Status(CodeOfSystemError(error.value()),
                  parent.string() + ": the folder cannot be made: " + error.message());
  }
  options_.progress = console.progress();
  const double begin = console.SecondsSinceStart();
  RESMEM_ASSIGN_OR_RETURN(const EmbeddedRows done, WriteEmbeddingFolder(rows_, output_, options_));
  AnnounceOutput("the arrays are complete");
  RESMEM_RETURN_IF_ERROR(Print(done, console.SecondsSinceStart() - begin, console));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeEmbed() {
  return std::make_unique<Embed>();
}

}  // namespace resmem::cli
