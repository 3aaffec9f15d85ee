// A memory of fewer bytes a row at nearly the same answers: keys of 4 or 8 bits, and of each row's
// residual only the entries that hold most of its mass.
#ifndef RESMEM_COMPRESS_H_
#define RESMEM_COMPRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/evaluation.h"
#include "resmem/residual_memory.h"

namespace resmem {

// How a memory stores its rows.
struct StoredForm {
  KeyType key_type = KeyType::kFloat32;
  bool packed = false;  // residuals as kPacked; else as the memory has them
  float share = 1;      // packed: see MemoryDescription::packed_share
  float least = 0;      // packed: see MemoryDescription::packed_least
};
// "int4 keys, 95 % of each row's mass"
std::string StoredFormText(const StoredForm& form);

struct CompressOptions {
  bool overwrite = false;  // replace a memory at `to`; nothing else ever is
  Progress* progress = nullptr;
};
// The living rows of the memory at `from`, stored in this form as a new memory at `to`, without
// index and snapshots.  Packed residuals are frozen at the temperature of the memory's own answer.
// Errors: kUnsupported (packed residuals of a regression; a memory that is packed already),
// kInvalidArgument (`to` is there), and those of reading and writing.
Status CompressMemory(const std::string& from, const std::string& to, const StoredForm& form,
                      const CompressOptions& options = {});

struct CompressionOptions {
  double loss = 0.1;             // accuracy that may be lost, in points
  double perplexity_loss = 0.5;  // exp(NLL) that may be lost, in percent
  int folds = 5;
  uint64_t seed = 0;  // of the folds
  // What is tried, each with the memory's own keys, int8 and int4.
  std::vector<float> shares = {0.99f, 0.95f, 0.9f, 0.8f, 0.6f};
  std::vector<float> least = {0, 0.02f};
  // A folder that is not there: candidates are written into it, and it is removed.  It takes as
  // much room as all of them together.
  std::string scratch;
  std::optional<Role> only;  // as EvaluationOptions
  int threads = 0;
  Progress* progress = nullptr;
};

// What answers lose, measured on the same rows as the memory's own.
struct CompressionLoss {
  double points = 0;  // accuracy before less after
  Interval points_interval;
  double perplexity = 0;  // percent: 100 (exp(NLL after - NLL before) - 1)
  Interval perplexity_interval;
};

struct CompressionPoint {
  StoredForm form;
  int64_t bytes = 0;  // of the whole memory
  double accuracy = 0, nll = 0;
  CompressionLoss loss;
};

struct Compression {
  int64_t rows = 0;    // of the memory
  int64_t judged = 0;  // rows given
  int64_t bytes = 0;   // of the memory as it is
  double accuracy = 0, nll = 0;
  std::vector<CompressionPoint> points;  // from the largest to the smallest; the first is as it is
  size_t chosen = 0;                     // in `points`
  // What rows lose by a form that was chosen on the other folds.
  CompressionLoss cross_validated;
  // Losses that a choice may show are this share of what was asked; below 1 where the choices lost
  // more on the fold that was left out.
  double strictness = 1;
};

// Tries every form on rows that are not in the memory, and finds the smallest whose answers lose no
// more than asked.  Errors: kUnsupported (a regression, a memory that is packed already),
// kBadData (rows that do not fit, or fewer than folds), kInvalidArgument, kCancelled.
Result<Compression> ChooseCompression(const std::string& memory, const RowSource& rows,
                                      const CompressionOptions& options);

}  // namespace resmem

#endif  // RESMEM_COMPRESS_H_
