#include "console/command_line.h"

#include <algorithm>

#include "console/suggest.h"

namespace resmem::cli {
namespace {

Status Usage(std::string message) {
  return Status(ErrorCode::kInvalidArgument, std::move(message));
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void CommandLine::About(std::string summary, std::string details) {
  summary_ = std::move(summary);
  details_ = std::move(details);
}

void CommandLine::AddExample(std::string words, std::string command) {
  examples_.push_back({std::move(command), std::move(words)});
}

void CommandLine::AddSection(std::string title, std::string text) {
  sections_.push_back({std::move(title), std::move(text)});
}

Option& CommandLine::Argument(std::string value_name, std::string* target, std::string help) {
  Option& option = arguments_.emplace_back();
  option.name = option.value_name = std::move(value_name);
  option.help = std::move(help);
  option.required = true;
  option.kind = ValueKind::kFile;
  option.set = [target](std::string_view text) { return ParseValue(text, target); };
  return option;
}

Option& CommandLine::Arguments(std::string value_name, std::vector<std::string>* target,
                               std::string help) {
  Option& option = arguments_.emplace_back();
  option.name = option.value_name = std::move(value_name);
  option.help = std::move(help);
  option.repeated = true;
  option.kind = ValueKind::kFile;
  option.set = [target](std::string_view text) { return target->emplace_back(text), Status(); };
  return option;
}

Option& CommandLine::Flag(std::string name, bool* target, std::string help) {
  Option& option = Add(std::move(name), "", std::move(help));
  option.set = [target](std::string_view) { return *target = true, Status(); };
  return option;
}

Option& CommandLine::Add(std::string name, std::string value_name, std::string help) {
  Option& option = options_.emplace_back();
  option.name = std::move(name);
  option.value_name = std::move(value_name);
  option.help = std::move(help);
  option.group = group_;
  return option;
}

Option* CommandLine::Find(std::string_view name) {
  for (Option& option : options_) {
    if (option.name == name || (!option.short_name.empty() && option.short_name == name)) {
      return &option;
    }
  }
  return nullptr;
}

Status CommandLine::Set(Option& option, std::string_view text) {
  if (option.given && !option.repeated) return Usage(option.name + " is given twice; give it once");
  option.given = true;
  const Status status = option.set(text);
  if (status.ok()) return status;
  std::string message = option.name + ": " + status.message();
  if (!option.choices.empty()) message += "; choose of: " + Join(option.choices);
  return Usage(std::move(message));
}

Status CommandLine::UnknownOption(std::string_view name) const {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : options_) names.push_back(option.name);
  const std::string near = NearestWord(name, names);
  return Usage("'resmem " + command_ + "' has no option " + std::string(name) +
               (near.empty() ? "" : "; did you mean " + near + "?"));
}

Status CommandLine::Parse(std::span<const std::string> words) {
  size_t argument_count = 0;
  bool options_ended = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--" && !options_ended) {
      options_ended = true;
      continue;
    }
    if (options_ended || word.size() < 2 || word[0] != '-') {
      if (argument_count == arguments_.size()) {
        return Usage("'resmem " + command_ + "' does not know what to do with '" + word + "'");
      }
      Option& argument = arguments_[argument_count];
      if (!argument.repeated) ++argument_count;
      RESMEM_RETURN_IF_ERROR(Set(argument, word));
      continue;
    }
    if (word == "--help" || word == "-h") return help_wanted_ = true, Status();
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    Option* option = Find(name);
    if (option == nullptr) return UnknownOption(name);
    if (option->is_flag()) {
      if (equals != std::string::npos) return Usage(name + " takes no value");
      RESMEM_RETURN_IF_ERROR(Set(*option, ""));
    } else if (equals != std::string::npos) {
      RESMEM_RETURN_IF_ERROR(Set(*option, std::string_view(word).substr(equals + 1)));
    } else if (i + 1 < words.size() && Find(words[i + 1]) == nullptr && words[i + 1] != "--help") {
      // A value may begin with a minus (--shape -1x64), but not be an option's name.
      RESMEM_RETURN_IF_ERROR(Set(*option, words[++i]));
    } else {
      return Usage(name + " needs a value: " + name + " " + option->value_name);
    }
  }
  return CheckComplete();
}

Status CommandLine::CheckComplete() const {
  const auto missing = [](const Option& option) { return option.required && !option.given; };
  const auto argument = std::find_if(arguments_.begin(), arguments_.end(), missing);
  if (argument != arguments_.end()) {
    return Usage("'resmem " + command_ + "' needs " + argument->name + ": " + argument->help);
  }
  const auto option = std::find_if(options_.begin(), options_.end(), missing);
  if (option != options_.end()) {
    return Usage("'resmem " + command_ + "' needs " + option->name + " " + option->value_name);
  }
  return {};
}

}  // namespace resmem::cli
