#include "text/source/document_reader.h"

#include "support/text.h"

namespace resmem {

std::string DocumentInput::Place() const {
  return Text(name, ":", lines.line_number());
}

void DocumentInput::CountBroken(std::string_view problem) {
  ++counts->broken_records;
  if (first_broken_record->empty()) {
    *first_broken_record = Text(name, ": line ", lines.line_number(), ": ", problem);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = text.find_last_not_of(kBlanks);
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

bool IsArticleHeading(std::string_view line, std::string_view* title) {
  const std::string_view heading = Trim(line);
  if (heading.size() < 5 || !heading.starts_with("= ") || !heading.ends_with(" =")) return false;
  const std::string_view inner = Trim(heading.substr(1, heading.size() - 2));
  if (inner.empty() || inner.front() == '=' || inner.back() == '=') return false;
  *title = inner;
  return true;
}

Result<std::unique_ptr<DocumentReader>> MakeDocumentReader(TextForm form, DocumentInput* input) {
  RESMEM_RETURN_IF_ERROR(input->lines.SkipPrefix("\xEF\xBB\xBF"));  // a byte order mark
  if (form == TextForm::kFound) {
    constexpr size_t kLooked = size_t{64} << 10;
    RESMEM_ASSIGN_OR_RETURN(std::string_view front, input->lines.Peek(kLooked));
    front.remove_prefix(std::min(front.find_first_not_of(" \t\r\n"), front.size()));
    const std::string_view first_line = front.substr(0, front.find('\n'));
    std::string_view title;
    form = front.starts_with("<doc ")             ? TextForm::kDocTags
           : front.starts_with('{')               ? TextForm::kJsonLines
           : IsArticleHeading(first_line, &title) ? TextForm::kWikiText
                                                  : TextForm::kText;
  }
  switch (form) {
    case TextForm::kJsonLines:
      return MakeJsonLinesReader(input);
    case TextForm::kDocTags:
      return MakeDocTagsReader(input);
    default:
      return MakePlainReader(form, input);
  }
}

}  // namespace resmem
