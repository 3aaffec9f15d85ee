#include "data/formats/cifar.h"

#include <algorithm>
#include <utility>

#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kPixels = 3 * 32 * 32;

struct Kind {
  const char* name;
  std::vector<std::pair<const char*, int>> labels;  // each a byte, with the number of classes
  int64_t record_bytes() const { return static_cast<int64_t>(labels.size()) + kPixels; }
};

bool Fits(const Kind& kind, ByteSpan bytes) {
  constexpr size_t kLookedAt = 1000;
  const auto record = static_cast<size_t>(kind.record_bytes());
  if (bytes.empty() || bytes.size() % record != 0) return false;
  for (size_t r = 0; r < std::min(bytes.size() / record, kLookedAt); ++r) {
    for (size_t i = 0; i < kind.labels.size(); ++i) {
      if (std::to_integer<int>(bytes[r * record + i]) >= kind.labels[i].second) return false;
    }
  }
  return true;
}

Layout ByteColumns(const Kind& kind, int64_t rows, int64_t offset, std::vector<int64_t> shape) {
  Layout layout;
  layout.type = ElementType::kUInt8;
  layout.item_bytes = 1;
  layout.offset = offset;
  shape.insert(shape.begin(), rows);
  layout.strides = DenseStrides(shape, 1, Order::kC);
  layout.strides[0] = kind.record_bytes();
  layout.shape = std::move(shape);
  return layout;
}

}  // namespace

Result<FileContent> ReadCifar(const std::string& name, const SharedBytes& bytes) {
  const Kind cifar10 = {"CIFAR-10", {{"labels", 10}}};
  const Kind cifar100 = {"CIFAR-100", {{"coarse_labels", 20}, {"fine_labels", 100}}};
  const bool ten = Fits(cifar10, bytes->bytes());
  const bool hundred = Fits(cifar100, bytes->bytes());
  if (ten == hundred) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": its ", bytes->bytes().size(), " bytes ",
                       ten ? "could be CIFAR-10 as well as CIFAR-100"
                           : "are neither whole CIFAR-10 records (3073 bytes, the first below "
                             "10) nor CIFAR-100 records (3074, the first below 20, the second "
                             "below 100)",
                       "; to read bare values give their shape and type (--shape, --dtype)"));
  }
  const Kind& kind = ten ? cifar10 : cifar100;
  const int64_t rows = static_cast<int64_t>(bytes->bytes().size()) / kind.record_bytes();
  const auto labels = static_cast<int64_t>(kind.labels.size());
  FileContent content;
  content.members.push_back(
      MemberInPlace("images", bytes, ByteColumns(kind, rows, labels, {3, 32, 32})));
  for (int64_t i = 0; i < labels; ++i) {
    const auto& [member, classes] = kind.labels[static_cast<size_t>(i)];
    content.members.push_back(MemberInPlace(member, bytes, ByteColumns(kind, rows, i, {})));
    content.members.back().classes = classes;
  }
  return content;
}

}  // namespace resmem
