#include "data/formats/numpy/npy.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/endian.h"
#include "data/formats/numpy/npy_header.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kMaxDimensions = 64;  // NumPy's own limit

// "<f4", "|b1", ">U12"
Status ParseDescriptor(const std::string& name, const std::string& descriptor, Layout* layout) {
  std::string_view rest = descriptor;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    layout->swapped = rest[0] == '>';
    rest.remove_prefix(1);
  }
  const char kind = rest.empty() ? '\0' : rest[0];
  if (kind == 'O') {
    return {ErrorCode::kUnsupported,
            Text(name,
                 ": holds pickled Python objects, which are never loaded because that can "
                 "run code; convert it with astype() to numbers or text, and save it again")};
  }
  if (kind == 'U' || kind == 'S') {
    const int64_t unit = kind == 'U' ? 4 : 1;
    int64_t length = 0;
    const auto parsed = std::from_chars(rest.data() + 1, rest.data() + rest.size(), length);
    if (parsed.ec == std::errc() && parsed.ptr == rest.data() + rest.size() && length > 0 &&
        length <= INT64_MAX / unit) {
      layout->type = ElementType::kText;
      layout->encoding = kind == 'U' ? TextEncoding::kUcs4 : TextEncoding::kBytes;
      layout->item_bytes = length * unit;
      return {};
    }
  } else if (Result<ElementType> type = ParseElementType(rest);
             type.ok() && rest.size() == 2) {  // the short names only: "f4", not "float32"
    layout->type = *type;
    layout->item_bytes = ElementBytes(*type);
    return {};
  }
  return {ErrorCode::kUnsupported,
          Text(name, ": the element type \"", descriptor,
               "\" is not one that can be read; save it as a float, integer, bool or text array")};
}

}  // namespace

Result<Layout> ParseNpy(const std::string& name, ByteSpan prefix, int64_t size) {
  const auto bad = [&](const auto&... what) {
    return Status(ErrorCode::kBadData, Text(name, ": ", what...));
  };
  const int64_t available = static_cast<int64_t>(prefix.size());
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  if (!text.starts_with(kNpyMagic)) {
    return bad(
        "does not begin as a NumPy file; a file of bare values needs its shape and type "
        "(--shape, --dtype)");
  }
  if (available < 10) return bad("ends inside the NumPy header at byte ", available);
  const int major = static_cast<uint8_t>(text[6]);
  const int minor = static_cast<uint8_t>(text[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return Status(ErrorCode::kUnsupported, Text(name, ": NumPy format version ", major, ".", minor,
                                                " is not known; versions 1.0, 2.0 and 3.0 are"));
  }
  const int64_t start = major == 1 ? 10 : 12;
  if (available < start) return bad("ends inside the NumPy header at byte ", available);
  const int64_t length =
      major == 1 ? Load<uint16_t>(&prefix[8]) : int64_t{Load<uint32_t>(&prefix[8])};
  if (length > kMaxNpyHeader) {
    return bad("the NumPy header claims ", length, " bytes; at most ", kMaxNpyHeader,
               " are accepted");
  }
  if (length > available - start) {
    return bad("the NumPy header claims ", length, " bytes, but the file ends after ",
               available - start, "; it was cut short, export it again");
  }
  NpyDictionary header;
  if (std::string problem = ParseNpyDictionary(
          text.substr(static_cast<size_t>(start), static_cast<size_t>(length)), &header);
      !problem.empty()) {
    return bad("the NumPy header is broken: ", problem, "; export the file again");
  }
  if (header.structured) {
    return Status(
        ErrorCode::kUnsupported,
        Text(name, ": holds records with named fields; save each field as its own array"));
  }
  if (header.shape.size() > kMaxDimensions) {
    return bad("has ", header.shape.size(), " dimensions; at most ", kMaxDimensions,
               " are accepted");
  }
  Layout layout;
  RESMEM_RETURN_IF_ERROR(ParseDescriptor(name, header.descriptor, &layout));
  RESMEM_RETURN_IF_ERROR(FillDense(name, std::move(header.shape),
                                   header.fortran_order ? Order::kFortran : Order::kC,
                                   start + length, size, &layout));
  return layout;
}

Result<FileContent> ReadNpy(const std::string& name, SharedBytes bytes) {
  const int64_t size = static_cast<int64_t>(bytes->bytes().size());
  const ByteSpan prefix = bytes->bytes().first(static_cast<size_t>(std::min(size, kMaxNpyPrefix)));
  RESMEM_ASSIGN_OR_RETURN(Layout layout, ParseNpy(name, prefix, size));
  FileContent content;
  content.members.push_back(MemberInPlace("", std::move(bytes), std::move(layout)));
  return content;
}

std::string NpyHeader(std::string_view descriptor, std::span<const int64_t> shape) {
  std::string tuple;
  for (const int64_t extent : shape) tuple += Text(tuple.empty() ? "" : ", ", extent);
  if (shape.size() == 1) tuple += ",";
  std::string header =
      Text("{'descr': '", descriptor, "', 'fortran_order': False, 'shape': (", tuple, "), }");
  constexpr size_t kAlignment = 64;  // of the values, so that they can be used in the map
  const size_t length = (10 + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - 10;
  header.resize(length - 1, ' ');
  std::string text(kNpyMagic);
  text += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return text + header + "\n";
}

}  // namespace resmem
