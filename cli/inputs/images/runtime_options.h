// How a base model is run.
#ifndef RESMEM_CLI_INPUTS_IMAGES_RUNTIME_OPTIONS_H_
#define RESMEM_CLI_INPUTS_IMAGES_RUNTIME_OPTIONS_H_

#include "console/command_line.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {

// --onnxruntime, the same words everywhere.  --threads is for the command to declare.
Option& DeclareRuntime(CommandLine& line, OnnxOptions* options);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_IMAGES_RUNTIME_OPTIONS_H_
