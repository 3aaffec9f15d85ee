#include "inputs/model_options.h"

#include <sys/stat.h>

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

Status ModelOptions::Check(const std::string& memory_path, const MemoryDescription& memory,
                           Console& console) const {
  if (any_model_) return {};
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint given, Resolve());
  if (memory.fingerprint.empty()) {
    if (!given.empty()) {
      console.Note(memory_path + " does not know which model made it: --model is not checked");
    }
    return {};
  }
  if (given == memory.fingerprint) return {};
  return Status(ErrorCode::kMismatch,
                memory_path + " was made with " + FingerprintText(memory.fingerprint) + ", but " +
                    (given.empty() ? "no --model was given"
                                   : "these arrays come from " + FingerprintText(given)) +
                    "; give that model and layer with --model and --layer, or --any-model if you "
                    "are sure");
}

}  // namespace resmem::cli
