// A ResidualMemory answers one question: by how much was the base model wrong near here?
//
//   keys       rows x dim       float32, float16 or int8
//   residuals  rows x outputs   onehot(label) - softmax(logits / temperature)
//
// On disk it is a folder of immutable, checksummed files and a manifest that names them
// (docs/memory_format.md); it is opened by mapping.  An open memory never changes: const
// methods need no lock on any number of threads, and only the next Open() sees a later append,
// delete or compact.
#ifndef RESMEM_RESIDUAL_MEMORY_H_
#define RESMEM_RESIDUAL_MEMORY_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/fingerprint.h"
#include "resmem/knn_index.h"
#include "resmem/progress.h"
#include "resmem/rows.h"
#include "resmem/status.h"

namespace resmem {

// The three numbers of the method.  Weight of a neighbor: exp(-distance / sigma).
struct Parameters {
  int64_t k = 53;            // neighbors consulted; 0 gives the base prediction
  float sigma = 0.7f;        // > 0, in units of the key distances
  float temperature = 1.4f;  // > 0; residual = onehot(label) - softmax(logits / temperature)

  bool operator==(const Parameters&) const = default;
};
Status CheckParameters(const Parameters& parameters);

// How an answer is made of a base and its neighbors: predictor.h, docs/predictor.md.
enum class Method { kBase, kNearestClassMean, kKnn, kKnnLm, kResMem, kBlend, kLogitBoost };
// "base", "nearest-class-mean", "knn", "knn-lm", "resmem", "blend", "logit-boost"
const char* MethodName(Method method);

// What Tune() fitted on held-out rows for Method::kBlend and kLogitBoost (docs/predictor.md):
//   eta = b_0(x) log softmax(f) + b_1(x) log(A + a p0) + b_2(x) log(B + a p0) + b_3(x) (A - B)
//   p   = softmax(eta),   b_j(x) = coefficients[j][0] + sum_m coefficients[j][m + 1] u_m(x)
// Regression: f + b_3(x) (A - B), the mean residual.
struct Blend {
  static constexpr size_t kParts = 4;  // base, labels, expected, residual
  static constexpr size_t kGates = 3;  // log d_1, log d_k, log n_eff

  Parameters parameters;       // of the weights, and of the residuals: A - B
  float prior = 1;             // a, above 0
  float base_temperature = 1;  // T0 of p0 = softmax(f / T0), above 0
  std::array<std::array<float, 1 + kGates>, kParts> coefficients{};
  std::array<float, kGates> gate_means{}, gate_deviations{1, 1, 1};  // of u before it is scaled
  // Of the rows that it was fitted on, at percentiles 0 .. 100, ascending.  Answers fade to the
  // base's between the 95th and the 99th distance to the 10th neighbor (the last, where k is less),
  // and from the 5th spread down to the least: the standard deviation of the logits over the
  // classes.  Without spreads (regression, and memories from before) from the 90th distance on.
  std::vector<float> distances, spreads;

