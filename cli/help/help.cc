#include "help/help.h"

#include <algorithm>
#include <sstream>

namespace resmem::cli {
namespace {

constexpr size_t kHelpColumn = 27;

std::string OptionTitle(const Option& option) {
  std::string title = "  ";
  if (!option.short_name.empty()) title += option.short_name + ", ";
  title += option.name;
  if (!option.is_flag() && !option.choices.empty()) return title + " WORD";
  return option.is_flag() ? title : title + " " + option.value_name;
}

std::string ArgumentTitle(const Option& argument) {
  return argument.name + (argument.repeated ? "..." : "");
}

std::string OptionText(const Option& option) {
  std::string help = option.help;
  if (!option.choices.empty()) {
    help += help.empty() ? "" : ": ";
    for (size_t i = 0; i < option.choices.size(); ++i) {
      help += (i == 0 ? "" : i + 1 == option.choices.size() ? " or " : ", ") + option.choices[i];
    }
  }
  if (option.required) {
    help += " (required)";
  } else if (!option.default_text.empty()) {
    help += " (default: " + option.default_text + ")";
  }
  return help;
}

std::string Entry(const std::string& title, const std::string& help) {
  std::string text = title;
  if (title.size() + 2 > kHelpColumn) {
    text += "\n" + std::string(kHelpColumn, ' ');
  } else {
    text += std::string(kHelpColumn - title.size(), ' ');
  }
  return text + Wrap(help, kHelpColumn) + "\n";
}

}  // namespace

std::string Wrap(const std::string& text, size_t indent, size_t width) {
  std::istringstream words(text);
  std::string wrapped, word;
  size_t column = indent;
  while (words >> word) {
    if (column > indent && column + 1 + word.size() > width) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) wrapped += " ", ++column;
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::string UsageText(const CommandLine& line) {
  std::string usage = "resmem " + line.command() + " [options]";
  for (const Option& argument : line.arguments()) {
    const std::string name = ArgumentTitle(argument);
    usage += " " + (argument.required ? name : "[" + name + "]");
  }
  for (const Option& option : line.options()) {
    if (option.required) {
      usage += " " + (option.short_name.empty() ? option.name : option.short_name) + " " +
               option.value_name;
    }
  }
  return usage;
}

std::string HelpText(const CommandLine& line) {
  std::string text = "resmem " + line.command() + ": " + line.summary() + "\n\n";
  text += "Usage: " + UsageText(line) + "\n";
  std::istringstream paragraphs(line.details());
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    text += "\n" + Wrap(paragraph, 0) + "\n";
  }
  if (!line.arguments().empty()) text += "\n";
  for (const Option& argument : line.arguments()) {
    text += Entry("  " + ArgumentTitle(argument), argument.help);
  }
  // Groups in the order in which they first appear; a group may be taken up again.
  std::vector<std::string> groups;
  for (const Option& option : line.options()) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const Option& option : line.options()) {
      if (option.group == group) text += Entry(OptionTitle(option), OptionText(option));
    }
  }
  for (const Section& section : line.sections()) {
    text += "\n" + section.title + ":\n  " + Wrap(section.text, 2) + "\n";
  }
  if (!line.examples().empty()) text += "\nExamples:\n";
  for (const Example& example : line.examples()) {
    text += "  # " + example.words + "\n  " + example.command + "\n";
  }
  return text;
}

}  // namespace resmem::cli
