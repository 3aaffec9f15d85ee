#include <nlohmann/json.hpp>

#include "text/source/clean_text.h"
#include "text/source/document_reader.h"

namespace resmem {
namespace {

using Sax = nlohmann::json_sax<nlohmann::json>;

// Keeps the texts "text", "title" and "url" of the outermost object and nothing else, so that a
// line takes no more memory than it has bytes, however deep it is nested.
class RecordFields : public Sax {
 public:
  std::string text, title, url;
  bool has_text = false;

  bool null() override { return Other(); }
  bool boolean(bool) override { return Other(); }
  bool number_integer(number_integer_t) override { return Other(); }
  bool number_unsigned(number_unsigned_t) override { return Other(); }
  bool number_float(number_float_t, const string_t&) override { return Other(); }
  bool binary(binary_t&) override { return Other(); }
  bool string(string_t& value) override {
    if (depth_ == 1 && target_ != nullptr) {
      *target_ = std::move(value);
      has_text |= target_ == &text;
    }
    return Other();
  }
  bool start_object(size_t) override {
    if (depth_ == 0) in_object_ = true;
    return Deeper();
  }
  bool start_array(size_t) override { return Deeper(); }
  bool end_object() override { return Shallower(); }
  bool end_array() override { return Shallower(); }
  bool key(string_t& name) override {
    if (depth_ != 1 || !in_object_) return true;
    target_ = name == "text" ? &text : name == "title" ? &title : name == "url" ? &url : nullptr;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool Other() {
    if (depth_ <= 1) target_ = nullptr;
    return depth_ > 0;  // a bare value is no record
  }
  bool Deeper() {
    target_ = depth_ == 1 ? nullptr : target_;
    ++depth_;
    return in_object_;
  }
  bool Shallower() {
    --depth_;
    return true;
  }

  int64_t depth_ = 0;
  bool in_object_ = false;
  std::string* target_ = nullptr;
};

class JsonLinesReader : public DocumentReader {
 public:
  explicit JsonLinesReader(DocumentInput* input) : input_(*input) {}

  Result<bool> Next(TextDocument* document) override {
    Line line;
    while (true) {
      RESMEM_ASSIGN_OR_RETURN(const bool more, input_.lines.Next(input_.max_document_bytes, &line));
      if (!more) return false;
      if (!line.begins) continue;
      if (!line.ends) {
        input_.CountBroken("it is longer than a document may be");
        continue;
      }
      if (IsBlank(line.text)) continue;
      RecordFields record;
      // A byte that is not UTF-8 would make the whole line invalid.
      const std::string clean = CleanText(std::string(line.text), input_.counts);
      if (!nlohmann::json::sax_parse(clean, &record)) {
        input_.CountBroken("it is not a JSON object");
      } else if (!record.has_text) {
        input_.CountBroken("the JSON object has no \"text\"");
      } else {
        document->title = !record.title.empty() ? std::move(record.title)
                          : !record.url.empty() ? std::move(record.url)
                                                : input_.Place();
        document->text = std::move(record.text);
        return true;
      }
    }
  }

 private:
  DocumentInput& input_;
};

}  // namespace

std::unique_ptr<DocumentReader> MakeJsonLinesReader(DocumentInput* input) {
  return std::make_unique<JsonLinesReader>(input);
}

}  // namespace resmem
