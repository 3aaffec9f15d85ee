// Finds the file and the member in a path, and the reader by content, then by extension.
#include <utility>

#include "data/array_storage.h"
#include "data/formats/formats.h"
#include "data/memory_guard.h"
#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string MemberNames(const FileContent& content) {
  constexpr size_t kShown = 20;
  std::string names;
  size_t shown = 0;
  for (const Member& member : content.members) {
    if (shown++ == kShown) return names + ", ...";
    names += (names.empty() ? "" : ", ") + member.info.member;
  }
  return names;
}

Result<StoragePointer> OpenMember(const ArrayPlace& place, const FileContent& content) {
  if (!place.member) {
    if (content.whole) return content.whole();
    if (content.members.size() == 1) {
      const Member& only = content.members[0];
      RESMEM_RETURN_IF_ERROR(only.unreadable);
      return only.open();
    }
    if (content.members.empty()) {
      return Status(ErrorCode::kBadData, Text(place.path, ": holds no array"));
    }
    return Status(
        ErrorCode::kInvalidArgument,
        Text(place.path, ": holds several arrays (", MemberNames(content),
             "); name one after a colon, as in ", place.path, ":", content.members[0].info.member));
  }
  for (const Member& member : content.members) {
    if (member.info.member != *place.member || member.info.member.empty()) continue;
    RESMEM_RETURN_IF_ERROR(member.unreadable);
    return member.open();
  }
  const std::string names = MemberNames(content);
  return Status(ErrorCode::kNotFound,
                Text(place.path, ": has no member \"", *place.member, "\"; ",
                     names.empty() ? "it holds one array, which has no name" : "it has " + names));
}

}  // namespace

ArrayPlace FindArrayFile(const std::string& path) {
  FileSystem& files = FileSystem::Posix();
  for (size_t end = path.size(); end != std::string::npos && end > 0;
       end = path.rfind(':', end - 1)) {
    const std::string prefix = path.substr(0, end);
    if (!files.Exists(prefix)) continue;
    if (end == path.size()) return {path, std::nullopt};
    return {prefix, path.substr(end + 1)};
  }
  return {path, std::nullopt};
}

Result<Array> OpenArray(const ArraySource& source) {
  return GuardMemory(source.path, [&]() -> Result<Array> {
    const bool raw = source.raw_type.has_value() || !source.raw_shape.empty();
    const ArrayPlace place =
        raw ? ArrayPlace{source.path, std::nullopt} : FindArrayFile(source.path);
    RESMEM_ASSIGN_OR_RETURN(const FileContent content,
                            raw ? ReadRaw(source) : ReadFile(place.path));
    RESMEM_ASSIGN_OR_RETURN(StoragePointer storage, OpenMember(place, content));
    storage->name = source.path;
    return Array(std::move(storage));
  });
}

Result<std::vector<ArrayInfo>> ListArrays(const std::string& path) {
  return GuardMemory(path, [&]() -> Result<std::vector<ArrayInfo>> {
    RESMEM_ASSIGN_OR_RETURN(const FileContent content, ReadFile(path));
    std::vector<ArrayInfo> list;
    for (const Member& member : content.members) {
      if (member.unreadable.ok()) list.push_back(member.info);
    }
    return list;
  });
}

}  // namespace resmem
