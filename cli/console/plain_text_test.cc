#include "console/plain_text.h"

#include <gtest/gtest.h>

namespace resmem::cli {
namespace {

TEST(PlainTextTest, WhatATerminalWouldObeyIsShownInstead) {
  EXPECT_EQ(Plain("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(Plain(std::string_view("a\0b\rc\x7f", 6)), "a\\x00b\\x0dc\\x7f");
  EXPECT_EQ(Plain("\xc2\x9b"
                  "31m"),
            "\\xc2\\x9b31m");  // CSI of C1
}

TEST(PlainTextTest, OtherTextStaysAsItIs) {
  for (const char* text : {"", "two\nlines\tand a tab", "Käse ▁ 漢字 \xc2\xa0", "\xc2", "\xff"}) {
    EXPECT_EQ(Plain(text), text);
  }
}

}  // namespace
}  // namespace resmem::cli
