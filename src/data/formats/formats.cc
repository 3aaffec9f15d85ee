#include "data/formats/formats.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "data/formats/format_table.h"
#include "data/packed/inflate.h"
#include "data/packed/xz.h"
#include "support/text.h"

namespace resmem {
namespace {

bool BeginsWith(ByteSpan bytes, std::string_view magic) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(magic);
}

// ".npy" of "a/b.npy", in lower case; empty where the name has none.
std::string Extension(const std::string& name) {
  const size_t slash = name.find_last_of('/');
  const size_t dot = name.find_last_of('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return "";
  std::string extension = name.substr(dot);
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

std::string FormatNames(bool compressed) {
  std::string names;
  for (const ArrayFormat& format : ArrayFormats()) {
    if (compressed && format.gzip_size == nullptr) continue;
    names.append(names.empty() ? "" : ", ").append(format.name);
  }
  return names;
}

// The bytes as they are, without the layer of a compressor.
Result<FileContent> ReadPlain(const std::string& name, const std::string& extension,
                              SharedBytes bytes) {
  const ByteSpan content = bytes->bytes();
  if (content.empty()) {
    return Status(ErrorCode::kBadData, Text(name, ": is empty; export it again"));
  }
  RESMEM_RETURN_IF_ERROR(CheckNoParquet(name, content));
  const ArrayFormat* format = FindArrayFormat(extension, content);
  if (format != nullptr) return format->read(name, std::move(bytes));
  return Status(ErrorCode::kUnsupported,
                Text(name, ": neither its first bytes nor its name tell a known format (",
                     FormatNames(/*compressed=*/false),
                     "); a file of bare values needs its shape and type (--shape, --dtype)"));
}

// "train.bin" of "train.bin.xz": what the name was before it was compressed.
std::string InnerName(const std::string& name) {
  return name.substr(0, name.size() - Extension(name).size());
}

// By the name that it had before; a name that tells nothing leaves it to the formats with a mark.
Result<int64_t> GzipSize(const std::string& name, ByteSpan compressed) {
  const std::string extension = Extension(InnerName(name));
  const bool named = std::any_of(ArrayFormats().begin(), ArrayFormats().end(),
                                 [&](const auto& format) { return format.extension == extension; });
  for (const ArrayFormat& format : ArrayFormats()) {
    if (format.gzip_size == nullptr) continue;
    if (named ? format.extension == extension : format.marked != nullptr) {
      return format.gzip_size(name, compressed);
    }
  }
  return Status(ErrorCode::kUnsupported,
                Text(name, ": of the formats only these are read compressed by gzip: ",
                     FormatNames(/*compressed=*/true), "; unpack it with: gunzip -k"));
}

}  // namespace

Status CheckNoParquet(const std::string& name, ByteSpan bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("PAR1")) return {};
  return {ErrorCode::kUnsupported,
          Text(name, ": is a Parquet file; pipe it as CSV: duckdb -csv -c \"FROM '", name,
               "'\" | resmem ... --data -   (docs/tables.md, \"Parquet\")")};
}

Result<FileContent> ReadAnyFormat(const std::string& name, SharedBytes bytes) {
  const ByteSpan content = bytes->bytes();
  if (LooksLikeXz(content)) {
    RESMEM_ASSIGN_OR_RETURN(SharedBytes unpacked, UnpackXz(name, content));
    return ReadPlain(name, Extension(InnerName(name)), std::move(unpacked));
  }
  if (BeginsWith(content, "\x1f\x8b")) {
    RESMEM_ASSIGN_OR_RETURN(const int64_t size, GzipSize(name, content));
    RESMEM_ASSIGN_OR_RETURN(SharedBytes inflated, Inflate(name, content, Wrapper::kGzip, size));
    return ReadPlain(name, Extension(InnerName(name)), std::move(inflated));
  }
  return ReadPlain(name, Extension(name), std::move(bytes));
}

Result<FileContent> ReadFile(const std::string& path) {
  if (FileSystem::Posix().IsDirectory(path)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(path,
                       ": is a folder, but one file is needed; name a file in it, or give the "
                       "folder as --data or --images"));
  }
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, FileSystem::Posix().Map(path));
  return ReadAnyFormat(path, std::make_shared<const FileBytes>(std::move(file)));
}

}  // namespace resmem
