#include "memory/index/query_file.h"

#include <utility>

#include "format/checksum.h"
#include "format/container_writer.h"
#include "memory/manifest/recorded_file.h"
#include "search/search_request.h"
#include "support/choose_rows.h"
#include "support/text.h"

namespace resmem {
namespace {

SectionShape QueriesSection(int64_t rows, int64_t dim) {
  return {"queries", StoredType::kF32, rows, dim};
}

}  // namespace

Status CheckQueries(MatrixView queries, const std::string& memory, int64_t dim) {
  constexpr int64_t kFewest = IndexOptions::kFewestQueries;
  if (queries.rows < kFewest) {
    return {ErrorCode::kInvalidArgument,
            Text(queries.rows, " queries are too few to promise a recall by; give ", kFewest,
                 " or more (up to ", IndexOptions::kMostQueries,
                 " are used), or none to measure it on rows of the memory")};
  }
  const Status status = CheckSearch(queries, SearchOptions(), dim, /*rows=*/0);
  return status.ok() ? status : Status(status.code(), Text(memory, ": ", status.message()));
}

Result<FileRecord> WriteQueries(FileSystem& files, const std::string& folder,
                                const std::string& name, MatrixView queries, uint64_t seed) {
  const std::vector<int64_t> rows = ChooseRows(queries.rows, IndexOptions::kMostQueries, seed);
  const auto count = static_cast<int64_t>(rows.size());
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(files, folder + "/" + name, FileKind::kQueries,
                                                  {QueriesSection(count, queries.columns)}));
  for (const int64_t row : rows) {
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(0, queries.row_span(row)));
  }
  RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer.Finish());
  return FileRecord{name, count, finished.file_bytes, finished.header_hash};
}

Result<QueryFile> QueryFile::Open(FileSystem& files, const std::string& folder, int64_t dim,
                                  const FileRecord& record) {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader file,
                          OpenRecordedFile(files, folder, record, FileKind::kQueries));
  RESMEM_RETURN_IF_ERROR(file.ExpectSections({QueriesSection(record.rows, dim)}));
  return QueryFile(std::move(file));
}

MatrixView QueryFile::queries() const {
  const SectionShape& shape = file_.sections().front().shape;
  return {file_.Values<float>(0).data(), shape.rows, shape.columns};
}

}  // namespace resmem
