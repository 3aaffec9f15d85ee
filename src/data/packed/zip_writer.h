// The records of a zip file whose members are stored, not packed, and whose sizes are known before
// their bytes: an .npz that is written at several places at once.  Always zip64, so that there is
// one form to test.
#ifndef RESMEM_DATA_PACKED_ZIP_WRITER_H_
#define RESMEM_DATA_PACKED_ZIP_WRITER_H_

#include <cstdint>
#include <span>
#include <string>

namespace resmem {

struct StoredMember {
  std::string name;
  int64_t size = 0;
  int64_t header = 0;  // where its local header lies
  uint32_t crc = 0;
};

// The local header of a member at `member.header`; the content after it begins at a multiple of 64,
// so that NumPy and we can map it.  Its length does not depend on the checksum.
std::string ZipLocalHeader(const StoredMember& member);
// What follows the last member, at `offset`.
std::string ZipDirectory(std::span<const StoredMember> members, int64_t offset);

}  // namespace resmem

#endif  // RESMEM_DATA_PACKED_ZIP_WRITER_H_
