// The names in a memory's folder: docs/memory_format.md, section 1.
#ifndef RESMEM_MEMORY_MANIFEST_FILE_NAMES_H_
#define RESMEM_MEMORY_MANIFEST_FILE_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace resmem {

inline constexpr char kManifestName[] = "MANIFEST";
inline constexpr char kLockName[] = "LOCK";
inline constexpr char kSnapshotsName[] = "snapshots";  // the folder of a memory's snapshots
inline constexpr char kBundleName[] = "bundle";        // the folder of a model that it carries
inline constexpr char kSegmentPrefix[] = "segment-";
inline constexpr char kDeletionsPrefix[] = "deletions-";
inline constexpr char kIndexPrefix[] = "index-";
inline constexpr char kQueriesPrefix[] = "queries-";
inline constexpr char kTransformPrefix[] = "transform-";

// Of 15 digits, the most that a name may have.
inline constexpr int64_t kLargestGeneration = 999'999'999'999'999;

// "segment-000012.resmem"; requires 0 <= generation <= kLargestGeneration.
std::string NumberedName(std::string_view prefix, int64_t generation);

// The generation in such a name; nothing where it has another form.
std::optional<int64_t> GenerationOf(std::string_view prefix, std::string_view name);

// The generation of a segment, deletions, an index, its queries or a transform; nothing for other
// names.
std::optional<int64_t> GenerationOf(std::string_view name);

// Whether the name is one that a writer of ours gives: a manifest, one with a generation, the
// lock, or what is being written.
bool IsOurName(std::string_view name);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_FILE_NAMES_H_
