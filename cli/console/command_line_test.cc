#include "console/command_line.h"

#include <gtest/gtest.h>

#include "help/help.h"
#include "help/suggest.h"

namespace resmem::cli {
namespace {

struct Values {
  std::string memory, shape;
  int64_t k = 53;
  std::vector<float> sigmas;
  std::vector<int64_t> ks;
  bool json = false;
  enum class Kind { kSmall, kLarge } kind = Kind::kSmall;
};

CommandLine Declared(Values* values) {
  CommandLine line("try");
  line.About("tries");
  line.Argument("MEMORY", &values->memory, "a folder");
  line.Value("--k", &values->k, "N", "neighbors");
  line.Value("--sigmas", &values->sigmas, "LIST", "bandwidths");
  line.Value("--ks", &values->ks, "LIST", "neighbors");
  line.Value("--shape", &values->shape, "NxM", "shape").Short("-s");
  line.Flag("--json", &values->json, "as JSON");
  line.Choice<Values::Kind, Values::Kind>(
      "--kind", &values->kind, {{"small", Values::Kind::kSmall}, {"large", Values::Kind::kLarge}},
      "how large");
  return line;
}

std::string ErrorOf(std::vector<std::string> words) {
  Values values;
  CommandLine line = Declared(&values);
  const Status status = line.Parse(words);
  EXPECT_EQ(status.code(), status.ok() ? ErrorCode::kOk : ErrorCode::kInvalidArgument);
  return status.message();
}

TEST(CommandLine, SetsValuesFlagsChoicesAndArguments) {
  Values values;
  CommandLine line = Declared(&values);
  const std::vector<std::string> words = {
      "--k", "7", "m.resmem", "--sigmas=0.5,1:2:3", "--json", "--kind", "large", "-s", "-1x64"};
  ASSERT_TRUE(line.Parse(words).ok());
  EXPECT_EQ(values.k, 7);
  EXPECT_EQ(values.memory, "m.resmem");
  EXPECT_EQ(values.sigmas, (std::vector<float>{0.5f, 1, 1.5f, 2}));
  EXPECT_TRUE(values.json);
  EXPECT_EQ(values.kind, Values::Kind::kLarge);
  EXPECT_EQ(values.shape, "-1x64");
}

TEST(CommandLine, RoundsARangeOfWholeNumbersAndDropsRepetitions) {
  Values values;
  CommandLine line = Declared(&values);
  const std::vector<std::string> words = {"m", "--ks", "1:3:5"};
  ASSERT_TRUE(line.Parse(words).ok());
  EXPECT_EQ(values.ks, (std::vector<int64_t>{1, 2, 3}));
}

TEST(CommandLine, NamesTheOptionAndTheValueOfEveryMistake) {
  EXPECT_EQ(ErrorOf({"m", "--k", "seven"}), "--k: 'seven' is not a whole number");
  EXPECT_EQ(ErrorOf({"m", "--k", "7.5"}), "--k: '7.5' is not a whole number");
  EXPECT_EQ(ErrorOf({"m", "--sigmas", "1,,2"}), "--sigmas: '' is not a number");
  EXPECT_EQ(ErrorOf({"m", "--sigmas", "nan"}), "--sigmas: 'nan' is not a number");
  EXPECT_EQ(ErrorOf({"m", "--kind", "huge"}),
            "--kind: 'huge' is not one of them; choose one of: small, large");
  EXPECT_EQ(ErrorOf({"m", "--k"}), "--k needs a value: --k N");
  EXPECT_EQ(ErrorOf({"m", "--k", "--json"}), "--k needs a value: --k N");
  EXPECT_EQ(ErrorOf({"m", "--k", "1", "--k", "2"}), "--k is given twice; give it once");
  EXPECT_EQ(ErrorOf({"m", "--json=yes"}), "--json takes no value");
  EXPECT_EQ(ErrorOf({"m", "n"}), "'resmem try' does not know what to do with 'n'");
  EXPECT_EQ(ErrorOf({}), "'resmem try' needs MEMORY: a folder");
  EXPECT_EQ(ErrorOf({"m", "--sigma", "1"}),
            "'resmem try' has no option --sigma; did you mean --sigmas?");
  EXPECT_EQ(ErrorOf({"m", "--large"}),
            "'resmem try' has no option --large; did you mean --kind large?");
  EXPECT_EQ(ErrorOf({"m", "--frobnicate"}), "'resmem try' has no option --frobnicate");
}

TEST(CommandLine, RefusesAnOptionThatWouldHaveNoEffect) {
  const auto error_of = [](std::vector<std::string> words) {
    std::string keys, type;
    bool resize = false, remove = false;
    std::vector<std::string> images;
    CommandLine line("try");
    line.Arguments("IMAGE", &images, "a file");
    line.Value("--keys", &keys, "FILE", "keys").Excludes({"IMAGE", "--remove"});
    line.Value("--type", &type, "TYPE", "of keys")
        .Needs({"--keys"})
        .Needs({"--remove", "--resize"});
    line.Flag("--resize", &resize, "images").Needs({"--images", "IMAGE", "--keys"});
    line.Flag("--remove", &remove, "no more");
    return line.Parse(words).message();
  };
  EXPECT_EQ(error_of({"a.png", "--resize"}), "");
  EXPECT_EQ(error_of({"--type", "t", "--keys", "k", "--resize"}), "");
  EXPECT_EQ(error_of({"--resize"}),  // there is no --images
            "--resize has no effect without IMAGE or --keys; give that as well, or leave --resize "
            "out");
  EXPECT_EQ(error_of({"--type", "t"}),
            "--type has no effect without --keys; give that as well, or leave --type out");
  EXPECT_EQ(error_of({"--type", "t", "--keys", "k"}),
            "--type has no effect without --remove or --resize; give that as well, or leave --type "
            "out");
  EXPECT_EQ(error_of({"--remove", "--keys", "k"}),
            "--keys and --remove exclude each other; give one of them");
  EXPECT_EQ(error_of({"a.png", "--keys", "k"}),
            "--keys and IMAGE exclude each other; give one of them");
}

TEST(CommandLine, TakesWordsAfterTwoMinusesAsArguments) {
  Values values;
  CommandLine line = Declared(&values);
  const std::vector<std::string> words = {"--", "--k"};
  ASSERT_TRUE(line.Parse(words).ok());
  EXPECT_EQ(values.memory, "--k");
}

TEST(Help, ShowsDefaultsAndChoicesWithin80Columns) {
  Values values;
  const CommandLine line = Declared(&values);
  const std::string help = HelpText(line);
  EXPECT_NE(help.find("neighbors (default: 53)"), std::string::npos) << help;
  EXPECT_NE(help.find("how large: small or large (default: small)"), std::string::npos) << help;
  EXPECT_NE(help.find("-s, --shape NxM"), std::string::npos) << help;
  EXPECT_EQ(Wrap("one two three", 2, 9), "one two\n  three");
}

TEST(NearestWord, FindsTyposSwapsAndBeginningsButNothingFar) {
  const std::vector<std::string> words = {"memorize", "tune", "eval", "verify", "--temperature"};
  EXPECT_EQ(NearestWord("memorize", words), "memorize");
  EXPECT_EQ(NearestWord("tuen", words), "tune");
  EXPECT_EQ(NearestWord("--temp", words), "--temperature");
  EXPECT_EQ(NearestWord("xyz", words), "");
  EXPECT_EQ(NearestWord(std::string(1000, 'e'), words), "");
}

}  // namespace
}  // namespace resmem::cli
