#include "text/source/byte_stream.h"

#include <algorithm>
#include <cstring>

#include "support/text.h"
#include "text/source/unpack.h"

namespace resmem {
namespace {

// Bytes that are given as they are or unpacked.
class MemoryStream : public ByteStream {
 public:
  MemoryStream(std::string name, std::span<const std::byte> bytes)
      : name_(std::move(name)), bytes_(bytes) {
    if (LooksLikeGzip(bytes)) decoder_ = MakeGzipDecoder(name_);
    if (LooksLikeZstd(bytes)) decoder_ = MakeZstdDecoder(name_);
    if (LooksLikeXzStream(bytes)) decoder_ = MakeXzDecoder(name_);
  }

  Result<size_t> Read(std::span<char> out) override {
    if (decoder_ == nullptr) {
      const size_t size = std::min(out.size(), bytes_.size() - used_);
      if (size > 0) std::memcpy(out.data(), bytes_.data() + used_, size);
      used_ += size;
      return size;
    }
    while (used_ < bytes_.size() || !at_end_of_stream_) {
      RESMEM_ASSIGN_OR_RETURN(const Decoder::Step step, decoder_->Run(bytes_.subspan(used_), out));
      used_ += step.used;
      at_end_of_stream_ = step.ended;
      if (step.made > 0) return step.made;
      if (step.used == 0 && !step.ended) {
        return Status(ErrorCode::kBadData,
                      Text(name_, ": the compressed data end too early; get the file again"));
      }
    }
    return size_t{0};
  }

  int64_t stored_bytes_read() const override { return static_cast<int64_t>(used_); }

 private:
  std::string name_;
  std::span<const std::byte> bytes_;
  std::unique_ptr<Decoder> decoder_;  // none: the bytes themselves
  size_t used_ = 0;
  bool at_end_of_stream_ = false;
};

class FileStream : public ByteStream {
 public:
  FileStream(const std::string& path, MappedFile file)
      : file_(std::move(file)), content_(path, file_.bytes()) {
    file_.ReadAhead();
  }
  Result<size_t> Read(std::span<char> out) override {
    constexpr size_t kDropped = size_t{8} << 20;
    const auto used = static_cast<size_t>(content_.stored_bytes_read());
    if (used - dropped_ >= kDropped) {
      file_.Drop(dropped_, used - dropped_);
      dropped_ = used;
    }
    return content_.Read(out);
  }
  int64_t stored_bytes_read() const override { return content_.stored_bytes_read(); }

 private:
  MappedFile file_;
  MemoryStream content_;
  size_t dropped_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenByteStream(FileSystem& files, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, files.Map(path));
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(path, std::move(file)));
}

Result<std::unique_ptr<ByteStream>> UnpackBytes(const std::string& name,
                                                std::span<const std::byte> bytes) {
  return std::unique_ptr<ByteStream>(std::make_unique<MemoryStream>(name, bytes));
}

}  // namespace resmem
