#include "inputs/images/runtime_options.h"

namespace resmem::cli {

Option& DeclareRuntime(CommandLine& line, OnnxOptions* options) {
  return line
      .Value("--onnxruntime", &options->library, "FILE",
             "libonnxruntime.so.1, the library that runs the model")
      .Default("what RESMEM_ONNXRUNTIME names, or the one that 'resmem runtime install' installed")
      .File();
}

}  // namespace resmem::cli
