#include <algorithm>
#include <optional>

#include "report/numbers.h"
#include "report/page/page.h"
#include "report/page/widgets.h"
#include "resmem/residual_memory.h"

namespace resmem {
namespace {

// An argument as a shell would need it typed.
std::string Quoted(const std::string& argument) {
  const bool plain = !argument.empty() && argument.find_first_not_of(
                                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_-./=:,@%+\u2026") == std::string::npos;
  if (plain) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// An argument with the paths in it shortened: also of --data=PATH and of lists, PATH,PATH.
std::string ShownArgument(const std::string& argument) {
  std::string shown;
  size_t begin = 0;
  for (size_t i = 0; i <= argument.size(); ++i) {
    if (i < argument.size() && argument[i] != '=' && argument[i] != ',') continue;
    shown += ShownPath(std::string_view(argument).substr(begin, i - begin));
    if (i < argument.size()) shown += argument[i];
    begin = i + 1;
  }
  return shown;
}

Html Pair(std::string_view name, const Html& value) {
  return Element("div", {}, Element("dt", {}, name), Element("dd", {}, value));
}

Html MemoryPairs(const Node& memory) {
  Html size;
  size << CountData(memory.At("rows")) << " rows of " << CountData(memory.At("dim")) << " "
       << Name(memory.At("key_type").Text()) << " values, ";
  const std::optional<Node> transform = memory.Find("key_transform");
  if (transform && transform->Text() != KeyTransformName(KeyTransform::kNone)) {
    size << "key transform " << Name(transform->Text()) << ", ";
  }
  size << CountData(memory.At("outputs")) << " outputs kept as " << Name(memory.At("form").Text())
       << ", " << CountData(memory.At("segments"))
       << (memory.At("segments").Count() == 1 ? " segment, " : " segments, ")
       << Data(memory.At("bytes_on_disk"), Bytes(memory.At("bytes_on_disk").Count())) << " on disk";
  const Node parameters = memory.At("parameters");
  Html setting;
  setting << "k = " << CountData(parameters.At("k"))
          << ", \u03c3 = " << ShortData(parameters.At("sigma"));
  // A regression has no softmax, and no T.
  if (memory.At("task").Text() == "classification") {
    setting << ", T = " << ShortData(parameters.At("temperature"));
  }
  setting << (memory.At("tuned").Flag() ? ", tuned" : ", not tuned")
          << (memory.At("cross_fitted").Flag() ? ", cross-fitted" : "");
  Html html;
  html << Pair("Memory", Name(ShownPath(memory.At("path").Text()))) << Pair("Its size", size)
       << Pair("Its parameters", setting);
  const std::string digest = memory.At("model_digest").Text();
  if (!digest.empty()) {
    html << Pair("Base model", Element("code", {}, digest, " ", memory.At("model_layer").Text()));
  }
  return html << Pair("Written", Html() << Name(memory.At("created").Text()) << " by version "
                                        << Name(memory.At("tool_version").Text()));
}

Html Manifest(const Node& run) {
  std::string command;
  for (const Node& argument : run.At("command").Items()) {
    command += (command.empty() ? "" : " ") + Quoted(ShownArgument(argument.Text()));
  }
  Html machine;
  machine << Name(run.At("processor").Text()) << ", " << CountData(run.At("cores")) << " cores, "
          << Data(run.At("memory_bytes"), Bytes(run.At("memory_bytes").Count())) << ", "
          << Name(run.At("simd").Text());
  Html time;
  time << Name(run.At("started").Text()) << ", took "
       << Data(run.At("seconds"), Duration(run.At("seconds").Number()));
  Html seeds;
  for (const auto& [name, seed] : run.At("seeds").Members()) {
    if (!seeds.empty()) seeds << ", ";
    seeds << Name(name) << " " << Data(seed, seed.Exact());
  }
  Html pairs;
  pairs << Pair("Command", Element("code", {}, command))
        << Pair("Version",
                Html() << Name(run.At("version").Text()) << ", " << Name(run.At("build").Text()))
        << Pair("Machine", machine) << Pair("Time", time);
  if (!seeds.empty()) pairs << Pair("Seeds", seeds);
  if (const std::optional<Node> memory = run.Find("memory")) pairs << MemoryPairs(*memory);
  Html html = Element("dl", {{"class", "manifest"}}, pairs);
  Html rows;
  for (const Node& input : run.At("inputs").Items()) {
    rows << TableRow(Name(ShownPath(input.At("path").Text())),
                     Data(input.At("bytes"), Bytes(input.At("bytes").Count())),
                     Element("code", {}, input.At("digest").Text()));
  }
  if (!rows.empty()) html << Table("Inputs", Heading({"Input", "Size", "XXH3-128"}), rows);
  return html;
}

}  // namespace

void AddMemory(const Node& document, Page* page) {
  if (page->title.empty()) page->title = "A residual memory";
  page->sections.push_back(
      {"The memory", Element("dl", {{"class", "manifest"}}, MemoryPairs(document.At("memory")))});
}

void AddRuns(Page* page) {
  Html body =
      Element("p", {{"class", "lede"}}, "What is needed to repeat this; the JSON has whole paths.");
  for (size_t i = 0; i < page->runs.size(); ++i) {
    // One run may give several documents.
    const auto earlier = page->runs.begin() + static_cast<std::ptrdiff_t>(i);
    const bool shown = std::any_of(page->runs.begin(), earlier,
                                   [&](const Node& other) { return other.SameAs(page->runs[i]); });
    if (!shown) body << Manifest(page->runs[i]);
  }
  page->sections.push_back({"How this was made", body});
}

}  // namespace resmem
