#include "console/command_line.h"

#include <algorithm>

#include "help/suggest.h"

namespace resmem::cli {
namespace {

Status Usage(std::string message) {
  return Status(ErrorCode::kInvalidArgument, std::move(message));
}

std::string Join(const std::vector<std::string>& words, const std::string& last = ", ") {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  }
  return text;
}

// "--format jsonl" for "--json": the option that has this word, or its beginning, as a choice.
std::string OptionWithChoice(std::string_view name, const std::deque<Option>& options) {
  constexpr size_t kShortest = 3;
  const std::string_view word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  if (word.size() < kShortest) return "";
  for (const Option& option : options) {
    for (const std::string& choice : option.choices) {
      if (choice.starts_with(word)) return option.name + " " + choice;
    }
  }
  return "";
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

const Option* CommandLine::FindAny(const std::string& name) const {
  for (const std::deque<Option>* declared : {&options_, &arguments_}) {
    for (const Option& option : *declared) {
      if (option.name == name) return &option;
    }
  }
  return nullptr;
}

bool CommandLine::Given(const std::string& name) const {
  const Option* option = FindAny(name);
  return option != nullptr && option->given;
}

Status CommandLine::Set(Option& option, std::string_view text) {
  if (option.given && !option.repeated) return Usage(option.name + " is given twice; give it once");
  option.given = true;
  const Status status = option.set(text);
  if (status.ok()) return status;
  std::string message = option.name + ": " + status.message();
  if (!option.choices.empty()) message += "; choose one of: " + Join(option.choices);
  return Usage(std::move(message));
}

Status CommandLine::UnknownOption(std::string_view name) const {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : options_) names.push_back(option.name);
  std::string near = OptionWithChoice(name, options_);
  if (near.empty()) near = NearestWord(name, names);
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
  for (const Option& given : options_) {
    if (given.given) RESMEM_RETURN_IF_ERROR(CheckTogether(given));
  }
  return {};
}

Status CommandLine::CheckTogether(const Option& option) const {
  for (const std::string& other : option.excludes) {
    if (Given(other)) {
      return Usage(option.name + " and " + other + " exclude each other; give one of them");
    }
  }
  for (std::vector<std::string> names : option.needs) {
    std::erase_if(names, [&](const std::string& name) { return FindAny(name) == nullptr; });
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return Given(name); })) {
      return Usage(option.name + " has no effect without " + Join(names, " or ") +
                   "; give that as well, or leave " + option.name + " out");
    }
  }
  return {};
}

}  // namespace resmem::cli
