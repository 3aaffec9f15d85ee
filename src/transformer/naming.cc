// Names and sizes of language models.
#include <charconv>

#include "support/text.h"
#include "transformer/shape.h"

namespace resmem {
namespace {

constexpr int64_t kMostLayers = 1000, kMostSide = 65536, kSideStep = 32;
constexpr int64_t kMostVocabulary = int64_t{1} << 24;

struct Published {
  const char* name;
  int64_t dim, layers, heads, hidden;
};
// Raffel et al. 2020, section 3.7.
constexpr Published kPublished[] = {{"t5-small", 512, 6, 8, 2048},
                                    {"t5-base", 768, 12, 12, 3072},
                                    {"t5-large", 1024, 24, 16, 4096}};

// "-d256" from the beginning of the text, which becomes shorter.
bool TakePart(char letter, std::string_view* text, int64_t* value) {
  if (text->size() < 3 || (*text)[0] != '-' || (*text)[1] != letter) return false;
  const auto [end, error] = std::from_chars(text->data() + 2, text->data() + text->size(), *value);
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return error == std::errc() && *value > 0;
}

Status InvalidName(const std::string& message) {
  return {ErrorCode::kInvalidArgument, message};
}

}  // namespace

Result<LanguageModelShape> ParseLanguageModel(const std::string& name, int64_t vocabulary) {
  LanguageModelShape shape;
  for (const Published& published : kPublished) {
    if (name != published.name) continue;
    shape = {published.dim, published.layers, published.heads, published.hidden, 0};
  }
  std::string_view text = name;
  if (shape.dim == 0) {
    const bool sound = text.starts_with("t5") && (text.remove_prefix(2), true) &&
                       TakePart('d', &text, &shape.dim) && TakePart('l', &text, &shape.layers) &&
                       TakePart('h', &text, &shape.heads) && TakePart('f', &text, &shape.hidden) &&
                       text.empty();
    if (!sound) {
      return InvalidName(Text("there is no language model \"", name,
                              "\"; there are t5-small, t5-base, t5-large and "
                              "t5-dDIM-lLAYERS-hHEADS-fHIDDEN (t5-d256-l4-h4-f1024)"));
    }
  }
  if (shape.dim % kSideStep != 0 || shape.hidden % kSideStep != 0 || shape.dim > kMostSide ||
      shape.hidden > kMostSide || shape.layers > kMostLayers) {
    return InvalidName(Text(name, ": dim and hidden must be multiples of ", kSideStep, " up to ",
                            kMostSide, ", and there are at most ", kMostLayers, " layers"));
  }
  if (shape.dim % shape.heads != 0 || shape.head_dim() % kSideStep != 0) {
    return InvalidName(Text(name, ": ", shape.dim, " values cannot be shared out to ", shape.heads,
                            " heads; each must get a multiple of ", kSideStep));
  }
  if (vocabulary < kSideStep || vocabulary > kMostVocabulary || vocabulary % kSideStep != 0) {
    return InvalidName(Text("a vocabulary of ", vocabulary, "; it must be a multiple of ",
                            kSideStep, " up to ", kMostVocabulary));
  }
  shape.vocabulary = vocabulary;
  return shape;
}

int64_t ParameterCount(const LanguageModelShape& shape) {
  return ParameterLayout(shape, 1).size;
}

}  // namespace resmem
