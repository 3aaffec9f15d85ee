#include "inputs/memory_options.h"

#include <utility>

namespace resmem::cli {

void DeclareMemory(CommandLine& line, std::string* path) {
  line.Argument("MEMORY", path, "folder made by 'resmem memorize'").Folder();
}

void DeclareWait(CommandLine& line, double* seconds) {
  line.Value("--wait", seconds, "SECONDS",
             "for another process that is changing the memory, instead of failing at once");
}

void DeclareWaitForMaker(CommandLine& line, double* seconds) {
  line.Value("--wait", seconds, "SECONDS",
             "for another process that is making the same memory, instead of failing at once; what "
             "it has made is then kept");
}

void DeclareExact(CommandLine& line, bool* exact) {
  line.Flag("--exact", exact, "search every key, even if the memory has an index");
}

Status CheckShapes(const std::string& memory_path, const MemoryDescription& memory,
                   const Dataset& dataset) {
  const auto mismatch = [&](const char* what, int64_t found, int64_t wanted, const char* option) {
    return Status(ErrorCode::kBadData,
                  std::string("the input has ") + what + " of " + std::to_string(found) +
                      " values per row, but " + memory_path + " holds " + std::to_string(wanted) +
                      "; give " + option + " from the model and layer the memory was made with");
  };
  if (dataset.dim() != memory.dim) return mismatch("keys", dataset.dim(), memory.dim, "--keys");
  if (dataset.has_logits() && dataset.outputs() - dataset.added_classes() != memory.outputs) {
    return mismatch("logits", dataset.outputs(), memory.outputs, "--logits");
  }
  return {};
}

Result<RunInfo> DescribeThisRun(const Console& console, const std::vector<std::string>& inputs) {
  RunInfo run = DescribeRun(console.words());
  for (const std::string& path : inputs) {
    RESMEM_ASSIGN_OR_RETURN(InputFile input, DescribeInput(path));
    run.inputs.push_back(std::move(input));
  }
  return run;
}

RunInfo FinishedRun(RunInfo run, const Console& console) {
  run.seconds = console.SecondsSinceStart();
  return run;
}

}  // namespace resmem::cli
