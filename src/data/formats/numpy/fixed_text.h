// Text of NumPy's fixed-width types, as UTF-8.
#ifndef RESMEM_DATA_FORMATS_NUMPY_FIXED_TEXT_H_
#define RESMEM_DATA_FORMATS_NUMPY_FIXED_TEXT_H_

#include <string>

#include "data/file_bytes.h"
#include "data/layout.h"

namespace resmem {

// Trailing zeros are padding.  A code point that Unicode does not have becomes U+FFFD.
std::string FixedText(TextEncoding encoding, bool swapped, ByteSpan item);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_NUMPY_FIXED_TEXT_H_
