// The checksums of a damaged container made right again, as a forger would.
#ifndef RESMEM_FUZZ_SEAL_H_
#define RESMEM_FUZZ_SEAL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "fixtures/file_bytes.h"

namespace resmem {

// As fixtures::ResealAll(), as far as the table of sections leads anywhere.
inline void SealForged(std::string* bytes) {
  if (bytes->size() < static_cast<size_t>(kHeaderBytes)) return;
  const uint64_t size = bytes->size();
  const uint64_t sections = fixtures::HeaderOf(*bytes).section_count;
  if (sections == 0 || sections > kMaxSections || kHeaderBytes + sections * kEntryBytes > size) {
    return;
  }
  const auto begin_of = [&](uint64_t section) {
    return std::min(fixtures::EntryOf(*bytes, section).offset, size);
  };
  const uint64_t list = begin_of(sections - 1);
  const uint64_t list_end =
      list + std::min(fixtures::EntryOf(*bytes, sections - 1).bytes, size - list);
  uint64_t at = list;
  for (uint64_t section = 0; section + 1 < sections; ++section) {
    const uint64_t end = begin_of(section + 1);
    for (uint64_t block = begin_of(section); block < end; block += kBlockBytes) {
      if (at + sizeof(uint64_t) > list_end) break;
      const uint64_t count = std::min<uint64_t>(kBlockBytes, end - block);
      const uint64_t hash = Hash64(fixtures::AsBytes(*bytes).subspan(block, count));
      std::memcpy(bytes->data() + at, &hash, sizeof(hash));
      at += sizeof(hash);
    }
  }
  fixtures::HeaderOf(*bytes).checksums_hash =
      Hash64(fixtures::AsBytes(*bytes).subspan(list, list_end - list));
  fixtures::ResealHeader(*bytes);
}

}  // namespace resmem

#endif  // RESMEM_FUZZ_SEAL_H_
