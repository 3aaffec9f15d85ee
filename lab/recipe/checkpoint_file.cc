#include "recipe/checkpoint_file.h"

#include <string_view>
#include <utility>

#include "format/container_writer.h"
#include "support/file_system.h"

namespace resmem {
namespace {

constexpr size_t kWords = 0, kValues = 1;
constexpr int kLevels = 5;  // of the words

}  // namespace

Status WriteCheckpoint(const std::string& path, const Json& words, int64_t count,
                       const std::function<Status(const AppendFloats&)>& append) {
  const std::string text = words.dump();
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(FileSystem::Posix(), path, FileKind::kCheckpoint,
                                                  {{"words", StoredType::kU8, std::ssize(text), 1},
                                                   {"values", StoredType::kF32, count, 1}}));
  RESMEM_RETURN_IF_ERROR(writer.Append(kWords, std::as_bytes(std::span(text))));
  RESMEM_RETURN_IF_ERROR(append(
      [&](std::span<const float> values) { return writer.AppendValues<float>(kValues, values); }));
  return writer.Finish().status();
}

std::span<const float> CheckpointFile::values() const {
  return reader.Values<float>(kValues);
}

Result<CheckpointFile> ReadCheckpoint(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader reader,
                          ContainerReader::Open(FileSystem::Posix(), path, FileKind::kCheckpoint));
  if (reader.sections().size() != 2 || reader.sections()[kWords].shape.type != StoredType::kU8 ||
      reader.sections()[kValues].shape.type != StoredType::kF32) {
    return reader.Corrupt("a checkpoint has the sections words and values");
  }
  RESMEM_RETURN_IF_ERROR(reader.VerifyBlocks());
  const auto text = reader.Values<char>(kWords);
  Result<Json> words = ParseShallowJson(std::string_view(text.data(), text.size()), kLevels);
  if (!words.ok()) return reader.Corrupt(words.status().message());
  return CheckpointFile{std::move(reader), std::move(words).value()};
}

}  // namespace resmem
