#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "format/checksum.h"
#include "resmem/fingerprint.h"
#include "support/file_system.h"

namespace resmem {

Result<std::string> DigestFile(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
  file.ReadAhead();
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (state == nullptr || XXH3_128bits_reset(state.get()) != XXH_OK) {
    return Status(ErrorCode::kResourceExhausted, path + ": no memory for a digest");
  }
  // In pieces, giving each back: the file may be larger than the memory.
  constexpr size_t kPiece = size_t{16} << 20;
  const std::span<const std::byte> bytes = file.bytes();
  for (size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const size_t size = std::min(kPiece, bytes.size() - begin);
    XXH3_128bits_update(state.get(), bytes.data() + begin, size);
    file.Drop(begin, size);
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(state.get());
  return HexOfHash(digest.high64) + HexOfHash(digest.low64);
}

}  // namespace resmem
