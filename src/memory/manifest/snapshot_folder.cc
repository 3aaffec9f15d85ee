#include "memory/manifest/snapshot_folder.h"

#include <algorithm>

#include "format/container_writer.h"
#include "memory/manifest/file_names.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kLongestName = 64;

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool MayBeInName(char c) {
  return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
}

}  // namespace

Status CheckSnapshotName(std::string_view name) {
  const bool fine = !name.empty() && name.size() <= kLongestName && IsLetterOrDigit(name.front()) &&
                    std::all_of(name.begin(), name.end(), MayBeInName) &&
                    !name.ends_with(kTemporarySuffix);
  if (fine) return {};
  return {
      ErrorCode::kInvalidArgument,
      Text("snapshot \"", name, "\": a name has 1 to ", kLongestName,
           " letters, digits and . _ - of ASCII, starts with a letter or digit and does not end "
           "with ",
           kTemporarySuffix)};
}

std::string SnapshotsFolder(const std::string& memory) {
  return memory + "/" + kSnapshotsName;
}

std::string UnfinishedSnapshot(const std::string& memory, const std::string& name) {
  return SnapshotsFolder(memory) + "/" + name + kTemporarySuffix;
}

Status RemoveFolder(FileSystem& files, const std::string& folder) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(folder));
  for (const std::string& name : names) {
    RESMEM_RETURN_IF_ERROR(files.Remove(folder + "/" + name));
  }
  return files.Remove(folder);
}

void RemoveUnfinishedSnapshots(FileSystem& files, const std::string& memory) noexcept try {
  const std::string folder = SnapshotsFolder(memory);
  if (!files.IsDirectory(folder)) return;
  const auto names = files.List(folder);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name.ends_with(kTemporarySuffix)) (void)RemoveFolder(files, folder + "/" + name).ok();
  }
} catch (...) {  // no memory
}

}  // namespace resmem
