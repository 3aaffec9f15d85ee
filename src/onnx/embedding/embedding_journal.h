// embedding.json: what a folder of arrays is made from, and how many of its rows are on disk.
#ifndef RESMEM_ONNX_EMBEDDING_EMBEDDING_JOURNAL_H_
#define RESMEM_ONNX_EMBEDDING_EMBEDDING_JOURNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/file_system.h"

namespace resmem {

inline constexpr char kJournalName[] = "embedding.json";

struct EmbeddingJournal {
  int64_t rows = 0, dim = 0, outputs = 0, block = 0;
  std::vector<std::string> made_from;
  int64_t done = 0;

  // All but `done`.
  bool SameWork(const EmbeddingJournal& other) const;
};

Status WriteJournal(FileSystem& files, const std::string& folder, const EmbeddingJournal& journal);
// Nothing where there is none that can be read.
std::optional<EmbeddingJournal> ReadJournal(FileSystem& files, const std::string& folder);

}  // namespace resmem

#endif  // RESMEM_ONNX_EMBEDDING_EMBEDDING_JOURNAL_H_
