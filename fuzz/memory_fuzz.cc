// libFuzzer's entry for the files of a memory.  A forger made every checksum right again after the
// damage, and the manifest agrees with it, so that the values themselves are doubted: the first
// byte chooses a file of a sound memory, the second is added to the rows that the manifest names,
// the rest takes the file's place (of a manifest: the place of its JSON).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "corrupt/memory_operations.h"
#include "data/test_seeds.h"
#include "fixtures/file_bytes.h"
#include "format/container_writer.h"
#include "fuzz/seal.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/manifest_json.h"
#include "resmem/predictor.h"
#include "resmem/ram_memory.h"

namespace resmem {
namespace {

struct Sound {
  std::string name;
  Manifest manifest;
  std::vector<std::pair<std::string, std::string>> files;  // name and bytes, but the manifest
};

void Must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::abort();
}

template <typename Value>
Value Must(Result<Value> result) {
  Must(result.status());
  return std::move(result).value();
}

Sound ReadSound(const std::string& name, const std::string& path) {
  FileSystem& files = FileSystem::Of(path);
  Sound sound{name, Must(ReadManifest(files, path)), {}};
  for (const MemoryFile& file : Must(ReadMemoryFiles(path))) {
    if (file.name == kManifestName) continue;
    const auto* const begin = reinterpret_cast<const char*>(file.bytes.data());
    sound.files.emplace_back(file.name, std::string(begin, file.bytes.size()));
  }
  return sound;
}

// Two segments and deleted rows.
Sound Worn(const MemoryDescription& description) {
  const RamFolder folder;
  const RowData data = MakeRows(7, description.dim, description.outputs);
  auto writer = Must(MemoryWriter::Create(folder.path(), description, 4, {}));
  Must(writer.Add(data.Part(0, 4).view(description)));
  Must(writer.Finish());
  auto more = Must(MemoryWriter::Append(folder.path(), 3));
  Must(more.Add(data.Part(4, 3).view(description)));
  Must(more.Finish());
  Must(DeleteRows(folder.path(), std::vector<uint64_t>{data.ids[1], data.ids[5]}));
  return ReadSound(NameOf(description), folder.path());
}

// With keys of before, kept to undo it.
Sound Whitened() {
  const RamFolder folder;
  FileSystem& files = FileSystem::Of(folder.path());
  Must(CreateRows(files, folder.path(), 1));
  Must(ChangeKeysTo(files, folder.path(), KeyTransform::kWhiten));
  return ReadSound("whitened", folder.path());
}

Sound Indexed(int code_bits) {
  const RamFolder folder;
  const RowData data = MakeRows(300, 3, 4);
  auto writer = Must(MemoryWriter::Create(folder.path(), Small(), 300, {}));
  Must(writer.Add(data.view(Small())));
  Must(writer.Finish());
  IndexOptions options{.recall = 0.5, .code_bits = code_bits};
  options.queries = MatrixView(data.keys.data(), 100, 3);
  Must(IndexMemory(folder.path(), options));
  return ReadSound("indexed_" + std::to_string(code_bits), folder.path());
}

const std::vector<Sound>& EverySound() {
  static const std::vector<Sound> kAll = [] {
    std::vector<Sound> all;
    const std::vector<MemoryDescription> described = EveryDescription(3, 4);
    for (const size_t which : {0, 2, 5, 6, 13, 18}) all.push_back(Worn(described[which]));
    all.push_back(Whitened());
    for (const int bits : {8, 2}) all.push_back(Indexed(bits));
    return all;
  }();
  return kAll;
}

// What an input's first byte chooses: memory, and file or -1 for the manifest.
const std::vector<std::pair<size_t, int>>& Choices() {
  static const std::vector<std::pair<size_t, int>> kChoices = [] {
    std::vector<std::pair<size_t, int>> choices;
    for (size_t memory = 0; memory < EverySound().size(); ++memory) {
      const int count = static_cast<int>(EverySound()[memory].files.size());
      for (int file = -1; file < count; ++file) choices.emplace_back(memory, file);
    }
    return choices;
  }();
  return kChoices;
}

void WriteForgedJson(const std::string& path, std::string_view json) {
  const std::string name = path + "/" + kManifestName;
  auto writer =
      ContainerWriter::Create(FileSystem::Of(path), name, FileKind::kManifest,
                              {{"json", StoredType::kU8, static_cast<int64_t>(json.size()), 1}});
  Must(writer.status());
  Must(writer->Append(0, std::as_bytes(std::span(json))));
  Must(writer->Finish().status());
}

// The manifest agrees with the forged file.
void Agree(Manifest* manifest, const std::string& name, const std::string& bytes, int more_rows) {
  const auto agree = [&](FileRecord* record) {
    if (record->file != name) return;
    record->bytes = static_cast<int64_t>(bytes.size());
    record->rows = std::max<int64_t>(0, record->rows + more_rows);
    if (bytes.size() < static_cast<size_t>(kHeaderBytes)) return;
    std::memcpy(&record->header_hash, bytes.data() + offsetof(FileHeader, header_hash),
                sizeof(record->header_hash));
  };
  for (const NamedFile& file : NamedFiles(manifest)) agree(file.record);
  if (!manifest->former) return;
  for (FileRecord& record : manifest->former->segments) agree(&record);
  if (manifest->former->transform) agree(&*manifest->former->transform);
}

void Expect(const Status& status) {
  if (!status.ok() && (status.message().empty() || status.code() == ErrorCode::kInternal)) {
    Must(status);
  }
}

void AskRows(const ResidualMemory& memory) {
  const MemoryDescription& description = memory.description();
  std::vector<float> key(static_cast<size_t>(description.dim));
  std::vector<float> residual(static_cast<size_t>(description.outputs));
  for (int64_t row = 0; row < std::min<int64_t>(memory.capacity(), 12); ++row) {
    memory.DecodeKey(row, key);
    memory.Residual(row, description.parameters.temperature, residual);
    (void)std::string(memory.source(row));
    if (description.task == Task::kClassification) (void)memory.label(row);
    (void)memory.FindId(memory.id(row));
  }
  Expect(memory.damage());
}

void AskPredictor(const ResidualMemory& memory) {
  constexpr size_t kQueries = 2;
  const MemoryDescription& description = memory.description();
  const std::vector<float> keys(kQueries * static_cast<size_t>(description.dim), 0.5f);
  const std::vector<float> logits(kQueries * static_cast<size_t>(description.outputs), 0.25f);
  std::vector<float> scores(logits.size());
  const MatrixView given(keys.data(), kQueries, description.dim);
  const MatrixView base(logits.data(), kQueries, description.outputs);
  const Predictor predictor(memory);
  PredictOptions options = predictor.DefaultOptions();
  options.threads = 1;
  Expect(predictor.Predict(given, base, options, scores));
  Expect(Explain(predictor, given.row_span(0), base.row_span(0), options).status());
}

// A memory that opened may be changed; a forged one must not come out of it worse.
void ChangeIt(const std::string& path, const MemoryDescription& description) {
  const RowData more = MakeRows(1, description.dim, description.outputs, 9);
  if (auto writer = MemoryWriter::Append(path, 1); writer.ok()) {
    Rows rows = more.view(description);
    rows.ids = {};
    const Status added = writer->Add(rows);
    Expect(added);
    if (added.ok()) Expect(writer->Finish());
  }
  Expect(DeleteRows(path, std::vector<uint64_t>{10}));
  Expect(CompactMemory(path));
  Expect(ResidualMemory::Open(path).status());
}

void AskForged(const std::string& path) {
  constexpr int64_t kMostValues = 1 << 16;  // of a row: a memory without rows may claim any number
  bool sound = false;
  MemoryDescription description;
  for (const bool verify : {false, true}) {
    const auto memory = ResidualMemory::Open(path, {.verify_blocks = verify});
    Expect(memory.status());
    sound = memory.ok();
    if (!memory.ok()) continue;
    description = memory->description();
    if (std::max(description.dim, description.outputs) > kMostValues) return;
    AskRows(*memory);
    AskPredictor(*memory);
    Expect(memory->Verify());
  }
  if (sound) ChangeIt(path, description);
}

}  // namespace

