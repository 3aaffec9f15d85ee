#include "text/hugging_face/word_split.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/text.h"
#include "text/hugging_face/byte_letters.h"
#include "text/hugging_face/characters.h"
#include "text/hugging_face/json_parts.h"

namespace resmem {
namespace {

constexpr char kPreTokenizer[] = "pre-tokenizer";
constexpr char kGpt2Words[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// What becomes of the matches.
enum class Matches { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
constexpr std::array<std::pair<const char*, Matches>, 5> kMatches = {
    {{"Removed", Matches::kRemoved},
     {"Isolated", Matches::kIsolated},
     {"MergedWithPrevious", Matches::kMergedWithPrevious},
     {"MergedWithNext", Matches::kMergedWithNext},
     {"Contiguous", Matches::kContiguous}}};

Result<Matches> ReadMatches(const Json& json, const char* usual) {
  RESMEM_ASSIGN_OR_RETURN(const std::string name, ReadWords(json, "behavior", usual));
  for (const auto& [known, matches] : kMatches) {
    if (name == known) return matches;
  }
  return UnknownType("pre-tokenizer with the behavior", name);
}

struct Section {
  ByteRange range;
  bool match = false;
};

// The whole text, in turn what matches and what lies between.
std::vector<Section> Sections(std::string_view text, const std::vector<ByteRange>& found,
                              bool invert) {
  std::vector<Section> sections;
  size_t done = 0;
  for (const ByteRange& match : found) {
    if (match.begin > done) sections.push_back({{done, match.begin}, invert});
    sections.push_back({match, !invert});
    done = match.end;
  }
  if (done < text.size()) sections.push_back({{done, text.size()}, invert});
  return sections;
}

std::vector<ByteRange> Joined(const std::vector<Section>& sections, Matches matches) {
  std::vector<ByteRange> joined;
  bool before = false;  // whether the last section was a match
  for (const Section& section : sections) {
    const bool joins =
        !joined.empty() &&
        (matches == Matches::kContiguous ? section.match == before : section.match && !before);
    if (joins) {
      joined.back().end = section.range.end;
    } else {
      joined.push_back(section.range);
    }
    before = section.match;
  }
  return joined;
}

std::vector<ByteRange> JoinedBackwards(const std::vector<Section>& sections) {
  std::vector<ByteRange> joined;
  bool after = false;
  for (auto section = sections.rbegin(); section != sections.rend(); ++section) {
    if (section->match && !after && !joined.empty()) {
      joined.back().begin = section->range.begin;
    } else {
      joined.push_back(section->range);
    }
    after = section->match;
  }
  std::reverse(joined.begin(), joined.end());
  return joined;
}

void AddWords(const Word& word, const std::vector<ByteRange>& found, bool invert, Matches matches,
              std::vector<Word>* words) {
  const std::vector<Section> sections = Sections(word.text, found, invert);
  std::vector<ByteRange> ranges;
  switch (matches) {
    case Matches::kRemoved:
    case Matches::kIsolated:
      for (const Section& section : sections) {
        if (!section.match || matches == Matches::kIsolated) ranges.push_back(section.range);
      }
      break;
    case Matches::kMergedWithPrevious:
    case Matches::kContiguous:
      ranges = Joined(sections, matches);
      break;
    case Matches::kMergedWithNext:
      ranges = JoinedBackwards(sections);
      break;
  }
  for (const ByteRange& range : ranges) {
    if (range.begin == range.end) continue;
    words->push_back({word.text.substr(range.begin, range.end - range.begin),
                      word.at_front && range.begin == 0});
  }
}

// Each character that `is` names is a match.
template <typename Is>
std::vector<ByteRange> FindCharacters(std::string_view text, Is is) {
  std::vector<ByteRange> found;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t begin = text.size() - rest.size();
    if (is(TakeCharacter(&rest))) found.push_back({begin, text.size() - rest.size()});
  }
  return found;
}

}  // namespace

Result<WordSplit> WordSplit::Read(const Json* json) {
  WordSplit split;
  if (json != nullptr) RESMEM_RETURN_IF_ERROR(split.Add(*json));
  return split;
}

Status WordSplit::Add(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string type, TypeOf(json, kPreTokenizer));
  if (type == "Sequence") {
    const Json* list = FindPart(json, "pretokenizers");
    if (list == nullptr || !list->is_array()) {
      return {ErrorCode::kBadData, "its pre-tokenizer Sequence has no list of pre-tokenizers"};
    }
    for (const Json& part : *list) RESMEM_RETURN_IF_ERROR(Add(part));
    return {};
  }
  if (steps_.size() >= kMostParts) {
    return {ErrorCode::kBadData, Text("it has more than ", kMostParts, " pre-tokenizers")};
  }
  const auto add = [&](auto is, Matches matches) {
    steps_.push_back([is, matches](const Word& word, WorkLimit*, std::vector<Word>* words) {
      AddWords(word, FindCharacters(word.text, is), false, matches, words);
      return Status();
    });
    return Status();
  };
  if (type == "WhitespaceSplit") return add(IsWhiteSpace, Matches::kRemoved);
  if (type == "BertPreTokenizer") {
    RESMEM_RETURN_IF_ERROR(add(IsWhiteSpace, Matches::kRemoved));
    return add(IsPunctuation, Matches::kIsolated);
  }
  if (type == "Punctuation") {
    RESMEM_ASSIGN_OR_RETURN(const Matches matches, ReadMatches(json, "Isolated"));
    return add(IsPunctuation, matches);
  }
  if (type == "Digits") {
    RESMEM_ASSIGN_OR_RETURN(const bool each, ReadFlag(json, "individual_digits", false));
    return add(IsNumeric, each ? Matches::kIsolated : Matches::kContiguous);
  }
  if (type == "Whitespace") {  // \w+|[^\w\s]+
    const auto kind_of = [](char32_t c) {
      return IsWhiteSpace(c) ? 0 : IsWordCharacter(c) || IsMark(c) ? 1 : 2;
    };
    steps_.push_back([kind_of](const Word& word, WorkLimit*, std::vector<Word>* words) {
      std::vector<ByteRange> found;
      int before = 0;
      for (std::string_view rest = word.text; !rest.empty();) {
        const size_t begin = word.text.size() - rest.size();
        const int kind = kind_of(TakeCharacter(&rest));
        const size_t end = word.text.size() - rest.size();
        if (kind != 0 && kind == before) {
          found.back().end = end;
        } else if (kind != 0) {
          found.push_back({begin, end});
        }
        before = kind;
      }
      AddWords(word, found, true, Matches::kRemoved, words);
      return Status();
    });
    return {};
  }
  if (type == "ByteLevel") return AddByteLevel(json);
  if (type == "Metaspace") return AddMetaspace(json);
  if (type == "Split") return AddSplit(json);
  return UnknownType(kPreTokenizer, type);
}

Status WordSplit::AddByteLevel(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const bool add_blank, ReadFlag(json, "add_prefix_space", true));
  RESMEM_ASSIGN_OR_RETURN(const bool use_regex, ReadFlag(json, "use_regex", true));
  RESMEM_ASSIGN_OR_RETURN(const Pattern pattern, Pattern::OfExpression(kGpt2Words));
  puts_blank_in_front_ |= add_blank;
  steps_.push_back([=](Word word, WorkLimit* limit, std::vector<Word>* words) -> Status {
    if (add_blank && !word.text.starts_with(' ')) word.text = ' ' + word.text;
    const size_t first = words->size();
    if (use_regex) {
      RESMEM_ASSIGN_OR_RETURN(const std::vector<ByteRange> found, pattern.Find(word.text, limit));
      AddWords(word, found, false, Matches::kIsolated, words);
    } else {
      words->push_back(std::move(word));
    }
    for (size_t i = first; i < words->size(); ++i) {
      (*words)[i].text = BytesAsLetters((*words)[i].text);
    }
    return {};
  });
  return {};
}

