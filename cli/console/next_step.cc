#include "console/next_step.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace resmem::cli {

std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain = "_./,:=+@%-";
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string CommandText(const std::vector<std::string>& words) {
  std::string command = "resmem";
  for (const std::string& word : words) command += " " + ShellWord(word);
  return command;
}

void SuggestNext(const std::vector<std::string>& words, Console& console) {
  console.Note("next: " + CommandText(words));
}

}  // namespace resmem::cli
