// A stream line by line, holding no more than a given number of bytes of one.
#ifndef RESMEM_TEXT_SOURCE_LINE_READER_H_
#define RESMEM_TEXT_SOURCE_LINE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "resmem/status.h"
#include "text/source/byte_stream.h"

namespace resmem {

struct Line {
  std::string_view text;  // without "\n" or "\r\n"; valid until the next call
  bool begins = true;     // false: the rest of the line before it, which was too long
  bool ends = true;       // false: the line goes on in the next one
};

class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // The next line, or the next `limit` bytes of it: cut after a blank near the end where there is
  // one, and never inside a character.  False at the end.
  Result<bool> Next(size_t limit, Line* line);
  // The front of what is left, at most `size` bytes; fewer only where the stream ends.
  Result<std::string_view> Peek(size_t size);
  // Takes `prefix` away where the rest begins with it.
  Status SkipPrefix(std::string_view prefix);

  int64_t line_number() const { return line_number_; }  // of the line given last, from 1
  int64_t bytes() const { return bytes_; }              // unpacked so far
  int64_t stored_bytes_read() const { return stream_->stored_bytes_read(); }

 private:
  // Reads on until the buffer holds `wanted` bytes from begin_ or the stream is over.
  Status Fill(size_t wanted);
  size_t held() const { return buffer_.size() - begin_; }

  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;  // what is left of it starts at begin_
  size_t begin_ = 0;
  bool stream_ended_ = false;
  bool inside_line_ = false;
  int64_t line_number_ = 0, bytes_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_SOURCE_LINE_READER_H_
