// The way back from an exported ONNX file to the parameters.
#ifndef RESMEM_TRANSFORMER_ONNX_IMPORT_H_
#define RESMEM_TRANSFORMER_ONNX_IMPORT_H_

#include <string>
#include <vector>

#include "resmem/models/onnx_model.h"
#include "resmem/status.h"
#include "transformer/shape.h"

namespace resmem {

struct TrainedModel {
  LanguageModelShape shape;
  std::vector<float> values;  // as ParameterLayout lays them out
};

// A file is ours where its graph is, but for the numbers, the one that ExportLanguageModel() writes
// for the manifest's network: whoever computes that network computes this file.  The numbers are
// finite and small enough that no sum in the network overflows.
// Errors: kUnsupported where it is another's, with the reason; kNotFound, kBadData, kIo.
Result<TrainedModel> ImportLanguageModel(const std::string& path, const ModelManifest& manifest);

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_ONNX_IMPORT_H_
