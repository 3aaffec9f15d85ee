#include "data/packed/xz.h"

#include <lzma.h>

#include "support/text.h"

namespace resmem {
namespace {

// xz -9 needs 65 MiB to unpack; a file that asks for more than this was made to hurt.
constexpr uint64_t kDecoderMemory = uint64_t{256} << 20;

class Decoder {
 public:
  Decoder() = default;
  ~Decoder() { lzma_end(&stream); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  lzma_stream stream = LZMA_STREAM_INIT;
};

Status Problem(const std::string& name, lzma_ret code) {
  switch (code) {
    case LZMA_MEM_ERROR:
      return {ErrorCode::kResourceExhausted, Text(name, ": no memory to unpack it")};
    case LZMA_MEMLIMIT_ERROR:
      return {ErrorCode::kUnsupported, Text(name, ": needs more than ", kDecoderMemory >> 20,
                                            " MiB to unpack; unpack it with: xz -dk")};
    case LZMA_OPTIONS_ERROR:
      return {ErrorCode::kUnsupported,
              Text(name, ": uses an xz filter that is unknown here; unpack it with: xz -dk")};
    case LZMA_BUF_ERROR:
      return {ErrorCode::kBadData,
              Text(name, ": the compressed data end too early; download the file again")};
    default:
      return {ErrorCode::kBadData,
              Text(name, ": the compressed data are damaged; download the file again")};
  }
}

void SetInput(ByteSpan bytes, lzma_stream* stream) {
  stream->next_in = reinterpret_cast<const uint8_t*>(bytes.data());
  stream->avail_in = bytes.size();
}

// The size that the index declares.
Result<int64_t> UnpackedSize(const std::string& name, ByteSpan compressed) {
  Decoder decoder;
  lzma_index* index = nullptr;
  lzma_ret code =
      lzma_file_info_decoder(&decoder.stream, &index, kDecoderMemory, compressed.size());
  SetInput(compressed, &decoder.stream);
  while (code == LZMA_OK || code == LZMA_SEEK_NEEDED) {
    code = lzma_code(&decoder.stream, LZMA_FINISH);
    if (code == LZMA_SEEK_NEEDED) {
      SetInput(compressed.subspan(static_cast<size_t>(decoder.stream.seek_pos)), &decoder.stream);
    }
  }
  if (code != LZMA_STREAM_END) return Problem(name, code);
  const lzma_vli size = lzma_index_uncompressed_size(index);
  lzma_index_end(index, nullptr);
  if (size > static_cast<lzma_vli>(kMaxUnpacked)) {
    return Status(ErrorCode::kUnsupported,
                  Text(name, ": would unpack to ", size, " bytes, but at most ", kMaxUnpacked,
                       " are unpacked to memory; use: xz -dk"));
  }
  return static_cast<int64_t>(size);
}

}  // namespace

bool LooksLikeXz(ByteSpan bytes) {
  constexpr std::byte kMagic[] = {std::byte{0xFD}, std::byte{'7'}, std::byte{'z'},
                                  std::byte{'X'},  std::byte{'Z'}, std::byte{0}};
  return bytes.size() >= std::size(kMagic) &&
         std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin());
}

Result<SharedBytes> UnpackXz(const std::string& name, ByteSpan compressed) {
  RESMEM_ASSIGN_OR_RETURN(const int64_t size, UnpackedSize(name, compressed));
  std::unique_ptr<std::byte[]> memory(new std::byte[static_cast<size_t>(size)]);
  Decoder decoder;
  lzma_ret code = lzma_stream_decoder(&decoder.stream, kDecoderMemory, LZMA_CONCATENATED);
  SetInput(compressed, &decoder.stream);
  decoder.stream.next_out = reinterpret_cast<uint8_t*>(memory.get());
  decoder.stream.avail_out = static_cast<size_t>(size);
  while (code == LZMA_OK) code = lzma_code(&decoder.stream, LZMA_FINISH);
  if (code != LZMA_STREAM_END) return Problem(name, code);
  if (decoder.stream.avail_out != 0) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": unpacks to ", decoder.stream.total_out,
                       " bytes, but its index declares ", size, "; download the file again"));
  }
  return std::make_shared<const FileBytes>(std::move(memory), static_cast<size_t>(size));
}

}  // namespace resmem
