#include "help/completion_scripts.h"

namespace resmem::cli {
namespace {

using Lines = std::vector<const CommandLine*>;

// For single quotes of a POSIX shell and of fish alike.
std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string JoinBySpaces(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string FirstWord(const std::string& name) {
  return name.substr(0, name.find(' '));
}

std::string SecondWord(const std::string& name) {
  const size_t blank = name.find(' ');
  return blank == std::string::npos ? "" : name.substr(blank + 1);
}

// First words without repetition; with `family`, the second words of that family.
std::vector<std::string> Names(const Lines& lines, const std::string& family = "") {
  std::vector<std::string> names;
  for (const CommandLine* line : lines) {
    if (!family.empty() && FirstWord(line->command()) != family) continue;
    const std::string name =
        family.empty() ? FirstWord(line->command()) : SecondWord(line->command());
    if (!name.empty() && (names.empty() || names.back() != name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> ArgumentChoices(const CommandLine& line) {
  return line.arguments().empty() ? std::vector<std::string>() : line.arguments()[0].choices;
}

// One `case` over commands, used by bash and zsh: sets `words_offered` or asks for files.
std::string PosixCases(const Lines& lines) {
  std::string text = "  case \"$command\" in\n";
  for (const CommandLine* line : lines) {
    std::vector<std::string> names;
    text += "    " + Quote(line->command()) + ")\n      case \"$previous\" in\n";
    for (const Option& option : line->options()) {
      names.push_back(option.name);
      if (!option.short_name.empty()) names.push_back(option.short_name);
      if (option.is_flag()) continue;
      const std::string pattern =
          option.short_name.empty() ? option.name : option.short_name + "|" + option.name;
      text += "        " + pattern + ") offered=" + Quote(JoinBySpaces(option.choices)) +
              " files=" + (option.kind == ValueKind::kText ? "" : "1") + " ;;\n";
    }
    const std::vector<std::string> choices = ArgumentChoices(*line);
    const bool files = choices.empty() && !line->arguments().empty();
    text += "        *) offered=" + Quote(JoinBySpaces(choices.empty() ? names : choices)) +
            " files=" + (files ? "1" : "") + " ;;\n";
    text += "      esac ;;\n";
  }
  for (const std::string& name : Names(lines)) {
    const std::vector<std::string> family = Names(lines, name);
    if (!family.empty())
      text += "    " + name + ") offered=" + Quote(JoinBySpaces(family)) + " ;;\n";
  }
  return text + "    *) offered=" + Quote(JoinBySpaces(Names(lines)) + " help") + " ;;\n  esac\n";
}

// The command so far: the first word, or the first two where the first is a family.
std::string PosixCommand(const Lines& lines) {
  std::string families;
  for (const std::string& name : Names(lines)) {
    if (!Names(lines, name).empty()) families += (families.empty() ? "" : "|") + name;
  }
  if (families.empty()) return "";
  return "  case \"$command\" in " + families +
         ") [ \"$position\" -gt 2 ] && command=\"$command $second\" ;; esac\n";
}

std::string BashScript(const Lines& lines) {
  return "# Made by 'resmem completion bash'.\n"
         "_resmem() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local command='' second=\"${COMP_WORDS[2]}\" position=\"$COMP_CWORD\" offered='' "
         "files=''\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] && command=\"${COMP_WORDS[1]}\"\n" +
         PosixCommand(lines) + PosixCases(lines) +
         "  COMPREPLY=($(compgen -W \"$offered\" -- \"$word\"))\n"
         "  if [ -n \"$files\" ]; then COMPREPLY+=($(compgen -f -- \"$word\")); fi\n"
         "}\n"
         "complete -o filenames -F _resmem resmem\n";
}

std::string ZshScript(const Lines& lines) {
  return "#compdef resmem\n"
         "# Made by 'resmem completion zsh'.\n"
         "_resmem() {\n"
         "  local previous=\"${words[CURRENT-1]}\" command='' second=\"${words[3]}\"\n"
         "  local position=\"$((CURRENT - 1))\" offered='' files=''\n"
         "  [ \"$CURRENT\" -gt 2 ] && command=\"${words[2]}\"\n" +
         PosixCommand(lines) + PosixCases(lines) +
         "  compadd -- ${=offered}\n"
         "  if [ -n \"$files\" ]; then _files; fi\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _resmem ]; then _resmem \"$@\"; else compdef _resmem resmem; "
         "fi\n";
}

std::string FishScript(const Lines& lines) {
  std::string text = "# Made by 'resmem completion fish'.\ncomplete -c resmem -f\n";
  for (const CommandLine* line : lines) {
    const std::string first = FirstWord(line->command()), second = SecondWord(line->command());
    std::string here = "__fish_seen_subcommand_from " + first;
    if (second.empty()) {
      text += "complete -c resmem -n __fish_use_subcommand -a " + first + " -d " +
              Quote(line->summary()) + "\n";
    } else {
      text += "complete -c resmem -n __fish_use_subcommand -a " + first + "\n";
      text += "complete -c resmem -n " + Quote(here) + " -a " + second + " -d " +
              Quote(line->summary()) + "\n";
      here += "; and __fish_seen_subcommand_from " + second;
    }
    const std::string start = "complete -c resmem -n " + Quote(here);
    for (const Option& argument : line->arguments()) {
      text += start +
              (argument.choices.empty() ? " -F" : " -a " + Quote(JoinBySpaces(argument.choices))) +
              "\n";
    }
    for (const Option& option : line->options()) {
      text += start + " -l " + option.name.substr(2);
      if (!option.short_name.empty()) text += " -s " + option.short_name.substr(1);
      if (!option.is_flag()) {
        text += option.kind == ValueKind::kText ? " -x" : " -r -F";
        if (!option.choices.empty()) text += " -a " + Quote(JoinBySpaces(option.choices));
      }
      text += " -d " + Quote(option.help) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const std::string& shell,
                             const std::vector<const CommandLine*>& lines) {
  if (shell == "bash") return BashScript(lines);
  if (shell == "zsh") return ZshScript(lines);
  if (shell == "fish") return FishScript(lines);
  return "";
}

}  // namespace resmem::cli
