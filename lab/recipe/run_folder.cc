#include "recipe/run_folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "resmem_program/system_error.h"
#include "support/output_lock.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr char kPrefix[] = "checkpoint-";
constexpr char kLog[] = "log.jsonl";
constexpr size_t kKept = 2;

Json Describe(const std::vector<StateArray>& state) {
  Json arrays = Json::array();
  for (const StateArray& array : state) arrays.push_back(array.words);
  return arrays;
}

int64_t CountValues(const std::vector<StateArray>& state) {
  int64_t count = 0;
  for (const StateArray& array : state) count += array.count;
  return count;
}

}  // namespace

Status MakeRunFolder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  return Status(CodeOfSystemError(failed.value()),
                folder + ": cannot be made: " + failed.message());
}

Result<std::unique_ptr<FileLock>> LockRun(const std::string& folder) {
  return LockOutput(FileSystem::Posix(), folder + "/run", "training in this folder");
}

Status HoldsAnotherRun(const std::string& folder, const std::string& difference,
                       const std::string& advice) {
  return Status(ErrorCode::kMismatch,
                folder + " holds another run (" + difference + "); " + advice);
}

std::string RunFolder::Numbered(const char* kind, int64_t number) const {
  std::string digits = std::to_string(number);
  const auto missing = kind_.digits - static_cast<int>(digits.size());
  if (missing > 0) digits.insert(0, static_cast<size_t>(missing), '0');
  return kind + digits;
}

Result<std::vector<int64_t>> RunFolder::Checkpoints() const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, FileSystem::Posix().List(path_));
  std::vector<int64_t> numbers;
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    const char* begin = name.data() + sizeof(kPrefix) - 1;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status RunFolder::Save(int64_t number, Json words, const std::vector<StateArray>& state) const {
  words[kind_.arrays] = Describe(state);
  const auto write = [&](const AppendFloats& append) -> Status {
    for (const StateArray& array : state) RESMEM_RETURN_IF_ERROR(array.give(append));
    return {};
  };
  RESMEM_RETURN_IF_ERROR(
      WriteCheckpoint(File(Numbered(kPrefix, number)), words, CountValues(state), write));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, Checkpoints());
  for (size_t i = 0; i + kKept < numbers.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(FileSystem::Posix().Remove(File(Numbered(kPrefix, numbers[i]))));
  }
  return {};
}

Status RunFolder::Load(const std::string& path, const TakeWords& take,
                       const std::vector<StateArray>& state) const {
  RESMEM_ASSIGN_OR_RETURN(const CheckpointFile file, ReadCheckpoint(path));
  const Json& words = file.words;
  if (!words.is_object() || !words.contains(kind_.arrays)) {
    return file.reader.Corrupt("its words are not those of a checkpoint");
  }
  RESMEM_RETURN_IF_ERROR(take(path, words));
  std::span<const float> values = file.values();
  if (words[kind_.arrays] != Describe(state) || std::ssize(values) != CountValues(state)) {
    return Status(ErrorCode::kMismatch,
                  Text(path, ": the checkpoint of another network; its arrays are not those of ",
                       "this recipe. Train into a new folder"));
  }
  for (const StateArray& array : state) {
    array.take(values.first(static_cast<size_t>(array.count)));
    values = values.subspan(static_cast<size_t>(array.count));
  }
  return {};
}

Status RunFolder::Restore(const TakeWords& take, const std::vector<StateArray>& state,
                          const std::function<void(const std::string&)>& note) const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, Checkpoints());
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const Status loaded = Load(File(Numbered(kPrefix, *number)), take, state);
    if (loaded.ok() || loaded.code() == ErrorCode::kMismatch) return loaded;
    note(Text("passed over: ", loaded.message()));
  }
  return {};
}

Status RunFolder::Log(const Json& line) const {
  const std::string path = File(kLog), text = line.dump() + "\n";
  std::FILE* file = std::fopen(path.c_str(), "ab");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return {};
  return Status(ErrorCode::kIo, Text(path, ": cannot be written; is the disk full?"));
}

Status RunFolder::CutLog(int64_t number) const {
  const std::string path = File(kLog);
  if (!FileSystem::Posix().Exists(path)) return {};
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
  std::istringstream lines(
      std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()));
  std::string kept, line;
  while (std::getline(lines, line)) {
    const auto json = ParseShallowJson(line, 2);
    if (!json.ok() || !json->is_object()) continue;
    const auto found = json->find(kind_.counter);
    const bool old = found != json->end() && found->is_number_integer() && *found <= number;
    if (old) kept += line + "\n";
  }
  return WriteFileAtomically(FileSystem::Posix(), path, std::as_bytes(std::span(kept)));
}

}  // namespace resmem
