// Which form of a memory is small enough and answers well enough.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

#include "memory/compress_memory.h"
#include "memory/memory_parts.h"
#include "memory/residuals/packed_residuals.h"
#include "resmem/compress.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/random.h"
#include "support/text.h"
#include "tune/compression_choice.h"
#include "tune/former_note.h"

namespace resmem {
namespace {

MemoryDescription DescriptionOf(const StoredForm& form, MemoryDescription own) {
  own.key_type = form.key_type;
  if (!form.packed) return own;
  // At another temperature, to which there is no way back.
  if (own.form == ResidualForm::kLogits) own.notes.erase(kFormerNote);
  own.form = ResidualForm::kPacked;
  own.top = std::min(own.outputs, kMostPacked);
  own.packed_share = form.share;
  own.packed_least = form.least;
  return own;
}

// How many bytes the keys of a row take.
double KeyBytes(KeyType type, int64_t dim) {
  switch (type) {
    case KeyType::kFloat32:
      return 4.0 * static_cast<double>(dim);
    case KeyType::kFloat16:
      return 2.0 * static_cast<double>(dim);
    case KeyType::kInt8:
      return static_cast<double>(dim) + 4;
    case KeyType::kInt4:
      return static_cast<double>(dim + 1) / 2 + 4;
  }
  return 0;
}

// Removed with all that is in it.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> Make(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::create_directory(path, error)) {
      return Status(ErrorCode::kIo,
                    Text(path, ": cannot be made for the candidates (",
                         error ? error.message() : std::string("it is there already"),
                         "); remove it, or choose another place for the result"));
    }
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(path));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string Of(size_t number) const { return Text(path_, "/", number, ".resmem"); }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// Memories that are tried: the first is the one given.
class TriedForms {
 public:
  TriedForms(const ResidualMemory& memory, const std::string& path,
             const CompressionOptions& options)
      : memory_(memory), path_(path), options_(options) {}

  Status Make() {
    RESMEM_ASSIGN_OR_RETURN(scratch_, ScratchFolder::Make(options_.scratch));
    const MemoryDescription& own = memory_.description();
    for (const KeyType type : {KeyType::kInt8, KeyType::kInt4}) {
      if (KeyBytes(type, own.dim) < KeyBytes(own.key_type, own.dim)) key_types_.push_back(type);
    }
    const KeyType smallest = key_types_.back();
    for (const float least : options_.least) {
      for (const float share : options_.shares) {
        RESMEM_RETURN_IF_ERROR(Add({smallest, true, share, least}, &residuals_));
      }
    }
    for (size_t i = 1; i + 1 < key_types_.size(); ++i) {
      RESMEM_RETURN_IF_ERROR(
          Add({key_types_[i], true, options_.shares.back(), options_.least.back()}, &keys_));
    }
    for (int64_t row = 0; row < memory_.capacity(); ++row) {
      if (!memory_.deleted(row)) living_.push_back(row);
    }
    return {};
  }

  // Searched for neighbors: by key type, the first the memory's own.
  size_t key_types() const { return key_types_.size(); }
  KeyType key_type(size_t i) const { return key_types_[i]; }
  const Predictor& searched(size_t i) const {
    if (i == 0) return own_;
    return i + 1 < key_types_.size() ? *keys_[i - 1].predictor : *residuals_.front().predictor;
  }
  // Whose residuals are summed: the first the memory's own.
  size_t residual_forms() const { return residuals_.size() + 1; }
  const Predictor& summed(size_t i) const { return i == 0 ? own_ : *residuals_[i - 1].predictor; }

  StoredForm form(size_t keys, size_t residuals) const {
    StoredForm form = residuals == 0 ? StoredForm() : residuals_[residuals - 1].form;
    form.key_type = key_types_[keys];
    return form;
  }
  int64_t bytes(size_t keys, size_t residuals) const {
    const MemoryDescription& own = memory_.description();
    const MemoryDescription& stored = summed(residuals).memory().description();
    const double saved = KeyBytes(stored.key_type, own.dim) - KeyBytes(key_types_[keys], own.dim);
    const auto all = static_cast<double>(summed(residuals).memory().bytes_on_disk());
    return static_cast<int64_t>(all - saved * static_cast<double>(memory_.rows()));
  }
  // Rows of memory `from` as those of memory `to`; only the one given has deleted rows.
  void Renumber(bool from_own, bool to_own, Neighbors* neighbors) const {
    if (from_own == to_own || memory_.rows() == memory_.capacity()) return;
    for (int64_t& row : neighbors->rows) {
      if (row < 0) continue;
      row = to_own ? living_[static_cast<size_t>(row)]
                   : std::lower_bound(living_.begin(), living_.end(), row) - living_.begin();
    }
  }

