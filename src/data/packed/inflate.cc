#include "data/packed/inflate.h"

#include <zlib.h>

#include <algorithm>

#include "support/text.h"

namespace resmem {
namespace {

// One byte of deflate makes at most 1032 bytes.
constexpr int64_t kMaxRatio = 1032;

class Stream {
 public:
  Stream(const std::string& name, ByteSpan compressed, Wrapper wrapper)
      : name_(name), input_(compressed), wrapper_(wrapper) {}
  ~Stream() {
    if (open_) inflateEnd(&zlib_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Fills `out` as far as the stream goes; gives the number of bytes made.
  Result<size_t> Read(std::span<std::byte> out) {
    RESMEM_RETURN_IF_ERROR(Open());
    size_t made = 0;
    while (made < out.size() && !ended_) {
      const size_t input = std::min(input_.size(), kStep);
      const size_t room = std::min(out.size() - made, kStep);
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input_.data()));
      zlib_.avail_in = static_cast<uInt>(input);
      zlib_.next_out = reinterpret_cast<Bytef*>(out.data() + made);
      zlib_.avail_out = static_cast<uInt>(room);
      const int code = ::inflate(&zlib_, Z_NO_FLUSH);
      const size_t consumed = input - zlib_.avail_in;
      const size_t produced = room - zlib_.avail_out;
      input_ = input_.subspan(consumed);
      made += produced;
      if (code == Z_STREAM_END) {
        ended_ = wrapper_ == Wrapper::kNone || input_.empty();
        if (!ended_) inflateReset(&zlib_);
      } else if (code == Z_MEM_ERROR) {
        return Status(ErrorCode::kResourceExhausted, Text(name_, ": no memory to decompress it"));
      } else if (code != Z_OK || (consumed == 0 && produced == 0)) {
        return Status(
            ErrorCode::kBadData,
            Text(name_, ": the compressed data ", input_.empty() ? "ends too early" : "is damaged",
                 zlib_.msg != nullptr ? Text(" (", zlib_.msg, ")") : "",
                 "; export or download the file again"));
      }
    }
    return made;
  }

 private:
  static constexpr size_t kStep = 1 << 30;  // zlib counts in 32 bits

  Status Open() {
    if (open_) return {};
    constexpr int kWindow = 15;
    constexpr int kGzipOnly = 16;
    const int code =
        inflateInit2(&zlib_, wrapper_ == Wrapper::kNone ? -kWindow : kWindow + kGzipOnly);
    if (code != Z_OK) return {ErrorCode::kResourceExhausted, Text(name_, ": zlib cannot start")};
    open_ = true;
    return {};
  }

  const std::string& name_;
  ByteSpan input_;
  Wrapper wrapper_;
  z_stream zlib_{};
  bool open_ = false;
  bool ended_ = false;
};

}  // namespace

Result<std::vector<std::byte>> InflatePrefix(const std::string& name, ByteSpan compressed,
                                             Wrapper wrapper, size_t limit) {
  std::vector<std::byte> prefix(limit);
  Stream stream(name, compressed, wrapper);
  RESMEM_ASSIGN_OR_RETURN(const size_t made, stream.Read(prefix));
  prefix.resize(made);
  return prefix;
}

Result<SharedBytes> Inflate(const std::string& name, ByteSpan compressed, Wrapper wrapper,
                            int64_t size) {
  if (size / kMaxRatio > static_cast<int64_t>(compressed.size())) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": claims ", size, " bytes from ", compressed.size(),
                       " compressed ones, which is impossible; export the file again"));
  }
  std::unique_ptr<std::byte[]> memory(new std::byte[static_cast<size_t>(size)]);
  Stream stream(name, compressed, wrapper);
  const std::span<std::byte> out(memory.get(), static_cast<size_t>(size));
  RESMEM_ASSIGN_OR_RETURN(const size_t made, stream.Read(out));
  // The stream's end, and with it gzip's checksum, is only seen by asking for more.
  std::byte more;
  RESMEM_ASSIGN_OR_RETURN(const size_t extra, stream.Read({&more, 1}));
  if (made < out.size() || extra > 0) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": decompresses to ", extra > 0 ? "more than " : "", made,
                       " bytes, but its header declares ", size, "; export the file again"));
  }
  return std::make_shared<const FileBytes>(std::move(memory), static_cast<size_t>(size));
}

}  // namespace resmem
