// The directory of a zip file, zip64 too: just what an .npz needs, with every offset checked.
// Names are only ever compared, never used as paths.
#ifndef RESMEM_DATA_PACKED_ZIP_H_
#define RESMEM_DATA_PACKED_ZIP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data/file_bytes.h"
#include "resmem/status.h"

namespace resmem {

struct ZipEntry {
  std::string name;
  int64_t offset = 0;  // of the data in the file
  int64_t stored = 0;  // bytes in the file, all inside it
  int64_t size = 0;    // bytes of the content, as declared; equal to `stored` if not deflated
  bool deflated = false;
  uint32_t crc = 0;   // of the content
  Status unreadable;  // encrypted, or packed by a method that we do not know
};

// Errors: kBadData for a broken directory or a name that comes twice.
Result<std::vector<ZipEntry>> ReadZipDirectory(const std::string& name, ByteSpan bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_PACKED_ZIP_H_