  bool operator==(const Blend&) const = default;
};

// What is done to keys before distances are measured (docs/predictor.md, "Keys").  The memory does
// it: to its own keys once, when they are stored, and to every query.  Keys that you
// give or get are as the model makes them.
enum class KeyTransform {
  kNone,
  kUnit,    // divided by their length, so that distances rank as cosines do; 0 stays 0
  kWhiten,  // by the inverse root of their covariance within classes
};
const char* KeyTransformName(KeyTransform transform);  // "none", "unit", "whiten"

// What a memory stores of each row's answer.
enum class ResidualForm {
  kLogits,  // labels and logits: the temperature may still change
  kDense,   // residuals frozen at one temperature; the only form for regression
  kSparse,  // the `top` residuals of largest magnitude, frozen at one temperature
  kPacked,  // the largest residuals of each row, as many as hold `packed_share` of its mass, a byte
            // each; frozen at one temperature.  What compression makes (compress.h).
};
const char* ResidualFormName(ResidualForm form);  // "logits", "dense", "sparse", "packed"

// Only a memory of tokens has this note: the fingerprint of their token set (lm/token_memory.h).
inline constexpr char kTokensNote[] = "tokens_fingerprint";

// Everything that is not a row.  All of it is in the manifest.
struct MemoryDescription {
  Task task = Task::kClassification;
  int64_t dim = 0;
  int64_t outputs = 0;  // classes, or values of a regression target
  KeyType key_type = KeyType::kFloat32;
  KeyTransform key_transform = KeyTransform::kNone;
  ResidualForm form = ResidualForm::kLogits;
  int64_t top = 128;                // kSparse: entries kept per row; kPacked: at most, 1 .. 255
  float packed_share = 0.99f;       // kPacked: of each row's mass, above 0, at most 1
  float packed_least = 0;           // kPacked: rows with less residual mass keep no entry, 0 .. 1
  bool half_residuals = false;      // kDense, kSparse: values stored as float16
  Parameters parameters;            // a frozen form has its frozen temperature
  bool tuned = false;               // parameters were chosen by Tune()
  bool cross_fitted = false;        // logits are out-of-fold: the base had not seen the row
  bool has_sources = false;         // every row carries a source string, or none does
  std::string calibrator = "clip";  // how probabilities are made; see predictor.h
  float calibrator_temperature = 1.0f;
  // The default answer: kResMem, and after Tune() kBlend, kLogitBoost or kBase.
  Method answer = Method::kResMem;
  std::optional<Blend> blend;  // where `answer` is kBlend or kLogitBoost
  Fingerprint fingerprint;
  std::vector<std::string> class_names;  // empty or `outputs` names
  uint64_t seed = 0;
  std::string tool_version;                  // of the program that wrote it; set by the writer
  std::string created;                       // UTC, ISO 8601; set by the writer
  std::map<std::string, std::string> notes;  // the tuner's trace and the like; free text
};

struct OpenOptions {
  // Reads every block once and compares checksums (about 10 GB/s from the page cache).
  // Off, so that a large memory is quick to open: ids, labels and sources are checked at once, and
  // every other block of 1 MiB when it is first read.  A broken one is kCorrupt where the function
  // that meets it returns a Status, and see ResidualMemory::damage().  Off or on, no answer is ever
  // made of bytes that were not compared with their checksum.
  bool verify_blocks = true;
  // Searches every key, even if the memory has an index.
  bool exact = false;
};

// The inverted files that make search faster and its answers approximate: docs/approximate.md.
struct IndexInfo {
  double recall = 0;           // requested
  double measured_recall = 0;  // at the memory's k, when the files were made
  int code_bits = 8;           // bits per value; or 4 or 2
  int64_t files = 0, lists = 0;
  int64_t rows = 0;            // in lists, deleted ones included
  int64_t unindexed_rows = 0;  // appended since; searched exactly until there are 16,384
  int64_t bytes = 0;
  // Queries that the recall was measured on; 0: rows of the memory, leaving each one out.
  int64_t given_queries = 0;
};

class ResidualMemory {
 public:
  // Errors: kNotFound, kCorrupt, kTooNew, kIo.
  static Result<ResidualMemory> Open(const std::string& path, const OpenOptions& options = {});
  ResidualMemory(ResidualMemory&&) noexcept;
  ResidualMemory& operator=(ResidualMemory&&) noexcept;
  ~ResidualMemory();

  const MemoryDescription& description() const;
  bool has_tags() const;     // some row may have tags
  int64_t rows() const;      // living rows
  int64_t capacity() const;  // rows stored; row numbers run from 0 to capacity() - 1
  int64_t segments() const;
  int64_t bytes_on_disk() const;
  // Of these, the keys as they were before UpdateDescription() transformed them; kept so that it
  // can restore them, until rows change or the memory is compacted.
  int64_t former_bytes() const;
  bool deleted(int64_t row) const;

  // Require 0 <= row < capacity().
  uint64_t id(int64_t row) const;
  std::string_view source(int64_t row) const;        // "" without sources
  std::string_view tags(int64_t row) const;          // "" without tags; see row_filter.h
  int32_t label(int64_t row) const;                  // classification
  std::span<const float> target(int64_t row) const;  // regression
  // dim values: the key as it was given, but for the rounding of its type and of the transform.
  void DecodeKey(int64_t row, std::span<float> key) const;
  std::optional<int64_t> FindId(uint64_t id) const;  // living rows only

