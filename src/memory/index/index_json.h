// The manifest's record of the inverted files: docs/memory_format.md, section 5.
#ifndef RESMEM_MEMORY_INDEX_INDEX_JSON_H_
#define RESMEM_MEMORY_INDEX_INDEX_JSON_H_

#include "format/json_fields.h"
#include "memory/manifest/manifest.h"

namespace resmem {

Json IndexToJson(const IndexRecord& index);

// kCorrupt unless its parts cover whole segments of `manifest`, of which generation and segments
// are read.
Result<IndexRecord> IndexFromJson(const Json& object, const Manifest& manifest);

}  // namespace resmem

#endif  // RESMEM_MEMORY_INDEX_INDEX_JSON_H_
