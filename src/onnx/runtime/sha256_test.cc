#include "onnx/runtime/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace resmem {
namespace {

std::string DigestOf(std::string_view text, bool by_instructions, size_t piece) {
  Sha256 digest(by_instructions);
  for (size_t begin = 0; begin < text.size(); begin += piece) {
    digest.Add(std::as_bytes(std::span(text.substr(begin, piece))));
  }
  return digest.Finish();
}

class Digest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !Sha256::HasInstructions()) GTEST_SKIP() << "not on this processor";
  }
};

// FIPS 180-4's examples, and the last of its long messages.
TEST_P(Digest, IsTheStandardsForItsExamples) {
  const std::pair<std::string, const char*> examples[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "o"
       "pqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto& [text, expected] : examples) {
    EXPECT_EQ(DigestOf(text, GetParam(), text.size()), expected) << text.size();
  }
}

TEST_P(Digest, DoesNotDependOnThePiecesAndIsThatOfThePlainWayForEveryLength) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7 + i / 13);
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    const std::string whole = DigestOf(part, false, size + 1);
    for (const size_t piece : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{200}}) {
      EXPECT_EQ(DigestOf(part, GetParam(), piece), whole) << size << " in pieces of " << piece;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothWays, Digest, testing::Bool());

}  // namespace
}  // namespace resmem
