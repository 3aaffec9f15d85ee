// Arrays on disk, as any framework exports them.
//
//   .npy  .npz:member  .safetensors:name  IDX (.gz too)  CIFAR-10/100 .bin  .csv
//   .fvecs .ivecs .bvecs  and headerless raw files with a shape and a type given
//
// The first dimension counts rows; the others are flattened into columns.  If the
// file allows it, the array is mapped, not copied: opening a 10 GB file costs nothing,
// and DropRows() releases the pages of rows that were already read.
#ifndef RESMEM_DATA_ARRAY_H_
#define RESMEM_DATA_ARRAY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/matrix_view.h"
#include "resmem/status.h"

namespace resmem {

enum class ElementType {
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,
  kText,
};
int64_t ElementBytes(ElementType type);         // 0 for kText
const char* ElementTypeName(ElementType type);  // "float32"
Result<ElementType> ParseElementType(std::string_view name);

// Where an array is.  `path` may name a member after a colon: "train.npz:logits",
// "head.safetensors:fc.weight", "table.csv:label", "cifar100/train.bin:fine_labels".
// A file whose name contains a colon is looked up by its whole name first.
struct ArraySource {
  std::string path;
  // For headerless raw files only, both or neither.  One entry of the shape may be -1.
  std::vector<int64_t> raw_shape;
  std::optional<ElementType> raw_type;
};

struct ArrayInfo {
  std::string member;  // empty where a file holds one array
  ElementType type = ElementType::kFloat32;
  std::vector<int64_t> shape;
};

// Movable, immutable: const methods may be called from any number of threads.
class Array {
 public:
  Array(Array&&) noexcept;
  Array& operator=(Array&&) noexcept;
  ~Array();

  const std::string& name() const;  // for messages: the path as the user gave it
  ElementType type() const;
  std::span<const int64_t> shape() const;
  int64_t rows() const;     // shape[0]; 1 for a scalar
  int64_t columns() const;  // product of the rest; 1 for a vector

  // Copies rows [begin, begin + count) as float32 / int64 into `out` (count * columns()
  // values).  Floats that a reader cannot represent (float64 beyond float32, integers
  // that are not whole) are kBadData; NaN and infinities pass: the caller checks them.
  Status ReadFloats(int64_t begin, int64_t count, std::span<float> out) const;
  Status ReadIntegers(int64_t begin, int64_t count, std::span<int64_t> out) const;
  Result<std::vector<std::string>> ReadText(int64_t begin, int64_t count) const;  // any type

  // The values in place, if they are in memory or mapped as native float32, row-major.
  std::optional<MatrixView> InPlace() const;

  // These rows will not be read again soon: their pages may be released.
  void DropRows(int64_t begin, int64_t count) const;

  struct Storage;  // src/data
  explicit Array(std::unique_ptr<Storage> storage);

 private:
  std::unique_ptr<Storage> storage_;
};

// Opens one array.  A file with several members and none named is an error that lists them.
// Errors: kNotFound, kBadData (a broken or absurd header, with the place), kUnsupported, kIo.
Result<Array> OpenArray(const ArraySource& source);

// The formats as a sentence for the help of a program: ".npy, .npz:member, ...".
std::string ArrayFormatsHelp();

// What a file holds, without reading the values.
Result<std::vector<ArrayInfo>> ListArrays(const std::string& path);

// Writes a float32, int32 or int64 array as .npy, atomically.
Status WriteNpy(const std::string& path, MatrixView values);
Status WriteNpy(const std::string& path, std::span<const int32_t> values);
Status WriteNpy(const std::string& path, std::span<const int64_t> values);

}  // namespace resmem

#endif  // RESMEM_DATA_ARRAY_H_
