#include "inputs/model_options.h"

#include <sys/stat.h>

#include <algorithm>

#include "resmem/head_check.h"

namespace resmem::cli {

std::string FingerprintText(const Fingerprint& fingerprint) {
  std::string text;
  if (!fingerprint.digest.empty()) text = "model " + fingerprint.digest;
  if (!fingerprint.layer.empty())
    text += (text.empty() ? "" : ", ") + ("layer " + fingerprint.layer);
  return text.empty() ? "no model" : text;
}

void ModelOptions::Declare(CommandLine& line, bool check) {
  line.Group("Model");
  line.Value("--model", &model_, "FILE|NAME",
             check ? "the model that made these arrays; another one than the memory's is refused"
                   : "the model that made the arrays: its file, or your name for it; later "
                     "arrays must come from the same")
      .File();
  line.Value("--layer", &layer_, "NAME", "the layer whose output the keys are");
  if (check) {
    line.Flag("--any-model", &any_model_, "use the arrays without asking which model made them");
  }
}

Result<Fingerprint> ModelOptions::Resolve() const {
  Fingerprint fingerprint;
  fingerprint.layer = layer_;
  if (model_.empty()) return fingerprint;
  struct stat present {};
  if (stat(model_.c_str(), &present) == 0 && S_ISREG(present.st_mode)) {
    RESMEM_ASSIGN_OR_RETURN(fingerprint.digest, DigestFile(model_));
  } else if (model_.find('/') != std::string::npos) {
    return Status(ErrorCode::kNotFound,
                  "--model " + model_ + ": no such file; a model's own name has no slash in it");
  } else {
    fingerprint.digest = model_;
  }
  return fingerprint;
}

Status ModelOptions::CheckFingerprint(const std::string& memory_path, const Fingerprint& memory,
                                      Console& console) const {
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint given, Resolve());
  if (memory.empty()) {
    if (!given.empty()) {
      console.Note(memory_path + " does not know which model made it: --model is not checked");
    }
    return {};
  }
  if (given == memory) return {};
  return Status(ErrorCode::kMismatch,
                memory_path + " was made with " + FingerprintText(memory) + ", but " +
                    (given.empty() ? "no --model was given"
                                   : "these arrays come from " + FingerprintText(given)) +
                    "; give that model and layer with --model and --layer, or --any-model if you "
                    "are sure");
}

Status ModelOptions::Check(const std::string& memory_path, const ResidualMemory& memory,
                           const Dataset& dataset, Console& console) const {
  if (any_model_) return {};
  const MemoryDescription& description = memory.description();
  RESMEM_RETURN_IF_ERROR(CheckFingerprint(memory_path, description.fingerprint, console));
  constexpr int64_t kLookedAt = 256;
  Dataset::Block block;
  RESMEM_RETURN_IF_ERROR(dataset.Read(0, std::min(kLookedAt, dataset.rows()), &block));
  if (!CheckHead(memory, block.view.keys, block.view.logits).another_model()) return {};
  return Status(ErrorCode::kMismatch,
                "these logits do not follow from these keys as they do in " + memory_path +
                    ": another model made them, or keys and logits are not in the same order; give "
                    "arrays of the memory's model, or --any-model if you are sure");
}

}  // namespace resmem::cli
