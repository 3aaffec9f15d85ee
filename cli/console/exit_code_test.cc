#include "console/exit_code.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace resmem::cli {
namespace {

// "| `kOk` | ok | 0 | |" of docs/errors.md: word -> exit code.
std::map<std::string, int> DocumentedExitCodes() {
  std::map<std::string, int> codes;
  std::ifstream page(RESMEM_SOURCE_DIR "/docs/errors.md");
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `k")) continue;
    std::istringstream cells(line);
    std::string skipped, code, word, exit_code;
    std::getline(cells, skipped, '|');
    std::getline(cells, code, '|');
    std::getline(cells, word, '|');
    std::getline(cells, exit_code, '|');
    codes[word.substr(1, word.size() - 2)] = std::stoi(exit_code);
  }
  return codes;
}

TEST(ExitCode, IsTheDocumentedOneForEveryErrorCode) {
  const std::map<std::string, int> documented = DocumentedExitCodes();
  constexpr int kCodes = static_cast<int>(ErrorCode::kInternal) + 1;
  ASSERT_EQ(documented.size(), kCodes);
  for (int code = 0; code < kCodes; ++code) {
    const auto error = static_cast<ErrorCode>(code);
    const auto entry = documented.find(std::string(ErrorCodeName(error)));
    ASSERT_NE(entry, documented.end()) << ErrorCodeName(error);
    EXPECT_EQ(static_cast<int>(ExitCodeOf(error)), entry->second) << ErrorCodeName(error);
  }
}

}  // namespace
}  // namespace resmem::cli
