// The results page: Markdown, plots as SVG beside it, and the JSON of every step it was made from.
//
//   OUTPUT/docs/results/cifar100.md
//   OUTPUT/docs/results/cifar100.json
//   OUTPUT/docs/results/cifar100/NAME.svg
//
// Everything on it is computed from the steps' records; a step that is not there is said to be.
#ifndef RESMEM_CLI_REPRODUCE_PAGE_PAGE_H_
#define RESMEM_CLI_REPRODUCE_PAGE_PAGE_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/page/markdown.h"
#include "reproduce/step_records.h"
#include "reproduce/workspace.h"
#include "resmem/report.h"

namespace resmem::cli::reproduce {

class Page {
 public:
  Page(const StepRecords& records, bool quick) : records_(records), quick_(quick) {}

  bool quick() const { return quick_; }
  // Of a step, also where it is out of date; null where it was never finished.
  const Json& result(const std::string& step) const { return At(records_.record(step), "result"); }

  void Heading(const std::string& title) { text_ += "## " + title + "\n\n"; }
  // The heading, and a sentence where the step has no result (then false) or an old one.
  bool Begin(const std::string& title, const std::string& step);
  void Paragraph(const std::string& words) { text_ += words + "\n\n"; }
  void Add(const MarkdownTable& table) { text_ += table.text() + "\n"; }
  // `name`: of the file, without its ending.
  void AddFigure(const std::string& name, const Figure& figure);

  const std::string& text() const { return text_; }
  const std::vector<std::pair<std::string, Figure>>& figures() const { return figures_; }

 private:
  const StepRecords& records_;
  bool quick_;
  std::string text_;
  std::vector<std::pair<std::string, Figure>> figures_;
};

// Writes all three; gives the path of the page.
Result<std::string> WritePage(const std::string& output, const Workspace& workspace,
                              std::span<const Step> steps, const StepRecords& records);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_CLI_REPRODUCE_PAGE_PAGE_H_