std::vector<Seed> Seeds() {
  std::vector<Seed> seeds;
  for (const auto& [memory, file] : Choices()) {
    const Sound& sound = EverySound()[memory];
    const std::string zero(1, '\0');
    if (file < 0) {
      seeds.push_back({sound.name, zero + Must(ManifestToJson(sound.manifest)), false});
    } else {
      const auto& [name, bytes] = sound.files[static_cast<size_t>(file)];
      seeds.push_back({sound.name + "." + name, zero + bytes, false});
    }
  }
  return seeds;
}

}  // namespace resmem

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace resmem;  // NOLINT
  if (size < 2) return 0;
  const auto& [which, forged] = Choices()[data[0] % Choices().size()];
  const Sound& sound = EverySound()[which];
  std::string given(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (forged >= 0) SealForged(&given);
  Manifest manifest = sound.manifest;
  std::vector<MemoryFile> files;
  for (size_t i = 0; i < sound.files.size(); ++i) {
    const auto& [name, bytes] = sound.files[i];
    const bool here = static_cast<int>(i) == forged;
    if (here) Agree(&manifest, name, given, static_cast<int8_t>(data[1]));
    files.push_back({name, fixtures::AsBytes(here ? given : bytes)});
  }
  RamFolder folder;
  Must(folder.Fill(files));
  if (forged < 0) {
    WriteForgedJson(folder.path(), given);
  } else {
    Must(WriteManifest(FileSystem::Of(folder.path()), folder.path(), manifest));
  }
  AskForged(folder.path());
  return 0;
}
