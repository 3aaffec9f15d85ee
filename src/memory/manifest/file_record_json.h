// A file that the manifest names, as JSON.
#ifndef RESMEM_MEMORY_MANIFEST_FILE_RECORD_JSON_H_
#define RESMEM_MEMORY_MANIFEST_FILE_RECORD_JSON_H_

#include <cstdint>
#include <string>

#include "format/json_fields.h"
#include "memory/manifest/manifest.h"

namespace resmem {

// What the manifest says is wrong.
inline Status CorruptManifest(const std::string& message) {
  return {ErrorCode::kCorrupt, message};
}

Json RecordToJson(const FileRecord& record);

// kCorrupt unless its name has this prefix and a generation up to `last_generation`.
Result<FileRecord> RecordFromJson(const Json& object, const char* prefix, int64_t last_generation,
                                  const std::string& where);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_FILE_RECORD_JSON_H_
