#include "search/key_store.h"

#include <algorithm>
#include <utility>

#include "kernels/int4_keys.h"
#include "kernels/number_codec.h"
#include "kernels/prefetch.h"
#include "search/key_check.h"
#include "support/check.h"
#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {

const char* KeyTypeName(KeyType type) {
  switch (type) {
    case KeyType::kFloat32:
      return "float32";
    case KeyType::kFloat16:
      return "float16";
    case KeyType::kInt8:
      return "int8";
    case KeyType::kInt4:
      return "int4";
  }
  return "unknown";
}

namespace {

Status CheckBlock(const KeyBlock& block, int64_t dim, size_t number) {
  const std::string place = Text("key block ", number, " of ", block.rows, " rows");
  // 4 bytes a value at most.
  const auto values = CheckedMultiply(block.rows, dim);
  if (!values || !CheckedMultiply(*values, 4)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(place, ": with ", dim, " values per row its size is not a sensible number"));
  }
  if (block.rows > 0 && block.data == nullptr) {
    return Status(ErrorCode::kInvalidArgument, Text(place, " has no data"));
  }
  const bool scaled = block.type == KeyType::kInt8 || block.type == KeyType::kInt4;
  if (block.rows > 0 && scaled && block.scales == nullptr) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(place, " is ", KeyTypeName(block.type), " but has no scales"));
  }
  if (block.rows > 0 && block.type == KeyType::kInt4 && block.center == nullptr) {
    return Status(ErrorCode::kInvalidArgument, Text(place, " is int4 but has no center"));
  }
  return Status();
}

void Decode(const KeyBlock& block, int64_t begin, int64_t count, int64_t dim, float* out) {
  const int64_t first = begin * dim;
  switch (block.type) {
    case KeyType::kFloat32:
      std::copy_n(static_cast<const float*>(block.data) + first, count * dim, out);
      break;
    case KeyType::kFloat16:
      HalfToFloat(static_cast<const uint16_t*>(block.data) + first, count * dim, out);
      break;
    case KeyType::kInt8:
      for (int64_t row = 0; row < count; ++row) {
        Int8ToFloat(static_cast<const int8_t*>(block.data) + first + row * dim, dim,
                    block.scales[begin + row], out + row * dim);
      }
      break;
    case KeyType::kInt4:
      for (int64_t row = begin; row < begin + count; ++row, out += dim) {
        Int4ToFloat(static_cast<const uint8_t*>(block.data) + row * Int4Bytes(dim), dim,
                    block.scales[row], block.center, out);
      }
      break;
  }
}

int64_t BytesOfKey(KeyType type, int64_t dim) {
  if (type == KeyType::kInt4) return Int4Bytes(dim);
  return dim * (type == KeyType::kFloat32 ? 4 : type == KeyType::kFloat16 ? 2 : 1);
}

}  // namespace

Result<KeyStore> KeyStore::Make(int64_t dim, std::vector<KeyBlock> blocks,
                                std::vector<int64_t> hidden, std::vector<const KeyCheck*> checks) {
  if (dim < 1) {
    return Status(ErrorCode::kInvalidArgument, Text("keys have dim ", dim, "; give at least 1"));
  }
  KeyStore store;
  store.dim_ = dim;
  std::vector<int64_t> starts = {0};
  for (size_t number = 0; number < blocks.size(); ++number) {
    RESMEM_RETURN_IF_ERROR(CheckBlock(blocks[number], dim, number));
    const auto end = CheckedAdd(starts.back(), blocks[number].rows);
    if (!end) return Status(ErrorCode::kInvalidArgument, "the key blocks have too many rows");
    starts.push_back(*end);
  }
  store.parts_ = PartFinder(std::move(starts));
  store.blocks_ = std::move(blocks);
  store.checks_ = std::move(checks);
  for (size_t i = 0; i < hidden.size(); ++i) {
    if (hidden[i] < 0 || hidden[i] >= store.rows() || (i > 0 && hidden[i] <= hidden[i - 1])) {
      return Status(
          ErrorCode::kInvalidArgument,
          Text("hidden row ", hidden[i], " at position ", i, " must be below the number of rows, ",
               store.rows(), ", and above the one before it"));
    }
  }
  store.hidden_ = std::move(hidden);
  return store;
}

bool KeyStore::hidden(int64_t row) const {
  return std::binary_search(hidden_.begin(), hidden_.end(), row);
}

void KeyStore::Require(int64_t row) const {
  if (checks_.empty()) return;
  const size_t number = parts_.PartOf(row);
  checks_[number]->RequireKeys(row - parts_.start(number), 1);
}

void KeyStore::RequireAll() const {
  for (size_t i = 0; i < checks_.size(); ++i) checks_[i]->RequireKeys(0, blocks_[i].rows);
}

void KeyStore::Prefetch(int64_t row) const {
  const size_t number = parts_.PartOf(row);
  const KeyBlock& block = blocks_[number];
  const int64_t bytes = BytesOfKey(block.type, dim_);
  const char* begin = static_cast<const char*>(block.data) + (row - parts_.start(number)) * bytes;
  // The processor follows a longer row by itself.
  constexpr int64_t kMost = 2048;
  PrefetchLines(begin, std::min(bytes, kMost));
}

const float* KeyStore::InPlace(int64_t row) const {
  const size_t number = parts_.PartOf(row);
  if (blocks_[number].type != KeyType::kFloat32) return nullptr;
  return static_cast<const float*>(blocks_[number].data) + (row - parts_.start(number)) * dim_;
}

const float* KeyStore::Rows(int64_t begin, int64_t count, float* scratch) const {
  RESMEM_DCHECK(begin >= 0 && count > 0 && begin + count <= rows());
  size_t number = parts_.PartOf(begin);
  if (blocks_[number].type == KeyType::kFloat32 && begin + count <= parts_.start(number + 1)) {
    return static_cast<const float*>(blocks_[number].data) + (begin - parts_.start(number)) * dim_;
  }
  float* out = scratch;
  for (; count > 0; ++number) {
    const int64_t piece = std::min(count, parts_.start(number + 1) - begin);
    if (piece > 0) Decode(blocks_[number], begin - parts_.start(number), piece, dim_, out);
    out += piece * dim_;
    begin += piece;
    count -= piece;
  }
  return scratch;
}

}  // namespace resmem
