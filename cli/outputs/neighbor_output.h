// The neighbors of any number of queries, searched and written block by block: as arrays, CSV or
// JSON lines.
#ifndef RESMEM_CLI_OUTPUTS_NEIGHBOR_OUTPUT_H_
#define RESMEM_CLI_OUTPUTS_NEIGHBOR_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/output.h"
#include "resmem/data/array_writer.h"
#include "resmem/predictor.h"

namespace resmem::cli {

class NeighborOutput {
 public:
  // --k and --sigma.
  void DeclareSearch(CommandLine& line);
  // --output and --format.
  void DeclareOutput(CommandLine& line, const char* without = "CSV on standard output");
  bool given() const { return !output_.empty() || format_.has_value(); }
  Status CheckPaths(const std::vector<std::string>& inputs) const;

  // The predictor must outlive this.  `with_ids`: queries have ids.
  Status Begin(const Predictor& predictor, int64_t queries, bool with_ids, int threads);
  // The next queries.  `exclude`: a row each that is not found, -1 for none; or empty.
  Status Add(MatrixView keys, std::span<const uint64_t> ids, std::span<const int64_t> exclude);
  // The same of queries whose neighbors were found elsewhere.
  Status AddFound(Neighbors found, std::span<const uint64_t> ids);
  // "1,000 queries x 50 neighbors: rows, ids ..."; empty where lines are the output.
  Result<std::string> End();

 private:
  enum class Format { kArrays, kCsv, kJsonLines };
  Format ChosenFormat() const;
  Status BeginArrays();
  Status Write(std::span<const uint64_t> ids);
  Status WriteArrays(std::span<const uint64_t> ids);
  Status WriteLines(std::span<const uint64_t> ids);
  std::string CsvLines(int64_t q, std::span<const uint64_t> ids) const;
  std::string JsonLine(int64_t q, std::span<const uint64_t> ids) const;

  std::optional<int64_t> k_;
  std::optional<float> sigma_;
  std::string output_;
  std::optional<Format> format_;

  const Predictor* predictor_ = nullptr;
  Parameters parameters_;
  int64_t queries_ = 0, done_ = 0;
  bool with_ids_ = false, labels_ = false;
  int threads_ = 0;
  std::optional<ArrayWriter> arrays_;
  std::optional<Output> lines_;
  Neighbors neighbors_;
  std::vector<float> weights_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_NEIGHBOR_OUTPUT_H_
