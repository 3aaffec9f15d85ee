// NumPy's .npz: a zip of .npy files.  Stored members are mapped where they lie; deflated ones
// are inflated when opened, and their checksum is checked.
#ifndef RESMEM_DATA_FORMATS_NUMPY_NPZ_H_
#define RESMEM_DATA_FORMATS_NUMPY_NPZ_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

bool LooksLikeZip(ByteSpan bytes);

Result<FileContent> ReadNpz(const std::string& name, const SharedBytes& bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_NUMPY_NPZ_H_
