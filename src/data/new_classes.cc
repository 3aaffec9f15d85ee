#include "resmem/data/new_classes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "memory/memory_parts.h"
#include "memory/rows/row_writer.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// The memory's rows, of `base` logits each, with `classes` each.
RowSource Widened(const ResidualMemory& memory, int64_t base, int64_t classes, float floor) {
  return {memory.rows(), [&memory, base, classes, floor](const RowSource::Use& use) {
            std::vector<float> logits;
            std::vector<std::string> sources, tags;
            return ReadMemory(memory).Read([&](int64_t begin, Rows block) {
              sources.clear();
              tags.clear();
              for (const uint64_t id : block.ids) {
                const int64_t row = *memory.FindId(id);
                if (memory.description().has_sources) sources.emplace_back(memory.source(row));
                if (memory.has_tags()) tags.emplace_back(memory.tags(row));
              }
              block.sources = sources;
              block.tags = tags;
              const auto wide = static_cast<size_t>(classes);
              logits.assign(static_cast<size_t>(block.count()) * wide, 0.0f);
              for (int64_t row = 0; row < block.count(); ++row) {
                const std::span<float> out =
                    std::span(logits).subspan(static_cast<size_t>(row) * wide, wide);
                std::ranges::copy(block.logits.row_span(row), out.begin());
                FillNewLogits(base, floor, out);
              }
              block.logits = MatrixView(logits.data(), block.count(), classes);
              return use(begin, block);
            });
          }};
}

Status CheckGrowth(const std::string& path, const MemoryDescription& description, int64_t classes,
                   const std::vector<std::string>& class_names) {
  if (description.task == Task::kRegression || description.form != ResidualForm::kLogits) {
    return {ErrorCode::kUnsupported,
            Text(path, description.task == Task::kRegression
                           ? ": a regression has no classes"
                           : ": keeps residuals instead of logits, which fixes its classes; "
                             "memorize its rows again with --form logits")};
  }
  if (classes < description.outputs) {
    return {ErrorCode::kInvalidArgument,
            Text(path, ": has ", description.outputs, " classes; ", classes, " would be fewer")};
  }
  if (class_names.empty() == description.class_names.empty() &&
      (class_names.empty() || static_cast<int64_t>(class_names.size()) == classes)) {
    return {};
  }
  return {ErrorCode::kInvalidArgument,
          Text(path, ": ", class_names.size(), " names were given for ", classes,
               " classes; every class needs one, or none has one")};
}

struct Growth {
  int64_t classes;
  const std::vector<std::string>& class_names;
  float floor;
  const RowSource& rows;
};

// As RowWriter::Append() has it of rows that come without ids.
void NumberRows(uint64_t first, std::vector<uint64_t>* ids, Rows* rows) {
  ids->resize(static_cast<size_t>(rows->count()));
  std::iota(ids->begin(), ids->end(), first);
  rows->ids = *ids;
}

Status CheckNotThere(const ResidualMemory& memory, std::span<const uint64_t> ids, int64_t begin) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!memory.FindId(ids[i])) continue;
    return {ErrorCode::kBadData,
            Text("ids, row ", begin + static_cast<int64_t>(i), ": the id ", ids[i],
                 " is already in the memory; delete it first, or give another")};
  }
  return {};
}

Status AddNewRows(const ResidualMemory& memory, const RowSource& rows, Progress* progress,
                  RowWriter* writer) {
  const uint64_t next_id = MemoryParts::Rows(memory).manifest().next_id;
  std::vector<uint64_t> ids;
  return rows.Read([&](int64_t begin, Rows block) -> Status {
    if (progress != nullptr) progress->Report("writing", begin, rows.rows());
    RESMEM_RETURN_IF_ERROR(CheckNotThere(memory, block.ids, begin));
    if (block.ids.empty()) NumberRows(next_id + static_cast<uint64_t>(begin), &ids, &block);
    return writer->Add(block);
  });
}

