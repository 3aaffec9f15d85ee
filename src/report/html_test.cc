#include "report/html.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

TEST(Html, TextIsEscaped) {
  EXPECT_EQ(Element("p", {}, "<script>alert(1)</script>").markup(),
            "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>");
}

TEST(Html, AttributesCannotBeLeft) {
  EXPECT_EQ(Element("a", {{"title", "\"'><b onclick=x>&"}}).markup(),
            "<a title=\"&quot;&#39;&gt;&lt;b onclick=x&gt;&amp;\"></a>");
}

TEST(Html, MarkupIsNotEscapedTwice) {
  const Html inner = Element("b", {}, "a & b");
  EXPECT_EQ(Element("p", {}, inner, " < c").markup(), "<p><b>a &amp; b</b> &lt; c</p>");
}

TEST(Html, ControlCharactersBecomeReplacementCharacters) {
  EXPECT_EQ(EscapeHtml(std::string("a\0b\x1b\x7f\n\t", 7)), "a\uFFFDb\uFFFD\uFFFD\n\t");
}

TEST(Html, OtherLanguagesPassUnchanged) {
  EXPECT_EQ(EscapeHtml("\u03c3 \u732b \u00e9"), "\u03c3 \u732b \u00e9");
}

}  // namespace
}  // namespace resmem
