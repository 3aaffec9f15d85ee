#include "resmem/data/array.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/array_storage.h"
#include "data/convert.h"
#include "data/endian.h"
#include "data/formats/numpy/fixed_text.h"
#include "data/memory_guard.h"
#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

Status CheckRange(const Array& array, int64_t begin, int64_t count) {
  if (begin >= 0 && count >= 0 && begin <= array.rows() && count <= array.rows() - begin) return {};
  return {ErrorCode::kInvalidArgument, Text(array.name(), ": rows ", begin, " to ", begin, " + ",
                                            count, " asked for, but it has ", array.rows())};
}

Status CheckOutput(const Array& array, int64_t count, size_t found) {
  const auto wanted = static_cast<size_t>(count * array.columns());
  if (found == wanted) return {};
  return {ErrorCode::kInvalidArgument, Text(array.name(), ": ", count, " rows are ", wanted,
                                            " values, but the buffer holds ", found)};
}

// Row prefixes are read with the rows, so that opening a large file touches none of them.
Status CheckPrefixes(const Array::Storage& storage, int64_t begin, int64_t count) {
  const Layout& layout = storage.layout;
  if (!layout.row_prefix) return {};
  const std::byte* data = storage.bytes->bytes().data() + layout.offset;
  for (int64_t row = begin; row < begin + count; ++row) {
    const auto found = Load<int32_t>(data + row * layout.row_stride() - int64_t{sizeof(int32_t)});
    if (found == *layout.row_prefix) continue;
    return {ErrorCode::kBadData, Text(storage.name, ": row ", row, " says that it has ", found,
                                      " values, but row 0 has ", *layout.row_prefix,
                                      "; all rows must be equally long, export the file again")};
  }
  return {};
}

// Items that lie at equal distances, and where they go.
struct Run {
  const std::byte* data;
  int64_t stride, count;
  int64_t out_offset, out_stride;
};

// Calls use(run) for runs that together cover the rows: of one row, or of one column where the
// file is column by column.  use() gives how many items of its run were good; the row and column
// of the first that was not is returned.
template <typename Use>
std::optional<std::pair<int64_t, int64_t>> ForEachRun(const Layout& layout, const std::byte* data,
                                                      int64_t begin, int64_t count, Use use) {
  const int64_t columns = layout.columns();
  if (count == 0 || columns == 0) return std::nullopt;
  data += layout.offset + begin * layout.row_stride();
  if (layout.rows_contiguous()) {
    // One run where the rows touch each other.
    const bool dense = layout.row_stride() == columns * layout.item_bytes;
    const int64_t runs = dense ? 1 : count;
    const int64_t length = dense ? count * columns : columns;
    for (int64_t i = 0; i < runs; ++i) {
      const int64_t good =
          use({data + i * layout.row_stride(), layout.item_bytes, length, i * columns, 1});
      if (good < length) {
        return std::pair(begin + i + good / columns, good % columns);
      }
    }
    return std::nullopt;
  }
  for (int64_t column = 0; column < columns; ++column) {
    const int64_t good =
        use({data + layout.ColumnOffset(column), layout.row_stride(), count, column, columns});
    if (good < count) return std::pair(begin + good, column);
  }
  return std::nullopt;
}

const std::byte* ItemAt(const Array::Storage& storage, int64_t row, int64_t column) {
  const Layout& layout = storage.layout;
  return storage.bytes->bytes().data() + layout.offset + row * layout.row_stride() +
         layout.ColumnOffset(column);
}

std::string TextAt(const Array::Storage& storage, int64_t row, int64_t column) {
  const Layout& layout = storage.layout;
  if (!storage.text.empty()) {
    return storage.text[static_cast<size_t>(row * layout.columns() + column)];
  }
  const std::byte* item = ItemAt(storage, row, column);
  if (layout.type == ElementType::kText) {
    return FixedText(layout.encoding, layout.swapped,
                     {item, static_cast<size_t>(layout.item_bytes)});
  }
  return ItemText(layout.type, layout.swapped, item);
}

Status BadValue(const Array::Storage& storage, int64_t row, int64_t column, const char* allowed) {
  return {ErrorCode::kBadData, Text(storage.name, ": row ", row, ", column ", column, " is ",
                                    TextAt(storage, row, column), ", but ", allowed)};
}

constexpr char kFloatAllowed[] = "a number that float32 can hold is needed; scale or clean it";
constexpr char kIntegerAllowed[] = "a whole number is needed; round or clean it";

// Text as numbers: a column of CSV that was not numeric throughout, or NumPy strings.
template <typename T>
Status ParseText(const Array::Storage& storage, int64_t begin, std::span<T> out,
                 const char* allowed) {
  const int64_t columns = storage.layout.columns();
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t row = begin + static_cast<int64_t>(i) / columns;
    const int64_t column = static_cast<int64_t>(i) % columns;
    const std::string text = TextAt(storage, row, column);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out[i]);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) continue;
    return {ErrorCode::kBadData, Text(storage.name, ": row ", row, ", column ", column,
                                      " is the text \"", text, "\", but ", allowed)};
  }
  return {};
}

