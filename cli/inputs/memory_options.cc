#include "inputs/memory_options.h"

#include <utility>

#include "console/format.h"

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

namespace {

void SayHowManyMatch(const std::string& where, int64_t rows, const ResidualMemory& whole,
                     Console& console) {
  const MemoryDescription& description = whole.description();
  const int64_t k =
      description.blend.has_value() ? description.blend->parameters.k : description.parameters.k;
  const std::string found =
      "--where " + where + ": " + Count(rows) + " of " + Counted(whole.rows(), "row") + " match";
  if (rows == 0) {
    console.Warn(found + "; answers are the base's");
  } else if (rows < k) {
    console.Warn(found + ", fewer than k = " + Count(k) + ": each answer is of all of them");
  } else {
    console.Note(found);
  }
}

}  // namespace

void DeclareWhere(CommandLine& line, std::string* where, const std::string& help) {
  line.Value("--where", where, "CONDITIONS", help);
}

void SearchedMemory::Declare(CommandLine& line) {
  DeclareExact(line, &exact_);
  DeclareWhere(line, &where_,
               "only rows of the memory whose tags match, searched exactly: site=north, "
               "time<2026-01-01, tag!=old, several separated by commas (docs/filters.md)");
}

Result<RowFilter> ParseWhere(const std::string& where, const std::string& path,
                             const ResidualMemory& memory) {
  Result<RowFilter> filter = RowFilter::Parse(where);
  if (!filter.ok()) {
    return Status(filter.status().code(), "--where: " + filter.status().message());
  }
  if (memory.has_tags() || memory.rows() == 0) return filter;
  return Status(ErrorCode::kBadData,
                path +
                    ": no row has tags, so --where can tell none apart; give tags with --tags "
                    "FILE, --tag-columns or --tag when rows are memorized or appended");
}

Result<ResidualMemory> SearchedMemory::Open(const std::string& path, Console& console) const {
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory whole, ResidualMemory::Open(path, {.exact = exact_}));
  if (where_.empty()) return whole;
  RESMEM_ASSIGN_OR_RETURN(const RowFilter filter, ParseWhere(where_, path, whole));
  RESMEM_ASSIGN_OR_RETURN(ResidualMemory some, RowsWhere(whole, filter));
  SayHowManyMatch(where_, some.rows(), whole, console);
  return some;
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
