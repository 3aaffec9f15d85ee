// One prediction as a sum: base share, each neighbor's contribution, rounding, score.
#ifndef RESMEM_REPORT_PAGE_LEDGER_H_
#define RESMEM_REPORT_PAGE_LEDGER_H_

#include <string>
#include <vector>

#include "report/html.h"
#include "report/node.h"

namespace resmem {

struct Ledger {
  Node node;
  std::string answer;            // whose: "ResMem", "blend"
  std::vector<int64_t> outputs;  // class numbers of the columns
  std::vector<Node> lines;
  int64_t base_prediction = -1, prediction = -1;
};

// Every list is as long as `outputs`; the document knows where one is not.
Ledger ReadLedger(const Node& node);

// Each line's contribution to the score of one class; empty where the ledger does not cover it.
std::vector<Node> ContributionsTo(const Ledger& ledger, int64_t output);

// Columns for the outputs at `columns` (indices into ledger.outputs).  The nearest lines are
// listed, the others are one line of their sum, with all of them folded below.
Html LedgerTable(const Ledger& ledger, const std::vector<size_t>& columns,
                 const std::vector<std::string>& class_names);

// The columns worth looking at: these classes, without repetition, where the ledger has them;
// filled with the largest scores up to `least`.
std::vector<size_t> ColumnsOf(const Ledger& ledger, const std::vector<int64_t>& classes,
                              size_t least);

}  // namespace resmem

#endif  // RESMEM_REPORT_PAGE_LEDGER_H_
