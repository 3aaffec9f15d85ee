#include <algorithm>
#include <atomic>
#include <limits>

#include "format/checksum.h"
#include "format/container_reader.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

// True where no value has all exponent bits set.  Branch-free inside, so that it keeps up
// with the checksum.
template <typename Bits, Bits kExponent>
bool AllFinite(std::span<const std::byte> bytes) {
  const Bits* const values = reinterpret_cast<const Bits*>(bytes.data());
  const size_t count = bytes.size() / sizeof(Bits);
  Bits bad = 0;
  for (size_t i = 0; i < count; ++i) {
    bad = static_cast<Bits>(bad | static_cast<Bits>((values[i] & kExponent) == kExponent));
  }
  return bad == 0;
}

}  // namespace

size_t ContainerReader::SectionOf(int64_t block) const {
  // The last section that starts at or before the block: empty sections share their start.
  const auto next = std::upper_bound(
      sections_.begin(), sections_.end(), block,
      [](int64_t value, const Section& section) { return value < section.first_block; });
  return static_cast<size_t>(next - sections_.begin()) - 1;
}

ContainerReader::Place ContainerReader::PlaceOfBlock(int64_t block) const {
  const Section& s = sections_[SectionOf(block)];
  const int64_t begin = (block - s.first_block) * kBlockBytes;
  return {s.offset + begin, std::min(kBlockBytes, s.extent - begin)};
}

Status ContainerReader::VerifyBlockBytes(int64_t block, std::span<const std::byte> bytes) const {
  const Section& s = sections_[SectionOf(block)];
  const int64_t begin = (block - s.first_block) * kBlockBytes;
  const int64_t end = begin + static_cast<int64_t>(bytes.size());
  if (Hash64(bytes) != checksums_[static_cast<size_t>(block)]) {
    return Corrupt(Text("the checksum of section ", s.shape.name, ", bytes ", begin, " to ",
                        end - 1, ", is wrong"));
  }
  const bool finite = s.shape.type == StoredType::kF32   ? AllFinite<uint32_t, 0x7f800000u>(bytes)
                      : s.shape.type == StoredType::kF16 ? AllFinite<uint16_t, 0x7c00u>(bytes)
                                                         : true;
  if (!finite) {
    return Corrupt(Text("section ", s.shape.name, " holds a value that is not finite in bytes ",
                        begin, " to ", end - 1));
  }
  return {};
}

Status ContainerReader::VerifyBlock(int64_t block) const {
  const Place place = PlaceOfBlock(block);
  RESMEM_RETURN_IF_ERROR(VerifyBlockBytes(
      block,
      file_->bytes().subspan(static_cast<size_t>(place.offset), static_cast<size_t>(place.bytes))));
  std::atomic<bool>& checked = states_->checked[static_cast<size_t>(block)];
  if (!checked.exchange(true, std::memory_order_acq_rel)) states_->unchecked.fetch_sub(1);
  return {};
}

void ContainerReader::RequireBlocks(size_t section, int64_t begin, int64_t size) const {
  if (size <= 0) return;
  const int64_t first = sections_[section].first_block + begin / kBlockBytes;
  const int64_t last = sections_[section].first_block + (begin + size - 1) / kBlockBytes;
  const auto sound = [&](int64_t block) {
    return states_->checked[static_cast<size_t>(block)].load(std::memory_order_acquire);
  };
  for (int64_t block = first; block <= last; ++block) {
    if (sound(block)) continue;
    // Many at once where a whole section is needed.
    int64_t end = block + 1;
    while (end <= last && !sound(end)) ++end;
    const Status status = VerifyRange(block, end);
    if (!status.ok()) throw StatusError(status);
    block = end - 1;
  }
}

Status ContainerReader::VerifyRange(int64_t begin, int64_t end) const {
  std::atomic<int64_t> first_bad{std::numeric_limits<int64_t>::max()};
  const int threads = end - begin < 4 ? 1 : 0;  // waking others costs more than a few blocks
  ParallelFor(threads, end - begin, 1, [&](int64_t from, int64_t to, int) {
    for (int64_t block = begin + from; block < begin + to; ++block) {
      if (VerifyBlock(block).ok()) continue;
      int64_t known = first_bad;
      while (block < known && !first_bad.compare_exchange_weak(known, block)) {
      }
    }
  });
  const int64_t bad = first_bad;
  if (bad == std::numeric_limits<int64_t>::max()) return {};
  return VerifyBlock(bad);
}

Status ContainerReader::VerifySection(size_t section) const {
  const Section& s = sections_[section];
  return VerifyRange(s.first_block, s.first_block + BlocksOf(s.extent));
}

Status ContainerReader::VerifyBlocks(Progress* progress) const {
  constexpr int64_t kStep = 256;  // blocks between two words to the caller
  const auto blocks = static_cast<int64_t>(checksums_.size());
  for (int64_t begin = 0; begin < blocks; begin += kStep) {
    if (progress != nullptr && progress->Cancelled()) {
      return {ErrorCode::kCancelled, Text(path_, ": verification was cancelled")};
    }
    const int64_t end = std::min(blocks, begin + kStep);
    RESMEM_RETURN_IF_ERROR(VerifyRange(begin, end));
    if (progress != nullptr) progress->Report("verify", end, blocks);
  }
  return {};
}

}  // namespace resmem
