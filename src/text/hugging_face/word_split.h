// "pre_tokenizer" of a tokenizer.json: how a text is cut into words, which are made into pieces one
// by one.
#ifndef RESMEM_TEXT_HUGGING_FACE_WORD_SPLIT_H_
#define RESMEM_TEXT_HUGGING_FACE_WORD_SPLIT_H_

#include <functional>
#include <string>
#include <vector>

#include "support/json.h"
#include "text/hugging_face/pattern.h"

namespace resmem {

struct Word {
  std::string text;
  bool at_front = false;  // of the whole text
};

class WordSplit {
 public:
  // Null: a text is one word.  kUnsupported for a kind that is not known, kBadData for a damaged
  // one.
  static Result<WordSplit> Read(const Json* json);

  // No word is empty.
  Result<std::vector<Word>> Apply(Word text, WorkLimit* limit) const;

  // A blank, or what stands for one, is put before each text.
  bool puts_blank_in_front() const { return puts_blank_in_front_; }

 private:
  using Step = std::function<Status(Word word, WorkLimit* limit, std::vector<Word>* words)>;
  Status Add(const Json& json);
  Status AddByteLevel(const Json& json);
  Status AddMetaspace(const Json& json);
  Status AddSplit(const Json& json);

  std::vector<Step> steps_;
  bool puts_blank_in_front_ = false;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_WORD_SPLIT_H_
