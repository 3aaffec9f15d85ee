#include "resmem/scrub.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "format/checksum.h"
#include "format/container_reader.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/manifest.h"
#include "support/files/direct_reader.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

using Clock = std::chrono::steady_clock;

struct ScrubbedFile {
  std::string name;
  FileKind kind;
  std::optional<FileRecord> record;  // the manifest has none
};

std::vector<ScrubbedFile> FilesOf(const Manifest& manifest) {
  std::vector<ScrubbedFile> files = {{kManifestName, FileKind::kManifest, std::nullopt}};
  for (const FileRecord& record : manifest.segments) {
    files.push_back({record.file, FileKind::kSegment, record});
  }
  if (manifest.deletions) {
    files.push_back({manifest.deletions->file, FileKind::kDeletions, *manifest.deletions});
  }
  if (manifest.transform) {
    files.push_back({manifest.transform->file, FileKind::kTransform, *manifest.transform});
  }
  if (manifest.index) {
    for (const IndexPart& part : manifest.index->parts) {
      files.push_back({part.file.file, FileKind::kIndex, part.file});
    }
    if (const std::optional<FileRecord>& queries = manifest.index->queries) {
      files.push_back({queries->file, FileKind::kQueries, *queries});
    }
  }
  if (!manifest.former) return files;
  for (ScrubbedFile& former : FilesOf(manifest.WithFormerKeys())) {
    const bool known = std::any_of(files.begin(), files.end(), [&](const ScrubbedFile& file) {
      return file.name == former.name;
    });
    if (!known) files.push_back(std::move(former));
  }
  return files;
}

class Scrubber {
 public:
  Scrubber(std::string folder, const ScrubOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  // kNotFound: a file is gone that the manifest names.
  Result<ScrubReport> Run(const Manifest& manifest) {
    total_ = manifest.bytes;
    const std::vector<ScrubbedFile> files = FilesOf(manifest);
    for (const ScrubbedFile& file : files) total_ += file.record ? file.record->bytes : 0;
    for (const ScrubbedFile& file : files) RESMEM_RETURN_IF_ERROR(ReadFile(file));
    report_.description = manifest.description;
    return std::move(report_);
  }

 private:
  void AddDamage(const std::string& message) {
    ++report_.broken;
    if (report_.damage.size() < ScrubReport::kMostDamage) report_.damage.push_back(message);
  }

  Status ReadFile(const ScrubbedFile& file) {
    const std::string path = folder_ + "/" + file.name;
    ++report_.files;
    // The header by the map, which checks it; blocks by direct reading.
    const auto opened = ContainerReader::Open(FileSystem::Posix(), path, file.kind);
    if (!opened.ok()) {
      if (opened.status().code() != ErrorCode::kCorrupt) return opened.status();
      AddDamage(opened.status().message());
      return {};
    }
    if (file.record && (opened->header_hash() != file.record->header_hash ||
                        opened->file_bytes() != file.record->bytes)) {
      AddDamage(path + ": is not the file that the manifest names");
      return {};
    }
    RESMEM_ASSIGN_OR_RETURN(DirectReader reader, DirectReader::Open(path));
    for (int64_t block = 0; block < opened->blocks(); ++block) {
      const ContainerReader::Place place = opened->PlaceOfBlock(block);
      RESMEM_RETURN_IF_ERROR(Pace(place.bytes));
      const auto bytes = reader.Read(place.offset, place.bytes);
      // A sector that the disk can no longer read is what scrubbing is for.
      const Status status = bytes.ok() ? opened->VerifyBlockBytes(block, *bytes) : bytes.status();
      if (!status.ok()) AddDamage(status.message());
    }
    report_.past_cache &= reader.past_cache();
    return {};
  }

  // Waits until so many more bytes may be read.
  Status Pace(int64_t bytes) {
    constexpr std::chrono::milliseconds kLongest(100);  // until the caller is heard
    ++report_.blocks;
    report_.bytes += bytes;
    while (true) {
      if (options_.progress != nullptr) {
        if (options_.progress->Cancelled()) {
          return {ErrorCode::kCancelled, Text(folder_, ": scrubbing was stopped")};
        }
        options_.progress->Report("scrub", std::min(report_.bytes, total_), total_);
      }
      if (options_.bytes_per_second <= 0) return {};
      const std::chrono::duration<double> due(static_cast<double>(report_.bytes - bytes) /
                                              static_cast<double>(options_.bytes_per_second));
      const auto left = start_ + std::chrono::duration_cast<Clock::duration>(due) - Clock::now();
      if (left <= Clock::duration::zero()) return {};
      std::this_thread::sleep_for(std::min<Clock::duration>(left, kLongest));
    }
  }

  const std::string folder_;
  const ScrubOptions& options_;
  const Clock::time_point start_ = Clock::now();
  int64_t total_ = 0;
  ScrubReport report_;
};

}  // namespace

Result<ScrubReport> ScrubMemory(const std::string& path, const ScrubOptions& options) try {
  FileSystem& files = FileSystem::Posix();
  while (true) {
    RESMEM_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(files, path));
    auto report = Scrubber(path, options).Run(manifest);
    if (report.ok() || report.status().code() != ErrorCode::kNotFound) return report;
    // Another process has replaced the manifest since, or the file is lost.
    RESMEM_ASSIGN_OR_RETURN(const Manifest now, ReadManifest(files, path));
    if (now.generation == manifest.generation) {
      return Status(ErrorCode::kCorrupt,
                    Text(report.status().message(),
                         ", but the manifest names it; restore the memory from a copy"));
    }
  }
} catch (...) {
  return CaughtException("scrub the memory");
}

}  // namespace resmem
