#include "format/container_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/checksum.h"
#include "support/check.h"
#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

// Those of a memory lie in a folder that has a lock of its own, and whose next writer knows them.
bool IsOfMemory(FileKind kind) {
  return kind == FileKind::kManifest || kind == FileKind::kSegment ||
         kind == FileKind::kDeletions || kind == FileKind::kIndex || kind == FileKind::kQueries ||
         kind == FileKind::kTransform;
}

}  // namespace

ContainerWriter::ContainerWriter(FileSystem& files, std::string path, FileKind kind)
    : files_(&files),
      path_(std::move(path)),
      temporary_(IsOfMemory(kind) ? path_ + kTemporarySuffix : TemporaryName(path_)),
      folder_(ParentDirectory(path_)),
      kind_(kind) {}

ContainerWriter::ContainerWriter(ContainerWriter&& other) noexcept
    : files_(other.files_),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      folder_(std::move(other.folder_)),
      kind_(other.kind_),
      streams_(std::move(other.streams_)),
      file_(std::move(other.file_)),
      temporary_exists_(std::exchange(other.temporary_exists_, false)) {}

ContainerWriter::~ContainerWriter() {
  if (temporary_exists_) RemoveTemporary();
}

// While the file is open, and so locked: no other writer can have taken the name.
void ContainerWriter::RemoveTemporary() try {
  // Best effort: what stays is removed by the next writer.
  (void)files_->Remove(temporary_).ok();
} catch (...) {  // not even memory for a message
}

Result<ContainerWriter> ContainerWriter::Create(FileSystem& files, const std::string& path,
                                                FileKind kind, std::vector<SectionShape> sections) {
  RESMEM_DCHECK(!sections.empty() && static_cast<int64_t>(sections.size()) < kMaxSections);
  ContainerWriter writer(files, path, kind);
  int64_t end = kHeaderBytes + kEntryBytes * static_cast<int64_t>(sections.size() + 1);
  for (size_t i = 0; i < sections.size(); ++i) {
    Stream stream;
    stream.shape = std::move(sections[i]);
    stream.offset = end < 0 ? -1 : AlignUp(end);
    if (stream.shape.rows == kAsAppended) {
      stream.bytes = -1;
      end = -1;
    } else {
      const auto values = CheckedMultiply(stream.shape.rows, stream.shape.columns);
      const auto size =
          values ? CheckedMultiply(*values, StoredBytes(stream.shape.type)) : std::nullopt;
      const auto next =
          size ? CheckedAdd(std::max<int64_t>(stream.offset, 0), *size) : std::nullopt;
      if (!next || *next > INT64_MAX - kAlignment) {
        return Status(ErrorCode::kInvalidArgument,
                      Text(path, ": ", stream.shape.rows, " x ", stream.shape.columns, " ",
                           stream.shape.name, " are more than a file can hold"));
      }
      stream.bytes = *size;
      end = end < 0 ? -1 : *next;
    }
    writer.streams_.push_back(std::move(stream));
  }
  const std::string mode_of = IsOfMemory(kind) ? writer.folder_ + "/MANIFEST" : path;
  RESMEM_ASSIGN_OR_RETURN(writer.file_, files.Create(writer.temporary_, mode_of));
  writer.temporary_exists_ = true;
  return writer;
}

Status ContainerWriter::WriteBlock(Stream* stream, std::span<const std::byte> block) {
  stream->hashes.push_back(Hash64(block));
  RESMEM_RETURN_IF_ERROR(file_->Write(stream->offset + stream->written, block));
  stream->written += static_cast<int64_t>(block.size());
  return {};
}

Status ContainerWriter::Append(size_t section, std::span<const std::byte> bytes) {
  constexpr auto kBlock = static_cast<size_t>(kBlockBytes);
  Stream& stream = streams_[section];
  stream.appended += static_cast<int64_t>(bytes.size());
  RESMEM_DCHECK(stream.bytes < 0 || stream.appended <= stream.bytes);
  if (stream.offset < 0) {
    stream.pending.insert(stream.pending.end(), bytes.begin(), bytes.end());
    return {};
  }
  while (!bytes.empty()) {
    if (stream.pending.empty() && bytes.size() >= kBlock) {
      RESMEM_RETURN_IF_ERROR(WriteBlock(&stream, bytes.first(kBlock)));
      bytes = bytes.subspan(kBlock);
      continue;
    }
    const size_t taken = std::min(kBlock - stream.pending.size(), bytes.size());
    stream.pending.insert(stream.pending.end(), bytes.begin(), bytes.begin() + taken);
    bytes = bytes.subspan(taken);
    if (stream.pending.size() == kBlock) {
      RESMEM_RETURN_IF_ERROR(WriteBlock(&stream, stream.pending));
      stream.pending.clear();
    }
  }
  return {};
}

