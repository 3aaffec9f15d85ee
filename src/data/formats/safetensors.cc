#include "data/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "data/endian.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kMaxHeader = 16 << 20;
constexpr int kMaxDepth = 8;  // the format needs 3: tensors, fields, the shape
constexpr int64_t kMaxTensors = 1'000'000;
constexpr size_t kMaxTensorDimensions = 64;

constexpr std::array<std::pair<const char*, ElementType>, 13> kTypes = {{
    {"F16", ElementType::kFloat16},
    {"BF16", ElementType::kBFloat16},
    {"F32", ElementType::kFloat32},
    {"F64", ElementType::kFloat64},
    {"I8", ElementType::kInt8},
    {"I16", ElementType::kInt16},
    {"I32", ElementType::kInt32},
    {"I64", ElementType::kInt64},
    {"U8", ElementType::kUInt8},
    {"U16", ElementType::kUInt16},
    {"U32", ElementType::kUInt32},
    {"U64", ElementType::kUInt64},
    {"BOOL", ElementType::kBool},
}};

// Whole numbers from 0; nothing where the JSON is anything else.
std::optional<std::vector<int64_t>> Sizes(const Json& list) {
  if (!list.is_array() || list.size() > kMaxTensorDimensions) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Json& size : list) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX) return std::nullopt;
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

struct Range {
  int64_t begin, end;  // in the values
  std::string tensor;
};

class Reader {
 public:
  Reader(const std::string& name, const SharedBytes& bytes) : name_(name), bytes_(bytes) {}

  Result<FileContent> Read() {
    RESMEM_ASSIGN_OR_RETURN(const Json header, ParseHeader());
    FileContent content;
    for (const auto& [tensor, description] : header.items()) {
      if (tensor == "__metadata__") continue;
      RESMEM_ASSIGN_OR_RETURN(Member member, ReadTensor(tensor, description));
      content.members.push_back(std::move(member));
    }
    std::sort(content.members.begin(), content.members.end(),
              [](const Member& a, const Member& b) { return a.info.member < b.info.member; });
    RESMEM_RETURN_IF_ERROR(CheckRanges());
    return content;
  }

 private:
  template <typename... Parts>
  Status Bad(const Parts&... parts) const {
    return {ErrorCode::kBadData, Text(name_, ": ", parts..., "; export the file again")};
  }

  Result<Json> ParseHeader() {
    const ByteSpan all = bytes_->bytes();
    if (all.size() < kLengthBytes) return Bad("ends inside the safetensors header");
    const auto length = Load<uint64_t>(all.data());
    if (length > kMaxHeader) {
      return Bad("the safetensors header claims ", length, " bytes; at most ", kMaxHeader,
                 " are accepted");
    }
    if (length > all.size() - kLengthBytes) {
      return Bad("the safetensors header claims ", length, " bytes, but ",
                 all.size() - kLengthBytes, " follow");
    }
    values_ = kLengthBytes + static_cast<int64_t>(length);
    size_ = static_cast<int64_t>(all.size()) - values_;
    const std::string_view text(reinterpret_cast<const char*>(all.data()) + kLengthBytes, length);
    JsonLimits limits;
    limits.levels = kMaxDepth;
    limits.keys_in_object = kMaxTensors;
    auto header = ReadJson(text, limits);
    if (!header.ok()) return Bad("the safetensors header: ", header.status().message());
    if (!header->is_object()) return Bad("the safetensors header is not a JSON object");
    return header;
  }

  Result<Member> ReadTensor(const std::string& tensor, const Json& description) {
    const auto field = [&](const char* key) -> const Json& {
      static const Json kNone;
      const auto at = description.is_object() ? description.find(key) : description.end();
      return description.is_object() && at != description.end() ? *at : kNone;
    };
    const Json& dtype = field("dtype");
    std::optional<std::vector<int64_t>> shape = Sizes(field("shape"));
    const std::optional<std::vector<int64_t>> offsets = Sizes(field("data_offsets"));
    if (!dtype.is_string() || !shape || !offsets || offsets->size() != 2) {
      return Bad("the tensor \"", tensor, "\" lacks a proper dtype, shape or data_offsets");
    }
    const int64_t begin = (*offsets)[0], end = (*offsets)[1];
    if (begin > end || end > size_) {
      return Bad("the tensor \"", tensor, "\" claims bytes ", begin, " to ", end, " of ", size_);
    }
    ranges_.push_back({begin, end, tensor});
    const std::string place = Text(name_, ":", tensor);
    const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& known) {
      return dtype.get_ref<const std::string&>() == known.first;
    });
    if (type == kTypes.end()) {
      return UnreadableMember(
          tensor, {ErrorCode::kUnsupported, Text(place, ": the type ", dtype.get<std::string>(),
                                                 " is not one that can be read; save it as F32")});
    }
    Layout layout;
    layout.type = type->second;
    layout.item_bytes = ElementBytes(layout.type);
    RESMEM_RETURN_IF_ERROR(
        FillDense(place, std::move(*shape), Order::kC, values_ + begin, values_ + end, &layout));
    return MemberInPlace(tensor, bytes_, std::move(layout));
  }

  // The format wants every byte to belong to exactly one tensor.
  Status CheckRanges() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    int64_t at = 0;
    for (const Range& range : ranges_) {
      if (range.begin != at) {
        return Bad("the tensor \"", range.tensor, "\" begins at byte ", range.begin,
                   " of the values, but ", at, " is where the one before it ends");
      }
      at = range.end;
    }
    if (at != size_) return Bad("the tensors fill ", at, " bytes, but the file has ", size_);
    return {};
  }

  const std::string& name_;
  const SharedBytes& bytes_;
  int64_t values_ = 0;  // where they begin in the file
  int64_t size_ = 0;    // of all values
  std::vector<Range> ranges_;
};

}  // namespace

bool LooksLikeSafetensors(ByteSpan bytes) {
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{'{'} &&
         Load<uint64_t>(bytes.data()) <= bytes.size() - kLengthBytes;
}

Result<FileContent> ReadSafetensors(const std::string& name, const SharedBytes& bytes) {
  return Reader(name, bytes).Read();
}

}  // namespace resmem