 private:
  struct Candidate {
    StoredForm form;
    std::unique_ptr<ResidualMemory> memory;
    std::unique_ptr<Predictor> predictor;
  };

  Status Add(const StoredForm& form, std::vector<Candidate>* to) {
    const std::string path = scratch_->Of(made_++);
    RESMEM_RETURN_IF_ERROR(CompressMemory(path_, path, form, {.progress = options_.progress}));
    RESMEM_ASSIGN_OR_RETURN(ResidualMemory memory,
                            ResidualMemory::Open(path, {.verify_blocks = false}));
    to->push_back({form, std::make_unique<ResidualMemory>(std::move(memory)), nullptr});
    to->back().predictor = std::make_unique<Predictor>(*to->back().memory);
    return {};
  }

  const ResidualMemory& memory_;
  const std::string path_;
  const CompressionOptions& options_;
  const Predictor own_{memory_};
  std::unique_ptr<ScratchFolder> scratch_;
  std::vector<KeyType> key_types_{memory_.description().key_type};
  std::vector<Candidate> keys_, residuals_;
  std::vector<int64_t> living_;
  size_t made_ = 0;
};

// The answers of every form for rows as they come.
class FormJudge {
 public:
  FormJudge(const TriedForms& candidates, const CompressionOptions& options)
      : candidates_(candidates),
        options_(options),
        outcomes_(candidates.key_types() * candidates.residual_forms()) {}

  Status Add(const Rows& block) {
    const int64_t outputs = candidates_.summed(0).memory().description().outputs;
    const int64_t step = std::clamp<int64_t>((int64_t{1} << 22) / outputs, 1, 1024);
    for (int64_t begin = 0; begin < block.count(); begin += step) {
      RESMEM_RETURN_IF_ERROR(AddPiece(block.Slice(begin, std::min(step, block.count() - begin))));
      if (options_.progress == nullptr) continue;
      options_.progress->Report("judge forms", std::ssize(outcomes_.front().right), 0);
      if (options_.progress->Cancelled()) {
        return {ErrorCode::kCancelled, "stopped while judging forms, nothing was written"};
      }
    }
    return {};
  }

  // By key type, then by residual form.
  const std::vector<FormOutcome>& outcomes() const { return outcomes_; }

 private:
  Status AddPiece(const Rows& rows) {
    const PredictOptions usual = candidates_.searched(0).DefaultOptions();
    for (size_t keys = 0; keys < candidates_.key_types(); ++keys) {
      Neighbors found;
      RESMEM_RETURN_IF_ERROR(candidates_.searched(keys).FindNeighbors(
          rows.keys, usual.parameters.k, {}, options_.threads, nullptr, &found));
      Neighbors packed = found;
      candidates_.Renumber(keys == 0, true, &found);
      candidates_.Renumber(keys == 0, false, &packed);
      for (size_t form = 0; form < candidates_.residual_forms(); ++form) {
        RESMEM_RETURN_IF_ERROR(Score(rows, form == 0 ? found : packed, candidates_.summed(form),
                                     &outcomes_[keys * candidates_.residual_forms() + form]));
      }
    }
    return {};
  }

  Status Score(const Rows& rows, const Neighbors& neighbors, const Predictor& predictor,
               FormOutcome* outcome) {
    const MemoryDescription& description = predictor.memory().description();
    const auto outputs = static_cast<size_t>(description.outputs);
    PredictOptions options = predictor.DefaultOptions();
    options.threads = options_.threads;
    scores_.resize(static_cast<size_t>(rows.count()) * outputs);
    RESMEM_RETURN_IF_ERROR(predictor.Score(rows.keys, rows.logits, neighbors, options, scores_));
    for (int64_t row = 0; row < rows.count(); ++row) {
      const std::span<float> line =
          std::span(scores_).subspan(static_cast<size_t>(row) * outputs, outputs);
      const int32_t label = rows.labels[static_cast<size_t>(row)];
      outcome->right.push_back(ArgMax(line) == label ? 1 : 0);
      if (options.method == Method::kResMem) {
        RESMEM_RETURN_IF_ERROR(
            ToProbabilities(description.calibrator, description.calibrator_temperature, line));
      }
      constexpr double kFloor = 0x1p-23;  // as in Calibration
      const auto probability = static_cast<double>(line[static_cast<size_t>(label)]);
      outcome->nll.push_back(-std::log(std::max(probability, kFloor)));
    }
    return {};
  }

  const TriedForms& candidates_;
  const CompressionOptions& options_;
  std::vector<FormOutcome> outcomes_;
  std::vector<float> scores_;
};

