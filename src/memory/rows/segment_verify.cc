// Values that a right checksum does not make right.
#include <atomic>
#include <limits>

#include "kernels/int4_keys.h"
#include "memory/rows/segment.h"
#include "resmem/row_filter.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

// The first row for which `bad` holds, or `rows`.
template <typename Predicate>
int64_t FirstBadRow(int64_t rows, const Predicate& bad) {
  std::atomic<int64_t> first{rows};
  ParallelFor(0, rows, 4096, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end && row < first; ++row) {
      if (!bad(row)) continue;
      int64_t known = first;
      while (row < known && !first.compare_exchange_weak(known, row)) {
      }
      return;
    }
  });
  return first;
}

}  // namespace

Status Segment::VerifyValues(uint64_t next_id) const {
  const auto check = [&](const char* what, const auto& bad) -> Status {
    const int64_t row = FirstBadRow(rows_, bad);
    return row == rows_ ? Status() : file_.Corrupt(Text("row ", row, " has ", what));
  };
  RESMEM_RETURN_IF_ERROR(check("an id that is not below the manifest's next_id",
                               [&](int64_t row) { return id(row) >= next_id; }));
  if (key_type_ == KeyType::kInt8) {
    RESMEM_RETURN_IF_ERROR(
        check("a negative scale", [&](int64_t row) { return key_scales_[row] < 0; }));
    const auto* codes = reinterpret_cast<const int8_t*>(keys_);
    RESMEM_RETURN_IF_ERROR(check("the key value -128, the least is -127", [&](int64_t row) {
      bool bad = false;
      for (int64_t i = row * dim_; i < (row + 1) * dim_; ++i) bad |= codes[i] == -128;
      return bad;
    }));
  }
  if (key_type_ == KeyType::kInt4) {
    RESMEM_RETURN_IF_ERROR(check("a scale that is not 0 to 2^100", [&](int64_t row) {
      return !(key_scales_[row] >= 0 && key_scales_[row] <= kLargestInt4);
    }));
    const int64_t bytes = Int4Bytes(dim_);
    const auto* packed = reinterpret_cast<const uint8_t*>(keys_);
    RESMEM_RETURN_IF_ERROR(check("a value behind the last of its key", [&](int64_t row) {
      return dim_ % 2 == 1 && packed[(row + 1) * bytes - 1] > 15;
    }));
  }
  if (key_norms_ != nullptr) {
    RESMEM_RETURN_IF_ERROR(check("a length of its key that is not 0 or more", [&](int64_t row) {
      return !(key_norms_[row] >= 0 && key_norms_[row] <= std::numeric_limits<float>::max());
    }));
  }
  if (form_ == ResidualForm::kSparse) {
    RESMEM_RETURN_IF_ERROR(
        check("a negative dropped mass", [&](int64_t row) { return dropped_[row] < 0; }));
    RESMEM_RETURN_IF_ERROR(
        check("residual classes that do not ascend below outputs", [&](int64_t row) {
          int64_t previous = -1;
          for (int64_t entry = row * top_; entry < (row + 1) * top_; ++entry) {
            const int64_t c = residual_class(entry);
            if (c <= previous || c >= outputs_) return true;
            previous = c;
          }
          return false;
        }));
  }
  if (has_tags()) {
    RESMEM_RETURN_IF_ERROR(check("tags of another form than tags have",
                                 [&](int64_t row) { return !CheckTags(tags(row)).ok(); }));
  }
  return VerifyPackedValues();
}

}  // namespace resmem
