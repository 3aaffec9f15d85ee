// The file of queries that an index's recall was measured on: docs/memory_format.md, section 10.
#ifndef RESMEM_MEMORY_INDEX_QUERY_FILE_H_
#define RESMEM_MEMORY_INDEX_QUERY_FILE_H_

#include <cstdint>
#include <string>

#include "format/container_reader.h"
#include "memory/manifest/manifest.h"
#include "resmem/matrix_view.h"
#include "support/file_system.h"

namespace resmem {

// kBadData or kInvalidArgument where they are no queries to `memory`, a path, with keys of `dim`
// values, or too few to promise anything by.
Status CheckQueries(MatrixView queries, const std::string& memory, int64_t dim);

// Up to IndexOptions::kMostQueries of them, chosen by the seed; as they are given.
Result<FileRecord> WriteQueries(FileSystem& files, const std::string& folder,
                                const std::string& name, MatrixView queries, uint64_t seed);

// Mapped.  Values can be trusted after Verify().
class QueryFile {
 public:
  static Result<QueryFile> Open(FileSystem& files, const std::string& folder, int64_t dim,
                                const FileRecord& record);
  MatrixView queries() const;
  Status Verify() const { return file_.VerifyBlocks(); }

 private:
  explicit QueryFile(ContainerReader file) : file_(std::move(file)) {}
  ContainerReader file_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_INDEX_QUERY_FILE_H_
