// safetensors: the header's length, a JSON header, the values of all tensors one after another.
#ifndef RESMEM_DATA_FORMATS_SAFETENSORS_H_
#define RESMEM_DATA_FORMATS_SAFETENSORS_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

bool LooksLikeSafetensors(ByteSpan bytes);

Result<FileContent> ReadSafetensors(const std::string& name, const SharedBytes& bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_SAFETENSORS_H_
