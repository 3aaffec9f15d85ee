// Looks for decay of the disk under a memory that is in use.
//
// Verify() asks whether a memory is sound, as fast as it can: on all cores, through the page cache,
// up to the first mistake.  Scrubbing is for a machine that has other work: one block after the
// other on one thread, past the cache where the file system allows it, so that the disk itself is
// read and nothing that others need leaves memory, at a rate that the caller chooses, and on to the
// end, so that all of the damage is known.  It compares checksums only; what a right checksum does
// not make right (ids that repeat, classes out of order) is Verify()'s.
#ifndef RESMEM_SCRUB_H_
#define RESMEM_SCRUB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/progress.h"
#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

struct ScrubOptions {
  int64_t bytes_per_second = 0;  // at most; 0: as fast as the disk is
  Progress* progress = nullptr;
};

struct ScrubReport {
  int64_t files = 0, blocks = 0, bytes = 0;  // that were read, the broken ones too
  bool past_cache = true;                    // every block came from the disk itself
  int64_t broken = 0;                        // blocks, and files that cannot be opened
  static constexpr size_t kMostDamage = 100;
  std::vector<std::string> damage;  // what is wrong where, the first kMostDamage
  MemoryDescription description;    // of the memory, whose manifest is sound

  bool sound() const { return broken == 0; }
};

// Of the memory as its manifest is now.  Damage is no error but in the report.  Errors: kNotFound,
// kCorrupt or kTooNew where the manifest itself cannot be read, kIo, kCancelled.
Result<ScrubReport> ScrubMemory(const std::string& path, const ScrubOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_SCRUB_H_
