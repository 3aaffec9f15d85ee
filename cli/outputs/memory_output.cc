#include "outputs/memory_output.h"

#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/memory_text.h"
#include "resmem/report/report.h"

namespace resmem::cli {

void MemoryOutput::Declare(CommandLine& line) {
  line.Group("Output");
  line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
}

Result<ResidualMemory> OpenChanged(const std::string& path, Console& console) {
  auto memory = ResidualMemory::Open(path, {.verify_blocks = false});
  if (memory.ok()) {
    WarnOfManySegments(path, *memory, console);
    return memory;
  }
  auto exact = ResidualMemory::Open(path, {.verify_blocks = false, .exact = true});
  if (exact.ok()) console.Warn("done, but " + memory.status().message());
  return exact;
}

Status MemoryOutput::Print(const std::string& path, const ResidualMemory& memory,
                           const std::vector<std::string>& inputs, const std::string& words,
                           const Console& console) const {
  RESMEM_RETURN_IF_ERROR(memory.damage());
  if (!json_) return PrintResult(words);
  RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, inputs));
  MemoryInfo info = DescribeMemory(path, memory);
  DescribeMass(memory, &info);
  RESMEM_ASSIGN_OR_RETURN(info.snapshots, ListSnapshots(path, memory));
  info.in_snapshots = in_snapshots_;
  const std::string json = MemoryJson(info, FinishedRun(run, console));
  RESMEM_RETURN_IF_ERROR(memory.damage());
  return PrintResult(json + "\n");
}

}  // namespace resmem::cli
