// The folder that a reproduction on text works in, and the text that it is about:
//
//   DATA/t5-tokenizer/spiece.model       the tokenizer
//   DATA/enwiki2015/train.* valid.* test.*   learned and memorized; tuned on; judged on
//   DATA/wikitext-valid-test/wikitext-103.test.*   judged on as well, from another source;
//   DATA/c4-sample/c4*                             either may be missing
//
//   WORK/tokens/NAME.tokens   WORK/run   WORK/memory   WORK/steps/NAME.json
//
// A text may be in any form and compression that `resmem lm tokens` reads.
#ifndef RESMEM_LAB_REPRODUCE_LM_WORKSPACE_H_
#define RESMEM_LAB_REPRODUCE_LM_WORKSPACE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console/console.h"
#include "lm_training/lm_training.h"
#include "reproduce/json.h"
#include "resmem/lm/token_rows.h"
#include "resmem/lm/tokenizer.h"

namespace resmem::cli::reproduce::lm {

struct WorkspaceOptions {
  std::string data, folder;
  std::string run;  // a training run that is there; empty: one is made in WORK/run
  std::string network = "t5-d256-l4-h4-f1024";
  bool quick = false;
  int64_t tokens_kept = 10'000'000;  // in the memory; whole documents, at least so many
  int64_t tune_tokens = 16'000;      // of the validation text
  int64_t eval_tokens = 100'000;     // of each text that is judged; 0: all
  int64_t exact_tokens = 40'000;     // where every key is searched; 0: all
  double recall = 0.95;
  OnnxOptions runtime;
};

struct TextSet {
  std::string name;   // "test"
  std::string title;  // "Wikipedia, held out"
  std::string file;
  bool judged = false, in_domain = true;
};

class Workspace {
 public:
  // Makes the folders.  kNotFound with the place where a text was looked for.
  static Result<Workspace> Open(WorkspaceOptions options, Console& console);

  const WorkspaceOptions& options() const { return options_; }
  Console& console() const { return *console_; }
  int threads() const { return options_.runtime.threads; }
  const std::string& data_digest() const { return data_digest_; }
  const std::vector<TextSet>& sets() const { return sets_; }  // train, valid, then those judged
  const TextSet& set(const std::string& name) const;

  std::string tokenizer() const { return options_.data + "/t5-tokenizer/spiece.model"; }
  std::string tokens(const std::string& set) const {
    return options_.folder + "/tokens/" + set + ".tokens";
  }
  bool trains() const { return options_.run.empty(); }
  std::string run() const { return trains() ? options_.folder + "/run" : options_.run; }
  std::string model() const { return run() + "/last.onnx"; }
  std::string memory() const { return options_.folder + "/memory"; }
  // Of the run that is made here.
  LmRecipe Recipe() const;

  Result<TokenModel> OpenModel() const {
    return TokenModel::Open(model(), TokenEngine::kAuto, options_.runtime);
  }
  // Files are not verified: the steps that make them do.
  Result<ResidualMemory> OpenMemory(bool exact = false) const;

 private:
  Workspace(WorkspaceOptions options, Console& console)
      : options_(std::move(options)), console_(&console) {}

  WorkspaceOptions options_;
  Console* console_;
  std::vector<TextSet> sets_;
  std::string data_digest_;
};

// How many documents, from the first, hold at least `rows` rows; 0 rows: all of them.
int64_t DocumentsHolding(const TokenSet& set, int64_t rows);
// Rows of the first so many documents.
int64_t RowsOfDocuments(const TokenSet& set, int64_t documents);

// What the language model makes of the first documents of a token set.
class ModelRows {
 public:
  static Result<std::unique_ptr<ModelRows>> Open(const Workspace& workspace, const std::string& set,
                                                 int64_t rows);
  const TokenRows& rows() const { return *rows_; }
  const TokenSet& set() const { return set_; }

 private:
  ModelRows(TokenModel model, TokenSet set) : model_(std::move(model)), set_(std::move(set)) {}
  TokenModel model_;
  TokenSet set_;
  std::optional<TokenRows> rows_;
};

}  // namespace resmem::cli::reproduce::lm

#endif  // RESMEM_LAB_REPRODUCE_LM_WORKSPACE_H_
