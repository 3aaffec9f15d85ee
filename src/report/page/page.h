// A report while it is put together: each document of ours adds its sections.
#ifndef RESMEM_REPORT_PAGE_PAGE_H_
#define RESMEM_REPORT_PAGE_PAGE_H_

#include <string>
#include <vector>

#include "report/html.h"
#include "report/node.h"

namespace resmem {

struct Page {
  struct Section {
    std::string title;
    Html body;
  };
  std::string title;
  Html headline;  // of the first document that has one
  std::vector<std::string> warnings;
  std::vector<Section> sections;
  std::vector<Node> runs;  // one a document
};

// One for each schema.
void AddEvaluation(const Node& document, Page* page);
void AddTuning(const Node& document, Page* page);
void AddExamples(const Node& document, Page* page);
void AddExplanation(const Node& document, Page* page);
void AddFigures(const Node& document, Page* page);
void AddMemory(const Node& document, Page* page);
void AddSimulation(const Node& document, Page* page);

// The manifest at the page's end.
void AddRuns(Page* page);

// The whole file.
std::string WritePage(const Page& page);

}  // namespace resmem

#endif  // RESMEM_REPORT_PAGE_PAGE_H_
