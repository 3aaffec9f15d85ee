#include "format/container_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "format/checksum.h"
#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

// The name without its zeros, or nothing where it is not one.
std::string_view NameOf(const SectionEntry& entry) {
  const std::string_view field(entry.name, sizeof(entry.name));
  const std::string_view name = field.substr(0, field.find('\0'));
  const bool letters = std::all_of(name.begin(), name.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  const bool zeros = field.find_first_not_of('\0', name.size()) == std::string_view::npos;
  return letters && zeros && name.size() < field.size() ? name : std::string_view();
}

std::string ShapeText(const SectionShape& shape) {
  return Text(shape.name, " (", StoredTypeName(shape.type), ", ", shape.rows, " x ", shape.columns,
              ")");
}

// The hash of the header's bytes as they would be with this version.
uint64_t HashOfHeader(std::span<const std::byte> header, uint32_t version) {
  std::vector<std::byte> hashed(header.begin(), header.end());
  std::memcpy(hashed.data() + offsetof(FileHeader, version), &version, sizeof(version));
  std::memset(hashed.data() + offsetof(FileHeader, header_hash), 0,
              sizeof(FileHeader::header_hash));
  return Hash64(hashed);
}

// What to do about a file that is broken.  Of an index the memory knows it.
const char* RepairOf(FileKind kind) {
  switch (kind) {
    case FileKind::kManifest:
    case FileKind::kSegment:
    case FileKind::kDeletions:
    case FileKind::kTransform:
      return "; restore the memory from a copy, or make it again from its data";
    case FileKind::kIndex:
    case FileKind::kQueries:
      return "";
    default:
      return "; restore the file from a copy, or build it again";
  }
}

// Fields are unsigned 64 bits; as sizes they are only good up to 2^63 - 1.
int64_t Size(uint64_t field) {
  return field > static_cast<uint64_t>(INT64_MAX) ? -1 : static_cast<int64_t>(field);
}

}  // namespace

Status ContainerReader::Corrupt(const std::string& problem) const {
  return {ErrorCode::kCorrupt, Text(path_, ": ", problem, RepairOf(kind_))};
}

Result<ContainerReader> ContainerReader::Open(FileSystem& files, const std::string& path,
                                              FileKind kind) {
  ContainerReader reader;
  reader.path_ = path;
  reader.kind_ = kind;
  RESMEM_ASSIGN_OR_RETURN(MappedFile mapped, files.Map(path));
  reader.file_ = std::make_shared<const MappedFile>(std::move(mapped));
  RESMEM_RETURN_IF_ERROR(reader.ReadHeader(kind));
  return reader;
}

Status ContainerReader::ReadHeader(FileKind kind) {
  const std::span<const std::byte> bytes = file_->bytes();
  if (file_bytes() < kHeaderBytes) {
    return Corrupt(
        Text("holds ", bytes.size(), " bytes where a header alone needs ", kHeaderBytes));
  }
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return Corrupt("is no file of resmem: it does not start with RESMEM");
  }
  // Before anything else: a later version may have another header.
  if (header.version > kFormatVersion) {
    const int64_t size = header.header_bytes;
    if (size >= kHeaderBytes && size <= kHeaderBytes + kEntryBytes * kMaxSections &&
        size <= file_bytes() &&
        HashOfHeader(bytes.first(header.header_bytes), kFormatVersion) == header.header_hash) {
      return Corrupt(
          Text("has format version ", header.version, " where its checksum says ", kFormatVersion));
    }
    return {ErrorCode::kTooNew,
            Text(path_, ": has format version ", header.version, ", this program reads up to ",
                 kFormatVersion, "; use a newer resmem")};
  }
  if (header.version == 0) return Corrupt("has format version 0, the first one was 1");
  if (header.kind != static_cast<uint32_t>(kind)) {
    return Corrupt(Text("is of kind ", header.kind, " (",
                        FileKindName(static_cast<FileKind>(header.kind)), "), expected a ",
                        FileKindName(kind)));
  }
  const int64_t count = header.section_count;
  const int64_t header_bytes = header.header_bytes;
  if (count < 1 || count > kMaxSections || header_bytes != kHeaderBytes + kEntryBytes * count) {
    return Corrupt(Text("claims ", count, " sections in a header of ", header_bytes, " bytes"));
  }
  if (file_bytes() < header_bytes) {
    return Corrupt(Text("holds ", bytes.size(), " bytes where the header needs ", header_bytes));
  }
  if (HashOfHeader(bytes.first(header.header_bytes), header.version) != header.header_hash) {
    return Corrupt("the checksum of the header is wrong");
  }
  header_hash_ = header.header_hash;
  if (header.file_bytes != bytes.size()) {
    return Corrupt(
        Text("holds ", bytes.size(), " bytes where its header says ", header.file_bytes));
  }
  if (header.zero[0] != 0 || header.zero[1] != 0) {
    return Corrupt("the header has a value where zeros belong");
  }
  return ReadTable(header);
}

