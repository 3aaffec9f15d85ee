#include "resmem/models/bundle.h"

#include <filesystem>

#include "resmem/models/onnx_model.h"
#include "resmem/snapshots.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

Status NotAsBundled(const std::string& memory_path, const std::string& file) {
  return {ErrorCode::kCorrupt,
          Text(file, ": is not what was bundled; bundle the model again (resmem bundle ",
               memory_path, " --model FILE.onnx), or restore the memory from a copy")};
}

std::string NoteOf(const MemoryNotes& notes, const char* name) {
  const auto note = notes.find(name);
  return note == notes.end() ? "" : note->second;
}

// What is missing from a bundle is damage; an error of the system is none.
Status InBundle(const std::string& memory_path, const std::string& file, const Status& status) {
  const ErrorCode code = status.code();
  if (code == ErrorCode::kIo || code == ErrorCode::kResourceExhausted) return status;
  return NotAsBundled(memory_path, file);
}

}  // namespace

std::string RememberedModel(const std::string& memory_path, const MemoryNotes& notes) {
  const std::string note = NoteOf(notes, kModelNote);
  if (note.empty() || std::filesystem::path(note).is_absolute()) return note;
  // A snapshot has no model of its own: the memory's is the one that it was taken with.
  const std::string owner = MemoryOfSnapshot(memory_path);
  return (owner.empty() ? memory_path : owner) + "/" + note;
}

bool CarriesModel(const MemoryNotes& notes) {
  return NoteOf(notes, kModelNote) == kBundledModel;
}

Status CheckBundledManifest(const std::string& memory_path, const MemoryNotes& notes) try {
  const std::string expected = NoteOf(notes, kBundledManifestNote);
  if (!CarriesModel(notes) || expected.empty()) return {};  // bundled before there was the note
  const std::string file = ManifestPath(RememberedModel(memory_path, notes));
  const Result<std::string> digest = DigestFile(file);
  if (!digest.ok()) return InBundle(memory_path, file, digest.status());
  return *digest == expected ? Status() : NotAsBundled(memory_path, file);
} catch (...) {
  return CaughtException("check the bundled model");
}

Status VerifyBundle(const std::string& memory_path, const MemoryNotes& notes,
                    const Fingerprint& fingerprint) try {
  if (!CarriesModel(notes)) return {};
  RESMEM_RETURN_IF_ERROR(CheckBundledManifest(memory_path, notes));
  const std::string model = RememberedModel(memory_path, notes);
  const Result<Fingerprint> found = FingerprintModel(model);
  if (!found.ok()) return InBundle(memory_path, model, found.status());
  return *found == fingerprint ? Status() : NotAsBundled(memory_path, model);
} catch (...) {
  return CaughtException("check the bundled model");
}

}  // namespace resmem
