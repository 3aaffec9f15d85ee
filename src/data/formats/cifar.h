// The binary files of CIFAR-10 and CIFAR-100: records of one label (or a coarse and a fine
// one) and 3 x 32 x 32 bytes, with neither magic nor header.
#ifndef RESMEM_DATA_FORMATS_CIFAR_H_
#define RESMEM_DATA_FORMATS_CIFAR_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

// Which of the two is told by the length, a multiple of 3073 or of 3074, and by the labels of
// the first records, which must be possible ones.  Where both fit, or neither, it is an error.
Result<FileContent> ReadCifar(const std::string& name, const SharedBytes& bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_CIFAR_H_
