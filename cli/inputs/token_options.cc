#include "inputs/token_options.h"

#include <algorithm>

#include "inputs/dataset_options.h"
#include "inputs/model_options.h"
#include "inputs/runtime_options.h"
#include "resmem/lm/token_memory.h"

namespace resmem::cli {

void TokenModelOptions::Declare(CommandLine& line) {
  line.Value("--model", &path_, "FILE", "FILE.onnx from resmem lm train").Required().File();
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

Status CheckTokenizer(const std::string& path, const Tokenizer& tokenizer,
                      const ResidualMemory& memory) {
  const auto& notes = memory.description().notes;
  const auto note = notes.find("tokenizer");
  if (note == notes.end() || note->second.empty() || note->second == tokenizer.fingerprint()) {
    return {};
  }
  return {ErrorCode::kMismatch, path + ": is the tokenizer " + tokenizer.fingerprint() +
                                    ", but the memory's tokens were made by " + note->second};
}

void DeclareTokenRows(CommandLine& line, TokenRowsOptions* options) {
  line.Value("--documents", &options->documents, "N", "use only the first N documents; 0: all");
  line.Value("--window", &options->shape.length, "TOKENS", "tokens that the model reads at once");
  line.Value("--stride", &options->shape.stride, "TOKENS",
             "tokens from one window to the next; each token counts once and sees at least window "
             "- stride tokens before it, if its document is that long");
}

Result<MemorizedText> MemorizedText::Open(const std::string& path, const ResidualMemory& memory) {
  const auto& notes = memory.description().notes;
  const auto note = [&](const char* name) {
    const auto found = notes.find(name);
    return found == notes.end() ? std::string() : found->second;
  };
  if (note("tokens_fingerprint").empty()) {
    return Status(ErrorCode::kMismatch,
                  "the memory was not made from tokens; make one with: resmem lm memorize");
  }
  const std::string file = path.empty() ? note("tokens") : path;
  RESMEM_ASSIGN_OR_RETURN(TokenSet set, TokenSet::Open(file));
  if (set.fingerprint() != note("tokens_fingerprint")) {
    return Status(ErrorCode::kMismatch,
                  file + ": is not the token set that was memorized; name that one with --tokens");
  }
  return MemorizedText(std::move(set));
}

int64_t MemorizedText::DocumentOf(uint64_t row) const {
  int64_t low = 0, high = set_.documents() - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (set_.document(middle).end - (middle + 1) > static_cast<int64_t>(row)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Result<std::string> MemorizedText::Context(const Tokenizer& tokenizer, uint64_t row,
                                           int64_t tokens) const {
  const int64_t document = DocumentOf(row);
  const int64_t position = static_cast<int64_t>(row) + document;
  const int64_t begin = std::max(set_.document(document).begin, position + 1 - tokens);
  std::vector<int32_t> ids(static_cast<size_t>(position + 1 - begin));
  set_.Read(begin, ids);
  return tokenizer.Decode(ids);
}

std::string_view MemorizedText::Title(uint64_t row) const {
  return set_.title(DocumentOf(row));
}

}  // namespace resmem::cli
