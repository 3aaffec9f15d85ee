#include "resmem/data/export.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "memory/memory_parts.h"
#include "resmem/data/array_writer.h"
#include "support/block_rows.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// What a part is made of, besides its name.
struct PartWriter {
  ElementType type = ElementType::kFloat32;
  int64_t columns = 0;  // 0: one value a row
  // Sets the row's values: `columns` of the type, at least one.
  std::function<void(int64_t row, std::byte* out)> set;
  int64_t text_bytes = 0;

  int64_t row_bytes() const {
    const int64_t value = type == ElementType::kText ? text_bytes : ElementBytes(type);
    return std::max<int64_t>(columns, 1) * value;
  }
};

using TextOfRow = std::string_view (ResidualMemory::*)(int64_t row) const;

int64_t LongestText(const ResidualMemory& memory, TextOfRow text) {
  size_t longest = 1;
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (!memory.deleted(row)) longest = std::max(longest, (memory.*text)(row).size());
  }
  return static_cast<int64_t>(longest);
}

class Exporter {
 public:
  explicit Exporter(const ResidualMemory& memory)
      : memory_(memory),
        stored_(MemoryParts::Rows(memory)),
        dim_(memory.description().dim),
        outputs_(memory.description().outputs),
        top_(memory.description().top),
        temperature_(memory.description().parameters.temperature) {}

  PartWriter Make(const std::string& name);
  Status Write(const std::vector<PartWriter>& parts,
               const std::optional<std::vector<int64_t>>& only, Progress* progress,
               ArrayWriter* out) const;

 private:
  template <typename T>
  static void Put(const T& value, std::byte* out) {
    std::memcpy(out, &value, sizeof(T));
  }
  static std::span<float> Floats(std::byte* out, int64_t count) {
    return {reinterpret_cast<float*>(out), static_cast<size_t>(count)};
  }
  PartWriter OfOutputs(std::function<void(int64_t row, std::span<float> out)> set) const {
    return {ElementType::kFloat32, outputs_,
            [this, set](int64_t row, std::byte* out) { set(row, Floats(out, outputs_)); }};
  }

  const ResidualMemory& memory_;
  const StoredRows& stored_;
  const int64_t dim_, outputs_, top_;
  const float temperature_;
  std::vector<int32_t> classes_;
  std::vector<float> values_;
};

PartWriter Exporter::Make(const std::string& name) {
  if (name == "rows") {
    return {ElementType::kInt64, 0, [](int64_t row, std::byte* out) { Put(row, out); }};
  }
  if (name == "ids") {
    return {ElementType::kUInt64, 0,
            [this](int64_t row, std::byte* out) { Put(stored_.id(row), out); }};
  }
  if (name == "labels") {
    return {ElementType::kInt32, 0,
            [this](int64_t row, std::byte* out) { Put(memory_.label(row), out); }};
  }
  if (name == "keys") {
    return {ElementType::kFloat32, dim_,
            [this](int64_t row, std::byte* out) { memory_.DecodeKey(row, Floats(out, dim_)); }};
  }
  if (name == "search_keys") {
    return {ElementType::kFloat32, dim_,
            [this](int64_t row, std::byte* out) { stored_.DecodeKey(row, Floats(out, dim_)); }};
  }
  if (name == "logits") {
    return OfOutputs([this](int64_t row, std::span<float> out) {
      std::ranges::copy(stored_.logits(row), out.begin());
    });
  }
  if (name == "targets") {
    return OfOutputs([this](int64_t row, std::span<float> out) {
      std::ranges::copy(stored_.target(row), out.begin());
    });
  }
  if (name == "predictions") {  // what the residual was taken from: target - residual
    return OfOutputs([this](int64_t row, std::span<float> out) {
      stored_.Residual(row, temperature_, out);
      const std::span<const float> target = stored_.target(row);
      for (size_t c = 0; c < out.size(); ++c) out[c] = target[c] - out[c];
    });
  }
  if (name == "residuals") {
    return OfOutputs(
        [this](int64_t row, std::span<float> out) { stored_.Residual(row, temperature_, out); });
  }
  if (name == "top_classes" || name == "top_values") {
    classes_.resize(static_cast<size_t>(top_));
    values_.resize(static_cast<size_t>(top_));
    const bool classes = name == "top_classes";
    return {classes ? ElementType::kInt32 : ElementType::kFloat32, top_,
            [this, classes](int64_t row, std::byte* out) {
              const auto [segment, local] = stored_.Find(row);
              const auto count =
                  static_cast<size_t>(segment->Entries(local, classes_.data(), values_.data()));
              std::fill(classes_.begin() + static_cast<std::ptrdiff_t>(count), classes_.end(), -1);
              std::fill(values_.begin() + static_cast<std::ptrdiff_t>(count), values_.end(), 0.0f);
              const void* const from = classes ? static_cast<const void*>(classes_.data())
                                               : static_cast<const void*>(values_.data());
              std::memcpy(out, from, static_cast<size_t>(top_) * 4);
            }};
  }
  const TextOfRow text = name == "tags" ? &ResidualMemory::tags : &ResidualMemory::source;
  const int64_t longest = LongestText(memory_, text);
  return {ElementType::kText, 0,
          [this, longest, text](int64_t row, std::byte* out) {
            const std::string_view value = (memory_.*text)(row);
            std::memset(out, 0, static_cast<size_t>(longest));
            std::memcpy(out, value.data(), value.size());
          },
          longest};
}

