// resmem data list: public data sets that a package registry has.
#include <sstream>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "get_data.h"

namespace resmem::cli {
namespace {

class DataList : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "list public data sets that 'data get' can fetch",
        "With the package that has each, its size, its SHA-256 and the terms of its authors. "
        "docs/data.md is made of this list.");
    line.Group("Output");
    line.Flag("--markdown", &markdown_, "as a table of Markdown");
    line.AddExample("what there is", "resmem data list");
  }

  Result<ExitCode> Run(Console&) override {
    RESMEM_ASSIGN_OR_RETURN(const std::string listed, RunGetData({"list"}));
    using Align = Table::Align;
    Table table({{"name", Align::kLeft},
                 {"what", Align::kLeft},
                 {"package", Align::kLeft},
                 {"size"},
                 {"SHA-256 of the package", Align::kLeft},
                 {"terms", Align::kLeft}});
    std::istringstream lines(listed);
    for (std::string text; std::getline(lines, text);) {
      std::vector<std::string> cells;
      std::istringstream fields(text);
      for (std::string field; std::getline(fields, field, '|');) cells.push_back(field);
      constexpr size_t kSize = 3;
      int64_t bytes = 0;
      if (cells.size() > kSize && ParseValue(cells[kSize], &bytes).ok())
        cells[kSize] = Bytes(bytes);
      table.AddRow(std::move(cells));
    }
    RESMEM_RETURN_IF_ERROR(PrintResult(markdown_ ? table.Markdown() : table.Text()));
    return ExitCode::kOk;
  }

 private:
  bool markdown_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDataList() {
  return std::make_unique<DataList>();
}

}  // namespace resmem::cli
