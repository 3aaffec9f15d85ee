#ifndef RESMEM_REPORT_PAGE_STYLE_H_
#define RESMEM_REPORT_PAGE_STYLE_H_

#include <string_view>

#include "report/html.h"

namespace resmem {

// style.css, which CMake puts into the library, and the SHA-256 of its text in hex.
Html StyleSheet();
std::string_view StyleSheetSha256();

}  // namespace resmem

#endif  // RESMEM_REPORT_PAGE_STYLE_H_
