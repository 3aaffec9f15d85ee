// The documents of one file, in one of the forms that text_source.h lists.
#ifndef RESMEM_TEXT_SOURCE_DOCUMENT_READER_H_
#define RESMEM_TEXT_SOURCE_DOCUMENT_READER_H_

#include <memory>
#include <string>
#include <string_view>

#include "resmem/lm/text_source.h"
#include "text/source/line_reader.h"

namespace resmem {

// What the readers of one file share.
struct DocumentInput {
  std::string name;  // of the file, without its folder
  LineReader lines;
  size_t max_document_bytes = 0;
  TextCounts* counts = nullptr;
  std::string* first_broken_record = nullptr;

  // "c4.jsonl:17"
  std::string Place() const;
  void CountBroken(std::string_view problem);
};

class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // Text as the file has it, with whatever bytes; false after the last document.
  virtual Result<bool> Next(TextDocument* document) = 0;
};

// `input` outlives the reader.  kFound looks at the first bytes.
Result<std::unique_ptr<DocumentReader>> MakeDocumentReader(TextForm form, DocumentInput* input);

std::unique_ptr<DocumentReader> MakePlainReader(TextForm form, DocumentInput* input);
std::unique_ptr<DocumentReader> MakeJsonLinesReader(DocumentInput* input);
std::unique_ptr<DocumentReader> MakeDocTagsReader(DocumentInput* input);

// Lines joined to one document; a line at a time, and no more than fits.
class DocumentText {
 public:
  // Lines are read in parts of at most this size, so that a document can be cut within one.
  static constexpr size_t kPartBytes = size_t{1} << 20;
  explicit DocumentText(size_t max_bytes) : max_bytes_(max_bytes) {}

  bool HasRoom(const Line& line) const {
    return text_.empty() || text_.size() + line.text.size() + 1 <= max_bytes_;
  }
  void Add(const Line& line) {
    if (!text_.empty() && line.begins) text_ += '\n';
    text_ += line.text;
  }
  bool empty() const { return text_.empty(); }
  std::string Take() { return std::exchange(text_, {}); }
  size_t part_bytes() const { return std::min(kPartBytes, max_bytes_); }

 private:
  size_t max_bytes_;
  std::string text_;
};

inline bool IsBlank(std::string_view text) {
  return text.find_first_not_of(std::string_view(" \t\r\n\0", 5)) == std::string_view::npos;
}
std::string_view Trim(std::string_view text);
// The title of a WikiText article: a line "= Title =" with one sign on each side.
bool IsArticleHeading(std::string_view line, std::string_view* title);

}  // namespace resmem

#endif  // RESMEM_TEXT_SOURCE_DOCUMENT_READER_H_
