#include "data/formats/numpy/npz.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "data/endian.h"
#include "data/formats/numpy/npy.h"
#include "data/packed/inflate.h"
#include "data/packed/zip.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr std::string_view kSuffix = ".npy";

ByteSpan Stored(const FileBytes& file, const ZipEntry& entry) {
  return file.bytes().subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.stored));
}

Result<Layout> MemberLayout(const std::string& name, const FileBytes& file, const ZipEntry& entry) {
  RESMEM_RETURN_IF_ERROR(entry.unreadable);
  const auto limit = static_cast<size_t>(std::min(entry.size, kMaxNpyPrefix));
  if (!entry.deflated) return ParseNpy(name, Stored(file, entry).first(limit), entry.size);
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::byte> prefix,
                          InflatePrefix(name, Stored(file, entry), Wrapper::kNone, limit));
  return ParseNpy(name, prefix, entry.size);
}

Status CheckCrc(const std::string& name, uint32_t found, uint32_t wanted) {
  if (found == wanted) return {};
  return {ErrorCode::kBadData,
          Text(name, ": the content does not match its checksum; export the file again")};
}

uint32_t Crc(uint32_t before, ByteSpan bytes) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// A mapped member, read once from front to back; its pages leave memory again.
Status CheckStored(const std::string& name, const FileBytes& file, const ZipEntry& entry) {
  constexpr int64_t kPiece = 4 << 20;
  uint32_t crc = 0;
  for (int64_t at = 0; at < entry.stored; at += kPiece) {
    const auto offset = static_cast<size_t>(entry.offset + at);
    const auto size = static_cast<size_t>(std::min(kPiece, entry.stored - at));
    crc = Crc(crc, file.bytes().subspan(offset, size));
    file.Drop(offset, size);
  }
  return CheckCrc(name, crc, entry.crc);
}

Result<SharedBytes> InflateMember(const std::string& name, const FileBytes& file,
                                  const ZipEntry& entry) {
  RESMEM_ASSIGN_OR_RETURN(SharedBytes bytes,
                          Inflate(name, Stored(file, entry), Wrapper::kNone, entry.size));
  RESMEM_RETURN_IF_ERROR(CheckCrc(name, Crc(0, bytes->bytes()), entry.crc));
  return bytes;
}

}  // namespace

bool LooksLikeZip(ByteSpan bytes) {
  if (bytes.size() < 4) return false;
  const auto signature = Load<uint32_t>(bytes.data());
  return signature == 0x04034b50 || signature == 0x06054b50;  // with entries, without
}

Result<FileContent> ReadNpz(const std::string& name, const SharedBytes& bytes) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<ZipEntry> entries,
                          ReadZipDirectory(name, bytes->bytes()));
  FileContent content;
  for (const ZipEntry& entry : entries) {
    if (!entry.name.ends_with(kSuffix)) continue;
    const std::string member = entry.name.substr(0, entry.name.size() - kSuffix.size());
    const std::string place = Text(name, ":", member);
    Result<Layout> layout = MemberLayout(place, *bytes, entry);
    if (!layout.ok() && layout.status().code() != ErrorCode::kUnsupported) return layout.status();
    if (!layout.ok()) {
      content.members.push_back(UnreadableMember(member, layout.status()));
    } else if (entry.deflated) {
      Member found = {{member, layout->type, layout->shape}, {}, {}};
      found.open = [place, bytes, entry,
                    layout = std::move(layout).value()]() -> Result<StoragePointer> {
        auto storage = std::make_unique<Array::Storage>();
        RESMEM_ASSIGN_OR_RETURN(storage->bytes, InflateMember(place, *bytes, entry));
        storage->layout = layout;
        return storage;
      };
      content.members.push_back(std::move(found));
    } else {
      layout->offset += entry.offset;
      Member found = MemberInPlace(member, bytes, std::move(layout).value());
      found.open = [place, bytes, entry, open = std::move(found.open)]() -> Result<StoragePointer> {
        RESMEM_RETURN_IF_ERROR(CheckStored(place, *bytes, entry));
        return open();
      };
      content.members.push_back(std::move(found));
    }
  }
  return content;
}

}  // namespace resmem
