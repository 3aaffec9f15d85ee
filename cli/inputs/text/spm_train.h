// SentencePiece's own training program, of Debian's package sentencepiece.
#ifndef RESMEM_CLI_INPUTS_TEXT_SPM_TRAIN_H_
#define RESMEM_CLI_INPUTS_TEXT_SPM_TRAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/lm/tokenizer.h"
#include "resmem/status.h"

namespace resmem::cli {

struct SpmTrainOptions {
  TokenizerKind kind = TokenizerKind::kUnigram;
  int64_t pieces = 8000;
  double character_coverage = 0.9995;
};

// Trains on `lines` and writes the model to `path`, which appears when it is complete.  The ids of
// control pieces are T5's: 0 <pad>, 1 </s>, 2 <unk>.  The same lines give the same model: the
// number of threads, which shows in sums, is fixed.
// Errors: kNotFound (the program), kBadData (too little text for so many pieces), kCancelled, kIo.
Status RunSpmTrain(const std::vector<std::string>& lines, const SpmTrainOptions& options,
                   const std::string& path);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TEXT_SPM_TRAIN_H_
