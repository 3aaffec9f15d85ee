// Documents out of text files, one by one, in the order of the files.
//
//   text        one file is one document
//   paragraphs  blank lines separate documents
//   wikitext    a document begins at a line "= Title =" between blank lines; the line belongs to it
//   jsonl       one object per line, its "text" is the document (the form of C4)
//   doc         <doc id=".." url=".." title=".."> ... </doc>, as WikiExtractor writes them
//
// Each may be compressed (.gz, .zst with windows of up to 2^27 bytes, .xz); form and compression
// are found by content.  Text is given as UTF-8; what is left out or replaced is counted.  Memory
// is bounded by max_document_bytes, whatever the files hold.
#ifndef RESMEM_LM_TEXT_SOURCE_H_
#define RESMEM_LM_TEXT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "resmem/lm/text_counts.h"
#include "resmem/status.h"

namespace resmem {

enum class TextForm { kFound, kText, kParagraphs, kWikiText, kJsonLines, kDocTags };

struct TextSourceOptions {
  TextForm form = TextForm::kFound;  // kFound: by the content of each file, never paragraphs
  // A longer document is split at a line end or a space; a longer JSON line is left out as broken.
  int64_t max_document_bytes = int64_t{128} << 20;
};

struct TextDocument {
  std::string title;  // the document's own, else its url, else "file.jsonl:17" by line
  std::string text;   // not only white space
};

// Movable; one thread at a time.
class TextSource {
 public:
  // Files and folders; folders are read recursively in the order of names, without hidden files.
  // Errors: kNotFound, kInvalidArgument (no file at all), kIo.
  static Result<TextSource> Open(const std::vector<std::string>& paths,
                                 const TextSourceOptions& options = {});
  TextSource(TextSource&&) noexcept;
  TextSource& operator=(TextSource&&) noexcept;
  ~TextSource();

  // False after the last document.  Errors: kBadData (damaged compression), kUnsupported (it needs
  // too much memory to unpack), kIo, kResourceExhausted.
  Result<bool> Next(TextDocument* document);

  const TextCounts& counts() const;  // so far
  // The first record that was left out as broken: "c4.jsonl: line 17: ..."; empty: none was.
  const std::string& first_broken_record() const;
  const std::vector<std::string>& files() const;
  // How far: bytes of the files as they are stored.
  int64_t stored_bytes_read() const;
  int64_t stored_bytes() const;

 private:
  struct State;
  explicit TextSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace resmem

#endif  // RESMEM_LM_TEXT_SOURCE_H_
