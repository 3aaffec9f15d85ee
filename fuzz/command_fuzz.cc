// libFuzzer's entry for command lines: the words are parted by line ends.  They are parsed as the
// program parses them, and nothing is run.
#include <algorithm>

#include "commands/commands.h"
#include "fuzz/target.h"
#include "help/help.h"
#include "help/suggest.h"

namespace resmem {
namespace {

using namespace cli;  // NOLINT: this file is about them

std::vector<std::string> WordsOf(std::string_view input) {
  std::vector<std::string> words;
  while (!input.empty()) {
    const size_t end = std::min(input.find('\n'), input.size());
    words.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return words;
}

// One command's line: the first word chooses the command by its length and letters.
Status ParseWords(std::string_view input) {
  const std::vector<std::string> words = WordsOf(input);
  if (words.empty()) return {};
  const auto named = [&](const CommandEntry& entry) { return words[0] == entry.name; };
  const auto commands = Commands();
  auto entry = std::find_if(commands.begin(), commands.end(), named);
  if (entry == commands.end()) {
    (void)NearestWord(words[0], {"memorize", "predict", "lm memorize"});
    unsigned sum = 0;
    for (const char c : words[0]) sum += static_cast<unsigned char>(c);
    entry = commands.begin() + static_cast<ptrdiff_t>(sum % commands.size());
  }
  Declared declared = Declare(*entry);
  const Status parsed = declared.line.Parse(std::span(words).subspan(1));
  Require(parsed.ok() || parsed.code() == ErrorCode::kInvalidArgument);
  if (declared.line.help_wanted()) Require(!HelpText(declared.line).empty());
  return parsed;
}

}  // namespace

std::vector<Kind> Kinds() {
  return {
      {"predict", "predict\nm\n--data\nt.npz\n-o\np.csv\n--k=5\n--sigma\n0.5", ParseWords},
      {"memorize", "memorize\n--data=t.npz\n-o\nm\n--key-type\nint8", ParseWords},
      {"tune", "tune\nm\n--data\nt.npz\n--grid-k\n1,5:50:4\n--grid-sigma\n0.1:2:5", ParseWords},
      {"delete", "delete\nm\n--ids\n3,5,18446744073709551615\n--wait\n2.5", ParseWords},
      {"index", "index\nm\n--recall\n0.9\n--codes\n4", ParseWords},
      {"help", "eval\n--help", ParseWords},
      {"lm",
       "lm generate\nm\n--model\nl.onnx\n--tokenizer\nt.model\n--text\nthe\n--count\n5\n--seed\n1",
       ParseWords},
      {"shards", "shard plan\nwork\n--shards\n2\n--data\nt.npz\n--recall\n0.9", ParseWords}};
}

}  // namespace resmem
