#include "inputs/images/model_options.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "inputs/logits_check.h"
#include "inputs/memory_options.h"
#include "resmem/data/new_classes.h"
#include "resmem/head_check.h"
#include "resmem/models/bundle.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {
namespace {

bool IsFile(const std::string& path) {
  struct stat present {};
  return stat(path.c_str(), &present) == 0 && S_ISREG(present.st_mode);
}

// Has a manifest of ours beside it, so that it can be run.
bool IsPrepared(const std::string& model) {
  return IsFile(model) && ReadModelManifest(model).ok();
}

// Probabilities where the memory has logits, or logits where it has logarithms of probabilities.
Status CheckProbabilities(const std::string& memory_path, const MemoryDescription& memory,
                          const Dataset& dataset, const Rows& rows, Console& console) {
  if (memory.task == Task::kRegression || dataset.probability_floor().has_value()) return {};
  if (!AllProbabilities(rows.logits)) return {};
  if (FloorOf(memory).has_value()) {
    return {ErrorCode::kBadData,
            memory_path +
                " was made of probabilities, and these logits are probabilities (none is "
                "below 0, and each row sums to 1); give them with --probabilities FILE"};
  }
  console.Warn(kProbabilitiesAsked);
  return {};
}

}  // namespace

std::string FingerprintText(const Fingerprint& fingerprint) {
  std::string text;
  if (!fingerprint.digest.empty()) text = "model " + fingerprint.digest;
  if (!fingerprint.layer.empty())
    text += (text.empty() ? "" : ", ") + ("layer " + fingerprint.layer);
  return text.empty() ? "no model" : text;
}

void ModelOptions::AddWords(const std::string& memory_path, const MemoryDescription& memory,
                            std::vector<std::string>* words) const {
  if (memory.fingerprint.empty()) return;
  const std::string remembered = RememberedModel(memory_path, memory.notes);
  const std::string model = !model_.empty() ? model_ : !remembered.empty() ? remembered : "MODEL";
  words->insert(words->end(), {"--model", model});
  if (!layer_.empty()) words->insert(words->end(), {"--layer", layer_});
}

void ModelOptions::Declare(CommandLine& line, bool check) {
  line.Group("Model");
  line.Value("--model", &model_, "FILE|NAME",
             check ? "the model that made these arrays; a model other than the memory's is "
                     "refused. For images: the base model to run"
                   : "the model that made the arrays: its file, or your name for it; later arrays "
                     "must come from the same model. For images: the base model to run")
      .File()
      .Needs(kRowInputs);
  line.Value("--layer", &layer_, "NAME", "the layer whose outputs are the keys").Needs(kRowInputs);
  if (check) {
    line.Flag("--any-model", &any_model_, "use the rows without checking which model made them")
        .Needs(kRowInputs);
  }
}

Result<Fingerprint> ModelOptions::Resolve() const {
  Fingerprint fingerprint;
  fingerprint.layer = layer_;
  if (model_.empty()) return fingerprint;
  if (IsPrepared(model_)) {
    RESMEM_ASSIGN_OR_RETURN(fingerprint, FingerprintModel(model_));
    if (layer_.empty() || layer_ == fingerprint.layer) return fingerprint;
    return Status(ErrorCode::kMismatch, "--layer " + layer_ + ": " + model_ +
                                            " was prepared with the embedding " +
                                            fingerprint.layer + "; leave --layer out");
  }
  if (IsFile(model_)) {
    RESMEM_ASSIGN_OR_RETURN(fingerprint.digest, DigestFile(model_));
  } else if (model_.find('/') != std::string::npos) {
    return Status(ErrorCode::kNotFound,
                  "--model " + model_ + ": no such file; a model's own name has no slash in it");
  } else {
    fingerprint.digest = model_;
  }
  return fingerprint;
}

std::string ModelOptions::Remembered() const {
  if (!IsPrepared(model_)) return "";
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(model_, error);
  return error ? model_ : path.lexically_normal().string();
}

