#include <utility>

#include "text/source/document_reader.h"

namespace resmem {
namespace {

// Blank lines in front of a document are dropped; the parts of one that is cut share its title.
class PlainReader : public DocumentReader {
 public:
  PlainReader(TextForm form, DocumentInput* input)
      : form_(form), input_(*input), text_(input->max_document_bytes), title_(input->name) {}

  Result<bool> Next(TextDocument* document) override {
    while (true) {
      if (!held_) {
        RESMEM_ASSIGN_OR_RETURN(held_, input_.lines.Next(text_.part_bytes(), &line_));
      }
      if (!held_) break;
      if (text_.empty() && IsBlank(line_.text)) {
        LetGo();
        continue;
      }
      std::string new_title;
      RESMEM_ASSIGN_OR_RETURN(const bool boundary, IsBoundary(&new_title));
      if (boundary && !text_.empty()) break;  // the line is held for the next document
      if (boundary) title_ = new_title;
      if (form_ == TextForm::kParagraphs && text_.empty() && !cut_) title_ = input_.Place();
      if (!text_.HasRoom(line_)) {
        if (!std::exchange(cut_, true)) ++input_.counts->cut_documents;
        *document = {title_, text_.Take()};
        return true;
      }
      text_.Add(line_);
      LetGo();
    }
    cut_ = false;
    *document = {title_, text_.Take()};
    return !document->text.empty();
  }

 private:
  void LetGo() {
    after_blank_ = line_.begins && IsBlank(line_.text);
    held_ = false;
  }

  // Whether the present document ends before the line.
  Result<bool> IsBoundary(std::string* new_title) {
    if (!line_.begins || !line_.ends) return false;
    if (form_ == TextForm::kParagraphs) return IsBlank(line_.text);
    std::string_view title;
    if (form_ != TextForm::kWikiText || !after_blank_ || !IsArticleHeading(line_.text, &title)) {
      return false;
    }
    *new_title = title;
    // Peek() may move the buffer that the line lies in.
    heading_ = line_.text;
    line_.text = heading_;
    constexpr size_t kLooked = 256;
    RESMEM_ASSIGN_OR_RETURN(const std::string_view after, input_.lines.Peek(kLooked));
    return IsBlank(after.substr(0, after.find('\n')));
  }

  TextForm form_;
  DocumentInput& input_;
  DocumentText text_;
  std::string title_, heading_;
  Line line_;
  bool held_ = false;        // line_ was read and not yet used
  bool after_blank_ = true;  // the line before was blank, or there was none
  bool cut_ = false;         // the present document is already counted as cut
};

}  // namespace

std::unique_ptr<DocumentReader> MakePlainReader(TextForm form, DocumentInput* input) {
  return std::make_unique<PlainReader>(form, input);
}

}  // namespace resmem
