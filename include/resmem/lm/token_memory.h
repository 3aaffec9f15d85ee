// A memory with one key per token, and the largest residuals of each in 16 bits.
//
// A row takes 4 x top + 2 x dim + 16 bytes with float16 keys.  The work is done in PATH.partial,
// segment by segment, and renamed at the end: PATH is complete or missing.  Work that was stopped
// or killed continues after the last segment on disk, and the segments are then byte for byte those
// of an uninterrupted run.
#ifndef RESMEM_LM_TOKEN_MEMORY_H_
#define RESMEM_LM_TOKEN_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>

#include "resmem/lm/token_rows.h"
#include "resmem/progress.h"
#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

struct TokenMemoryOptions {
  KeyType key_type = KeyType::kFloat16;
  int64_t top = 128;
  Parameters parameters{50, 1.0f, 1.0f};       // the paper's for language models
  int64_t segment_rows = 262144;               // approximately; a segment ends where a window ends
  std::map<std::string, std::string> notes{};  // further ones of the memory
  Progress* progress = nullptr;
  double wait_seconds = 0;  // for a process that is making it; see ChangeOptions
};

inline constexpr char kEngineNote[] = "engine";
inline constexpr char kWindowsNote[] = "windows";

// The memory that MemorizeTokens() makes of these rows.
MemoryDescription DescribeTokenMemory(const TokenRows& rows, const TokenMemoryOptions& options);

struct MemorizedTokens {
  int64_t rows = 0;
  int64_t found = 0;  // rows kept from an earlier run
};

// The memory's notes say what it was made of: "tokens" (the path), "tokens_fingerprint",
// "tokenizer", "windows", "documents", "engine", and of rows that are not the set's first ones
// "first_document".
// Errors: kInvalidArgument (PATH is there, or PATH.partial holds other work), kCancelled (what is
// done stays for the next call), kIo, kResourceExhausted (also then), and those of the model.
Result<MemorizedTokens> MemorizeTokens(const TokenRows& rows, const std::string& path,
                                       const TokenMemoryOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_LM_TOKEN_MEMORY_H_
