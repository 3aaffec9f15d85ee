#include <array>
#include <utility>

#include "text/source/document_reader.h"

namespace resmem {
namespace {

// The five entities that XML knows by name.
std::string DecodeEntities(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
      {{"&quot;", '"'}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}}};
  std::string decoded;
  while (!text.empty()) {
    size_t used = 1;
    char c = text.front();
    for (const auto& [name, meaning] : kEntities) {
      if (!text.starts_with(name)) continue;
      used = name.size();
      c = meaning;
    }
    decoded += c;
    text.remove_prefix(used);
  }
  return decoded;
}

std::string_view Attribute(std::string_view tag, std::string_view opening) {
  const size_t found = tag.find(opening);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = tag.substr(found + opening.size());
  return rest.substr(0, rest.find('"'));
}

class DocTagsReader : public DocumentReader {
 public:
  explicit DocTagsReader(DocumentInput* input) : input_(*input), text_(input->max_document_bytes) {}

  Result<bool> Next(TextDocument* document) override {
    while (true) {
      if (!held_) {
        RESMEM_ASSIGN_OR_RETURN(held_, input_.lines.Next(text_.part_bytes(), &line_));
      }
      if (!held_) break;
      const std::string_view tag = Trim(line_.text);
      const bool whole = line_.begins && line_.ends;
      if (whole && tag.starts_with("<doc ") && tag.ends_with('>')) {
        if (inside_) Abandon("<doc> follows a document that has no </doc>");
        Begin(tag);
      } else if (whole && tag == "</doc>" && inside_) {
        inside_ = held_ = false;
        *document = {title_, text_.Take()};
        return true;
      } else if (inside_) {
        if (!text_.HasRoom(line_)) {
          if (!std::exchange(cut_, true)) ++input_.counts->cut_documents;
          *document = {title_, text_.Take()};
          return true;
        }
        text_.Add(line_);
      } else if (!tag.empty()) {
        input_.CountBroken("it belongs to no <doc>");
      }
      held_ = false;
    }
    if (inside_) Abandon("the file ends before </doc>");
    return false;
  }

 private:
  void Begin(std::string_view tag) {
    title_ = DecodeEntities(Attribute(tag, " title=\""));
    if (title_.empty()) title_ = Attribute(tag, " url=\"");
    if (title_.empty()) title_ = input_.Place();
    inside_ = true;
    cut_ = false;
  }
  void Abandon(std::string_view problem) {
    input_.CountBroken(problem);
    text_.Take();
    inside_ = false;
  }

  DocumentInput& input_;
  DocumentText text_;
  std::string title_;
  Line line_;
  bool held_ = false, inside_ = false, cut_ = false;
};

}  // namespace

std::unique_ptr<DocumentReader> MakeDocTagsReader(DocumentInput* input) {
  return std::make_unique<DocTagsReader>(input);
}

}  // namespace resmem
