// The smallest form whose answers lose no more than asked.
#ifndef RESMEM_TUNE_COMPRESSION_CHOICE_H_
#define RESMEM_TUNE_COMPRESSION_CHOICE_H_

#include <cstdint>
#include <vector>

#include "resmem/compress.h"

namespace resmem {

// What a form answers for each row.
struct FormOutcome {
  std::vector<uint8_t> right;
  std::vector<double> nll;
};

struct JudgedForm {
  StoredForm form;
  int64_t bytes = 0;
  const FormOutcome* outcome = nullptr;
};

Status CheckCompressionOptions(const CompressionOptions& options);

// `forms.front()` is the memory as it is, to which the others are compared; its outcome loses
// nothing.  Sets all of the result but `rows`.
Result<Compression> ChooseForm(const std::vector<JudgedForm>& forms,
                               const CompressionOptions& options);

}  // namespace resmem

#endif  // RESMEM_TUNE_COMPRESSION_CHOICE_H_
