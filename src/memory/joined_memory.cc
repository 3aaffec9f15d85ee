#include "resmem_program/joined_memory.h"

#include "format/checksum.h"
#include "memory/memory_parts.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {

Result<ResidualMemory> OpenJoined(std::span<const std::string> paths,
                                  const OpenOptions& options) try {
  if (paths.empty()) return Status(ErrorCode::kInvalidArgument, "no memories to join");
  return MemoryParts::OpenJoined(paths, options);
} catch (...) {
  return CaughtException("open the memories");
}

std::string ContentHash(const ResidualMemory& memory) {
  const Manifest& manifest = MemoryParts::Rows(memory).manifest();
  std::string content;
  const auto add = [&](const FileRecord& record) {
    content += Text(record.rows, " ", record.bytes, " ", HexOfHash(record.header_hash), "\n");
  };
  for (const FileRecord& segment : manifest.segments) add(segment);
  if (manifest.deletions) add(*manifest.deletions);
  if (manifest.transform) add(*manifest.transform);
  return Digest(std::as_bytes(std::span(content)));
}

}  // namespace resmem
