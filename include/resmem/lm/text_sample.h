// Lines sampled from text, to train a tokenizer on more text than fits in memory.
#ifndef RESMEM_LM_TEXT_SAMPLE_H_
#define RESMEM_LM_TEXT_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/lm/text_source.h"
#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

struct TextSampleOptions {
  int64_t lines = 200000;    // kept at most
  int64_t max_bytes = 4000;  // of a line: longer ones are split at spaces
  uint64_t seed = 1;
  Progress* progress = nullptr;
};

struct TextSample {
  std::vector<std::string> lines;  // not blank, in the order of the text
  int64_t lines_read = 0;
};

// Every line of every document has the same chance; the same seed gives the same lines.
Result<TextSample> SampleLines(TextSource* source, const TextSampleOptions& options);

}  // namespace resmem

#endif  // RESMEM_LM_TEXT_SAMPLE_H_
