#include "data/formats/idx.h"

#include <utility>

#include "data/endian.h"
#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

std::optional<ElementType> IdxType(std::byte code) {
  switch (static_cast<uint8_t>(code)) {
    case 0x08:
      return ElementType::kUInt8;
    case 0x09:
      return ElementType::kInt8;
    case 0x0b:
      return ElementType::kInt16;
    case 0x0c:
      return ElementType::kInt32;
    case 0x0d:
      return ElementType::kFloat32;
    case 0x0e:
      return ElementType::kFloat64;
    default:
      return std::nullopt;
  }
}

struct IdxHeader {
  ElementType type = ElementType::kUInt8;
  std::vector<int64_t> shape;
  int64_t bytes = 0;  // of the header itself
};

Result<IdxHeader> ParseHeader(const std::string& name, ByteSpan bytes) {
  if (!LooksLikeIdx(bytes)) {
    return Status(ErrorCode::kBadData, Text(name, ": does not begin as an IDX file"));
  }
  IdxHeader header;
  header.type = *IdxType(bytes[2]);
  const auto dimensions = static_cast<size_t>(bytes[3]);
  header.bytes = static_cast<int64_t>(4 + 4 * dimensions);
  if (bytes.size() < static_cast<size_t>(header.bytes)) {
    return Status(ErrorCode::kBadData, Text(name, ": the IDX header claims ", dimensions,
                                            " sizes, but the file ends at ", "byte ", bytes.size(),
                                            "; it was cut short, download it again"));
  }
  for (size_t d = 0; d < dimensions; ++d) {
    header.shape.push_back(Load<int32_t, true>(&bytes[4 + 4 * d]));
  }
  return header;
}

}  // namespace

bool LooksLikeIdx(ByteSpan bytes) {
  return bytes.size() >= 4 && bytes[0] == std::byte{0} && bytes[1] == std::byte{0} &&
         IdxType(bytes[2]).has_value() && bytes[3] != std::byte{0};
}

Result<int64_t> IdxFileSize(const std::string& name, ByteSpan prefix) {
  RESMEM_ASSIGN_OR_RETURN(const IdxHeader header, ParseHeader(name, prefix));
  const int64_t item = ElementBytes(header.type);
  const std::optional<int64_t> items = CountItems(header.shape, item);
  const std::optional<int64_t> size =
      items ? CheckedAdd(*items * item, header.bytes) : std::nullopt;
  if (size) return *size;
  return Status(ErrorCode::kBadData, Text(name, ": the shape ", ShapeText(header.shape),
                                          " is negative or larger than any file"));
}

Result<FileContent> ReadIdx(const std::string& name, SharedBytes bytes) {
  RESMEM_ASSIGN_OR_RETURN(IdxHeader header, ParseHeader(name, bytes->bytes()));
  Layout layout;
  layout.type = header.type;
  layout.item_bytes = ElementBytes(header.type);
  layout.swapped = true;
  RESMEM_RETURN_IF_ERROR(FillDense(name, std::move(header.shape), Order::kC, header.bytes,
                                   static_cast<int64_t>(bytes->bytes().size()), &layout));
  FileContent content;
  content.members.push_back(MemberInPlace("", std::move(bytes), std::move(layout)));
  return content;
}

}  // namespace resmem
