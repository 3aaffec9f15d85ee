// WriteEmbeddingFolder() on a file system that a test may break.
#ifndef RESMEM_ONNX_EMBEDDING_EMBEDDING_WRITER_H_
#define RESMEM_ONNX_EMBEDDING_EMBEDDING_WRITER_H_

#include <memory>
#include <string>

#include "onnx/embedding/embedding_journal.h"
#include "resmem/models/embedding_folder.h"
#include "support/file_system.h"

namespace resmem {

class EmbeddingWriter {
 public:
  EmbeddingWriter(FileSystem& files, const RowsToEmbed& rows, std::string folder,
                  const EmbeddingFolderOptions& options);

  Result<EmbeddedRows> Write();

 private:
  // That what is in the way may be replaced.
  Status CheckTarget() const;
  Status RemoveArrays(const std::string& folder) const;
  // Opens the two matrices, going on from what an earlier call left.
  Status OpenMatrices();
  Status RunBlocks();
  Status Save();  // what is done, so that it survives a kill
  Status WriteColumns() const;
  Status Publish();
  // Rows [begin, begin + count) of the logits in `values`.
  int64_t CountCorrect(const float* values, int64_t begin, int64_t count) const;
  // Of the two files with so many rows.
  size_t KeysBytes(int64_t rows) const;
  size_t LogitsBytes(int64_t rows) const;
  Status CountFound();

  std::string Partial(const char* name) const { return partial_ + "/" + name; }
  // With the mode of the array that it will replace.
  Result<std::unique_ptr<WritableFile>> CreatePartial(const char* name) const;
  Status WriteItems(const char* name, const std::string& descriptor,
                    std::span<const std::byte> items) const;

  FileSystem& files_;
  const RowsToEmbed& rows_;
  const std::string folder_, partial_;
  const EmbeddingFolderOptions options_;
  EmbeddingJournal journal_;
  EmbeddedRows result_;
  std::string keys_header_, logits_header_;
  std::unique_ptr<WritableFile> keys_, logits_;
};

}  // namespace resmem

#endif  // RESMEM_ONNX_EMBEDDING_EMBEDDING_WRITER_H_
