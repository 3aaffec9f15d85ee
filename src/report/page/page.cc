#include "report/page/page.h"

#include "report/base64.h"
#include "report/page/style.h"

namespace resmem {
namespace {

// The page runs nothing and loads nothing; its one style sheet is named by its digest, so
// that not even a style could be smuggled in.
std::string ContentPolicy() {
  const std::string_view hex = StyleSheetSha256();
  std::vector<uint8_t> digest;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    digest.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src "
         "'sha256-" +
         EncodeBase64(digest) + "'";
}

Html Warnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return {};
  Html items;
  for (const std::string& warning : warnings) items << Element("li", {}, warning);
  return Element("aside", {{"class", "warnings"}, {"role", "note"}, {"aria-label", "Warnings"}},
                 Element("h2", {}, warnings.size() == 1 ? "A warning" : "Warnings"),
                 Element("ul", {}, items));
}

}  // namespace

std::string WritePage(const Page& page) {
  Html contents, sections;
  for (size_t i = 0; i < page.sections.size(); ++i) {
    const std::string id = "s" + std::to_string(i + 1);
    contents << Element("li", {}, Element("a", {{"href", "#" + id}}, page.sections[i].title));
    sections << Element("section", {{"id", id}, {"aria-labelledby", id + "-title"}},
                        Element("h2", {{"id", id + "-title"}}, page.sections[i].title),
                        page.sections[i].body);
  }
  Html head = Html::Literal("<meta charset=\"utf-8\">");
  head << OpenTag("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", ContentPolicy()}})
       << Html::Literal(
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
              "<meta name=\"color-scheme\" content=\"light dark\">"
              "<meta name=\"referrer\" content=\"no-referrer\">")
       << Element("title", {}, page.title, " \u2013 ResMem") << Element("style", {}, StyleSheet());
  const Html body =
      Html() << Element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results")
             << Element("header", {}, Element("p", {{"class", "brand"}}, "ResMem report"),
                        Element("h1", {}, page.title),
                        Element("nav", {{"aria-label", "Contents"}}, Element("ol", {}, contents)))
             << Element("main", {{"id", "main"}}, Warnings(page.warnings),
                        page.headline.empty()
                            ? Html()
                            : Element("section", {{"class", "lead"}, {"aria-label", "In short"}},
                                      page.headline),
                        sections);
  return "<!DOCTYPE html>\n" +
         Element("html", {{"lang", "en"}}, Element("head", {}, head), Element("body", {}, body))
             .markup() +
         "\n";
}

}  // namespace resmem
