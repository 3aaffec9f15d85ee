// Snapshots in words for people, and what a deletion leaves in them.
#ifndef RESMEM_CLI_OUTPUTS_SNAPSHOT_TEXT_H_
#define RESMEM_CLI_OUTPUTS_SNAPSHOT_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "console/console.h"
#include "resmem/snapshots.h"

namespace resmem::cli {

// A table, with the problems of those that cannot be read below; "" without snapshots.
std::string SnapshotsText(const SnapshotList& list);
// For `resmem info`: "2 (monday, tuesday), 1.2 MB only they hold".
std::string SnapshotsLine(const SnapshotList& list);
std::string DifferenceText(const MemoryDifference& difference,
                           const std::vector<std::string>& class_names);

// "3, 5, 8 and 12 more"
std::string IdsText(std::span<const uint64_t> ids);

// Says plainly which of these rows, gone from the memory, live on in its snapshots; and gives them.
// Whatever goes wrong is part of what is said: the rows are gone from the memory all the same.
std::vector<SnapshotRows> WarnOfRowsInSnapshots(const std::string& path,
                                                std::span<const uint64_t> ids, Console& console);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_SNAPSHOT_TEXT_H_
