#include "console/next_step.h"

#include <gtest/gtest.h>

namespace resmem::cli {
namespace {

TEST(NextStep, AWordIsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(ShellWord("run/last.onnx"), "run/last.onnx");
  EXPECT_EQ(ShellWord("x.npz:keys"), "x.npz:keys");
  EXPECT_EQ(ShellWord("my photos"), "'my photos'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace resmem::cli
