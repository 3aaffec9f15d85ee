// resmem neighbors: the nearest rows of any number of queries, as arrays or lines.
#include <algorithm>

#include "console/command.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "outputs/neighbor_output.h"

namespace resmem::cli {
namespace {

constexpr int64_t kQueriesAtOnce = 4096;

class NeighborsCommand : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status SearchInput(const ResidualMemory& memory, const Predictor& predictor, Console& console);
  Status SearchOwnRows(const ResidualMemory& memory, const Predictor& predictor, Console& console);

  std::string memory_path_;
  SearchedMemory searched_;
  bool leave_one_out_ = false;
  DatasetOptions data_;
  ModelOptions model_;
  NeighborOutput output_;
  int threads_ = 0;
};

void NeighborsCommand::Declare(CommandLine& line) {
  line.About("the nearest rows of each query: rows, ids, distances, weights, labels",
             "Searches in blocks and writes each block at once, so that neither the queries nor "
             "the neighbors need to fit into RAM. As arrays, each of queries x k, nearest first: "
             "rows (int64), ids (uint64), distances (float32, plain Euclidean), weights (float32; "
             "a query's sum to 1), labels (int32, classification), and query_ids where the queries "
             "have ids. Where the memory has fewer than k rows, the rest of a line has row and "
             "label -1, an infinite distance and weight 0. docs/own_method.md builds a method of "
             "its own from them.");
  DeclareMemory(line, &memory_path_);
  data_.Declare(line, DatasetUse::kSearch);
  line.Flag("--leave-one-out", &leave_one_out_,
            "the queries are the memory's own rows, each of which does not find itself; no input")
      .Excludes(kRowInputs);
  line.Group("Search");
  output_.DeclareSearch(line);
  searched_.Declare(line);
  model_.Declare(line, /*check=*/true);
  output_.DeclareOutput(line);
  DeclareThreads(line, &threads_);
  line.AddExample("as arrays", "resmem neighbors my.resmem --keys z.npy -o neighbors.npz");
  line.AddExample("of an image", "resmem neighbors my.resmem photo.png --k 5");
  line.AddExample("of the memory's own rows",
                  "resmem neighbors my.resmem --leave-one-out --k 20 -o own.npz");
}

Status NeighborsCommand::SearchInput(const ResidualMemory& memory, const Predictor& predictor,
                                     Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const Input input,
                          model_.OpenInput(data_, memory_path_, memory, threads_, console));
  const Dataset& dataset = input.dataset;
  RESMEM_RETURN_IF_ERROR(output_.Begin(predictor, dataset.rows(), dataset.has_ids(), threads_));
  const int64_t step = dataset.made() ? kImagesAtOnce : kQueriesAtOnce;
  Dataset::Block block;
  for (int64_t begin = 0; begin < dataset.rows(); begin += step) {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    console.progress()->Report("searching", begin, dataset.rows());
    const int64_t count = std::min(step, dataset.rows() - begin);
    RESMEM_RETURN_IF_ERROR(dataset.Read(begin, count, &block));
    RESMEM_RETURN_IF_ERROR(output_.Add(block.view.keys, block.view.ids, {}));
    dataset.Drop(begin, count);
  }
  return {};
}

Status NeighborsCommand::SearchOwnRows(const ResidualMemory& memory, const Predictor& predictor,
                                       Console& console) {
  RESMEM_RETURN_IF_ERROR(output_.Begin(predictor, memory.rows(), /*with_ids=*/true, threads_));
  const int64_t dim = memory.description().dim;
  std::vector<float> keys;
  std::vector<uint64_t> ids;
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (!memory.deleted(row)) {
      keys.resize(keys.size() + static_cast<size_t>(dim));
      memory.DecodeKey(row, std::span(keys).last(static_cast<size_t>(dim)));
      ids.push_back(memory.id(row));
      rows.push_back(row);
    }
    if (std::ssize(rows) < kQueriesAtOnce && row + 1 < memory.capacity()) continue;
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    RESMEM_RETURN_IF_ERROR(memory.damage());
    console.progress()->Report("searching", row + 1, memory.capacity());
    RESMEM_RETURN_IF_ERROR(output_.Add(MatrixView(keys.data(), std::ssize(rows), dim), ids, rows));
    keys.clear();
    ids.clear();
    rows.clear();
  }
  return {};
}

Result<ExitCode> NeighborsCommand::Run(Console& console) {
  std::vector<std::string> inputs = data_.Paths();
  inputs.push_back(memory_path_);
  RESMEM_RETURN_IF_ERROR(output_.CheckPaths(inputs));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, searched_.Open(memory_path_, console));
  const Predictor predictor(memory);
  RESMEM_RETURN_IF_ERROR(leave_one_out_ ? SearchOwnRows(memory, predictor, console)
                                        : SearchInput(memory, predictor, console));
  RESMEM_ASSIGN_OR_RETURN(const std::string summary, output_.End());
  RESMEM_RETURN_IF_ERROR(PrintResult(summary));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeNeighbors() {
  return std::make_unique<NeighborsCommand>();
}

}  // namespace resmem::cli
