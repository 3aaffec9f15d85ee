// What a base model makes of many rows, as a folder of arrays that Dataset::Open() reads:
//
//   keys.npy  logits.npy  and where known labels.npy, sources.npy, split.npy
//   embedding.json        what they were made from, and how far
//
// The work is done in FOLDER.partial and renamed at the end, so FOLDER is complete or missing. Work
// that was stopped or killed continues after the last rows on disk, and the arrays are then byte
// for byte those of an uninterrupted run.
#ifndef RESMEM_MODELS_EMBEDDING_FOLDER_H_
#define RESMEM_MODELS_EMBEDDING_FOLDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/data/dataset.h"
#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

struct RowsToEmbed {
  int64_t rows = 0, dim = 0, outputs = 0;
  int64_t block = 0;  // rows run at once; the same for work that shall go on
  // Keys (count x dim) and logits (count x outputs) of rows [begin, begin + count).
  std::function<Status(int64_t begin, int64_t count, std::span<float> keys,
                       std::span<float> logits)>
      run;
  std::span<const int32_t> labels;                 // empty: none
  std::function<std::string(int64_t row)> source;  // where a row came from; empty: unknown
  std::optional<Role> role;                        // of every row
  // Lines that name the model and the data.  Work continues only if they are the same.
  std::vector<std::string> made_from;
  std::span<const Role> roles = {};  // of each row, instead of `role`
};

struct EmbeddingFolderOptions {
  bool overwrite = false;  // replace arrays of ours that were made from something else
  Progress* progress = nullptr;
};

struct EmbeddedRows {
  int64_t found = 0;    // rows kept from an earlier run
  int64_t correct = 0;  // whose largest logit is at the label; 0 without labels
};

// If FOLDER already holds what would be made, nothing is done.  Errors: kInvalidArgument (FOLDER
// holds something else), kCancelled (what is done stays for the next call), kIo,
// kResourceExhausted (no space; also then), and those of `run`.
Result<EmbeddedRows> WriteEmbeddingFolder(const RowsToEmbed& rows, const std::string& folder,
                                          const EmbeddingFolderOptions& options);

}  // namespace resmem

#endif  // RESMEM_MODELS_EMBEDDING_FOLDER_H_
