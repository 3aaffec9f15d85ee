// A memory that carries its model: MEMORY/bundle/model.onnx and its manifest beside it, named by a
// relative path, so that the folder can be copied to another machine.
#ifndef RESMEM_MODELS_BUNDLE_H_
#define RESMEM_MODELS_BUNDLE_H_

#include <map>
#include <string>

#include "resmem/fingerprint.h"
#include "resmem/status.h"

namespace resmem {

// As MemoryDescription has them.
using MemoryNotes = std::map<std::string, std::string>;

// The note of a memory that remembers its model: its path, relative to the memory where it is
// carried.
inline constexpr char kModelNote[] = "model";
inline constexpr char kBundledModel[] = "bundle/model.onnx";
// The note of a memory that carries its model: the DigestFile() of the model's manifest.
inline constexpr char kBundledManifestNote[] = "model_manifest";

// The model that the memory remembers; one it carries, in the memory's folder.  Empty: none.
std::string RememberedModel(const std::string& memory_path, const MemoryNotes& notes);
// Whether that is a model it carries.
bool CarriesModel(const MemoryNotes& notes);

// That the manifest of the model that a memory carries is as it was bundled; kCorrupt.  The model's
// own fingerprint does not know all of it.  Ok where none is carried.
Status CheckBundledManifest(const std::string& memory_path, const MemoryNotes& notes);
// The same of both files; `fingerprint`: the memory's.
Status VerifyBundle(const std::string& memory_path, const MemoryNotes& notes,
                    const Fingerprint& fingerprint);

}  // namespace resmem

#endif  // RESMEM_MODELS_BUNDLE_H_
