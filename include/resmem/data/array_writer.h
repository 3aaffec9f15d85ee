// Arrays written block by block, so that they may be larger than RAM: one .npz file, or a folder
// with one .npy file each.
#ifndef RESMEM_DATA_ARRAY_WRITER_H_
#define RESMEM_DATA_ARRAY_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "resmem/data/array.h"
#include "resmem/status.h"

namespace resmem {

struct ArrayToWrite {
  ArrayInfo info;          // its name is info.member
  int64_t text_bytes = 0;  // kText: of each item, padded with zeros
};

// Files appear when Close() is ok; without it they are removed.
class ArrayWriter {
 public:
  // `path` that ends with .npz: that file.  Else a folder, made if it is missing; files in it that
  // have the same names are replaced.  Errors: kIo, kResourceExhausted.
  static Result<ArrayWriter> Create(const std::string& path, std::vector<ArrayToWrite> arrays);
  // One array as .npy, whatever the file is called; it may be a pipe.
  static Result<ArrayWriter> CreateNpy(const std::string& path, ArrayToWrite array);
  ArrayWriter(ArrayWriter&&) noexcept;
  ~ArrayWriter();

  // The values of `array` that follow those written before.  Arrays may be written in any order.
  // kInternal beyond the shape.
  Status WriteBytes(size_t array, std::span<const std::byte> values);
  template <typename Values>  // a span or vector of the array's type
  Status Write(size_t array, const Values& values) {
    return WriteBytes(array, std::as_bytes(std::span(values)));
  }
  // kInternal where values are missing.
  Status Close();

 private:
  struct State;
  explicit ArrayWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace resmem

#endif  // RESMEM_DATA_ARRAY_WRITER_H_
