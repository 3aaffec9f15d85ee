#include <algorithm>

#include "eval/key_sample.h"
#include "resmem/lm/token_rows.h"
#include "support/choose_rows.h"
#include "support/guard.h"

namespace resmem {

Result<std::vector<float>> SampleKeys(const TokenRows& rows, int64_t most, uint64_t seed,
                                      Progress* progress) try {
  constexpr int64_t kRunForEachKept = 8;
  const int64_t windows = rows.window_count();
  const int64_t wanted = kRunForEachKept * most * windows / std::max<int64_t>(rows.rows(), 1) + 1;
  const std::vector<int64_t> chosen = ChooseRows(windows, wanted, seed);
  KeySample sample(most, std::nullopt, seed);
  TokenRows::Block block;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (progress != nullptr) {
      if (progress->Cancelled()) return Status(ErrorCode::kCancelled, "embedding was stopped");
      progress->Report("embedding", static_cast<int64_t>(i), std::ssize(chosen));
    }
    RESMEM_RETURN_IF_ERROR(rows.Read(chosen[i], chosen[i] + 1, &block));
    sample.Add(block.view);
  }
  return sample.Take();
} catch (...) {
  return CaughtException("sample keys of tokens");
}

}  // namespace resmem