Status Exporter::Write(const std::vector<PartWriter>& parts,
                       const std::optional<std::vector<int64_t>>& only, Progress* progress,
                       ArrayWriter* out) const {
  int64_t row_bytes = 0;
  for (const PartWriter& part : parts) row_bytes += part.row_bytes();
  const int64_t step = BlockRows(0, row_bytes / 4);
  std::vector<int64_t> rows;
  std::vector<std::byte> values;
  for (int64_t begin = 0; begin < memory_.capacity(); begin += step) {
    const int64_t end = std::min(begin + step, memory_.capacity());
    if (progress != nullptr) {
      progress->Report("exporting", begin, memory_.capacity());
      if (progress->Cancelled()) return {ErrorCode::kCancelled, "stopped while exporting"};
    }
    rows.clear();
    for (int64_t row = begin; row < end; ++row) {
      if (memory_.deleted(row) || (only && !std::ranges::binary_search(*only, row))) continue;
      rows.push_back(row);
    }
    for (size_t p = 0; p < parts.size(); ++p) {
      const auto bytes = static_cast<size_t>(parts[p].row_bytes());
      values.resize(bytes * rows.size());
      for (size_t i = 0; i < rows.size(); ++i) parts[p].set(rows[i], values.data() + i * bytes);
      RESMEM_RETURN_IF_ERROR(out->WriteBytes(p, values));
    }
  }
  if (progress != nullptr) progress->Report("exporting", memory_.capacity(), memory_.capacity());
  return {};
}

Result<std::vector<std::string>> ChooseParts(const ResidualMemory& memory,
                                             const std::vector<std::string>& asked) {
  const std::vector<ExportPart> parts = ExportParts(memory.description(), memory.has_tags());
  std::vector<std::string> chosen;
  std::string present;
  for (const ExportPart& part : parts) {
    if (!part.present) continue;
    present += Text(present.empty() ? "" : ", ", part.name);
    const bool named = std::ranges::find(asked, part.name) != asked.end();
    if (asked.empty() ? part.usual : named) chosen.push_back(part.name);
  }
  for (const std::string& name : asked) {
    if (std::ranges::find(chosen, name) != chosen.end()) continue;
    return Status(ErrorCode::kInvalidArgument,
                  Text("'", name, "' is no part of this memory; it has ", present));
  }
  return chosen;
}

// Their numbers, ascending.
Result<std::vector<int64_t>> FindRows(const ResidualMemory& memory,
                                      const std::vector<uint64_t>& ids) {
  std::vector<int64_t> rows;
  for (const uint64_t id : ids) {
    const std::optional<int64_t> row = memory.FindId(id);
    if (!row) {
      return Status(ErrorCode::kNotFound, Text("the memory has no row with the id ", id));
    }
    rows.push_back(*row);
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace

std::vector<ExportPart> ExportParts(const MemoryDescription& description, bool tags) {
  const bool classes = description.task == Task::kClassification;
  const bool logits = description.form == ResidualForm::kLogits;
  const bool transformed = description.key_transform != KeyTransform::kNone;
  const bool sparse =
      description.form == ResidualForm::kSparse || description.form == ResidualForm::kPacked;
  return {
      {"rows", "row numbers, as neighbors are given"},
      {"ids", "as given, or numbered"},
      {"keys", "as given, but for the rounding of what is stored"},
      {"search_keys", "as distances are measured: transformed", transformed, transformed},
      {"labels", "class numbers", true, classes},
      {"targets", "true values of a regression", true, !classes},
      {"predictions", "the base's predictions of a regression", true, !classes},
      {"logits", "the base's logits, of a memory that keeps them", true, classes && logits},
      {"residuals", "residuals at the memory's temperature", !logits && !sparse},
      {"top_classes", "sparse form: classes of the residuals kept; -1: no more", true, sparse},
      {"top_values", "sparse form: the residuals kept; 0: no more", true, sparse},
      {"sources", "where rows came from", true, description.has_sources},
      {"tags", "names and values, see docs/filters.md", true, tags},
  };
}

Result<ExportedArrays> ExportMemory(const ResidualMemory& memory, const std::string& path,
                                    const ExportOptions& options) try {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, ChooseParts(memory, options.parts));
  std::optional<std::vector<int64_t>> only;
  if (options.ids) {
    RESMEM_ASSIGN_OR_RETURN(only, FindRows(memory, *options.ids));
  }
  const int64_t rows = only ? static_cast<int64_t>(only->size()) : memory.rows();
  Exporter exporter(memory);
  std::vector<PartWriter> parts;
  std::vector<ArrayToWrite> arrays;
  ExportedArrays exported{rows, {}};
  for (const std::string& name : names) {
    const PartWriter& part = parts.emplace_back(exporter.Make(name));
    ArrayInfo info{name, part.type, {rows}};
    if (part.columns > 0) info.shape.push_back(part.columns);
    exported.arrays.push_back(info);
    arrays.push_back({std::move(info), part.text_bytes});
  }
  RESMEM_ASSIGN_OR_RETURN(ArrayWriter writer, ArrayWriter::Create(path, std::move(arrays)));
  RESMEM_RETURN_IF_ERROR(exporter.Write(parts, only, options.progress, &writer));
  RESMEM_RETURN_IF_ERROR(memory.damage());
  RESMEM_RETURN_IF_ERROR(writer.Close());
  return exported;
} catch (...) {
  return CaughtException("export the memory");
}

}  // namespace resmem
