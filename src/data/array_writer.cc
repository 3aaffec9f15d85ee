#include "resmem/data/array_writer.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "data/formats/numpy/npy.h"
#include "data/packed/zip_writer.h"
#include "resmem_program/output_file.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint32_t AddToCrc(uint32_t crc, std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<uint32_t>(crc32_z(crc, data, bytes.size()));
}

std::string HeaderOf(const ArrayToWrite& array) {
  const std::string type = array.info.type == ElementType::kText ? Text("|S", array.text_bytes)
                                                                 : NumpyType(array.info.type);
  return NpyHeader(type, array.info.shape);
}

int64_t ValueBytes(const ArrayToWrite& array) {
  int64_t bytes =
      array.info.type == ElementType::kText ? array.text_bytes : ElementBytes(array.info.type);
  for (const int64_t extent : array.info.shape) bytes *= extent;
  return bytes;
}

}  // namespace

struct ArrayWriter::State {
  struct WrittenArray {
    explicit WrittenArray(const ArrayToWrite& array)
        : name(array.info.member), header(HeaderOf(array)), value_bytes(ValueBytes(array)) {}

    std::string name, header;
    int64_t value_bytes, written = 0;
    // In an .npz:
    StoredMember stored{};
    int64_t begin = 0;  // of the content
  };

  Status BeginNpz();
  Status EndNpz();

  std::vector<WrittenArray> members;
  bool npz = false;
  std::vector<OutputFile> files;  // the .npz, or one for each member
  int64_t end = 0;                // .npz: where the directory goes
};

Status ArrayWriter::State::BeginNpz() {
  int64_t at = 0;
  for (WrittenArray& member : members) {
    member.stored.name = member.name + ".npy";
    member.stored.size = std::ssize(member.header) + member.value_bytes;
    member.stored.header = at;
    member.stored.crc = AddToCrc(0, member.header);
    member.begin = at + std::ssize(ZipLocalHeader(member.stored));
    RESMEM_RETURN_IF_ERROR(files[0].WriteAt(member.begin, member.header));
    at = member.begin + member.stored.size;
  }
  end = at;
  return {};
}

Status ArrayWriter::State::EndNpz() {
  std::vector<StoredMember> stored;
  for (const State::WrittenArray& member : members) {
    stored.push_back(member.stored);
    RESMEM_RETURN_IF_ERROR(files[0].WriteAt(member.stored.header, ZipLocalHeader(member.stored)));
  }
  return files[0].WriteAt(end, ZipDirectory(stored, end));
}

ArrayWriter::ArrayWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArrayWriter::ArrayWriter(ArrayWriter&&) noexcept = default;
ArrayWriter::~ArrayWriter() = default;

Result<ArrayWriter> ArrayWriter::Create(const std::string& path,
                                        std::vector<ArrayToWrite> arrays) try {
  auto state = std::make_unique<State>();
  state->npz = path.ends_with(".npz");
  for (const ArrayToWrite& array : arrays) state->members.emplace_back(array);
  if (state->npz) {
    RESMEM_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
    state->files.push_back(std::move(file));
    RESMEM_RETURN_IF_ERROR(state->BeginNpz());
    return ArrayWriter(std::move(state));
  }
  FileSystem& files = FileSystem::Posix();
  if (files.Exists(path) && !files.IsDirectory(path)) {
    return Status(ErrorCode::kIo,
                  Text(path, ": is a file; name a folder, or a file that ends with .npz"));
  }
  RESMEM_RETURN_IF_ERROR(files.MakeDirectory(path));
  for (const State::WrittenArray& member : state->members) {
    RESMEM_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path + "/" + member.name + ".npy"));
    RESMEM_RETURN_IF_ERROR(file.Write(member.header));
    state->files.push_back(std::move(file));
  }
  return ArrayWriter(std::move(state));
} catch (...) {
  return CaughtException("create the arrays");
}

Result<ArrayWriter> ArrayWriter::CreateNpy(const std::string& path, ArrayToWrite array) try {
  auto state = std::make_unique<State>();
  state->members.emplace_back(array);
  RESMEM_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  RESMEM_RETURN_IF_ERROR(file.Write(state->members[0].header));
  state->files.push_back(std::move(file));
  return ArrayWriter(std::move(state));
} catch (...) {
  return CaughtException("create an array");
}

Status ArrayWriter::WriteBytes(size_t array, std::span<const std::byte> values) try {
  State::WrittenArray& member = state_->members[array];
  const auto bytes = static_cast<int64_t>(values.size());
  if (bytes > member.value_bytes - member.written) {
    return {ErrorCode::kInternal, Text(member.name, ": more values than its shape has")};
  }
  const std::string_view text = AsText(values);
  if (state_->npz) {
    member.stored.crc = AddToCrc(member.stored.crc, text);
    const int64_t at = member.begin + std::ssize(member.header) + member.written;
    RESMEM_RETURN_IF_ERROR(state_->files[0].WriteAt(at, text));
  } else {
    RESMEM_RETURN_IF_ERROR(state_->files[array].Write(text));
  }
  member.written += bytes;
  return {};
} catch (...) {
  return CaughtException("write an array");
}

Status ArrayWriter::Close() try {
  for (const State::WrittenArray& member : state_->members) {
    if (member.written == member.value_bytes) continue;
    return {ErrorCode::kInternal, Text(member.name, ": fewer values than its shape has")};
  }
  if (state_->npz) RESMEM_RETURN_IF_ERROR(state_->EndNpz());
  for (OutputFile& file : state_->files) RESMEM_RETURN_IF_ERROR(file.Close());
  return {};
} catch (...) {
  return CaughtException("write the arrays");
}

}  // namespace resmem
