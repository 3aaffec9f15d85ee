// resmem shard merge: the neighbors in the whole memory, from those in its shards.
#include "console/command.h"
#include "console/output.h"
#include "inputs/shard_options.h"
#include "outputs/neighbor_output.h"

namespace resmem::cli {
namespace {

constexpr int64_t kQueriesAtOnce = 4096;

class ShardMerge : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("merge the neighbors of all shards",
               "Keeps the k nearest of all shards, by distance and then by row number. From shards "
               "that are searched exactly this is, bit for bit, the answer of one memory of all "
               "rows, for any number of shards. With -o they are also written as 'resmem "
               "neighbors' writes them, which reads the shards.");
    options_.Declare(line, /*one=*/false);
    neighbors_.DeclareOutput(line, "FOLDER/merged.answers alone");
    line.AddExample("as arrays, too", "resmem shard merge work -o neighbors.npz");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ShardFolder folder, options_.Open());
    RESMEM_RETURN_IF_ERROR(neighbors_.CheckPaths({options_.path()}));
    RESMEM_ASSIGN_OR_RETURN(const ShardDone done, MergeShards(folder, options_.Run(console)));
    if (neighbors_.given()) return WriteNeighbors(folder);
    RESMEM_RETURN_IF_ERROR(
        PrintStep(folder.merged_path(), CountedQueries(done.rows) + " merged", done, console));
    return ExitCode::kOk;
  }

 private:
  Result<ExitCode> WriteNeighbors(const ShardFolder& folder) {
    RESMEM_ASSIGN_OR_RETURN(const MergedNeighbors merged, MergedNeighbors::Open(folder));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenShards(folder));
    RESMEM_ASSIGN_OR_RETURN(const std::vector<uint64_t> ids, ShardQueryIds(folder));
    const Predictor predictor(memory);
    RESMEM_RETURN_IF_ERROR(
        neighbors_.Begin(predictor, merged.queries(), !ids.empty(), /*threads=*/0));
    for (int64_t begin = 0; begin < merged.queries(); begin += kQueriesAtOnce) {
      const int64_t count = std::min(kQueriesAtOnce, merged.queries() - begin);
      Neighbors found;
      RESMEM_RETURN_IF_ERROR(merged.Read(begin, count, folder.plan().neighbors(), &found));
      RESMEM_RETURN_IF_ERROR(neighbors_.AddFound(
          std::move(found), ids.empty() ? std::span<const uint64_t>()
                                        : std::span(ids).subspan(static_cast<size_t>(begin),
                                                                 static_cast<size_t>(count))));
    }
    RESMEM_ASSIGN_OR_RETURN(const std::string summary, neighbors_.End());
    RESMEM_RETURN_IF_ERROR(PrintResult(summary));
    return ExitCode::kOk;
  }

  ShardOptions options_;
  NeighborOutput neighbors_;
};

}  // namespace

std::unique_ptr<Command> MakeShardMerge() {
  return std::make_unique<ShardMerge>();
}

}  // namespace resmem::cli
