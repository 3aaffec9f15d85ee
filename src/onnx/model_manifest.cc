#include <filesystem>
#include <utility>

#include "format/checksum.h"
#include "onnx/manifest_json.h"
#include "resmem/models/onnx_model.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

}  // namespace

std::string ManifestPath(const std::string& onnx_path) {
  const std::filesystem::path path(onnx_path);
  return (path.extension() == ".onnx" ? path.parent_path() / path.stem() : path).string() + ".json";
}

Result<ModelManifest> ReadModelManifest(const std::string& onnx_path) try {
  const std::string path = ManifestPath(onnx_path);
  auto file = FileSystem::Posix().Map(path);
  if (!file.ok() && file.status().code() == ErrorCode::kNotFound &&
      FileSystem::Posix().Exists(onnx_path)) {
    return Status(ErrorCode::kNotFound,
                  Text(onnx_path, " has no manifest ", path, " beside it; make both with: resmem ",
                       "model prepare ", onnx_path, " -o NEW.onnx"));
  }
  if (!file.ok()) return file.status();
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() > kMaxBytes) {
    return Status(ErrorCode::kCorrupt, Text(path, ": has ", bytes.size(), " bytes, a manifest has ",
                                            "at most ", kMaxBytes));
  }
  auto manifest =
      ModelManifestFromJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (manifest.ok()) return manifest;
  return Status(manifest.status().code(), Text(path, ": ", manifest.status().message()));
} catch (...) {
  return CaughtException("read a model's manifest");
}

Status WriteModelManifest(const std::string& onnx_path, const ModelManifest& manifest) try {
  RESMEM_RETURN_IF_ERROR(CheckManifest(manifest));
  RESMEM_ASSIGN_OR_RETURN(const std::string json, ModelManifestToJson(manifest));
  return WriteFileAtomically(FileSystem::Posix(), ManifestPath(onnx_path),
                             std::as_bytes(std::span(json)));
} catch (...) {
  return CaughtException("write a model's manifest");
}

Fingerprint FingerprintOf(const std::string& graph_digest, const ModelManifest& manifest) {
  const std::string text = graph_digest + "\n" + NumbersOfManifest(manifest);
  return {Digest(std::as_bytes(std::span(text))), manifest.embedding};
}

Result<Fingerprint> FingerprintModel(const std::string& onnx_path) try {
  RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest, ReadModelManifest(onnx_path));
  RESMEM_ASSIGN_OR_RETURN(const std::string digest, DigestFile(onnx_path));
  return FingerprintOf(digest, manifest);
} catch (...) {
  return CaughtException("identify a model");
}

}  // namespace resmem
