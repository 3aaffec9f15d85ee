#include "memory/manifest/file_record_json.h"

#include <charconv>
#include <optional>

#include "format/checksum.h"
#include "memory/manifest/file_names.h"
#include "support/text.h"

namespace resmem {
Json RecordToJson(const FileRecord& record) {
  return {{"file", record.file},
          {"rows", record.rows},
          {"bytes", record.bytes},
          {"header_hash", HexOfHash(record.header_hash)}};
}

Result<FileRecord> RecordFromJson(const Json& object, const char* prefix, int64_t last_generation,
                                  const std::string& where) {
  Fields fields(object, where);
  FileRecord record;
  std::string hash;
  fields.Get("file", &record.file);
  fields.Get("rows", &record.rows);
  fields.Get("bytes", &record.bytes);
  fields.Get("header_hash", &hash);
  RESMEM_RETURN_IF_ERROR(fields.status());
  const std::optional<int64_t> generation = GenerationOf(prefix, record.file);
  if (!generation) {
    return CorruptManifest(
        Text(where, ": file is \"", record.file, "\", expected ", prefix, "NNNNNN.resmem"));
  }
  if (*generation > last_generation) {
    return CorruptManifest(Text(where, ": file is \"", record.file,
                                "\", but the manifest is of generation ", last_generation));
  }
  if (record.rows < 1) return CorruptManifest(Text(where, " has no rows"));
  std::from_chars(hash.data(), hash.data() + hash.size(), record.header_hash, 16);
  if (HexOfHash(record.header_hash) != hash) {
    return CorruptManifest(
        Text(where, ": header_hash is \"", hash, "\", expected 16 hexadecimal digits"));
  }
  return record;
}

}  // namespace resmem
