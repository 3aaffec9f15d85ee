#include "text/source/unpack.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <initializer_list>

#include "support/text.h"

namespace resmem {
namespace {

using Input = std::span<const std::byte>;

constexpr size_t kMostAtOnce = size_t{1} << 30;  // zlib counts in 32 bits

bool BeginsWith(Input bytes, std::initializer_list<uint8_t> magic) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](uint8_t a, std::byte b) { return std::byte{a} == b; });
}

Status Damaged(const std::string& name) {
  return {ErrorCode::kBadData, Text(name, ": the compressed data are damaged; get the file again")};
}
Status NoMemory(const std::string& name) {
  return {ErrorCode::kResourceExhausted, Text(name, ": no memory to unpack it")};
}
Status TooLarge(const std::string& name, const char* command) {
  return {ErrorCode::kUnsupported,
          Text(name, ": needs too much memory to unpack; unpack it with: ", command)};
}

class GzipDecoder : public Decoder {
 public:
  explicit GzipDecoder(const std::string& name) : name_(name) {
    constexpr int kWindow = 15, kGzipOnly = 16;
    open_ = inflateInit2(&zlib_, kWindow + kGzipOnly) == Z_OK;
  }
  ~GzipDecoder() override {
    if (open_) inflateEnd(&zlib_);
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  Result<Step> Run(Input input, std::span<char> out) override {
    if (!open_) return NoMemory(name_);
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    zlib_.avail_in = static_cast<uInt>(std::min(input.size(), kMostAtOnce));
    zlib_.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib_.avail_out = static_cast<uInt>(std::min(out.size(), kMostAtOnce));
    const uInt input_size = zlib_.avail_in, out_size = zlib_.avail_out;
    const int code = ::inflate(&zlib_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return NoMemory(name_);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return Damaged(name_);
    if (code == Z_STREAM_END) inflateReset(&zlib_);
    return Step{input_size - zlib_.avail_in, out_size - zlib_.avail_out, code == Z_STREAM_END};
  }

 private:
  const std::string& name_;
  z_stream zlib_{};
  bool open_ = false;
};

class ZstdDecoder : public Decoder {
 public:
  explicit ZstdDecoder(const std::string& name) : name_(name), context_(ZSTD_createDCtx()) {
    constexpr int kLargestWindow = 27;  // what zstd --long makes: 128 MiB
    if (context_ != nullptr) {
      ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kLargestWindow);
    }
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Result<Step> Run(Input input, std::span<char> out) override {
    if (context_ == nullptr) return NoMemory(name_);
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t code = ZSTD_decompressStream(context_, &to, &in);
    if (ZSTD_isError(code) == 0) return Step{in.pos, to.pos, code == 0};
    switch (ZSTD_getErrorCode(code)) {
      case ZSTD_error_memory_allocation:
        return NoMemory(name_);
      case ZSTD_error_frameParameter_windowTooLarge:
        return TooLarge(name_, "zstd -d --long=31");
      default:
        return Damaged(name_);
    }
  }

 private:
  const std::string& name_;
  ZSTD_DCtx* context_;
};

class XzDecoder : public Decoder {
 public:
  explicit XzDecoder(const std::string& name) : name_(name) {
    // xz -9 needs 65 MiB to unpack; a file that asks for more than this was made to hurt.
    constexpr uint64_t kMemory = uint64_t{256} << 20;
    code_ = lzma_stream_decoder(&lzma_, kMemory, LZMA_CONCATENATED);
  }
  ~XzDecoder() override { lzma_end(&lzma_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  Result<Step> Run(Input input, std::span<char> out) override {
    if (code_ == LZMA_OK) {
      lzma_.next_in = reinterpret_cast<const uint8_t*>(input.data());
      lzma_.avail_in = input.size();
      lzma_.next_out = reinterpret_cast<uint8_t*>(out.data());
      lzma_.avail_out = out.size();
      code_ = lzma_code(&lzma_, LZMA_FINISH);
    }
    switch (code_) {
      case LZMA_OK:
      case LZMA_STREAM_END:
        return Step{input.size() - lzma_.avail_in, out.size() - lzma_.avail_out,
                    code_ == LZMA_STREAM_END};
      case LZMA_BUF_ERROR:  // the input is over
        return Step{};
      case LZMA_MEM_ERROR:
        return NoMemory(name_);
      case LZMA_MEMLIMIT_ERROR:
        return TooLarge(name_, "xz -dk");
      default:
        return Damaged(name_);
    }
  }

 private:
  const std::string& name_;
  lzma_stream lzma_ = LZMA_STREAM_INIT;
  lzma_ret code_ = LZMA_OK;
};

}  // namespace

bool LooksLikeGzip(Input bytes) {
  return BeginsWith(bytes, {0x1F, 0x8B});
}
bool LooksLikeZstd(Input bytes) {
  return BeginsWith(bytes, {0x28, 0xB5, 0x2F, 0xFD});
}
bool LooksLikeXzStream(Input bytes) {
  return BeginsWith(bytes, {0xFD, '7', 'z', 'X', 'Z', 0});
}

std::unique_ptr<Decoder> MakeGzipDecoder(const std::string& name) {
  return std::make_unique<GzipDecoder>(name);
}
std::unique_ptr<Decoder> MakeZstdDecoder(const std::string& name) {
  return std::make_unique<ZstdDecoder>(name);
}
std::unique_ptr<Decoder> MakeXzDecoder(const std::string& name) {
  return std::make_unique<XzDecoder>(name);
}

}  // namespace resmem
