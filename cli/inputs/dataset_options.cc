#include "inputs/dataset_options.h"

#include <sys/stat.h>

#include <utility>

#include "console/values.h"
#include "resmem/data/new_classes.h"
#include "resmem/models/table_model.h"

namespace resmem::cli {
namespace {

Status Usage(std::string message) {
  return Status(ErrorCode::kInvalidArgument, std::move(message));
}

// "-1x64" or "1000x3x32x32"
Result<std::vector<int64_t>> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  for (std::string_view rest = text; !rest.empty() || shape.empty();) {
    const size_t end = rest.find('x');
    int64_t size = 0;
    const Status status = ParseValue(rest.substr(0, end), &size);
    if (!status.ok() || size < -1 || size == 0) {
      return Usage("shape '" + std::string(text) +
                   "' is not a list of sizes such as -1x64; one of them may be -1: as many as the "
                   "file holds");
    }
    shape.push_back(size);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return shape;
}

Status CheckNoUrl(const std::string& path) {
  struct stat present {};
  if (path.find("://") == std::string::npos || stat(path.c_str(), &present) == 0) return {};
  return Usage(path +
               " is a URL, but only files are read; download it first, or pipe a table into "
               "--data -");
}

}  // namespace

std::string FilePart(const std::string& text) {
  const std::string path = text.substr(0, std::min(text.find(",shape="), text.find(",dtype=")));
  struct stat present {};
  const size_t colon = path.rfind(':');
  if (colon == std::string::npos || stat(path.c_str(), &present) == 0) return path;
  return path.substr(0, colon);
}

Result<ArraySource> ParseArraySource(const std::string& text) {
  constexpr std::string_view kShape = ",shape=", kType = ",dtype=";
  const size_t shape = text.find(kShape), type = text.find(kType);
  ArraySource source;
  source.path = text.substr(0, std::min(shape, type));
  if (source.path.empty()) return Usage("'" + text + "' names no file");
  if (shape == std::string::npos && type == std::string::npos) return source;
  if (shape == std::string::npos || type == std::string::npos) {
    return Usage("'" + text + "' needs both shape and dtype: " + source.path +
                 ",shape=-1x64,dtype=float32");
  }
  const auto part = [&](size_t begin, size_t length, size_t other) {
    begin += length;
    return text.substr(begin, other > begin ? other - begin : std::string::npos);
  };
  RESMEM_ASSIGN_OR_RETURN(source.raw_shape, ParseShape(part(shape, kShape.size(), type)));
  RESMEM_ASSIGN_OR_RETURN(source.raw_type, ParseElementType(part(type, kType.size(), shape)));
  return source;
}

void DatasetOptions::Declare(CommandLine& line, DatasetUse use) {
  use_ = use;
  new_memory_ = line.command() == "memorize";
  const bool keys_only = use == DatasetUse::kAsk || use == DatasetUse::kSearch;
  const bool for_answers = use == DatasetUse::kPredict || use == DatasetUse::kSearch;
  line.Group("Input (each FILE may be FILE:member; see 'Files' below)");
  line.Value("--data", &data_, "PATH",
             keys_only
                 ? "folder, .npz or .safetensors with an array 'keys', or a table (.csv, -); the "
                   "options below take precedence"
                 : "folder, .npz or .safetensors whose arrays have the usual names: keys, logits "
                   "or probabilities, labels, ids, sources, split, slices; or a table (.csv, -); "
                   "the options below take precedence")
      .File();
  line.Value("--keys", &keys_, "FILE", "embedding of each row: rows x dim").File();
  if (!keys_only) {
    line.Value("--logits", &logits_, "FILE",
               "the base's output before softmax: rows x classes; for regression, its prediction")
        .File();
    line.Value("--probabilities", &probabilities_, "FILE",
               "instead of --logits, for a base that gives probabilities only, as forests and "
               "boosted trees do: rows x classes, or one column for class 1 of two. Their "
               "logarithms are the logits")
        .File();
    line.Value("--floor", &floor_, "P", "probabilities below it count as it: 0 has no logarithm")
        .Default(new_memory_
                     ? ShowValue(static_cast<double>(kProbabilityFloor))
                     : "the memory's, or " + ShowValue(static_cast<double>(kProbabilityFloor)))
        .Needs(kRowInputs);
  }
  if (use != DatasetUse::kPredict && !keys_only) {
    line.Value("--labels", &labels_, "FILE",
               "class number of each row, counted from 0, or its class name")
        .File();
    line.Value("--targets", &targets_, "FILE", "true values for regression: rows x outputs").File();
  }
  const char* default_ids =
      line.command() == "append" ? "continue after the memory's largest" : "the row's number";
  if (use != DatasetUse::kAsk) {
    line.Value("--ids", &ids_, "FILE", "a whole number for each row")
        .File()
        .Default(for_answers ? "" : default_ids);
  }
  if (use == DatasetUse::kStore) {
    line.Value("--sources", &sources_, "FILE", "text for each row that says where it came from")
        .File();
    line.Value("--tags", &tags_, "FILE",
               "text for each row, such as site=north;time=2026-11-19, for --where "
               "(docs/filters.md)")
        .File();
    line.Value("--tag", &tag_, "TEXT", "tags of all these rows, besides those that they have");
  }
  const bool slices =
      use == DatasetUse::kJudge || use == DatasetUse::kShow || use == DatasetUse::kDiagnose;
  if (slices) {
    line.Value("--slices", &slices_, "FILE",
               "text for each row that names the group it is reported under")
        .File();
  }
  if (!for_answers) {
    line.Value("--split", &split_, "FILE", "train, validation or test for each row").File();
    line.Choice<std::optional<Role>, Role>(
            "--role", &role_,
            {{"train", Role::kTrain}, {"validation", Role::kValidation}, {"test", Role::kTest}},
            "what all rows are, if there is no split")
        .Needs(kRowInputs);
  }
  line.Value("--shape", &shape_, "NxM",
             std::string("shape of --keys if it is a raw file without a header, such as -1x64") +
                 (keys_only ? "" : "; for other arrays: --logits FILE,shape=-1x10,dtype=float32"))
      .Needs({"--keys"})
      .Needs({"--dtype"});
  line.Value("--dtype", &element_type_, "TYPE",
             "element type of --keys if it is a raw file: float32, ...")
      .Needs({"--shape"});
  if (use != DatasetUse::kShow) {  // where images belong to rows by their numbers
    line.Flag("--skip-bad", &skip_bad_,
              "leave out rows with a value that is not finite or missing, or without a label, "
              "instead of stopping; says how many and where")
        .Needs({"--data", "--keys"});
  }
  if (!keys_only) {
    line.Value("--inputs", &inputs_, "FILE",
               "instead of --keys and --logits: rows as they go into a base model of tables, which "
               "computes both (--model; docs/tables.md)")
        .File();
  }
  images_.Declare(line, /*as_arguments=*/for_answers);
  table_.Declare(line, {.new_memory = new_memory_,
                        .labels = !for_answers && !keys_only,
                        .logits = !keys_only,
                        .sources = use == DatasetUse::kStore,
                        .tags = use == DatasetUse::kStore,
                        .split = !for_answers,
                        .slices = slices});
  line.AddSection("Files", "Arrays: " + ArrayFormatsHelp() +
                               "; each also as .xz; raw values with shape and dtype. The first "
                               "dimension counts rows, the "
                               "others are flattened.");
}

// An array that is a column of the table given as --data has that role there.
Status DatasetOptions::AddTable(const Target& target, DatasetSources* sources) const {
  RESMEM_ASSIGN_OR_RETURN(TableSource table, table_.Source(data_, target.name, target.memory));
  const std::string prefix = data_ + ":";
  const auto take = [&](std::optional<ArraySource>* array, std::string* role) {
    if (!array->has_value() || !(*array)->path.starts_with(prefix)) return;
    *role = (*array)->path.substr(prefix.size());
    array->reset();
  };
  take(&sources->labels, &table.roles.label);
  take(&sources->ids, &table.roles.id);
  take(&sources->sources, &table.roles.source);
  take(&sources->split, &table.roles.split);
  take(&sources->slices, &table.roles.slice);
  sources->table = std::move(table);
  sources->all.clear();
  return {};
}

Result<DatasetSources> DatasetOptions::Sources(const Target& target) const {
  if (!given()) {
    const bool keys_only = use_ == DatasetUse::kAsk || use_ == DatasetUse::kSearch;
    return Usage("no input: give --data PATH, or --keys FILE" +
                 std::string(keys_only                      ? ""
                             : use_ == DatasetUse::kPredict ? ", --logits FILE"
                                                            : ", --logits FILE, --labels FILE") +
                 ", or images: --images PATH");
  }
  if (images_.given() && !from_images() && use_ != DatasetUse::kShow) {
    return Usage("arrays (--data, --keys) and images exclude each other; give one of them");
  }
  DatasetSources sources;
  sources.all = data_;
  sources.role = role_;
  if (from_images()) {
    if (!logits_.empty() || !probabilities_.empty()) {
      return Usage(std::string(logits_.empty() ? "--probabilities" : "--logits") +
                   " goes with --keys; for images, the model computes both");
    }
    if (split_.empty() && !role_.has_value()) sources.role = images_.role();
  }
  if (!inputs_.empty() && !(data_.empty() && keys_.empty() && logits_.empty() &&
                            probabilities_.empty() && !images_.given())) {
    return Usage("--inputs takes the place of --data, --keys, --logits and --images");
  }
  const std::pair<const std::string*, std::optional<ArraySource>*> files[] = {
      {&inputs_, &sources.keys},
      {&keys_, &sources.keys},
      {&logits_, &sources.logits},
      {&labels_, &sources.labels},
      {&targets_, &sources.targets},
      {&ids_, &sources.ids},
      {&sources_, &sources.sources},
      {&split_, &sources.split},
      {&slices_, &sources.slices},
      {&tags_, &sources.tags},
      {&probabilities_, &sources.probabilities}};
  for (const auto& [text, source] : files) {
    // The labels of images are checked with them.
    if (text->empty() || (text == &labels_ && from_images())) continue;
    RESMEM_ASSIGN_OR_RETURN(*source, ParseArraySource(*text));
  }
  if (!shape_.empty()) {
    RESMEM_ASSIGN_OR_RETURN(sources.keys->raw_shape, ParseShape(shape_));
    RESMEM_ASSIGN_OR_RETURN(sources.keys->raw_type, ParseElementType(element_type_));
  }
  sources.tag = tag_;
  sources.class_names = class_names_;
  sources.skip_bad = skip_bad_;
  sources.ids_from_numbers = new_memory_;
  if (target.memory != nullptr) {
    sources.class_names = target.memory->class_names;
    if (target.memory->task == Task::kClassification) {
      sources.classes = target.memory->outputs;
      sources.base_classes = BaseClasses(*target.memory);
      sources.new_classes = new_classes_;
    }
    sources.probability_floor = FloorOf(*target.memory).value_or(kProbabilityFloor);
  }
  sources.probability_floor = floor_.value_or(sources.probability_floor);
  if (table_.IsTable(data_)) RESMEM_RETURN_IF_ERROR(AddTable(target, &sources));
  return sources;
}

bool DatasetOptions::may_need_model() const {
  return !inputs_.empty() || (table_.IsTable(data_) && logits_.empty() && probabilities_.empty());
}

Status DatasetOptions::AddModel(const std::string& model, int threads,
                                DatasetSources* sources) const {
  if (!may_need_model() || sources->logits || sources->probabilities) return {};
  if (inputs_.empty()) {
    const TableRoles& roles = sources->table->roles;
    const bool has_outputs = !roles.logits.empty() || !roles.probabilities.empty() ||
                             (sources->table->layout && !sources->table->layout->logits.empty());
    const auto manifest = ReadModelManifest(model);
    if (has_outputs || !manifest.ok() || manifest->columns == 0) return {};
    // The model has learned from values as they are.
    sources->table->roles.scale = TableScale::kNone;
  } else if (model.empty()) {
    return Usage("--inputs needs the base model that reads them: give --model FILE.onnx");
  }
  OnnxOptions runtime = images_.runtime();
  runtime.threads = threads;
  RESMEM_ASSIGN_OR_RETURN(OnnxModel opened, OnnxModel::Open(model, runtime));
  const std::vector<std::string>& names = opened.manifest().class_names;
  if (sources->class_names.empty()) sources->class_names = names;
  RESMEM_ASSIGN_OR_RETURN(sources->model, MakeTableModel(std::move(opened), model));
  return {};
}

Status DatasetOptions::CheckNoUrls() const {
  for (const std::string& path :
       {data_, keys_, logits_, probabilities_, labels_, inputs_, images()}) {
    RESMEM_RETURN_IF_ERROR(CheckNoUrl(path));  // before a colon may mean a member
  }
  return {};
}

Result<Input> DatasetOptions::Open(Task task, const std::string& model, const Target& target,
                                   int threads, Console& console) const {
  RESMEM_RETURN_IF_ERROR(CheckNoUrls());
  RESMEM_ASSIGN_OR_RETURN(DatasetSources sources, Sources(target));
  RESMEM_RETURN_IF_ERROR(AddModel(model, threads, &sources));
  std::shared_ptr<const EmbeddedImages> images;
  if (from_images()) {
    if (model.empty()) {
      return Usage("images need the base model that turns them into rows: give --model FILE.onnx");
    }
    RESMEM_ASSIGN_OR_RETURN(images, images_.Embed(model, labels_, threads, console));
    sources.made = images;
  }
  RESMEM_ASSIGN_OR_RETURN(Dataset dataset, Dataset::Open(sources, task));
  NoteReading(dataset, console);
  if (use_ == DatasetUse::kAsk || use_ == DatasetUse::kSearch || use_ == DatasetUse::kDiagnose) {
    return Input{std::move(dataset), std::move(images)};
  }
  if (!dataset.has_logits()) {
    return Status(ErrorCode::kBadData,
                  "the input has no logits; give the base's outputs with --logits FILE, or its "
                  "probabilities with --probabilities FILE");
  }
  if (use_ != DatasetUse::kPredict && !dataset.has_labels()) {
    return Status(ErrorCode::kBadData,
                  task == Task::kClassification
                      ? "the input has no labels; give --labels FILE" +
                            std::string(images != nullptr ? ", or one folder per class" : "")
                      : "the input has no targets; give --targets FILE");
  }
  return Input{std::move(dataset), std::move(images)};
}

Result<Task> DatasetOptions::FindTask() const {
  RESMEM_RETURN_IF_ERROR(CheckNoUrls());
  if (from_images()) return Task::kClassification;
  RESMEM_ASSIGN_OR_RETURN(const DatasetSources sources, Sources({"", nullptr}));
  return resmem::FindTask(sources);
}

Status DatasetOptions::ReplaceLogits(const std::string& out_of_fold) {
  if (out_of_fold.empty()) return {};
  if (from_images()) {
    return Usage("--out-of-fold-logits goes with --keys; for images, the model computes both");
  }
  if (!logits_.empty() || !probabilities_.empty()) {
    return Usage(std::string(logits_.empty() ? "--probabilities" : "--logits") +
                 " and --out-of-fold-logits exclude each other; give one of them");
  }
  logits_ = out_of_fold;
  return {};
}

std::vector<std::string> DatasetOptions::Paths() const {
  std::vector<std::string> paths = images_.Paths();
  for (const std::string* text : {&data_, &inputs_, &keys_, &logits_, &probabilities_, &labels_,
                                  &targets_, &ids_, &sources_, &split_, &slices_, &tags_}) {
    if (text->empty() || *text == "-") continue;
    const std::string path = FilePart(*text);
    bool repeated = false;
    for (const std::string& other : paths) repeated |= other == path;
    if (!repeated) paths.push_back(path);
  }
  return paths;
}

void DeclareThreads(CommandLine& line, int* threads) {
  Option& option =
      line.Value("--threads", threads, "N", "number of threads; the answer does not depend on it");
  option.Default("all processors");
  option.set = [threads](std::string_view text) {
    RESMEM_RETURN_IF_ERROR(ParseValue(text, threads));
    constexpr int kMostThreads = 1024;
    if (*threads >= 1 && *threads <= kMostThreads) return Status();
    return Usage("'" + std::string(text) + "' is not from 1 to " + std::to_string(kMostThreads) +
                 "; leave it out to use all processors");
  };
}

}  // namespace resmem::cli