Status CheckJudgedRows(const Rows& block, const MemoryDescription& description) {
  if (block.keys.columns == description.dim && block.logits.columns == description.outputs &&
      block.logits.rows == block.count() && std::ssize(block.labels) == block.count()) {
    for (const int32_t label : block.labels) {
      if (label >= 0 && label < description.outputs) continue;
      return {ErrorCode::kBadData,
              Text("found label ", label, ", allowed are 0 to ", description.outputs - 1)};
    }
    return {};
  }
  return {ErrorCode::kBadData,
          Text("compression is judged on rows with ", description.dim, " values of a key, ",
               description.outputs, " logits and a label; found ", block.keys.columns, ", ",
               block.logits.columns, " and ", block.labels.size(), " labels for ", block.count(),
               " rows")};
}

// Only the rows of a role.
class RoleFilter {
 public:
  Rows Take(const Rows& block, Role role) {
    keys_.clear(), logits_.clear(), labels_.clear();
    for (int64_t row = 0; row < block.count(); ++row) {
      const auto i = static_cast<size_t>(row);
      if (block.roles.empty() || block.roles[i] != role) continue;
      const auto key = block.keys.row_span(row), logits = block.logits.row_span(row);
      keys_.insert(keys_.end(), key.begin(), key.end());
      logits_.insert(logits_.end(), logits.begin(), logits.end());
      labels_.push_back(block.labels[i]);
    }
    Rows rows;
    rows.keys = MatrixView(keys_.data(), std::ssize(labels_), block.keys.columns);
    rows.logits = MatrixView(logits_.data(), std::ssize(labels_), block.logits.columns);
    rows.labels = labels_;
    return rows;
  }

 private:
  std::vector<float> keys_, logits_;
  std::vector<int32_t> labels_;
};

Result<Compression> TryForms(const ResidualMemory& memory, const std::string& path,
                             const RowSource& rows, const CompressionOptions& options) {
  TriedForms candidates(memory, path, options);
  RESMEM_RETURN_IF_ERROR(candidates.Make());
  FormJudge judge(candidates, options);
  RoleFilter filter;
  const auto judge_block = [&](int64_t, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckJudgedRows(block, memory.description()));
    return judge.Add(options.only ? filter.Take(block, *options.only) : block);
  };
  RESMEM_RETURN_IF_ERROR(rows.Read(judge_block));
  std::vector<JudgedForm> forms;
  for (size_t keys = 0; keys < candidates.key_types(); ++keys) {
    for (size_t residuals = 0; residuals < candidates.residual_forms(); ++residuals) {
      forms.push_back({candidates.form(keys, residuals), candidates.bytes(keys, residuals),
                       &judge.outcomes()[forms.size()]});
    }
  }
  RESMEM_ASSIGN_OR_RETURN(Compression result, ChooseForm(forms, options));
  result.rows = memory.rows();
  return result;
}

}  // namespace

std::string StoredFormText(const StoredForm& form) {
  std::string text = Text(KeyTypeName(form.key_type), " keys");
  if (!form.packed) return text + ", residuals as they are";
  text += Text(", ", std::round(1000.0 * static_cast<double>(form.share)) / 10,
               " % of each row's mass");
  if (form.least > 0) text += Text(", rows from mass ", form.least, " on");
  return text;
}

Status CompressMemory(const std::string& from, const std::string& to, const StoredForm& form,
                      const CompressOptions& options) try {
  MemoryDescription wanted;
  {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(from, {.verify_blocks = false, .exact = true}));
    wanted = DescriptionOf(form, memory.description());
  }
  return WriteCompressed(FileSystem::Of(from), from, FileSystem::Of(to), to, wanted,
                         options.overwrite, options.progress);
} catch (...) {
  return CaughtException("compress the memory");
}

Result<Compression> ChooseCompression(const std::string& path, const RowSource& rows,
                                      const CompressionOptions& options) try {
  RESMEM_RETURN_IF_ERROR(CheckCompressionOptions(options));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  const MemoryDescription& description = memory.description();
  if (description.task == Task::kRegression) {
    return Status(ErrorCode::kUnsupported,
                  Text(path,
                       ": is a regression; compression is chosen by the accuracy and NLL of "
                       "a classification"));
  }
  if (description.form == ResidualForm::kPacked || description.key_type == KeyType::kInt4) {
    return Status(ErrorCode::kUnsupported,
                  Text(path, ": is compressed already; compress the memory it was made from"));
  }
  if (memory.rows() == 0) {
    return Status(ErrorCode::kBadData, Text(path, ": is empty, there is nothing to compress"));
  }
  return TryForms(memory, path, rows, options);
} catch (...) {
  return CaughtException("choose how to compress the memory");
}

}  // namespace resmem