Status ContainerReader::CheckEntry(const SectionEntry& entry, int64_t expected_offset) const {
  const std::string_view name = NameOf(entry);
  if (name.empty()) return Corrupt("the name of a section is not made of a-z and _");
  const int64_t element = StoredBytes(static_cast<StoredType>(entry.type));
  if (element == 0) return Corrupt(Text("section ", name, " has element type ", entry.type));
  if (entry.zero_a != 0 || entry.zero_b != 0) {
    return Corrupt(Text("section ", name, " has a value where zeros belong"));
  }
  const std::optional<int64_t> values = CheckedMultiply(Size(entry.rows), Size(entry.columns));
  const std::optional<int64_t> size = values ? CheckedMultiply(*values, element) : std::nullopt;
  if (entry.columns == 0 || !size || *size != Size(entry.bytes)) {
    return Corrupt(Text("section ", name, " claims ", entry.rows, " x ", entry.columns,
                        " values of ", element, " bytes in ", entry.bytes, " bytes"));
  }
  if (Size(entry.offset) != expected_offset) {
    return Corrupt(
        Text("section ", name, " starts at ", entry.offset, ", expected ", expected_offset));
  }
  if (*size > file_bytes() - expected_offset) {
    return Corrupt(Text("section ", name, " of ", *size, " bytes at ", expected_offset,
                        " does not fit into the file's ", file_bytes()));
  }
  return {};
}

Status ContainerReader::ReadTable(const FileHeader& header) {
  int64_t end = header.header_bytes;
  int64_t blocks = 0;
  for (int64_t i = 0; i < header.section_count; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, file_->bytes().data() + kHeaderBytes + i * kEntryBytes, sizeof(entry));
    const int64_t offset = AlignUp(end);
    // The file ends without padding, so an aligned offset may lie past it.
    if (offset > file_bytes()) return Corrupt("the file ends before its last section");
    RESMEM_RETURN_IF_ERROR(CheckEntry(entry, offset));
    Section section;
    section.shape = {std::string(NameOf(entry)), static_cast<StoredType>(entry.type),
                     Size(entry.rows), Size(entry.columns)};
    section.offset = offset;
    section.bytes = Size(entry.bytes);
    section.extent = AlignUp(section.bytes);
    section.first_block = blocks;
    end = offset + section.bytes;
    for (const Section& other : sections_) {
      if (other.shape.name == section.shape.name) {
        return Corrupt(Text("has two sections named ", section.shape.name));
      }
    }
    if (i + 1 < header.section_count) blocks += BlocksOf(section.extent);
    sections_.push_back(std::move(section));
  }
  if (end != file_bytes()) {
    return Corrupt(Text("its sections end at ", end, " but the file at ", file_bytes()));
  }
  RESMEM_RETURN_IF_ERROR(CheckPadding());
  const SectionShape expected{kChecksumsName, StoredType::kU64, blocks, 1};
  if (sections_.back().shape != expected) {
    return Corrupt(Text("its last section is ", ShapeText(sections_.back().shape), ", expected ",
                        ShapeText(expected)));
  }
  checksums_ = Values<uint64_t>(sections_.size() - 1);
  sections_.pop_back();
  if (Hash64(std::as_bytes(checksums_)) != header.checksums_hash) {
    return Corrupt("the checksum of the list of checksums is wrong");
  }
  states_ = std::make_shared<BlockStates>(checksums_.size());
  return {};
}

Status ContainerReader::CheckPadding() const {
  for (size_t i = 0; i + 1 < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const std::byte* const begin = file_->bytes().data() + section.offset;
    if (std::any_of(begin + section.bytes, begin + section.extent,
                    [](std::byte b) { return b != std::byte{0}; })) {
      return Corrupt(Text("the padding after section ", section.shape.name, " is not zero"));
    }
  }
  return {};
}

Status ContainerReader::ExpectSections(const std::vector<SectionShape>& expected) const {
  for (size_t i = 0; i < std::max(expected.size(), sections_.size()); ++i) {
    if (i < expected.size() && i < sections_.size() && sections_[i].shape == expected[i]) continue;
    const std::string found = i < sections_.size() ? ShapeText(sections_[i].shape) : "missing";
    const std::string wanted = i < expected.size() ? ShapeText(expected[i]) : "none";
    return Corrupt(Text("section ", i, " is ", found, ", expected ", wanted));
  }
  return {};
}

void ContainerReader::Drop(size_t section, int64_t begin, int64_t size) const {
  file_->Drop(static_cast<size_t>(sections_[section].offset + begin), static_cast<size_t>(size));
}

}  // namespace resmem
