// The manifest as JSON text and back: docs/memory_format.md, section 5.
#ifndef RESMEM_MEMORY_MANIFEST_MANIFEST_JSON_H_
#define RESMEM_MEMORY_MANIFEST_MANIFEST_JSON_H_

#include <string>
#include <string_view>

#include "memory/manifest/manifest.h"

namespace resmem {

// kInvalidArgument where a text is not UTF-8, with its field.
Result<std::string> ManifestToJson(const Manifest& manifest);

// Checks every field and every pair that must agree.  Messages do not name the file.
// Errors: kCorrupt; kUnsupported for a metric of a later version.
Result<Manifest> ManifestFromJson(std::string_view json);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_MANIFEST_JSON_H_
