#include "reproduce/embedded.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "console/output.h"
#include "reproduce/json.h"
#include "resmem/data/array.h"
#include "resmem/data/dataset.h"
#include "resmem_program/system_error.h"

namespace resmem::cli::reproduce {
namespace {

namespace fs = std::filesystem;

std::string_view BytesOf(const auto& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

}  // namespace

Status WriteEmbedded(const std::string& folder, const Embedded& embedded) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Status(CodeOfSystemError(error.value()), folder + " cannot be made: " + error.message());
  const int64_t count = embedded.count();
  RESMEM_RETURN_IF_ERROR(
      WriteNpy(folder + "/keys.npy", MatrixView(embedded.keys.data(), count, embedded.dim)));
  RESMEM_RETURN_IF_ERROR(WriteNpy(folder + "/logits.npy",
                                  MatrixView(embedded.logits.data(), count, embedded.classes)));
  return WriteNpy(folder + "/labels.npy", std::span<const int32_t>(embedded.labels));
}

Result<Embedded> ReadEmbedded(const std::string& folder) {
  DatasetSources sources;
  sources.all = folder;
  RESMEM_ASSIGN_OR_RETURN(const Dataset dataset, Dataset::Open(sources));
  Dataset::Block block;
  RESMEM_RETURN_IF_ERROR(dataset.Read(0, dataset.rows(), &block));
  const Rows& rows = block.view;
  Embedded embedded;
  embedded.dim = dataset.dim();
  embedded.classes = dataset.outputs();
  for (int64_t row = 0; row < rows.count(); ++row) {
    embedded.keys.insert(embedded.keys.end(), rows.keys.row(row),
                         rows.keys.row(row) + embedded.dim);
    embedded.logits.insert(embedded.logits.end(), rows.logits.row(row),
                           rows.logits.row(row) + embedded.classes);
  }
  embedded.labels.assign(rows.labels.begin(), rows.labels.end());
  return embedded;
}

Rows Embedded::view() const {
  Rows rows;
  rows.keys = MatrixView(keys.data(), count(), dim);
  rows.logits = MatrixView(logits.data(), count(), classes);
  rows.labels = labels;
  return rows;
}

Embedded Embedded::Take(std::span<const int64_t> rows) const {
  Embedded taken;
  taken.dim = dim;
  taken.classes = classes;
  for (const int64_t row : rows) {
    const float* key = keys.data() + row * dim;
    const float* line = logits.data() + row * classes;
    taken.keys.insert(taken.keys.end(), key, key + dim);
    taken.logits.insert(taken.logits.end(), line, line + classes);
    taken.labels.push_back(labels[static_cast<size_t>(row)]);
  }
  return taken;
}

Embedded WithUnitKeys(Embedded embedded) {
  for (int64_t row = 0; row < embedded.count(); ++row) {
    const std::span<float> key(embedded.keys.data() + row * embedded.dim,
                               static_cast<size_t>(embedded.dim));
    double squares = 0;
    for (const float value : key) squares += double{value} * value;
    if (squares == 0) continue;
    for (float& value : key) value = static_cast<float>(value / std::sqrt(squares));
  }
  return embedded;
}

// The stamp is written last, so that arrays with it are whole.
Result<Embedded> KeptArrays(const std::string& folder, const std::string& made_from,
                            const std::function<Result<Embedded>()>& make) {
  const std::string stamp = folder + "/made_from.txt";
  std::string found;
  std::getline(std::ifstream(stamp) >> std::ws, found);
  if (found == made_from) return ReadEmbedded(folder);
  std::error_code error;
  fs::remove(stamp, error);
  RESMEM_ASSIGN_OR_RETURN(Embedded made, make());
  RESMEM_RETURN_IF_ERROR(WriteEmbedded(folder, made));
  RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(stamp));
  RESMEM_RETURN_IF_ERROR(file.Write(made_from + "\n"));
  RESMEM_RETURN_IF_ERROR(file.Close());
  return made;
}

Result<ResidualMemory> MakeMemory(const std::string& path, const MemoryDescription& description,
                                  const Embedded& rows) {
  MemoryWriter::Options overwrite;
  overwrite.overwrite = true;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, description, rows.count(), overwrite));
  RESMEM_RETURN_IF_ERROR(writer.Add(rows.view()));
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  return ResidualMemory::Open(path);
}

Result<ResidualMemory> OpenMemoryOf(const std::string& path, const Fingerprint& fingerprint,
                                    const Embedded& rows) {
  Digest digest;
  digest.Add(BytesOf(rows.keys));
  digest.Add(BytesOf(rows.logits));
  digest.Add(BytesOf(rows.labels));
  if (fs::exists(path)) {
    Result<ResidualMemory> memory = ResidualMemory::Open(path);
    if (memory.ok()) {
      const auto& notes = memory->description().notes;
      const auto found = notes.find("rows");
      if (found != notes.end() && found->second == digest.Hex()) return memory;
    }
  }
  MemoryDescription description;
  description.dim = rows.dim;
  description.outputs = rows.classes;
  description.fingerprint = fingerprint;
  description.notes["rows"] = digest.Hex();
  return MakeMemory(path, description, rows);
}

}  // namespace resmem::cli::reproduce
