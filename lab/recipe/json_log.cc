#include "recipe/json_log.h"

#include <cstdio>
#include <span>
#include <sstream>

#include "support/file_system.h"

namespace resmem {

Status AppendToJsonLog(const std::string& path, const Json& line) {
  const std::string text = line.dump() + "\n";
  std::FILE* file = std::fopen(path.c_str(), "ab");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return {};
  return Status(ErrorCode::kIo, Text(path, ": cannot be written; is the disk full?"));
}

Status CutJsonLog(const std::string& path, const char* field, int64_t last) {
  if (!FileSystem::Posix().Exists(path)) return {};
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
  std::istringstream lines(
      std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()));
  std::string kept, line;
  while (std::getline(lines, line)) {
    const auto json = ParseShallowJson(line, 2);
    if (!json.ok() || !json->is_object()) continue;
    const auto found = json->find(field);
    const bool old = found != json->end() && found->is_number_integer() && *found <= last;
    if (old) kept += line + "\n";
  }
  return WriteFileAtomically(FileSystem::Posix(), path, std::as_bytes(std::span(kept)));
}

}  // namespace resmem
