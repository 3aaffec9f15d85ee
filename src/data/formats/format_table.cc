#include "data/formats/format_table.h"

#include <algorithm>
#include <utility>

#include "data/endian.h"
#include "data/formats/cifar.h"
#include "data/formats/csv.h"
#include "data/formats/idx.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npz.h"
#include "data/formats/safetensors.h"
#include "data/formats/vecs.h"
#include "data/packed/inflate.h"
#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem {
namespace {

bool IsNpy(ByteSpan bytes, bool) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(kNpyMagic);
}

bool IsNpz(ByteSpan bytes, bool) {
  return LooksLikeZip(bytes);
}

bool IsSafetensors(ByteSpan bytes, bool) {
  return LooksLikeSafetensors(bytes);
}

// Files of other names may begin with IDX's few bytes by chance: then all must fit.
bool IsIdx(ByteSpan bytes, bool named_otherwise) {
  if (!LooksLikeIdx(bytes) || !named_otherwise) return LooksLikeIdx(bytes);
  const Result<int64_t> size = IdxFileSize("", bytes);
  return size.ok() && *size == static_cast<int64_t>(bytes.size());
}

template <auto reader>
Result<FileContent> Read(const std::string& name, SharedBytes bytes) {
  return reader(name, std::move(bytes));
}

template <ElementType type>
Result<FileContent> ReadVecsOf(const std::string& name, SharedBytes bytes) {
  return ReadVecs(name, type, std::move(bytes));
}

Result<int64_t> IdxGzipSize(const std::string& name, ByteSpan compressed) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::byte> prefix,
                          InflatePrefix(name, compressed, Wrapper::kGzip, kMaxIdxHeader));
  if (!LooksLikeIdx(prefix)) {
    return Status(ErrorCode::kUnsupported,
                  Text(name,
                       ": what gzip compressed there is no IDX file; unpack it with: "
                       "gunzip -k"));
  }
  return IdxFileSize(name, prefix);
}

// CIFAR's files have no header, but gzip keeps the size modulo 2^32.
Result<int64_t> CifarGzipSize(const std::string& name, ByteSpan compressed) {
  if (compressed.size() < sizeof(uint32_t)) {
    return Status(ErrorCode::kBadData, Text(name, ": is cut off; export it again"));
  }
  return int64_t{Load<uint32_t>(compressed.last(sizeof(uint32_t)).data())};
}

constexpr ArrayFormat kArrayFormats[] = {
    {"npy", ".npy", ".npy", IsNpy, Read<ReadNpy>, nullptr, true},
    {"npz", ".npz", ".npz:member", IsNpz, Read<ReadNpz>, nullptr, true},
    {"safetensors", ".safetensors", ".safetensors:name", IsSafetensors, Read<ReadSafetensors>,
     nullptr, true},
    {"IDX", ".idx", "IDX (also .gz)", IsIdx, Read<ReadIdx>, IdxGzipSize, true},
    {"CIFAR", ".bin", "CIFAR-10/100 .bin:member (also .gz)", nullptr, Read<ReadCifar>,
     CifarGzipSize, false},
    {"csv", ".csv", ".csv:column", nullptr, Read<ReadCsv>, nullptr, true},
    {"fvecs", ".fvecs", ".fvecs", nullptr, ReadVecsOf<ElementType::kFloat32>, nullptr, true},
    {"ivecs", ".ivecs", ".ivecs", nullptr, ReadVecsOf<ElementType::kInt32>, nullptr, true},
    {"bvecs", ".bvecs", ".bvecs", nullptr, ReadVecsOf<ElementType::kUInt8>, nullptr, true},
};

}  // namespace

std::span<const ArrayFormat> ArrayFormats() {
  return kArrayFormats;
}

const ArrayFormat* FindArrayFormat(std::string_view extension, ByteSpan bytes) {
  const auto named =
      std::find_if(std::begin(kArrayFormats), std::end(kArrayFormats),
                   [&](const ArrayFormat& format) { return format.extension == extension; });
  const ArrayFormat* by_name = named == std::end(kArrayFormats) ? nullptr : named;
  for (const ArrayFormat& format : kArrayFormats) {
    const bool named_otherwise = by_name != nullptr && by_name != &format;
    if (format.marked != nullptr && format.marked(bytes, named_otherwise)) return &format;
  }
  return by_name;
}

std::vector<std::string> FolderExtensions() {
  std::vector<std::string> extensions;
  for (const ArrayFormat& format : kArrayFormats) {
    if (!format.in_folders) continue;
    extensions.emplace_back(format.extension);
    if (format.gzip_size != nullptr) extensions.push_back(std::string(format.extension) + ".gz");
  }
  return extensions;
}

std::string ArrayFormatsHelp() {
  std::string help;
  for (const ArrayFormat& format : kArrayFormats) {
    help.append(help.empty() ? "" : ", ").append(format.help);
  }
  return help;
}

}  // namespace resmem