Result<std::string> ModelOptions::FileFor(const std::string& memory_path,
                                          const ResidualMemory& memory) const {
  if (!model_.empty()) return model_;
  const MemoryNotes& notes = memory.description().notes;
  const std::string remembered = RememberedModel(memory_path, notes);
  if (remembered.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  memory_path +
                      " does not remember a model that could be run; give "
                      "--model FILE.onnx");
  }
  RESMEM_RETURN_IF_ERROR(VerifyBundle(memory_path, notes, memory.description().fingerprint));
  if (IsFile(remembered)) return remembered;
  return Status(ErrorCode::kNotFound, memory_path + " was made with " + remembered +
                                          ", which no longer exists; give --model FILE.onnx");
}

Status ModelOptions::CheckFingerprint(const std::string& memory_path, const Fingerprint& memory,
                                      const Fingerprint& given, Console& console) const {
  if (any_model_) return {};
  if (memory.empty()) {
    if (!given.empty()) {
      console.Note(memory_path + " does not record which model made it: --model is not checked");
    }
    return {};
  }
  if (given == memory) return {};
  return Status(ErrorCode::kMismatch,
                memory_path + " was made with " + FingerprintText(memory) + ", but " +
                    (given.empty() ? "no --model was given"
                                   : "these rows come from " + FingerprintText(given)) +
                    "; give that model and layer with --model and --layer, or --any-model if you "
                    "are sure");
}

Status ModelOptions::CheckRows(const std::string& memory_path, const ResidualMemory& memory,
                               const Dataset& dataset, Console& console) const {
  if (!dataset.has_logits()) return {};
  constexpr int64_t kLookedAt = 256;
  Dataset::Block block;
  RESMEM_RETURN_IF_ERROR(dataset.Read(0, std::min(kLookedAt, dataset.rows()), &block));
  RESMEM_RETURN_IF_ERROR(
      CheckProbabilities(memory_path, memory.description(), dataset, block.view, console));
  // The logits of new classes are ours, not the last layer's.
  const bool all_of_base = BaseClasses(memory.description()) == dataset.outputs();
  if (any_model_ || !all_of_base ||
      !CheckHead(memory, block.view.keys, block.view.logits).another_model())
    return {};
  return Status(ErrorCode::kMismatch,
                "these logits do not follow from these keys as they do in " + memory_path +
                    ": another model made them, or keys and logits are not in the same order; give "
                    "arrays of the memory's model, or --any-model if you are sure");
}

bool ModelOptions::ReadsTables(const std::string& memory_path,
                               const MemoryDescription& memory) const {
  const auto manifest =
      ReadModelManifest(!model_.empty() ? model_ : RememberedModel(memory_path, memory.notes));
  return manifest.ok() && manifest->columns > 0;
}

Result<Input> ModelOptions::OpenInput(const DatasetOptions& data, const std::string& memory_path,
                                      const ResidualMemory& memory, int threads,
                                      Console& console) const {
  const MemoryDescription& description = memory.description();
  std::string file;
  if (data.from_images() || data.has_inputs() ||
      (data.may_need_model() && ReadsTables(memory_path, description))) {
    // Another model is refused before it is run.
    RESMEM_ASSIGN_OR_RETURN(file, FileFor(memory_path, memory));
    RESMEM_ASSIGN_OR_RETURN(const Fingerprint given, FingerprintModel(file));
    RESMEM_RETURN_IF_ERROR(CheckFingerprint(memory_path, description.fingerprint, given, console));
  }
  RESMEM_ASSIGN_OR_RETURN(Input input, data.Open(description.task, file,
                                                 {memory_path, &description}, threads, console));
  RESMEM_RETURN_IF_ERROR(CheckShapes(memory_path, description, input.dataset));
  if (!input.dataset.made() && !any_model_) {
    RESMEM_ASSIGN_OR_RETURN(const Fingerprint given, Resolve());
    RESMEM_RETURN_IF_ERROR(CheckFingerprint(memory_path, description.fingerprint, given, console));
  }
  RESMEM_RETURN_IF_ERROR(CheckRows(memory_path, memory, input.dataset, console));
  return input;
}

}  // namespace resmem::cli
