#include "data/packed/zip_writer.h"

#include <cstring>

#include "data/endian.h"

namespace resmem {
namespace {

constexpr uint32_t kInZip64 = 0xffffffff;  // the number is in the zip64 field instead
constexpr uint16_t kVersion = 45;          // of the zip64 extension
constexpr uint16_t kDate = 0x21;           // 1 January 1980: the same bytes at every time
constexpr int64_t kAlignment = 64;

template <typename... Numbers>
std::string Little(Numbers... numbers) {
  std::string bytes;
  const auto add = [&](auto number) {
    const size_t end = bytes.size();
    bytes.resize(end + sizeof(number));
    std::memcpy(bytes.data() + end, &number, sizeof(number));
  };
  (add(numbers), ...);
  return bytes;
}

uint16_t Length(const std::string& text) {
  return static_cast<uint16_t>(text.size());
}

// Version needed, flags, method (stored), time, date, checksum, both sizes.
std::string Common(const StoredMember& member) {
  return Little(kVersion, uint16_t{0}, uint16_t{0}, uint16_t{0}, kDate, member.crc, kInZip64,
                kInZip64);
}

}  // namespace

std::string ZipLocalHeader(const StoredMember& member) {
  std::string extra = Little(uint16_t{1}, uint16_t{16}, member.size, member.size);
  constexpr int64_t kFixed = 30, kPadding = 6;  // the header's fields; those of the padding
  const int64_t end = member.header + kFixed + std::ssize(member.name) + std::ssize(extra);
  const int64_t rest = kAlignment - (end + kPadding) % kAlignment;
  // As zipalign writes it: the alignment, then zeros.
  extra += Little(uint16_t{0xd935}, static_cast<uint16_t>(2 + rest), uint16_t{kAlignment});
  extra.append(static_cast<size_t>(rest), '\0');
  return Little(uint32_t{0x04034b50}) + Common(member) +
         Little(Length(member.name), Length(extra)) + member.name + extra;
}

std::string ZipDirectory(std::span<const StoredMember> members, int64_t offset) {
  std::string directory;
  for (const StoredMember& member : members) {
    const std::string extra =
        Little(uint16_t{1}, uint16_t{24}, member.size, member.size, member.header);
    // No comment; on the first disk; no attributes.
    directory += Little(uint32_t{0x02014b50}, kVersion) + Common(member) +
                 Little(Length(member.name), Length(extra), uint16_t{0}, uint16_t{0}, uint16_t{0},
                        uint32_t{0}, kInZip64) +
                 member.name + extra;
  }
  const auto count = static_cast<uint64_t>(members.size());
  const auto size = static_cast<uint64_t>(directory.size());
  const auto start = static_cast<uint64_t>(offset);
  return directory +
         Little(uint32_t{0x06064b50}, uint64_t{44}, kVersion, kVersion, uint32_t{0}, uint32_t{0},
                count, count, size, start) +
         Little(uint32_t{0x07064b50}, uint32_t{0}, start + size, uint32_t{1}) +
         Little(uint32_t{0x06054b50}, uint16_t{0}, uint16_t{0}, uint16_t{0xffff}, uint16_t{0xffff},
                kInZip64, kInZip64, uint16_t{0});
}

}  // namespace resmem
