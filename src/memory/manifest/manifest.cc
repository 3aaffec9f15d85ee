#include "memory/manifest/manifest.h"

#include <algorithm>

#include "format/container_reader.h"
#include "format/container_writer.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/manifest_json.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kMaxJsonBytes = int64_t{64} << 20;

SectionShape JsonSection(int64_t bytes) {
  return {"json", StoredType::kU8, bytes, 1};
}

}  // namespace

int64_t IndexRecord::rows() const {
  int64_t rows = 0;
  for (const IndexPart& part : parts) rows += part.file.rows;
  return rows;
}

int64_t Manifest::stored_rows() const {
  int64_t rows = 0;
  for (const FileRecord& segment : segments) rows += segment.rows;
  return rows;
}

std::vector<const FileRecord*> Manifest::records() const {
  std::vector<const FileRecord*> records;
  for (const FileRecord& segment : segments) records.push_back(&segment);
  if (deletions) records.push_back(&*deletions);
  if (transform) records.push_back(&*transform);
  if (!index) return records;
  for (const IndexPart& part : index->parts) records.push_back(&part.file);
  if (index->queries) records.push_back(&*index->queries);
  return records;
}

Status CheckOwnRows(const std::string& path, const Manifest& manifest) {
  if (!manifest.stream) return {};
  return {ErrorCode::kUnsupported,
          Text(path, ": its rows follow the stream of edits ", manifest.stream->stream,
               ", as those of its replicas; send the edit to a gateway (docs/cluster.md), or take "
               "the memory out of the stream for good: resmem cluster leave")};
}

std::vector<NamedFile> NamedFiles(Manifest* manifest) {
  std::vector<NamedFile> files;
  for (FileRecord& segment : manifest->segments) files.push_back({&segment, kSegmentPrefix});
  if (manifest->transform) files.push_back({&*manifest->transform, kTransformPrefix});
  if (manifest->deletions) files.push_back({&*manifest->deletions, kDeletionsPrefix});
  if (!manifest->index) return files;
  for (IndexPart& part : manifest->index->parts) files.push_back({&part.file, kIndexPrefix});
  if (manifest->index->queries) files.push_back({&*manifest->index->queries, kQueriesPrefix});
  return files;
}

std::unordered_set<std::string> Manifest::names() const {
  std::unordered_set<std::string> names = {kManifestName};
  for (const FileRecord* record : records()) names.insert(record->file);
  if (former) names.merge(WithFormerKeys().names());
  return names;
}

Manifest Manifest::WithFormerKeys() const {
  Manifest manifest = *this;
  manifest.description.key_transform = former->key_transform;
  manifest.segments = former->segments;
  manifest.transform = former->transform;
  manifest.index = former->index;
  manifest.former.reset();
  return manifest;
}

int64_t Manifest::former_bytes() const {
  if (!former) return 0;
  std::unordered_set<std::string> own;
  for (const FileRecord* record : records()) own.insert(record->file);
  const Manifest before = WithFormerKeys();
  int64_t total = 0;
  for (const FileRecord* record : before.records()) {
    if (!own.contains(record->file)) total += record->bytes;
  }
  return total;
}

Status CheckToken(const std::string& token) {
  const bool control = std::any_of(token.begin(), token.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!token.empty() && token.size() <= kLongestToken && !control) return {};
  return {ErrorCode::kInvalidArgument,
          Text("the token has ", token.size(), " bytes", control ? ", control characters too" : "",
               "; give 1 to ", kLongestToken, " bytes of text")};
}

void Manifest::ForgetIndex() {
  index.reset();
}

Result<Manifest> ReadManifest(FileSystem& files, const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  auto reader = ContainerReader::Open(files, path, FileKind::kManifest);
  if (!reader.ok()) {
    if (reader.status().code() != ErrorCode::kNotFound) return reader.status();
    if (files.Exists(folder) && !files.IsDirectory(folder)) {
      return Status(ErrorCode::kNotFound,
                    Text(folder, ": is a file; a memory is a folder, made by: resmem memorize"));
    }
    return Status(ErrorCode::kNotFound,
                  Text(folder, ": no memory here, it has no file ", kManifestName,
                       "; check the path, or create one with: resmem memorize"));
  }
  RESMEM_RETURN_IF_ERROR(reader->VerifyBlocks());
  const int64_t bytes = reader->sections().empty() ? 0 : reader->sections().front().bytes;
  RESMEM_RETURN_IF_ERROR(reader->ExpectSections({JsonSection(bytes)}));
  if (bytes > kMaxJsonBytes) {
    return reader->Corrupt(
        Text("its JSON has ", bytes, " bytes, at most ", kMaxJsonBytes, " are allowed"));
  }
  const std::span<const char> text = reader->Values<char>(0);
  auto manifest = ManifestFromJson({text.data(), text.size()});
  if (!manifest.ok() && manifest.status().code() == ErrorCode::kCorrupt) {
    return reader->Corrupt(manifest.status().message());
  }
  if (!manifest.ok()) {
    return Status(manifest.status().code(), Text(path, ": ", manifest.status().message()));
  }
  manifest->bytes = reader->file_bytes();
  return manifest;
}

Status WriteManifest(FileSystem& files, const std::string& folder, const Manifest& manifest,
                     bool* replaced) {
  RESMEM_ASSIGN_OR_RETURN(const std::string json, ManifestToJson(manifest));
  const auto bytes = static_cast<int64_t>(json.size());
  if (bytes > kMaxJsonBytes) {
    return {ErrorCode::kInvalidArgument,
            Text(folder, ": the description has ", bytes, " bytes as JSON, at most ", kMaxJsonBytes,
                 " are allowed; shorten the notes or class names")};
  }
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(files, folder + "/" + kManifestName,
                                                  FileKind::kManifest, {JsonSection(bytes)}));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<char>(0, json));
  return writer.Finish(replaced).status();
}

}  // namespace resmem
