#include <algorithm>
#include <cstring>

#include "data/formats/numpy/npy.h"
#include "resmem/data/array.h"
#include "support/file_system.h"

namespace resmem {
namespace {

ByteSpan TextBytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

template <typename T>
Status WriteVector(const std::string& path, std::string_view descriptor,
                   std::span<const T> values) {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  const std::string header = NpyHeader(descriptor, shape);
  return WriteFileAtomically(FileSystem::Posix(), path, [&](WritableFile& file) -> Status {
    RESMEM_RETURN_IF_ERROR(file.Write(0, TextBytes(header)));
    return file.Write(static_cast<int64_t>(header.size()), std::as_bytes(values));
  });
}

}  // namespace

Status WriteNpy(const std::string& path, MatrixView values) {
  const int64_t shape[] = {values.rows, values.columns};
  const std::string header = NpyHeader("<f4", shape);
  return WriteFileAtomically(FileSystem::Posix(), path, [&](WritableFile& file) -> Status {
    RESMEM_RETURN_IF_ERROR(file.Write(0, TextBytes(header)));
    // Dense rows go out as they lie; others through a small buffer.
    const bool dense = values.stride == values.columns || values.rows <= 1;
    const int64_t buffer_rows =
        std::max<int64_t>(1, (1 << 20) / std::max<int64_t>(1, values.columns));
    const int64_t block = dense ? std::max<int64_t>(1, values.rows) : buffer_rows;
    std::vector<float> buffer;
    auto offset = static_cast<int64_t>(header.size());
    for (int64_t begin = 0; begin < values.rows; begin += block) {
      const int64_t count = std::min(block, values.rows - begin);
      std::span<const float> rows(values.row(begin), static_cast<size_t>(count * values.columns));
      if (!dense) {
        buffer.clear();
        for (int64_t r = begin; r < begin + count; ++r) {
          buffer.insert(buffer.end(), values.row(r), values.row(r) + values.columns);
        }
        rows = buffer;
      }
      RESMEM_RETURN_IF_ERROR(file.Write(offset, std::as_bytes(rows)));
      offset += static_cast<int64_t>(rows.size_bytes());
    }
    return {};
  });
}

Status WriteNpy(const std::string& path, std::span<const int32_t> values) {
  return WriteVector(path, "<i4", values);
}

Status WriteNpy(const std::string& path, std::span<const int64_t> values) {
  return WriteVector(path, "<i8", values);
}

}  // namespace resmem
