// A results page: Markdown, plots as SVG beside it, and the JSON of every step it was made from.
//
//   OUTPUT/docs/results/NAME.md
//   OUTPUT/docs/results/NAME.json
//   OUTPUT/docs/results/NAME/FIGURE.svg
//
// Everything on it is computed from the steps' records; a step that is not there is said to be.
// Records that stand in the JSON stay there until their step is finished again, so that a page may
// be made in several folders, on several machines.
#ifndef RESMEM_LAB_REPRODUCE_PAGE_PAGE_H_
#define RESMEM_LAB_REPRODUCE_PAGE_PAGE_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/page/markdown.h"
#include "reproduce/step_records.h"
#include "resmem/report/report.h"

namespace resmem::cli::reproduce {

class Page {
 public:
  Page(std::string name, const StepRecords& records) : name_(std::move(name)), records_(records) {}

  const std::string& name() const { return name_; }
  // Of a step, also where it is out of date; null where it was never finished.
  const Json& result(const std::string& step) const { return At(records_.record(step), "result"); }

  void Title(const std::string& title) { text_ += "# " + title + "\n\n"; }
  void Heading(const std::string& title) { text_ += "## " + title + "\n\n"; }
  // The heading, and a sentence where the step has no result (then false) or an old one.
  bool Begin(const std::string& title, const std::string& step);
  void Paragraph(const std::string& words) { text_ += words + "\n\n"; }
  void Add(const Table& table) { text_ += table.Markdown() + "\n"; }
  // `name`: of the file, without its ending.
  void AddFigure(const std::string& name, const Figure& figure);
  // What was run, when and where.
  void AddSteps(std::span<const Step> steps);

  const std::string& text() const { return text_; }
  const std::vector<std::pair<std::string, Figure>>& figures() const { return figures_; }

 private:
  std::string name_;
  const StepRecords& records_;
  std::string text_;
  std::vector<std::pair<std::string, Figure>> figures_;
};

// The records of OUTPUT/docs/results/NAME.json by step; an empty object where there is no such
// file. `header`: what the page is about now.  kMismatch where the file is about something else,
// which would be lost; kCorrupt where it cannot be read.
Result<Json> PublishedRecords(const std::string& output, const std::string& name,
                              const Json& header);

// Writes all three; gives the path of the page.  `header`: first fields of the JSON.
Result<std::string> WritePage(const std::string& output, const Page& page, const Json& header,
                              std::span<const Step> steps, const StepRecords& records);

// The point of a curve at x with the accuracy or gain object's value and interval.
CurvePoint PointOf(double x, const Json& value);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_PAGE_PAGE_H_