Result<bool> Grow(const std::string& path, const Growth& growth, const AppendOptions& append) {
  MemoryDescription description;
  int64_t rows = 0;
  bool tags = false;
  std::optional<IndexInfo> index;
  {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
    description = memory.description();
    rows = memory.rows();
    tags = memory.has_tags();
    index = memory.index_info();
  }
  RESMEM_RETURN_IF_ERROR(CheckGrowth(path, description, growth.classes, growth.class_names));
  const MemoryDescription before = description;
  const int64_t base = BaseClasses(description);
  description.notes[kBaseClassesNote] = std::to_string(base);
  description.outputs = growth.classes;
  description.class_names = growth.class_names;
  MemoryWriter::Options options{.overwrite = true};
  options.change = append.change;
  options.tags = tags || append.tags;
  if (index) options.index = {.recall = index->recall, .code_bits = index->code_bits};
  // From here on nobody else changes the memory.
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<RowWriter> writer,
                          RowWriter::Create(FileSystem::Of(path), path, description,
                                            rows + growth.rows.rows(), options));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  if (memory.rows() != rows || memory.has_tags() != tags ||
      memory.description().outputs != before.outputs ||
      memory.description().notes != before.notes) {
    return Status(ErrorCode::kMismatch, Text(path, ": was changed meanwhile; try again"));
  }
  if (!append.token.empty()) {
    RESMEM_RETURN_IF_ERROR(CheckToken(append.token));
    RESMEM_ASSIGN_OR_RETURN(const bool known, KnowsToken(path, MemoryParts::Rows(memory).manifest(),
                                                         append.token, growth.rows.rows()));
    if (known) return false;
  }
  writer->Continue(append.token, growth.rows.rows());
  const RowSource wide = Widened(memory, base, growth.classes, growth.floor);
  const Status written = wide.Read([&](int64_t, const Rows& block) { return writer->Add(block); });
  RESMEM_RETURN_IF_ERROR(written);
  RESMEM_RETURN_IF_ERROR(AddNewRows(memory, growth.rows, append.change.progress, writer.get()));
  RESMEM_RETURN_IF_ERROR(memory.damage());
  RESMEM_RETURN_IF_ERROR(writer->Finish(append.change.progress));
  return true;
}

}  // namespace

int64_t BaseClasses(const MemoryDescription& memory) {
  const auto note = memory.notes.find(kBaseClassesNote);
  if (note == memory.notes.end()) return memory.outputs;
  int64_t classes = 0;
  const char* const end = note->second.data() + note->second.size();
  const auto parsed = std::from_chars(note->second.data(), end, classes);
  // A note may have been written by anyone.
  const bool sound = parsed.ec == std::errc() && parsed.ptr == end;
  return sound && classes >= 1 && classes <= memory.outputs ? classes : memory.outputs;
}

void FillNewLogits(int64_t base_classes, float floor, std::span<float> logits) {
  const auto known = logits.first(static_cast<size_t>(base_classes));
  const auto top = static_cast<double>(*std::ranges::max_element(known));
  double sum = 0;
  for (const float logit : known) sum += std::exp(static_cast<double>(logit) - top);
  const double logit = top + std::log(sum) + std::log(static_cast<double>(floor));
  for (float& value : logits.subspan(known.size())) value = static_cast<float>(logit);
}

Status AddClasses(const std::string& path, int64_t classes,
                  const std::vector<std::string>& class_names, float floor,
                  const ChangeOptions& change) try {
  const RowSource none(0, [](const RowSource::Use&) { return Status(); });
  return Grow(path, {classes, class_names, floor, none}, {.change = change}).status();
} catch (...) {
  return CaughtException("add classes to the memory");
}

Result<bool> AppendNewClasses(const std::string& path, int64_t classes,
                              const std::vector<std::string>& class_names, float floor,
                              const RowSource& rows, const AppendOptions& options) try {
  return Grow(path, {classes, class_names, floor, rows}, options);
} catch (...) {
  return CaughtException("append rows of new classes");
}

}  // namespace resmem
