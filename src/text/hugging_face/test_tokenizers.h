// For tests: small files of the form tokenizer.json.
#ifndef RESMEM_TEXT_HUGGING_FACE_TEST_TOKENIZERS_H_
#define RESMEM_TEXT_HUGGING_FACE_TEST_TOKENIZERS_H_

#include <string>

#include "support/json.h"
#include "text/hugging_face/byte_letters.h"

namespace resmem {

// Pieces for all bytes (ids 0 to 255), then those that the merges make, "<s>" and "</s>".
inline Json ByteLevelTokenizer() {
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary[BytesAsLetters(std::string(1, static_cast<char>(byte)))] =
        static_cast<uint64_t>(byte);
  }
  Json merges = Json::array();
  uint64_t next = 256;
  const std::string blank = BytesAsLetters(" ");
  for (const auto& [left, right] : {std::pair<std::string, std::string>{"h", "e"},
                                    {blank, "t"},
                                    {blank + "t", "he"},
                                    {"t", "he"}}) {
    merges.push_back(left + " " + right);
    vocabulary[left + right] = next++;
  }
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  return {{"added_tokens",
           {{{"id", 260}, {"content", "<s>"}, {"special", true}},
            {{"id", 261}, {"content", "</s>"}, {"special", true}},
            {{"id", 262}, {"content", "<tag>"}, {"special", false}, {"lstrip", true}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single",
             {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
              {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
            {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {260}}, {"tokens", {"<s>"}}}}}}}},
          {"decoder", byte_level},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}}};
}

inline Json BertTokenizer() {
  return {{"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"max_input_chars_per_word", 12},
            {"vocab",
             {{"[UNK]", 0},
              {"[SEP]", 1},
              {"hel", 2},
              {"##lo", 3},
              {"##l", 4},
              {"world", 5},
              {"!", 6},
              {"\xE4\xB8\xAD", 7},
              {"a", 8},
              {"##a", 9}}}}}};
}

// As T5's, with pieces for bytes where `byte_fallback`.
inline Json UnigramTokenizer(bool byte_fallback) {
  Json vocabulary = Json::array({{"<unk>", 0.0},
                                 {"</s>", 0.0},
                                 {"\xE2\x96\x81the", -2.0},
                                 {"\xE2\x96\x81", -3.0},
                                 {"he", -4.0},
                                 {"ther", -6.0},
                                 {"r", -7.0},
                                 {"t", -7.0}});
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (size_t byte = 0; byte_fallback && byte < 256; ++byte) {
    vocabulary.push_back(
        {std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", -50.0});
  }
  const Json metaspace = {
      {"type", "Metaspace"}, {"replacement", "\xE2\x96\x81"}, {"prepend_scheme", "always"}};
  return {
      {"normalizer", {{"type", "NFKC"}}},
      {"pre_tokenizer",
       {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, metaspace}}}},
      {"decoder", {{"type", "Sequence"}, {"decoders", {{{"type", "ByteFallback"}}, metaspace}}}},
      {"model",
       {{"type", "Unigram"},
        {"unk_id", 0},
        {"byte_fallback", byte_fallback},
        {"vocab", vocabulary}}}};
}

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_TEST_TOKENIZERS_H_
