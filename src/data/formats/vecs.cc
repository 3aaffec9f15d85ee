#include "data/formats/vecs.h"

#include <utility>

#include "data/endian.h"
#include "support/text.h"

namespace resmem {

Result<FileContent> ReadVecs(const std::string& name, ElementType type, SharedBytes bytes) {
  constexpr int64_t kPrefix = sizeof(int32_t);
  const auto size = static_cast<int64_t>(bytes->bytes().size());
  const int32_t columns = size < kPrefix ? 0 : Load<int32_t>(bytes->bytes().data());
  if (columns <= 0) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": row 0 says that it has ", columns,
                       " values, but at least 1 is needed; is it really a file of vectors?"));
  }
  Layout layout;
  layout.type = type;
  layout.item_bytes = ElementBytes(type);
  const int64_t row_bytes = kPrefix + columns * layout.item_bytes;
  if (size % row_bytes != 0) {
    return Status(
        ErrorCode::kBadData,
        Text(name, ": its ", size, " bytes are not a whole number of rows of ", columns,
             " values (", row_bytes, " bytes); it was cut short or its rows are unequal"));
  }
  layout.shape = {size / row_bytes, columns};
  layout.strides = {row_bytes, layout.item_bytes};
  layout.offset = kPrefix;
  layout.row_prefix = columns;
  FileContent content;
  content.members.push_back(MemberInPlace("", std::move(bytes), std::move(layout)));
  return content;
}

}  // namespace resmem