  // The row's residual, `outputs` values.  For frozen forms `temperature` must be the frozen one.
  void Residual(int64_t row, float temperature, std::span<float> out) const;
  // accumulator[c] += weight * residual[c], each product and sum rounded to float32, in every
  // form the same for the entries it stores.  `scratch`: `outputs` floats, overwritten.
  void AddResidual(int64_t row, float temperature, float weight, std::span<float> scratch,
                   std::span<float> accumulator) const;
  // The row's logits (kLogits only), for leave-one-out evaluation of rows in the memory.
  std::span<const float> logits(int64_t row) const;

  // Of a memory that was opened without verify_blocks: kCorrupt once one of the functions above or
  // below that return numbers and no Status met a broken block.  What they gave for it is NaN.
  Status damage() const;

  // Approximate if the memory has an index and was not opened as exact; then index_info() says what
  // it promises.
  const KnnIndex& index() const;
  const KnnIndex& exact_index() const;
  // The same state of the same files, searched exactly.
  ResidualMemory Exact() const;
  std::optional<IndexInfo> index_info() const;
  // Why rows that should be in the index are searched exactly instead, and what to do about it; ""
  // if all is well.
  const std::string& index_obstacle() const;

  // Share of all residual mass, sum |r|, that the sparse form dropped; 0 for others.
  double dropped_mass() const;
  // Mean of |r|_1 / 2 over living rows at `temperature`: 0 if the base has memorized its training
  // set, so that the memory has nothing to add; 1 if it is always wrong.  Regression: in units of
  // the targets, without an upper limit.
  double MeanResidualMass(float temperature) const;

  // Compares every checksum and every pair of fields that must agree, including the queries kept
  // for the index, which no search reads.
  Status Verify(Progress* progress = nullptr) const;

 private:
  friend struct MemoryParts;
  struct Impl;
  explicit ResidualMemory(std::shared_ptr<const Impl> impl, bool exact);
  std::shared_ptr<const Impl> impl_;
  bool exact_ = false;  // searched exactly, though it may have an index
};

// How a change comes to the memory, which only one process may change at a time.
struct ChangeOptions {
  double wait_seconds = 0;       // for one that is changing it; then kResourceExhausted
  Progress* progress = nullptr;  // may cancel the waiting
};
// Changes of memories that this thread has made durable.  For a program that ends by an error and
// must say whether its change was made before; needs no memory.
int64_t CommittedChanges();

struct IndexOptions {
  static constexpr int64_t kFewestQueries = 100, kMostQueries = 2000;

  double recall = 0.95;  // above 0, below 1: the share of the true neighbors to find
  // Bits per value: 8; 4, read in half the time if memory bandwidth is the limit; or 2, for
  // memories read from disk.  With fewer bits, more rows are measured for the same recall.  Not
  // given: 8, or 4 if 8-bit codes would exceed 256 MiB.
  std::optional<int> code_bits{};
  // Sample queries that the recall is tuned on: keys like those that will be searched, not of the
  // memory's own rows.  At least kFewestQueries; from more than kMostQueries, that many are
  // sampled. None: the memory's rows, leaving each one out.
  MatrixView queries{};
  uint64_t seed = 0;
  int threads = 0;  // 0: all processors; the files do not depend on it
  Progress* progress = nullptr;
  double wait_seconds = 0;  // see ChangeOptions
};
// kInvalidArgument unless recall and bits are allowed.  IndexMemory() checks this first; call it
// before long work of your own.  `memory`: path of an existing one, for the message.
Status CheckIndexOptions(const IndexOptions& options, const std::string& memory = "");

// The memory's living rows with their ids, for leave_one_out.  Classification needs
// ResidualForm::kLogits, or the logits are gone: Read() then returns kUnsupported.
RowSource ReadMemory(const ResidualMemory& memory, int64_t block_rows = 0);

struct AppendOptions {
  // Your name for these rows.  The memory keeps the latest 1,000.  An append with a token that the
  // memory knows is a repetition: nothing is added, see MemoryWriter::repeated().
  std::string token{};
  ChangeOptions change{};
  bool tags = false;  // as MemoryWriter::Options::tags; other rows of the memory may lack them
};

// Writes a new memory, or another segment of an existing one.  Nothing is visible until
// Finish(); destruction without it removes what was written.
class MemoryWriter {
 public:
  struct Options {
    bool overwrite = false;  // replace an existing memory at `path`; nothing else ever is
    // Made by Finish(), like IndexMemory(); its `progress` is Finish()'s.
    std::optional<IndexOptions> index{};
    ChangeOptions change{};
    bool tags = false;  // rows come with tags (row_filter.h); those of some blocks may lack them
  };
  // `rows`: how many will be added, exactly.  The description's `created` and `tool_version` are
  // set, `top` is at most `outputs`, and regression is stored dense.  Keys are whitened by these
  // rows, in Finish(); rows that are appended later do not change how.
  static Result<MemoryWriter> Create(const std::string& path, const MemoryDescription& description,
                                     int64_t rows, const Options& options);
  // New rows of an existing memory: found by the next Open() after Finish().  A row id
  // that is already in the memory is kBadData.  Costs as much as the new rows; if the memory has an
  // index and there are many, Finish() also indexes them.  If the memory has many small segments,
  // Finish() merges them; row numbers and answers stay.  kMismatch if the token was used for
  // another number of rows.
  static Result<MemoryWriter> Append(const std::string& path, int64_t rows,
                                     const AppendOptions& options = {});
  MemoryWriter(MemoryWriter&&) noexcept;
  MemoryWriter& operator=(MemoryWriter&&) noexcept;
  ~MemoryWriter();

