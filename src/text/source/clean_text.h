// Text that is UTF-8 and has no NUL, whatever it was.
#ifndef RESMEM_TEXT_SOURCE_CLEAN_TEXT_H_
#define RESMEM_TEXT_SOURCE_CLEAN_TEXT_H_

#include <string>

#include "resmem/lm/text_counts.h"

namespace resmem {

// Each byte that is part of no character becomes U+FFFD, each NUL a blank; both are counted.
// Sound text is given back as it is.
std::string CleanText(std::string text, TextCounts* counts);

}  // namespace resmem

#endif  // RESMEM_TEXT_SOURCE_CLEAN_TEXT_H_
