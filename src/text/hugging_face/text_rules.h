// "normalizer" of a tokenizer.json: how a text is changed before it is split.
#ifndef RESMEM_TEXT_HUGGING_FACE_TEXT_RULES_H_
#define RESMEM_TEXT_HUGGING_FACE_TEXT_RULES_H_

#include <functional>
#include <string>
#include <vector>

#include "support/json.h"
#include "text/hugging_face/pattern.h"

namespace resmem {

class TextRules {
 public:
  // Null: none.  kUnsupported for a kind that is not known, kBadData for a damaged one.
  static Result<TextRules> Read(const Json* json);

  // `text` is valid UTF-8, and so is the result, which has at most kMostGrowth bytes for each of
  // `text`, and kSpareBytes: else kBadData.
  static constexpr size_t kMostGrowth = 16, kSpareBytes = 64;
  Result<std::string> Apply(std::string text, WorkLimit* limit) const;

  // A blank, or what stands for one, is put before each text.
  bool puts_blank_in_front() const { return puts_blank_in_front_; }

 private:
  // May stop where it has made more than `most` bytes.
  using Step = std::function<Result<std::string>(std::string text, size_t most, WorkLimit* limit)>;
  Status Add(const Json& json);
  Status AddBert(const Json& json);
  Status AddReplacement(const Json& json);
  Status AddPrecompiled(const Json& json);

  std::vector<Step> steps_;
  bool puts_blank_in_front_ = false;
};

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_TEXT_RULES_H_
