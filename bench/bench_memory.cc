#include "bench_memory.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem::bench {

Status WriteBenchMemory(const std::string& path, const SearchData& data, KeyType type, int64_t k) {
  MemoryDescription description;
  description.dim = data.dim;
  description.outputs = 1;
  description.key_type = type;
  description.parameters.k = k;
  const MatrixView keys = data.key_view();
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, description, keys.rows, {}));
  constexpr int64_t kBlock = 65536;
  const std::vector<float> logits(kBlock);
  const std::vector<int32_t> labels(kBlock);
  for (int64_t begin = 0; begin < keys.rows; begin += kBlock) {
    const int64_t count = std::min(kBlock, keys.rows - begin);
    Rows rows;
    rows.keys = keys.Slice(begin, count);
    rows.logits = MatrixView(logits.data(), count, 1);
    rows.labels = std::span(labels).first(static_cast<size_t>(count));
    RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  }
  return writer.Finish();
}

ScratchFolder::ScratchFolder()
    : path_(std::filesystem::temp_directory_path() / ("bench_memory_" + std::to_string(getpid()))) {
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace resmem::bench
