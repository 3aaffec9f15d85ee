#include <sys/sysinfo.h>

#include <ctime>
#include <fstream>

#include "resmem/report/report.h"
#include "resmem/version.h"
#include "resmem_program/simd.h"
#include "support/parallel.h"

namespace resmem {
namespace {

bool KeepsTop(const MemoryDescription& description) {
  return description.form == ResidualForm::kSparse || description.form == ResidualForm::kPacked;
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && line.starts_with("model name")) {
      const size_t begin = line.find_first_not_of(' ', colon + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  }
  return "unknown";
}

int64_t MemoryBytes() {
  struct sysinfo info = {};
  return sysinfo(&info) == 0 ? static_cast<int64_t>(info.totalram) * info.mem_unit : 0;
}

std::string NowUtc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

RunInfo DescribeRun(std::vector<std::string> command) {
  RunInfo run;
  run.command = std::move(command);
  run.version = Version();
  run.build = BuildDescription();
  run.processor = ProcessorName();
  run.cores = ResolveThreads(0);
  run.memory_bytes = MemoryBytes();
  run.simd = SimdName();
  run.started = NowUtc();
  return run;
}

MemoryInfo DescribeMemory(const std::string& path, const ResidualMemory& memory) {
  const MemoryDescription& description = memory.description();
  MemoryInfo info;
  info.path = path;
  info.rows = memory.rows();
  info.dim = description.dim;
  info.outputs = description.outputs;
  info.segments = memory.segments();
  info.bytes_on_disk = memory.bytes_on_disk();
  info.key_type = KeyTypeName(description.key_type);
  info.key_transform = KeyTransformName(description.key_transform);
  info.former_bytes = memory.former_bytes();
  info.form = ResidualFormName(description.form);
  info.parameters = description.parameters;
  info.tuned = description.tuned;
  info.cross_fitted = description.cross_fitted;
  info.fingerprint = description.fingerprint;
  info.tool_version = description.tool_version;
  info.created = description.created;
  info.index = memory.index_info();
  info.index_used = memory.index().Approximate(description.parameters.k);
  info.asked_recall = AskedRecall(memory);
  info.task = description.task == Task::kClassification ? "classification" : "regression";
  info.deleted_rows = memory.capacity() - memory.rows();
  info.top = KeepsTop(description) ? description.top : 0;
  info.half_residuals = description.half_residuals;
  info.has_sources = description.has_sources;
  info.calibrator = description.calibrator;
  info.calibrator_temperature = description.calibrator_temperature;
  info.class_names = description.class_names;
  info.index_obstacle = memory.index_obstacle();
  info.notes = description.notes;
  return info;
}

void DescribeMass(const ResidualMemory& memory, MemoryInfo* info) {
  const MemoryDescription& description = memory.description();
  if (description.task == Task::kClassification && memory.rows() > 0) {
    info->residual_mass = memory.MeanResidualMass(description.parameters.temperature);
  }
  if (KeepsTop(description)) info->dropped_mass = memory.dropped_mass();
}

}  // namespace resmem
