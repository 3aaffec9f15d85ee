#include <array>
#include <string_view>

#include "data/formats/numpy/npy.h"
#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem {
namespace {

struct TypeEntry {
  ElementType type;
  const char* name;
  const char* numpy;  // what NumPy calls it in a header
  int64_t bytes;
};

constexpr std::array<TypeEntry, 14> kTypes = {{
    {ElementType::kFloat16, "float16", "f2", 2},
    {ElementType::kBFloat16, "bfloat16", "bf16", 2},
    {ElementType::kFloat32, "float32", "f4", 4},
    {ElementType::kFloat64, "float64", "f8", 8},
    {ElementType::kInt8, "int8", "i1", 1},
    {ElementType::kInt16, "int16", "i2", 2},
    {ElementType::kInt32, "int32", "i4", 4},
    {ElementType::kInt64, "int64", "i8", 8},
    {ElementType::kUInt8, "uint8", "u1", 1},
    {ElementType::kUInt16, "uint16", "u2", 2},
    {ElementType::kUInt32, "uint32", "u4", 4},
    {ElementType::kUInt64, "uint64", "u8", 8},
    {ElementType::kBool, "bool", "b1", 1},
    {ElementType::kText, "text", "", 0},
}};

constexpr const TypeEntry& Entry(ElementType type) {
  return kTypes[static_cast<size_t>(type)];
}

constexpr bool InOrder() {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<size_t>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

int64_t ElementBytes(ElementType type) {
  return Entry(type).bytes;
}

const char* ElementTypeName(ElementType type) {
  return Entry(type).name;
}

std::string NumpyType(ElementType type) {
  return Text(ElementBytes(type) == 1 ? "|" : "<", Entry(type).numpy);
}

Result<ElementType> ParseElementType(std::string_view name) {
  for (const TypeEntry& entry : kTypes) {
    if (entry.bytes > 0 && (name == entry.name || name == entry.numpy)) return entry.type;
  }
  return Status(ErrorCode::kInvalidArgument,
                Text("\"", name,
                     "\" is not an element type; use float16, bfloat16, float32, float64, int8, "
                     "int16, int32, int64, uint8, uint16, uint32, uint64 or bool"));
}

}  // namespace resmem
