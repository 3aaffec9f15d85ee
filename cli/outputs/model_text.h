// A base model in words.
#ifndef RESMEM_CLI_OUTPUTS_MODEL_TEXT_H_
#define RESMEM_CLI_OUTPUTS_MODEL_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "console/format.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {

// A name out of somebody's file: what a terminal would obey is shown as '?'.
std::string Printable(std::string_view name);

std::string ShapeText(const std::vector<std::string>& shape);  // "n x 64"

// Lines about what a manifest says.
void AddManifest(const ModelManifest& manifest, const Fingerprint& fingerprint, Table* table);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_MODEL_TEXT_H_
