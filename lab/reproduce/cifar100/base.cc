#include "reproduce/cifar100/base.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "console/output.h"
#include "reproduce/cifar100/training_run.h"
#include "reproduce/json.h"
#include "resmem/data/array.h"

namespace resmem::cli::reproduce::cifar100 {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRunTogether = 2000;  // images

std::string_view BytesOf(const auto& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

Status WriteEmbedded(const std::string& folder, const Embedded& embedded) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status(ErrorCode::kIo, folder + " cannot be made: " + error.message());
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

// Which model and images the arrays are of; written last, so that arrays with it are whole.
std::string MadeFrom(const Workspace& workspace, const Fingerprint& fingerprint) {
  return fingerprint.digest + " " + fingerprint.layer + " " + workspace.data_digest();
}

Result<Base> LoadArrays(Workspace& workspace, Base base) {
  RESMEM_ASSIGN_OR_RETURN(base.fingerprint, FingerprintModel(base.model));
  const std::string folder = workspace.Path("arrays", base.name);
  const std::string stamp = folder + "/made_from.txt";
  const std::string made_from = MadeFrom(workspace, base.fingerprint);
  std::string found;
  std::getline(std::ifstream(stamp) >> std::ws, found);
  if (found == made_from) {
    RESMEM_ASSIGN_OR_RETURN(base.train, ReadEmbedded(folder + "/train"));
    RESMEM_ASSIGN_OR_RETURN(base.test, ReadEmbedded(folder + "/test"));
    return base;
  }
  std::error_code error;
  fs::remove(stamp, error);
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel model,
                          OnnxModel::Open(base.model, workspace.options().runtime));
  RESMEM_ASSIGN_OR_RETURN(base.train, Embed(model, workspace.train(), workspace.console()));
  RESMEM_ASSIGN_OR_RETURN(base.test, Embed(model, workspace.test(), workspace.console()));
  RESMEM_RETURN_IF_ERROR(WriteEmbedded(folder + "/train", base.train));
  RESMEM_RETURN_IF_ERROR(WriteEmbedded(folder + "/test", base.test));
  RESMEM_ASSIGN_OR_RETURN(Output file, Output::File(stamp));
  RESMEM_RETURN_IF_ERROR(file.Write(made_from + "\n"));
  RESMEM_RETURN_IF_ERROR(file.Close());
  return base;
}

}  // namespace

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

Result<Embedded> Embed(const OnnxModel& model, const ImageSet& images, Console& console,
                       const ChangePixels& change) {
  Embedded embedded;
  embedded.dim = model.manifest().dim;
  embedded.classes = model.manifest().classes;
  embedded.labels = images.labels();
  const int64_t count = images.size();
  embedded.keys.resize(static_cast<size_t>(count * embedded.dim));
  embedded.logits.resize(static_cast<size_t>(count * embedded.classes));
  std::vector<uint8_t> pixels;
  for (int64_t begin = 0; begin < count; begin += kRunTogether) {
    if (console.progress()->Cancelled()) return Status(ErrorCode::kCancelled, "stopped");
    console.progress()->Report("embedding", begin, count);
    const int64_t rows = std::min(kRunTogether, count - begin);
    pixels.resize(static_cast<size_t>(rows * images.shape().bytes()));
    RESMEM_RETURN_IF_ERROR(images.Read(begin, rows, pixels));
    if (change) RESMEM_RETURN_IF_ERROR(change(begin, pixels));
    const auto part = [&](std::vector<float>& values, int64_t columns) {
      return std::span(values).subspan(static_cast<size_t>(begin * columns),
                                       static_cast<size_t>(rows * columns));
    };
    RESMEM_RETURN_IF_ERROR(model.Run(pixels, rows, part(embedded.keys, embedded.dim),
                                     part(embedded.logits, embedded.classes)));
  }
  console.progress()->Report("embedding", count, count);
  return embedded;
}

Result<Base> LoadBase(Workspace& workspace, const std::string& run, const std::string& model) {
  Base base;
  base.name = run + (model == "last" ? "" : "-" + model);
  const std::string folder = workspace.Path("runs", run);
  base.model = folder + "/" + model + ".onnx";
  RESMEM_ASSIGN_OR_RETURN(const TrainRecipe recipe, ReadTrainRecipe(folder + "/recipe.json"));
  RESMEM_ASSIGN_OR_RETURN(base.split, DrawTrainSplit(recipe, workspace.train().size()));
  return LoadArrays(workspace, std::move(base));
}

Result<Base> LoadModel(Workspace& workspace, const std::string& name, const std::string& model) {
  Base base;
  base.name = name;
  base.model = model;
  base.split.train.resize(static_cast<size_t>(workspace.train().size()));
  std::iota(base.split.train.begin(), base.split.train.end(), 0);
  return LoadArrays(workspace, std::move(base));
}

Result<ResidualMemory> OpenMemory(Workspace& workspace, const Base& base, const std::string& name,
                                  const Embedded& rows) {
  const std::string path = workspace.Path("memories", name);
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
  description.fingerprint = base.fingerprint;
  description.notes["rows"] = digest.Hex();
  MemoryWriter::Options overwrite;
  overwrite.overwrite = true;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, description, rows.count(), overwrite));
  RESMEM_RETURN_IF_ERROR(writer.Add(rows.view()));
  RESMEM_RETURN_IF_ERROR(writer.Finish());
  return ResidualMemory::Open(path);
}

}  // namespace resmem::cli::reproduce::cifar100
