#include "inputs/text/token_options.h"

#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/images/runtime_options.h"
#include "resmem/lm/token_memory.h"

namespace resmem::cli {

void TokenModelOptions::Declare(CommandLine& line) {
  line.Value("--model", &path_, "FILE",
             "FILE.onnx from resmem lm train, or from resmem model prepare")
      .Required()
      .File();
  line.Choice<TokenEngine, TokenEngine>(
      "--engine", &engine_,
      {{"auto", TokenEngine::kAuto},
       {"native", TokenEngine::kNative},
       {"onnxruntime", TokenEngine::kOnnxRuntime}},
      "what runs the model; native: resmem itself, for models from resmem lm train; onnxruntime: "
      "any model; auto: what made the memory, or native if possible for a new one");
  DeclareRuntime(line, &runtime_);
  DeclareThreads(line, &runtime_.threads);
}

Result<TokenModel> TokenModelOptions::OpenFor(const std::string& memory_path,
                                              const ResidualMemory& memory) const {
  TokenEngine engine = engine_;
  const auto& notes = memory.description().notes;
  if (engine == TokenEngine::kAuto && notes.contains(kEngineNote)) {
    engine = ParseTokenEngine(notes.at(kEngineNote));
  }
  RESMEM_ASSIGN_OR_RETURN(TokenModel model, TokenModel::Open(path_, engine, runtime_));
  const Fingerprint& expected = memory.description().fingerprint;
  if (expected.empty() || expected == model.fingerprint()) return model;
  return Status(ErrorCode::kMismatch, memory_path + " was made by " + FingerprintText(expected) +
                                          ", but " + path_ + " is " +
                                          FingerprintText(model.fingerprint()));
}

namespace {

constexpr char kThreeQuarters[] = "three quarters of --window";

int64_t ThreeQuarters(int64_t length) {
  return std::max<int64_t>(1, length / 4 * 3 + length % 4 * 3 / 4);
}

}  // namespace

void TokenRowsChoice::Declare(CommandLine& line, const char* usual_length,
                              const char* usual_stride) {
  line.Value("--documents", &documents_, "N", "use only the first N documents; 0: all");
  line.Value("--window", &length_, "TOKENS", "tokens that the model reads at once")
      .Default(usual_length);
  line.Value("--stride", &stride_, "TOKENS",
             "tokens from one window to the next; each token counts once and sees at least window "
             "- stride tokens before it, if its document is that long")
      .Default(usual_stride);
}

void TokenRowsChoice::DeclareForNew(CommandLine& line) {
  Declare(line, "256, or what the model can read if that is less", kThreeQuarters);
}

void TokenRowsChoice::DeclareForMemory(CommandLine& line) {
  Declare(line, "as memorized", "as memorized; three quarters of --window if that is given");
}

TokenRowsOptions TokenRowsChoice::Choose(WindowShape usual) const {
  if (length_.has_value()) usual = {*length_, ThreeQuarters(*length_)};
  return {{usual.length, stride_.value_or(usual.stride)}, documents_};
}

WindowShape NewWindows(int64_t context, std::optional<int64_t> length,
                       std::optional<int64_t> stride) {
  const int64_t tokens = length.value_or(std::min(WindowShape().length, context));
  return {tokens, stride.value_or(ThreeQuarters(tokens))};
}

TokenRowsOptions TokenRowsChoice::ForNew(const TokenModel& model) const {
  return {NewWindows(model.manifest().context, length_, stride_), documents_};
}

TokenRowsOptions TokenRowsChoice::ForMemory(const ResidualMemory& memory) const {
  WindowShape shape;
  const auto& notes = memory.description().notes;
  if (const auto found = notes.find(kWindowsNote); found != notes.end()) {
    shape = ParseWindows(found->second).value_or(shape);
  }
  return Choose(shape);
}

}  // namespace resmem::cli
