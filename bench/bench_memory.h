// A memory whose search is timed.
#ifndef RESMEM_BENCH_BENCH_MEMORY_H_
#define RESMEM_BENCH_BENCH_MEMORY_H_

#include <cstdint>
#include <string>

#include "resmem/knn_index.h"
#include "resmem/status.h"
#include "search_data.h"

namespace resmem::bench {

// A new memory of these keys with one class, whose own k is the one given.
Status WriteBenchMemory(const std::string& path, const SearchData& data, KeyType type, int64_t k);

// A folder that does not exist yet, and is removed with everything in it in the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_BENCH_MEMORY_H_
