#include "memory/rows/deletions.h"

#include "format/checksum.h"
#include "format/container_reader.h"
#include "format/container_writer.h"
#include "memory/manifest/recorded_file.h"
#include "support/text.h"

namespace resmem {
namespace {

SectionShape RowsSection(int64_t rows) {
  return {"rows", StoredType::kU64, rows, 1};
}

}  // namespace

Result<std::vector<int64_t>> ReadDeletions(FileSystem& files, const std::string& folder,
                                           const FileRecord& record, int64_t stored_rows) {
  RESMEM_ASSIGN_OR_RETURN(const ContainerReader file,
                          OpenRecordedFile(files, folder, record, FileKind::kDeletions));
  RESMEM_RETURN_IF_ERROR(file.ExpectSections({RowsSection(record.rows)}));
  RESMEM_RETURN_IF_ERROR(file.VerifyBlocks());
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(record.rows));
  for (const uint64_t row : file.Values<uint64_t>(0)) {
    if (row >= static_cast<uint64_t>(stored_rows) ||
        (!rows.empty() && row <= static_cast<uint64_t>(rows.back()))) {
      return file.Corrupt(Text("row number ", row, " does not ascend below ", stored_rows));
    }
    rows.push_back(static_cast<int64_t>(row));
  }
  return rows;
}

Result<FileRecord> WriteDeletions(FileSystem& files, const std::string& folder,
                                  const std::string& name, std::span<const int64_t> rows) {
  const auto count = static_cast<int64_t>(rows.size());
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(files, folder + "/" + name, FileKind::kDeletions,
                                                  {RowsSection(count)}));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<int64_t>(0, rows));
  RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer.Finish());
  return FileRecord{name, count, finished.file_bytes, finished.header_hash};
}

}  // namespace resmem
