// The rows that a command reads, as options: arrays (--data, --keys, --logits and so on), or
// images that a base model turns into rows.
#ifndef RESMEM_CLI_INPUTS_DATASET_OPTIONS_H_
#define RESMEM_CLI_INPUTS_DATASET_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "console/console.h"
#include "inputs/images/image_options.h"
#include "inputs/table_options.h"
#include "resmem/data/dataset.h"
#include "resmem/models/embedded_images.h"

namespace resmem::cli {

// Rows to be stored, to be tuned or judged on, to be predicted, to be judged and shown (there
// --images may also be the images of the arrays' rows), to be judged where they can be (logits
// and labels may be missing), whose keys ask and nothing else counts, or whose neighbors are asked
// for: keys and perhaps ids.
enum class DatasetUse { kStore, kTune, kJudge, kPredict, kShow, kDiagnose, kAsk, kSearch };

// What the options lead to.
struct Input {
  Dataset dataset;
  std::shared_ptr<const EmbeddedImages> images;  // that the rows are made of; null: arrays
};

// Rows that are read at once where a base model makes them: its speed is theirs.
inline constexpr int64_t kImagesAtOnce = 256;

class DatasetOptions {
 public:
  void Declare(CommandLine& line, DatasetUse use);

  bool given() const { return !data_.empty() || !Paths().empty(); }
  // The rows come from a base model over images.
  bool from_images() const { return images_.given() && data_.empty() && keys_.empty(); }
  const std::string& images() const { return images_.path(); }
  // Rows that a model of tables may have to read: --inputs, or a table without the base's output.
  bool may_need_model() const;
  bool has_inputs() const { return !inputs_.empty(); }
  // Files and folders, without members: for the run's manifest.
  std::vector<std::string> Paths() const;

  // For labels that are names, in the order of the classes.
  void set_class_names(std::vector<std::string> names) { class_names_ = std::move(names); }

  // Labels may be classes that the memory does not have yet.
  void set_new_classes(bool wanted) { new_classes_ = wanted; }

  // The memory that rows are for.  It knows the columns of its table and the names of its classes.
  struct Target {
    std::string name;
    const MemoryDescription* memory = nullptr;  // null: a new one
  };
  // `model`: the file to run over images; arrays do not need it.
  Result<Input> Open(Task task, const std::string& model, const Target& target, int threads,
                     Console& console) const;

  // Of a new memory's rows.
  Result<Task> FindTask() const;

  // What --out-of-fold-logits gave, if anything, takes the place of --logits.
  Status ReplaceLogits(const std::string& out_of_fold);

 private:
  Result<DatasetSources> Sources(const Target& target) const;
  Status CheckNoUrls() const;
  // Has the model read the rows, where they come without the base's output.
  Status AddModel(const std::string& model, int threads, DatasetSources* sources) const;
  Status AddTable(const Target& target, DatasetSources* sources) const;

  DatasetUse use_ = DatasetUse::kStore;
  std::string data_, keys_, logits_, labels_, targets_, ids_, sources_, split_, slices_, tags_,
      tag_;
  std::string shape_, element_type_, probabilities_, inputs_;
  std::optional<float> floor_;
  std::vector<std::string> class_names_;
  bool skip_bad_ = false, new_memory_ = false, new_classes_ = false;
  TableOptions table_;
  ImageOptions images_;
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
