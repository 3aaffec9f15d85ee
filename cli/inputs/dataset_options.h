// The arrays that a command reads, as options: --data, --keys, --logits and so on.
#ifndef RESMEM_CLI_INPUTS_DATASET_OPTIONS_H_
#define RESMEM_CLI_INPUTS_DATASET_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "resmem/dataset.h"

namespace resmem::cli {

// Rows to be stored, to be tuned or judged on, or to be predicted.
enum class DatasetUse { kStore, kTune, kJudge, kPredict };

class DatasetOptions {
 public:
  void Declare(CommandLine& line, DatasetUse use);

  bool given() const { return !Paths().empty(); }
  Result<Dataset> Open(Task task) const;
  // Files and folders, without members: for the run's manifest.
  std::vector<std::string> Paths() const;

  // What --out-of-fold-logits gave, if anything, takes the place of --logits.
  Status ReplaceLogits(const std::string& out_of_fold);

 private:
  Result<DatasetSources> Sources() const;

  DatasetUse use_ = DatasetUse::kStore;
  std::string data_, keys_, logits_, labels_, targets_, ids_, sources_, split_, slices_;
  std::string shape_, element_type_;
  std::optional<Role> role_;
};

// "file", "file:member", or of a headerless file "file,shape=-1x64,dtype=float32".
Result<ArraySource> ParseArraySource(const std::string& text);

// The path of such a text, without member and shape.
std::string FilePart(const std::string& text);

// --threads, the same words everywhere.
void DeclareThreads(CommandLine& line, int* threads);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_DATASET_OPTIONS_H_