template <typename T, typename Convert>
Status ReadNumbers(const Array& array, const Array::Storage& storage, int64_t begin, int64_t count,
                   std::span<T> out, const char* allowed, Convert convert) {
  RESMEM_RETURN_IF_ERROR(CheckRange(array, begin, count));
  RESMEM_RETURN_IF_ERROR(CheckOutput(array, count, out.size()));
  const Layout& layout = storage.layout;
  if (layout.type == ElementType::kText) return ParseText(storage, begin, out, allowed);
  RESMEM_RETURN_IF_ERROR(CheckPrefixes(storage, begin, count));
  const auto bad =
      ForEachRun(layout, storage.bytes->bytes().data(), begin, count, [&](const Run& run) {
        return convert({layout.type, layout.swapped, run.data, run.stride, run.count},
                       out.data() + run.out_offset, run.out_stride);
      });
  if (bad) return BadValue(storage, bad->first, bad->second, allowed);
  return {};
}

}  // namespace

Array::Array(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
Array::Array(Array&&) noexcept = default;
Array& Array::operator=(Array&&) noexcept = default;
Array::~Array() = default;

const std::string& Array::name() const {
  return storage_->name;
}
ElementType Array::type() const {
  return storage_->layout.type;
}
std::span<const int64_t> Array::shape() const {
  return storage_->layout.shape;
}
int64_t Array::rows() const {
  return storage_->layout.rows();
}
int64_t Array::columns() const {
  return storage_->layout.columns();
}

Status Array::ReadFloats(int64_t begin, int64_t count, std::span<float> out) const {
  return ReadNumbers(*this, *storage_, begin, count, out, kFloatAllowed, ConvertToFloats);
}

Status Array::ReadIntegers(int64_t begin, int64_t count, std::span<int64_t> out) const {
  return ReadNumbers(*this, *storage_, begin, count, out, kIntegerAllowed, ConvertToIntegers);
}

Result<std::vector<std::string>> Array::ReadText(int64_t begin, int64_t count) const {
  RESMEM_RETURN_IF_ERROR(CheckRange(*this, begin, count));
  RESMEM_RETURN_IF_ERROR(CheckPrefixes(*storage_, begin, count));
  return GuardMemory(name(), [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> text;
    for (int64_t row = begin; columns() > 0 && row < begin + count; ++row) {
      for (int64_t column = 0; column < columns(); ++column) {
        text.push_back(TextAt(*storage_, row, column));
      }
    }
    return text;
  });
}

std::optional<MatrixView> Array::InPlace() const {
  const Layout& layout = storage_->layout;
  if (layout.type != ElementType::kFloat32 || layout.swapped || layout.row_prefix) return {};
  if (!layout.rows_contiguous() || layout.row_stride() % int64_t{sizeof(float)} != 0) return {};
  const std::byte* data = storage_->bytes->bytes().data() + layout.offset;
  if (reinterpret_cast<uintptr_t>(data) % alignof(float) != 0) return {};
  MatrixView view(reinterpret_cast<const float*>(data), rows(), columns());
  if (view.rows > 1) view.stride = layout.row_stride() / int64_t{sizeof(float)};
  return view;
}

void Array::DropRows(int64_t begin, int64_t count) const {
  const Layout& layout = storage_->layout;
  if (storage_->bytes == nullptr || !CheckRange(*this, begin, count).ok() || count == 0) return;
  const int64_t row_bytes = layout.row_stride();
  if (layout.rows_contiguous()) {
    storage_->bytes->Drop(static_cast<size_t>(layout.offset + begin * row_bytes),
                          static_cast<size_t>(count * row_bytes));
  } else {
    // Column by column each page holds many rows: all of them go, and come back when needed.
    const int64_t size = rows() * columns() * layout.item_bytes;
    storage_->bytes->Drop(static_cast<size_t>(layout.offset), static_cast<size_t>(size));
  }
}

Member MemberInPlace(std::string name, SharedBytes bytes, Layout layout) {
  Member member;
  member.info = {std::move(name), layout.type, layout.shape};
  member.open = [bytes = std::move(bytes), layout = std::move(layout)]() -> Result<StoragePointer> {
    auto storage = std::make_unique<Array::Storage>();
    storage->layout = layout;
    storage->bytes = bytes;
    return storage;
  };
  return member;
}

Member UnreadableMember(std::string name, Status why) {
  Member member;
  member.info.member = std::move(name);
  member.unreadable = std::move(why);
  return member;
}

}  // namespace resmem
