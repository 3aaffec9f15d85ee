#include "eval/key_sample.h"

#include <algorithm>

#include "support/guard.h"

namespace resmem {

void KeySample::Add(const Rows& rows) {
  dim_ = rows.keys.columns;
  for (int64_t row = 0; row < rows.count(); ++row) {
    const Role role = rows.roles.empty() ? Role::kUnmarked : rows.roles[static_cast<size_t>(row)];
    if (only_ && role != *only_) continue;
    // The n-th row is kept with probability most / n, in the place of any other.
    const int64_t place =
        seen_ < most_ ? seen_
                      : static_cast<int64_t>(random_.Below(static_cast<uint64_t>(seen_) + 1));
    ++seen_;
    if (place >= most_) continue;
    const std::span<const float> key = rows.keys.row_span(row);
    if ((place + 1) * dim_ > static_cast<int64_t>(keys_.size())) {
      keys_.insert(keys_.end(), key.begin(), key.end());
    } else {
      std::copy(key.begin(), key.end(), keys_.begin() + place * dim_);
    }
  }
}

MatrixView KeySample::keys() const {
  return {keys_.data(), dim_ == 0 ? 0 : static_cast<int64_t>(keys_.size()) / dim_, dim_};
}

Result<std::vector<float>> SampleKeys(const RowSource& rows, int64_t most, uint64_t seed) try {
  KeySample sample(most, std::nullopt, seed);
  const Status read = rows.Read([&](int64_t, const Rows& block) {
    sample.Add(block);
    return Status();
  });
  RESMEM_RETURN_IF_ERROR(read);
  return sample.Take();
} catch (...) {
  return CaughtException("sample keys");
}

}  // namespace resmem