// Of what waited for its place, all blocks but the last.
Status ContainerWriter::WriteFull(Stream* stream) {
  constexpr auto kBlock = static_cast<size_t>(kBlockBytes);
  const std::vector<std::byte> waited = std::move(stream->pending);
  stream->pending.clear();
  std::span<const std::byte> rest = waited;
  for (; rest.size() > kBlock; rest = rest.subspan(kBlock)) {
    RESMEM_RETURN_IF_ERROR(WriteBlock(stream, rest.first(kBlock)));
  }
  stream->pending.assign(rest.begin(), rest.end());
  return {};
}

Status ContainerWriter::PadAndFlush(Stream* stream) {
  if (stream->bytes < 0) {
    stream->bytes = stream->appended;
    stream->shape.rows =
        stream->appended / (stream->shape.columns * StoredBytes(stream->shape.type));
  }
  RESMEM_DCHECK(stream->appended == stream->bytes);
  // A full block is a multiple of the alignment, so padding never makes a block of its own.
  const int64_t padding = AlignUp(stream->bytes) - stream->bytes;
  stream->pending.resize(stream->pending.size() + static_cast<size_t>(padding));
  if (stream->pending.empty()) return {};
  RESMEM_RETURN_IF_ERROR(WriteBlock(stream, stream->pending));
  stream->pending.clear();
  return {};
}

std::vector<std::byte> ContainerWriter::MakeHeader(std::span<const uint64_t> checksums,
                                                   Finished* finished) const {
  const size_t count = streams_.size() + 1;
  std::vector<std::byte> bytes(static_cast<size_t>(kHeaderBytes) + count * sizeof(SectionEntry));
  auto put_entry = [&](size_t i, const SectionShape& shape, int64_t offset, int64_t size) {
    SectionEntry entry{};
    RESMEM_DCHECK(shape.name.size() < sizeof(entry.name));
    std::memcpy(entry.name, shape.name.data(), shape.name.size());
    entry.type = static_cast<uint32_t>(shape.type);
    entry.rows = static_cast<uint64_t>(shape.rows);
    entry.columns = static_cast<uint64_t>(shape.columns);
    entry.offset = static_cast<uint64_t>(offset);
    entry.bytes = static_cast<uint64_t>(size);
    std::memcpy(bytes.data() + kHeaderBytes + i * sizeof(entry), &entry, sizeof(entry));
  };
  for (size_t i = 0; i < streams_.size(); ++i) {
    put_entry(i, streams_[i].shape, streams_[i].offset, streams_[i].bytes);
  }
  const int64_t offset = AlignUp(streams_.back().offset + streams_.back().bytes);
  const auto size = static_cast<int64_t>(checksums.size_bytes());
  put_entry(streams_.size(),
            {kChecksumsName, StoredType::kU64, static_cast<int64_t>(checksums.size()), 1}, offset,
            size);
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kFormatVersion;
  header.kind = static_cast<uint32_t>(kind_);
  header.header_bytes = static_cast<uint32_t>(bytes.size());
  header.section_count = static_cast<uint32_t>(count);
  header.file_bytes = static_cast<uint64_t>(offset + size);
  header.checksums_hash = Hash64(std::as_bytes(checksums));
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.header_hash = Hash64(bytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  *finished = {offset + size, header.header_hash};
  return bytes;
}

Result<ContainerWriter::Finished> ContainerWriter::Finish(bool* renamed) {
  std::vector<uint64_t> checksums;
  int64_t end = 0;
  for (Stream& stream : streams_) {
    if (stream.offset < 0) {
      stream.offset = AlignUp(end);
      RESMEM_RETURN_IF_ERROR(WriteFull(&stream));
    }
    RESMEM_RETURN_IF_ERROR(PadAndFlush(&stream));
    end = stream.offset + stream.bytes;
    checksums.insert(checksums.end(), stream.hashes.begin(), stream.hashes.end());
  }
  Finished finished;
  const std::vector<std::byte> header = MakeHeader(checksums, &finished);
  const std::span<const std::byte> list = std::as_bytes(std::span<const uint64_t>(checksums));
  const int64_t list_offset = finished.file_bytes - static_cast<int64_t>(list.size());
  RESMEM_RETURN_IF_ERROR(file_->Write(list_offset, list));
  RESMEM_RETURN_IF_ERROR(file_->Write(0, header));
  RESMEM_RETURN_IF_ERROR(file_->Sync());
  // Still open, and so locked; synced, it has nothing left to fail at closing.
  RESMEM_RETURN_IF_ERROR(files_->Rename(temporary_, path_));
  temporary_exists_ = false;
  if (renamed != nullptr) *renamed = true;
  file_.reset();
  RESMEM_RETURN_IF_ERROR(files_->SyncDirectory(folder_));
  return finished;
}

}  // namespace resmem
