// What was found while text was read: nothing is left out or changed silently.
#ifndef RESMEM_LM_TEXT_COUNTS_H_
#define RESMEM_LM_TEXT_COUNTS_H_

#include <cstdint>

namespace resmem {

struct TextCounts {
  int64_t files = 0;
  int64_t bytes = 0;            // after unpacking
  int64_t documents = 0;        // given
  int64_t empty_documents = 0;  // nothing but white space: left out
  int64_t broken_records = 0;   // a JSON line without a text, a <doc> without its end: left out
  int64_t cut_documents = 0;    // too long for one document: split into several
  int64_t bad_bytes = 0;        // not UTF-8: each replaced by U+FFFD
  int64_t nul_bytes = 0;        // each replaced by a space

  bool operator==(const TextCounts&) const = default;
};

}  // namespace resmem

#endif  // RESMEM_LM_TEXT_COUNTS_H_
