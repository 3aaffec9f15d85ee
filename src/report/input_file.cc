#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "resmem/report/report.h"
#include "resmem_program/system_error.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string DigestText(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  std::array<char, 33> hex;
  std::snprintf(hex.data(), hex.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return hex.data();
}

Result<InputFile> DescribeFile(const std::string& path) {
  InputFile input{path, 0, ""};
  RESMEM_ASSIGN_OR_RETURN(input.digest, DigestFile(path));
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return Status(CodeOfSystemError(error.value()), Text(path, ": ", error.message()));
  input.bytes = static_cast<int64_t>(bytes);
  return input;
}

// Files directly in the folder, in order of their names.
Result<InputFile> DescribeFolder(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(path));
  InputFile folder{path, 0, ""};
  std::string listing;
  for (const std::string& name : names) {
    const std::string inner = path + "/" + name;
    if (files.IsDirectory(inner)) continue;
    RESMEM_ASSIGN_OR_RETURN(const InputFile file, DescribeFile(inner));
    folder.bytes += file.bytes;
    listing += name + '\0' + file.digest + '\n';
  }
  folder.digest = DigestText(listing);
  return folder;
}

}  // namespace

Result<InputFile> DescribeInput(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  if (files.IsDirectory(path)) return DescribeFolder(path);
  const size_t colon = path.rfind(':');
  if (colon == std::string::npos || files.Exists(path)) return DescribeFile(path);
  RESMEM_ASSIGN_OR_RETURN(InputFile input, DescribeFile(path.substr(0, colon)));
  input.path = path;
  return input;
}

}  // namespace resmem
