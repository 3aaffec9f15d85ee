#include "data/formats/formats.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "data/endian.h"
#include "data/formats/cifar.h"
#include "data/formats/csv.h"
#include "data/formats/idx.h"
#include "data/formats/inflate.h"
#include "data/formats/npy.h"
#include "data/formats/npz.h"
#include "data/formats/safetensors.h"
#include "data/formats/vecs.h"
#include "data/formats/xz.h"
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

// Files of these names may begin with any bytes, by chance with IDX's.
bool HasNoMagic(const std::string& extension) {
  return extension == ".bin" || extension.ends_with("vecs");
}
bool FillsIdx(const std::string& name, ByteSpan bytes) {
  const Result<int64_t> size = IdxFileSize(name, bytes);
  return size.ok() && *size == static_cast<int64_t>(bytes.size());
}

// The bytes as they are, without the layer of a compressor.
Result<FileContent> ReadPlain(const std::string& name, const std::string& extension,
                              SharedBytes bytes) {
  const ByteSpan content = bytes->bytes();
  if (content.empty()) {
    return Status(ErrorCode::kBadData, Text(name, ": is empty; export it again"));
  }
  if (BeginsWith(content, kNpyMagic)) return ReadNpy(name, std::move(bytes));
  if (LooksLikeZip(content) || extension == ".npz") return ReadNpz(name, bytes);
  if (LooksLikeSafetensors(content) || extension == ".safetensors") {
    return ReadSafetensors(name, bytes);
  }
  if (LooksLikeIdx(content) && (!HasNoMagic(extension) || FillsIdx(name, content))) {
    return ReadIdx(name, std::move(bytes));
  }
  if (extension == ".npy") return ReadNpy(name, std::move(bytes));
  if (extension == ".csv") return ReadCsv(name, bytes);
  if (extension == ".fvecs") return ReadVecs(name, ElementType::kFloat32, std::move(bytes));
  if (extension == ".ivecs") return ReadVecs(name, ElementType::kInt32, std::move(bytes));
  if (extension == ".bvecs") return ReadVecs(name, ElementType::kUInt8, std::move(bytes));
  if (extension == ".bin") return ReadCifar(name, bytes);
  return Status(ErrorCode::kUnsupported,
                Text(name,
                     ": neither its first bytes nor its name tell a known format (npy, npz, "
                     "safetensors, IDX, CIFAR .bin, csv, fvecs, ivecs, bvecs); a file of "
                     "bare values needs its shape and type (--shape, --dtype)"));
}

// "train.bin" of "train.bin.xz": what the name was before it was compressed.
std::string InnerName(const std::string& name) {
  return name.substr(0, name.size() - Extension(name).size());
}

// What is inside must declare its own size, so that a small file cannot fill the memory: IDX in
// its header, anything else in gzip's last four bytes.
Result<int64_t> GzipSize(const std::string& name, ByteSpan compressed) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::byte> prefix,
                          InflatePrefix(name, compressed, Wrapper::kGzip, kMaxIdxHeader));
  const std::string extension = Extension(InnerName(name));
  if (LooksLikeIdx(prefix) && extension != ".bin") return IdxFileSize(name, prefix);
  if (extension == ".bin" && compressed.size() >= sizeof(uint32_t)) {
    return int64_t{Load<uint32_t>(compressed.last(sizeof(uint32_t)).data())};
  }
  return Status(ErrorCode::kUnsupported, Text(name,
                                              ": only IDX and CIFAR files are read compressed by "
                                              "gzip; unpack it with: gunzip -k"));
}

}  // namespace

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
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, FileSystem::Posix().Map(path));
  return ReadAnyFormat(path, std::make_shared<const FileBytes>(std::move(file)));
}

}  // namespace resmem
