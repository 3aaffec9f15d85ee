#include <algorithm>

#include "report/base64.h"
#include "report/numbers.h"
#include "report/page/ledger.h"
#include "report/page/page.h"
#include "report/page/widgets.h"
#include "report/png.h"

namespace resmem {
namespace {

constexpr size_t kNeighborsShown = 6;

// Only what is a PNG of the sides it claims gets into the page.
Html Image(const Node& image, std::string_view description, std::string_view style) {
  const int64_t height = image.At("height").Count(), width = image.At("width").Count();
  const std::string text = image.At("png").Text();
  const std::optional<std::vector<uint8_t>> bytes = DecodeBase64(text);
  if (!bytes || !IsPng(*bytes, height, width)) {
    image.At("png").Fail("a PNG of these sides in base64");
    return {};
  }
  return Element("img", {{"src", "data:image/png;base64," + text},
                         {"alt", std::string(description)},
                         {"class", std::string(style)},
                         {"width", std::to_string(width)},
                         {"height", std::to_string(height)}});
}

Html NeighborCards(const Node& example, const Ledger& ledger, int64_t truth,
                   const std::vector<std::string>& names) {
  const std::vector<Node> images = example.At("neighbor_images").Items();
  const std::vector<Node> texts = example.At("neighbor_texts").Items();
  if (images.empty() && texts.empty()) return {};
  const std::vector<Node> contributions = ContributionsTo(ledger, truth);
  Html cards;
  for (size_t i = 0; i < std::min(ledger.lines.size(), kNeighborsShown); ++i) {
    const Node& line = ledger.lines[i];
    const int64_t label = line.At("label").Integer();
    const std::string name = ClassName(names, label);
    Html card;
    if (i < images.size() && images[i].Find("png")) {
      card << Image(images[i], "neighbor " + std::to_string(i + 1) + ": " + name, "small");
    }
    if (i < texts.size()) card << Element("q", {}, texts[i].Text());
    card << Element("strong", {}, Name(name))
         << Element("span", {}, "distance ", ShortData(line.At("distance")))
         << Element("span", {}, "weight ",
                    Data(line.At("weight"), Percent(line.At("weight").Share(), 1)));
    if (i < contributions.size()) {
      const Node& share = contributions[i];
      card << Element("span", {}, "adds ", Data(share, Signed(share.Number(), 3)));
    }
    cards << Element("li", {{"class", label == truth ? "agrees" : "differs"}}, card);
  }
  return Element("ol", {{"class", "neighbors"}}, cards);
}

Html Answer(const Html& who, const std::string& name, bool right) {
  return Element("div", {{"class", right ? "answer good" : "answer bad"}}, Element("dt", {}, who),
                 Element("dd", {}, Name(name), right ? " \u2713" : " \u2717"));
}

Html ExampleCard(const Node& example, const std::vector<std::string>& names) {
  const Ledger ledger = ReadLedger(example.At("ledger"));
  const int64_t truth = example.At("truth").Integer();
  const std::string kind = example.At("kind").Text();
  Html query;
  if (const std::optional<Node> image = example.Find("image")) {
    query << Image(*image, "the query, row " + std::to_string(example.At("row").Count()), "query");
  }
  const std::string text = example.At("text").Text();
  if (!text.empty()) query << Element("blockquote", {}, text);
  Html facts;
  facts << Element("div", {{"class", "answer"}}, Element("dt", {}, "Truth"),
                   Element("dd", {}, Name(ClassName(names, truth))))
        << Answer(Html() << "Base", ClassName(names, ledger.base_prediction),
                  ledger.base_prediction == truth)
        << Answer(Name(ledger.answer), ClassName(names, ledger.prediction),
                  ledger.prediction == truth);
  Html title;
  title << (kind == "fixed"    ? "Fixed"
            : kind == "harmed" ? "Harmed"
                               : "Unchanged")
        << ", row " << CountData(example.At("row"));
  Html change;
  change << "The true class's score changes by "
         << Data(example.At("change"), Signed(example.At("change").Number(), 4)) << ".";
  const std::vector<size_t> columns =
      ColumnsOf(ledger, {truth, ledger.base_prediction, ledger.prediction}, 2);
  return Element("article",
                 {{"class", "example " + std::string(kind == "harmed" ? "is-harmed" : "is-fixed")}},
                 Element("div", {{"class", "example-head"}}, query,
                         Element("div", {}, Element("h3", {}, title),
                                 Element("dl", {{"class", "answers"}}, facts),
                                 Element("p", {{"class", "quiet"}}, change))),
                 NeighborCards(example, ledger, truth, names),
                 Details("The ledger: how the score adds up", LedgerTable(ledger, columns, names)));
}

}  // namespace

void AddExamples(const Node& document, Page* page) {
  if (page->title.empty()) page->title = "Examples";
  const std::vector<std::string> names = TextList(document.At("class_names"));
  Html cards;
  for (const Node& example : document.At("examples").Items()) cards << ExampleCard(example, names);
  if (cards.empty()) cards = Element("p", {}, "No answer changed: there is nothing to show.");
  Html lede;
  lede << "How they were chosen: " << Name(document.At("rule").Text())
       << " Neighbors stand nearest first, under a blue bar where their label is the truth, with "
       << "what each adds to the true class's score. In each ledger the base's share, every "
       << "neighbor's contribution and the rounding add up to the score.";
  page->sections.push_back({"Examples", Element("p", {{"class", "lede"}}, lede) << cards});
}

void AddExplanation(const Node& document, Page* page) {
  if (page->title.empty()) page->title = "Why this answer?";
  const std::vector<std::string> names = TextList(document.At("class_names"));
  const Ledger ledger = ReadLedger(document.At("ledger"));
  Html lede;
  if (ledger.prediction >= 0) {
    lede << "The base model says " << Name(ClassName(names, ledger.base_prediction)) << ", "
         << Name(ledger.answer) << " says " << Name(ClassName(names, ledger.prediction)) << ". ";
    const size_t flips = document.At("ledger").At("flip_set").Items().size();
    if (flips > 0) {
      lede << "Without " << Grouped(static_cast<int64_t>(flips))
           << " of the neighbors the answer would differ. ";
    }
  }
  lede << "The base's share, every neighbor's contribution and the rounding add up to the score.";
  const std::vector<size_t> columns =
      ColumnsOf(ledger, {ledger.prediction, ledger.base_prediction}, 4);
  page->sections.push_back({"One prediction as a sum", Element("p", {{"class", "lede"}}, lede)
                                                           << LedgerTable(ledger, columns, names)});
}

}  // namespace resmem
