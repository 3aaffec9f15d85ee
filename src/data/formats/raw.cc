#include <utility>

#include "data/formats/formats.h"
#include "data/formats/numpy/npy.h"
#include "support/text.h"

namespace resmem {

Result<FileContent> ReadRaw(const ArraySource& source) {
  const std::string& name = source.path;
  if (!source.raw_type || source.raw_shape.empty() || *source.raw_type == ElementType::kText) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(name,
                       ": a file of bare values needs both its shape and its numeric type "
                       "(--shape, --dtype)"));
  }
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, FileSystem::Posix().Map(name));
  auto bytes = std::make_shared<const FileBytes>(std::move(file));
  const auto size = static_cast<int64_t>(bytes->bytes().size());
  if (bytes->bytes().size() >= kNpyMagic.size() &&
      std::string_view(reinterpret_cast<const char*>(bytes->bytes().data()), kNpyMagic.size()) ==
          kNpyMagic) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(name, ": has a NumPy header that tells shape and type; give neither"));
  }
  Layout layout;
  layout.type = *source.raw_type;
  layout.item_bytes = ElementBytes(layout.type);
  std::vector<int64_t> shape = source.raw_shape;
  int64_t* unknown = nullptr;
  for (int64_t& extent : shape) {
    if (extent >= 0) continue;
    if (extent != -1 || unknown != nullptr) {
      return Status(ErrorCode::kInvalidArgument,
                    Text(name, ": the shape ", ShapeText(source.raw_shape),
                         " is not possible; sizes count from 0, and one may be -1"));
    }
    unknown = &extent;
  }
  if (unknown != nullptr) {
    *unknown = 1;
    const std::optional<int64_t> items = CountItems(shape, layout.item_bytes);
    const int64_t bytes_each = items ? *items * layout.item_bytes : 0;
    if (bytes_each == 0 || size % bytes_each != 0) {
      return Status(
          ErrorCode::kBadData,
          Text(name, ": its ", size, " bytes are not a whole number of pieces of ",
               ShapeText(shape), " ", ElementTypeName(layout.type), "; check --shape and --dtype"));
    }
    *unknown = size / bytes_each;
  }
  const std::optional<int64_t> items = CountItems(shape, layout.item_bytes);
  if (!items || *items * layout.item_bytes != size) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": has ", size, " bytes, which is not ", ShapeText(shape), " ",
                       ElementTypeName(layout.type), "; check --shape and --dtype"));
  }
  layout.strides = DenseStrides(shape, layout.item_bytes, Order::kC);
  layout.shape = std::move(shape);
  FileContent content;
  content.members.push_back(MemberInPlace("", std::move(bytes), std::move(layout)));
  return content;
}

}  // namespace resmem
