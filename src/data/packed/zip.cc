#include "data/packed/zip.h"

#include <algorithm>
#include <optional>
#include <set>

#include "data/endian.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr size_t kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr size_t kCentralBytes = 46, kLocalBytes = 30;
constexpr uint64_t kIn64 = 0xffffffff;  // the number is in the zip64 field instead

Status Broken(const std::string& name, const std::string& what) {
  return {ErrorCode::kBadData,
          Text(name, ": the zip directory is broken (", what, "); export the file again")};
}

// `size` bytes at `offset`, nothing where they are not all inside.
std::optional<ByteSpan> Part(ByteSpan bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

// The fixed part of a record with this signature.
const std::byte* Record(ByteSpan bytes, uint64_t offset, size_t size, uint32_t signature) {
  const std::optional<ByteSpan> part = Part(bytes, offset, size);
  if (!part || Load<uint32_t>(part->data()) != signature) return nullptr;
  return part->data();
}

struct Directory {
  uint64_t entries = 0, size = 0, offset = 0;
};

Result<Directory> FindDirectory(const std::string& name, ByteSpan bytes) {
  constexpr size_t kMaxComment = 0xffff;
  if (bytes.size() < kEndBytes) return Broken(name, "the file is too short");
  const size_t last = bytes.size() - kEndBytes;
  for (size_t back = 0; back <= std::min(last, kMaxComment); ++back) {
    const std::byte* end = Record(bytes, last - back, kEndBytes, kEndSignature);
    if (end == nullptr || Load<uint16_t>(end + 20) != back) continue;
    Directory directory{Load<uint16_t>(end + 10), Load<uint32_t>(end + 12),
                        Load<uint32_t>(end + 16)};
    if (directory.entries != 0xffff && directory.size != kIn64 && directory.offset != kIn64) {
      return directory;
    }
    const std::byte* locator =
        last - back < kLocator64Bytes
            ? nullptr
            : Record(bytes, last - back - kLocator64Bytes, kLocator64Bytes, kLocator64Signature);
    if (locator == nullptr) return directory;  // exactly 65535 entries need no zip64
    const std::byte* end64 =
        Record(bytes, Load<uint64_t>(locator + 8), kEnd64Bytes, kEnd64Signature);
    if (end64 == nullptr) return Broken(name, "its zip64 part is missing");
    return Directory{Load<uint64_t>(end64 + 32), Load<uint64_t>(end64 + 40),
                     Load<uint64_t>(end64 + 48)};
  }
  return Broken(name, "it has no end; the file was cut short");
}

// Replaces the numbers that did not fit in 32 bits; they follow each other in this order.
Status ReadExtra64(const std::string& name, ByteSpan extra, uint64_t* size, uint64_t* stored,
                   uint64_t* offset) {
  constexpr uint16_t kZip64 = 1;
  while (extra.size() >= 4) {
    const auto id = Load<uint16_t>(&extra[0]);
    const std::optional<ByteSpan> body = Part(extra, 4, Load<uint16_t>(&extra[2]));
    if (!body) return Broken(name, "an extra field is too long");
    extra = extra.subspan(4 + body->size());
    if (id != kZip64) continue;
    ByteSpan rest = *body;
    for (uint64_t* field : {size, stored, offset}) {
      if (*field != kIn64) continue;
      if (rest.size() < 8) return Broken(name, "a zip64 field is too short");
      *field = Load<uint64_t>(rest.data());
      rest = rest.subspan(8);
    }
    return {};
  }
  return {};
}

Status ReadEntry(const std::string& name, ByteSpan bytes, const std::byte* central, ByteSpan extra,
                 ZipEntry* entry) {
  const auto flags = Load<uint16_t>(central + 8);
  const auto method = Load<uint16_t>(central + 10);
  entry->crc = Load<uint32_t>(central + 16);
  uint64_t stored = Load<uint32_t>(central + 20);
  uint64_t size = Load<uint32_t>(central + 24);
  uint64_t offset = Load<uint32_t>(central + 42);
  RESMEM_RETURN_IF_ERROR(ReadExtra64(name, extra, &size, &stored, &offset));

  const std::byte* local = Record(bytes, offset, kLocalBytes, kLocalSignature);
  if (local == nullptr) return Broken(name, Text("\"", entry->name, "\" is not where it says"));
  const uint64_t name_bytes = Load<uint16_t>(local + 26);
  const std::optional<ByteSpan> local_name = Part(bytes, offset + kLocalBytes, name_bytes);
  const uint64_t start = offset + kLocalBytes + name_bytes + Load<uint16_t>(local + 28);
  if (!local_name || Load<uint16_t>(local + 8) != method ||
      !std::equal(local_name->begin(), local_name->end(),
                  std::as_bytes(std::span(entry->name)).begin(),
                  std::as_bytes(std::span(entry->name)).end())) {
    return Broken(name, Text("\"", entry->name, "\" has another name or method in its own header"));
  }
  if (!Part(bytes, start, stored)) {
    return Broken(name, Text("\"", entry->name, "\" claims ", stored, " bytes at ", start,
                             ", beyond the end of the file at ", bytes.size()));
  }
  entry->deflated = method == 8;
  if (size > INT64_MAX || (!entry->deflated && method == 0 && size != stored)) {
    return Broken(name, Text("\"", entry->name, "\" has two sizes, ", stored, " and ", size));
  }
  constexpr uint16_t kEncrypted = 1;
  if ((flags & kEncrypted) != 0 || (method != 0 && method != 8)) {
    entry->unreadable = {
        ErrorCode::kUnsupported,
        Text(name, ":", entry->name, ": is encrypted or compressed by an unknown method (", method,
             "); save it with numpy.savez or savez_compressed")};
  }
  entry->offset = static_cast<int64_t>(start);
  entry->stored = static_cast<int64_t>(stored);
  entry->size = static_cast<int64_t>(size);
  return {};
}

}  // namespace

Result<std::vector<ZipEntry>> ReadZipDirectory(const std::string& name, ByteSpan bytes) {
  RESMEM_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(name, bytes));
  const std::optional<ByteSpan> records = Part(bytes, directory.offset, directory.size);
  if (!records) return Broken(name, "it lies beyond the end of the file");
  if (directory.entries > records->size() / kCentralBytes) {
    return Broken(name, Text(directory.entries, " entries do not fit into it"));
  }
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  uint64_t at = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const std::byte* central = Record(*records, at, kCentralBytes, kCentralSignature);
    if (central == nullptr) return Broken(name, Text("entry ", i, " is missing"));
    const uint64_t name_bytes = Load<uint16_t>(central + 28);
    const uint64_t extra_bytes = Load<uint16_t>(central + 30);
    const uint64_t comment_bytes = Load<uint16_t>(central + 32);
    const std::optional<ByteSpan> rest =
        Part(*records, at + kCentralBytes, name_bytes + extra_bytes + comment_bytes);
    if (!rest) return Broken(name, Text("entry ", i, " is cut short"));
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(rest->data()), name_bytes);
    RESMEM_RETURN_IF_ERROR(
        ReadEntry(name, bytes, central, rest->subspan(name_bytes, extra_bytes), &entry));
    if (!names.insert(entry.name).second) {
      return Broken(name, Text("\"", entry.name, "\" comes twice"));
    }
    entries.push_back(std::move(entry));
    at += kCentralBytes + rest->size();
  }
  return entries;
}

}  // namespace resmem
