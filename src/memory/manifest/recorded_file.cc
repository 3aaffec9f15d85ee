#include "memory/manifest/recorded_file.h"

#include "format/checksum.h"
#include "support/text.h"

namespace resmem {

Result<ContainerReader> OpenRecordedFile(FileSystem& files, const std::string& folder,
                                         const FileRecord& record, FileKind kind) {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader file,
                          ContainerReader::Open(files, folder + "/" + record.file, kind));
  if (file.header_hash() != record.header_hash || file.file_bytes() != record.bytes) {
    return file.Corrupt(Text("has ", file.file_bytes(), " bytes and header hash ",
                             HexOfHash(file.header_hash()), " where the manifest says ",
                             record.bytes, " and ", HexOfHash(record.header_hash)));
  }
  return file;
}

}  // namespace resmem
