#include "inputs/images/model_bundle.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "inputs/images/model_options.h"
#include "resmem/models/bundle.h"
#include "resmem/models/onnx_model.h"
#include "resmem_program/output_file.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {
namespace {

Result<int64_t> CopyFile(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return Status(ErrorCode::kNotFound, from + ": cannot be read");
  RESMEM_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Create(to));
  std::vector<char> piece(1 << 20);
  int64_t copied = 0;
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    RESMEM_RETURN_IF_ERROR(
        out.Write(std::string_view(piece.data(), static_cast<size_t>(in.gcount()))));
    copied += in.gcount();
  }
  if (in.bad()) return Status(ErrorCode::kIo, from + ": cannot be read to its end");
  RESMEM_RETURN_IF_ERROR(out.Close());
  return copied;
}

// The model and its manifest under `copy`; how many bytes.  `given`: what the model was.
Result<int64_t> CopyModel(const std::string& model, const std::string& copy,
                          const Fingerprint& given) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(copy).parent_path(), error);
  if (error) {
    return Status(CodeOfSystemError(error.value()),
                  copy + ": its folder cannot be made: " + error.message());
  }
  RESMEM_ASSIGN_OR_RETURN(const int64_t bytes, CopyFile(model, copy));
  RESMEM_ASSIGN_OR_RETURN(const int64_t manifest,
                          CopyFile(ManifestPath(model), ManifestPath(copy)));
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint copied, FingerprintModel(copy));
  if (copied != given) {
    return Status(ErrorCode::kIo, copy + ": is not what " + model +
                                      " was when it was read; was it changed meanwhile?");
  }
  return bytes + manifest;
}

}  // namespace

Result<int64_t> BundleModel(const std::string& memory_path, const std::string& model,
                            const ChangeOptions& change) {
  MemoryDescription description;
  {  // the memory must not stay open while it is changed
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path, {.verify_blocks = false}));
    description = memory.description();
  }
  RESMEM_ASSIGN_OR_RETURN(const Fingerprint given, FingerprintModel(model));
  if (given != description.fingerprint) {
    return Status(ErrorCode::kMismatch,
                  description.fingerprint.empty()
                      ? memory_path +
                            " does not record which model made it, so none can be "
                            "bundled; memorize with --model"
                      : memory_path + " was made with " + FingerprintText(description.fingerprint) +
                            ", but " + model + " is " + FingerprintText(given) + " by " +
                            ManifestPath(model));
  }
  const std::string copy = memory_path + "/" + kBundledModel;
  std::error_code error;
  if (std::filesystem::equivalent(model, copy, error)) return int64_t{0};
  RESMEM_ASSIGN_OR_RETURN(const int64_t bytes, CopyModel(model, copy, given));
  description.notes[kModelNote] = kBundledModel;
  RESMEM_ASSIGN_OR_RETURN(description.notes[kBundledManifestNote], DigestFile(ManifestPath(copy)));
  RESMEM_RETURN_IF_ERROR(UpdateDescription(memory_path, description, change));
  return bytes;
}

bool BundleOfNewMemory::CanBeMade(const std::string& memory_path) {
  std::error_code error;
  const auto folder = std::filesystem::path(memory_path + "/" + kBundledModel).parent_path();
  return !std::filesystem::exists(folder, error) ||
         !std::filesystem::exists(memory_path + "/MANIFEST", error);
}

Status BundleOfNewMemory::Describe(const std::string& model, MemoryDescription* description) {
  description->notes[kModelNote] = kBundledModel;
  RESMEM_ASSIGN_OR_RETURN(description->notes[kBundledManifestNote],
                          DigestFile(ManifestPath(model)));
  return {};
}

Result<BundleOfNewMemory> BundleOfNewMemory::Copy(const std::string& memory_path,
                                                  const std::string& model,
                                                  const MemoryDescription& description,
                                                  bool new_folder) {
  const std::string copy = memory_path + "/" + kBundledModel;
  BundleOfNewMemory bundle(std::filesystem::path(copy).parent_path().string(),
                           new_folder ? memory_path : "");
  RESMEM_RETURN_IF_ERROR(CopyModel(model, copy, description.fingerprint).status());
  RESMEM_RETURN_IF_ERROR(CheckBundledManifest(memory_path, description.notes));
  return bundle;
}

BundleOfNewMemory::BundleOfNewMemory(BundleOfNewMemory&& other) noexcept
    : folder_(std::exchange(other.folder_, "")), new_folder_(std::move(other.new_folder_)) {}

BundleOfNewMemory::~BundleOfNewMemory() {
  std::error_code error;
  if (folder_.empty()) return;
  std::filesystem::remove_all(folder_, error);
  // Refused by the system unless it is empty.
  if (!new_folder_.empty()) std::filesystem::remove(new_folder_, error);
}

}  // namespace resmem::cli
