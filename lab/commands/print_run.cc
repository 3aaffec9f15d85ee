#include "commands/print_run.h"

#include <filesystem>

#include "console/format.h"
#include "console/output.h"
#include "resmem/models/onnx_model.h"

namespace resmem::cli {

namespace fs = std::filesystem;

Status PrintRunFolder(const std::string& folder) {
  Table table = Table::Facts();
  for (const char* name : {"last", "best"}) {
    const std::string path = folder + "/" + name + ".onnx";
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest, ReadModelManifest(path));
    table.AddRow({name, path + ": " + manifest.network + ", keys of " + Count(manifest.dim) +
                            " values, " +
                            (manifest.takes_tokens() ? "a vocabulary of " + Count(manifest.classes)
                                                     : Count(manifest.classes) + " classes")});
  }
  table.AddRow({"log", folder + "/log.jsonl"});
  return PrintResult(table.Text());
}

}  // namespace resmem::cli
