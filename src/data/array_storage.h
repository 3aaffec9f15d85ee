// What stands behind an Array, and how the readers of the formats hand over what they found.
#ifndef RESMEM_DATA_ARRAY_STORAGE_H_
#define RESMEM_DATA_ARRAY_STORAGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/file_bytes.h"
#include "data/layout.h"
#include "resmem/data/array.h"

namespace resmem {

struct Array::Storage {
  Layout layout;
  SharedBytes bytes;
  std::vector<std::string> text;  // instead of bytes, for text of any width (CSV)
  std::string name;               // set last, by OpenArray
};

using StoragePointer = std::unique_ptr<Array::Storage>;

// One array of a file.
struct Member {
  ArrayInfo info;
  Status unreadable;  // why it cannot be opened: a type that we do not know, pickled objects
  std::function<Result<StoragePointer>()> open;
  int64_t classes = 0;  // of labels whose format fixes how many there are
};

struct FileContent {
  std::vector<Member> members;
  // The file as one array, where members are its columns (CSV); otherwise empty.
  std::function<Result<StoragePointer>()> whole;
};

// A path and the member after its colon: the longest part before a colon that is a file.
struct ArrayPlace {
  std::string path;
  std::optional<std::string> member;
};
ArrayPlace FindArrayFile(const std::string& path);

// A member whose values lie in `bytes` as they are.
Member MemberInPlace(std::string name, SharedBytes bytes, Layout layout);

Member UnreadableMember(std::string name, Status why);

}  // namespace resmem

#endif  // RESMEM_DATA_ARRAY_STORAGE_H_
