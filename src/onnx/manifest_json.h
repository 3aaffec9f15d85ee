// The manifest of a base model as JSON text and back: docs/models.md, "The manifest".
#ifndef RESMEM_ONNX_MANIFEST_JSON_H_
#define RESMEM_ONNX_MANIFEST_JSON_H_

#include <string>
#include <string_view>

#include "resmem/models/onnx_model.h"

namespace resmem {

// kInvalidArgument where a text is not UTF-8.
Result<std::string> ModelManifestToJson(const ModelManifest& manifest);
// Checks every field.  Errors, which do not name the file: kCorrupt, kTooNew.
Result<ModelManifest> ModelManifestFromJson(std::string_view json);

// What a change of changes the model's answers, as one line of text.
std::string NumbersOfManifest(const ModelManifest& manifest);

// `graph_digest`: of the bytes of the ONNX file.
Fingerprint FingerprintOf(const std::string& graph_digest, const ModelManifest& manifest);

}  // namespace resmem

#endif  // RESMEM_ONNX_MANIFEST_JSON_H_
