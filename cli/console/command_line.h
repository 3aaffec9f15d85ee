// What one command accepts, declared once.  Parsing, help, shell completion, suggestions and
// docs/cli.md all read this model, so that none of them can go stale.
#ifndef RESMEM_CLI_CONSOLE_COMMAND_LINE_H_
#define RESMEM_CLI_CONSOLE_COMMAND_LINE_H_

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console/values.h"
#include "resmem/status.h"

namespace resmem::cli {

// What the shell offers where a value is typed.
enum class ValueKind { kText, kFile, kFolder };

struct Option {
  std::string name;        // "--sigma"; of an argument without a name: "MEMORY"
  std::string short_name;  // "-o", or empty
  std::string value_name;  // "FILE"; empty for a flag
  std::string group;       // the help's heading
  std::string help;        // what it is, its unit, what it does
  std::string default_text;
  std::vector<std::string> choices;
  ValueKind kind = ValueKind::kText;
  bool required = false;
  bool repeated = false;  // an argument that may come any number of times
  bool given = false;
  std::vector<std::vector<std::string>> needs;  // without one of each, it would have no effect
  std::vector<std::string> excludes;            // together with one of these, neither
  std::function<Status(std::string_view)> set;

  bool is_flag() const { return value_name.empty(); }

  // For declarations in one breath.
  Option& Short(std::string name_in) { return short_name = std::move(name_in), *this; }
  Option& Default(std::string text) { return default_text = std::move(text), *this; }
  // One of `names` must be given, too.  Names that the command does not have are passed over.
  Option& Needs(std::vector<std::string> names) { return needs.push_back(std::move(names)), *this; }
  Option& Excludes(std::vector<std::string> names) { return excludes = std::move(names), *this; }
  Option& Required() { return required = true, *this; }
  Option& File() { return kind = ValueKind::kFile, *this; }
  Option& Folder() { return kind = ValueKind::kFolder, *this; }
};

struct Example {
  std::string command;
  std::string words;
};

struct Section {
  std::string title;
  std::string text;
};

class CommandLine {
 public:
  explicit CommandLine(std::string command) : command_(std::move(command)) {}

  // `summary`: one line for the overview; `details`: paragraphs for the command's own help.
  void About(std::string summary, std::string details = "");
  // Options declared from here on stand under this heading.
  void Group(std::string title) { group_ = std::move(title); }
  void AddExample(std::string words, std::string command);
  // A paragraph under a heading of its own, after the options.
  void AddSection(std::string title, std::string text);

  // Arguments without a name, in the order in which they are declared.
  Option& Argument(std::string value_name, std::string* target, std::string help);
  // The last of them, any number of times.
  Option& Arguments(std::string value_name, std::vector<std::string>* target, std::string help);
  Option& Flag(std::string name, bool* target, std::string help);
  // `target` may be any type of values.h; its present content is the default that is shown.
  template <typename T>
  Option& Value(std::string name, T* target, std::string value_name, std::string help) {
    Option& option = Add(std::move(name), std::move(value_name), std::move(help));
    option.default_text = ShowValue(*target);
    option.set = [target](std::string_view text) { return ParseValue(text, target); };
    return option;
  }
  // One word of a few.  T: an enum, or an optional of one.
  template <typename T, typename E>
  Option& Choice(std::string name, T* target, std::vector<std::pair<std::string, E>> words,
                 std::string help) {
    Option& option = Add(std::move(name), "WORD", std::move(help));
    for (const auto& [word, value] : words) {
      option.choices.push_back(word);
      if (T(value) == *target) option.default_text = word;
    }
    option.set = [target, words = std::move(words)](std::string_view text) {
      for (const auto& [word, value] : words) {
        if (word == text) return *target = value, Status();
      }
      return Status(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' is not one of them");
    };
    return option;
  }

  // Sets the targets.  An error's message is one sentence that names the option.
  Status Parse(std::span<const std::string> words);
  bool help_wanted() const { return help_wanted_; }

  const std::string& command() const { return command_; }
  const std::string& summary() const { return summary_; }
  const std::string& details() const { return details_; }
  const std::deque<Option>& arguments() const { return arguments_; }
  const std::deque<Option>& options() const { return options_; }
  const std::vector<Example>& examples() const { return examples_; }
  const std::vector<Section>& sections() const { return sections_; }

 private:
  Option& Add(std::string name, std::string value_name, std::string help);
  Option* Find(std::string_view name);
  const Option* FindAny(const std::string& name) const;  // of options and arguments
  bool Given(const std::string& name) const;
  Status Set(Option& option, std::string_view text);
  Status UnknownOption(std::string_view name) const;
  Status CheckComplete() const;
  Status CheckTogether(const Option& option) const;

  std::string command_, summary_, details_, group_ = "Options";
  std::deque<Option> arguments_, options_;  // deque: references stay valid while declaring
  std::vector<Example> examples_;
  std::vector<Section> sections_;
  bool help_wanted_ = false;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_COMMAND_LINE_H_