  const MemoryDescription& description() const;
  // These rows were appended before, under the same token: Add() and Finish() do nothing.
  bool repeated() const;
  // Errors: kBadData (shapes, values that are not finite, labels, repeated ids),
  // kResourceExhausted (no space), kIo.
  Status Add(const Rows& rows);
  // Errors: also those of IndexMemory() if Options::index is set.  Rows that cannot be indexed are
  // added all the same: ResidualMemory::index_obstacle().
  Status Finish(Progress* progress = nullptr);

  double dropped_mass() const;  // so far, see ResidualMemory

 private:
  struct Impl;
  explicit MemoryWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The next Open() no longer finds the rows; compaction removes their bytes.  If an id is not in the
// memory, the error is kNotFound and nothing is deleted.
Status DeleteRows(const std::string& path, std::span<const uint64_t> ids,
                  const ChangeOptions& options = {});

struct CompactOptions {
  // Replaces logits by residuals at the memory's temperature: dense up to 1,024 outputs, above that
  // the `top` of each row; float16 if the description says so.
  bool freeze = false;
  Progress* progress = nullptr;
  double wait_seconds = 0;  // see ChangeOptions
};
// Rewrites the memory as one segment without deleted rows.  It answers bit for bit like a memory
// built without those rows, where keys are not whitened: deleted rows had their say in how they
// are, and it stays.  Its index, if any, is rebuilt; if that is impossible, the memory is searched
// exactly: ResidualMemory::index_obstacle().
Status CompactMemory(const std::string& path, const CompactOptions& options = {});

// Makes or replaces the index.  How much of it a search reads is tuned on sample queries and
// stored.  Queries given are stored, too, to tune appended rows and a compacted memory on them.
// Errors: kInvalidArgument (recall, bits, too few queries, no rows),
// kBadData (queries of another dimension, or not finite), kUnsupported (a key more than 1e15 from
// the mean, more than 32,768 dimensions), kCancelled.
Status IndexMemory(const std::string& path, const IndexOptions& options);
// Makes search exact again.
Status RemoveIndex(const std::string& path, const ChangeOptions& options = {});

// Replaces parameters, calibrator, `tuned`, answer, blend, notes and the key transform; the rest
// of `description` is not read, but its shapes must be the memory's.  kInvalidArgument if a
// frozen memory would get another temperature.
// With another key transform every key is written again, and the index, if any, rebuilt.  The
// former keys stay in the folder as long as rows and notes do not change again, and a return to
// their transform takes them back, bit for bit; otherwise keys are computed from the stored ones,
// which rounds them again: by 1e-6 of their size, float16 and int8 by their step.
Status UpdateDescription(const std::string& path, const MemoryDescription& description,
                         const ChangeOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_RESIDUAL_MEMORY_H_
