// Builds an inverted file: trains centroids, puts every visible row into a list, writes the codes.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_INVERTED_FILE_WRITER_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_INVERTED_FILE_WRITER_H_

#include <cstdint>
#include <string>

#include "format/container_writer.h"
#include "resmem/progress.h"
#include "search/key_store.h"
#include "support/file_system.h"

namespace resmem {

// 8 where codes of 8 bits a value take up to 256 MiB; beyond, where most lists come from memory, 4.
int SuitableCodeBits(int64_t rows, int64_t dim);

struct InvertedFileOptions {
  uint64_t seed = 0;
  int code_bits = 8;  // a value; or 4 or 2
  int threads = 0;
  Progress* progress = nullptr;
  // Codes held before they are written.  With more than fit, keys are read again for each
  // bufferful; always front to back.
  int64_t buffer_bytes = int64_t{1} << 29;
};

// Needs 8 bytes a row, 64 codes a list for training (with 2 bits also a sample of up to 64 MiB),
// and the buffer.  Visible rows must be at
// least 1.  Errors: kUnsupported (too many rows or dimensions), those of TrainCentroids() and of
// the writer.
Result<ContainerWriter::Finished> WriteInvertedFile(FileSystem& files, const std::string& path,
                                                    const KeyStore& keys,
                                                    const InvertedFileOptions& options);

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_INVERTED_FILE_WRITER_H_