Status WordSplit::AddMetaspace(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string mark, ReadWords(json, "replacement", kBlankMark));
  RESMEM_ASSIGN_OR_RETURN(const bool add_blank, ReadFlag(json, "add_prefix_space", true));
  RESMEM_ASSIGN_OR_RETURN(const std::string scheme,
                          ReadWords(json, "prepend_scheme", add_blank ? "always" : "never"));
  RESMEM_ASSIGN_OR_RETURN(const bool split, ReadFlag(json, "split", true));
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return UnknownType("pre-tokenizer Metaspace with the scheme", scheme);
  }
  if (mark.empty() || mark.size() > 4) {
    return {ErrorCode::kBadData, "its pre-tokenizer Metaspace replaces blanks by no character"};
  }
  RESMEM_ASSIGN_OR_RETURN(const Pattern pattern, Pattern::OfText(mark));
  puts_blank_in_front_ |= scheme == "always";
  steps_.push_back([=](Word word, WorkLimit* limit, std::vector<Word>* words) -> Status {
    std::string marked;
    for (const char c : word.text) c == ' ' ? marked += mark : marked += c;
    const bool in_front = scheme == "always" || (scheme == "first" && word.at_front);
    word.text = in_front && !marked.starts_with(mark) ? mark + marked : marked;
    if (!split) {
      words->push_back(std::move(word));
      return {};
    }
    RESMEM_ASSIGN_OR_RETURN(const std::vector<ByteRange> found, pattern.Find(word.text, limit));
    AddWords(word, found, false, Matches::kMergedWithNext, words);
    return {};
  });
  return {};
}

Status WordSplit::AddSplit(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const Pattern pattern, ReadPattern(json));
  RESMEM_ASSIGN_OR_RETURN(const Matches matches, ReadMatches(json, "Removed"));
  RESMEM_ASSIGN_OR_RETURN(const bool invert, ReadFlag(json, "invert", false));
  steps_.push_back([=](const Word& word, WorkLimit* limit, std::vector<Word>* words) -> Status {
    RESMEM_ASSIGN_OR_RETURN(const std::vector<ByteRange> found, pattern.Find(word.text, limit));
    AddWords(word, found, invert, matches, words);
    return {};
  });
  return {};
}

Result<std::vector<Word>> WordSplit::Apply(Word text, WorkLimit* limit) const {
  std::vector<Word> words;
  if (text.text.empty()) return words;
  words.push_back(std::move(text));
  for (const Step& step : steps_) {
    std::vector<Word> made;
    for (Word& word : words) {
      RESMEM_RETURN_IF_ERROR(limit->Check());
      RESMEM_RETURN_IF_ERROR(step(std::move(word), limit, &made));
    }
    words = std::move(made);
  }
  return words;
}

}  // namespace resmem
