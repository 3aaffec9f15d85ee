// The JSON document about a model's file: docs/json.md explains every field.
#ifndef RESMEM_MODELS_MODEL_REPORT_H_
#define RESMEM_MODELS_MODEL_REPORT_H_

#include <optional>
#include <string>

#include "resmem/models/onnx_model.h"
#include "resmem/report/report.h"

namespace resmem {

// "resmem.onnx.v1".
// `prepared`: the manifest beside the file, if it has one; then also the fingerprint.
std::string OnnxJson(const std::string& path, const OnnxSummary& summary,
                     const std::optional<ModelManifest>& prepared, const Fingerprint& fingerprint,
                     const RunInfo& run);

}  // namespace resmem

#endif  // RESMEM_MODELS_MODEL_REPORT_H_
