// Results for machines and for people: JSON documents whose every field docs/json.md
// explains, and one self-contained HTML page made from them (docs/reports.md).
//
// A document is one line of JSON and carries "schema" ("resmem.evaluation.v1", ...).  Numbers
// round-trip: a double or float read back is the same bits; a value that is not finite is written
// as null.  The page needs no network and no script; every text that comes from data is escaped.
//
// All functions are free of shared state and may be called from any thread.
#ifndef RESMEM_REPORT_REPORT_H_
#define RESMEM_REPORT_REPORT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/audit.h"
#include "resmem/compress.h"
#include "resmem/diagnosis.h"
#include "resmem/evaluation.h"
#include "resmem/privacy.h"
#include "resmem/scrub.h"
#include "resmem/snapshots.h"
#include "resmem/tuner.h"

namespace resmem {

// ---- The run's manifest: what is needed to repeat it ----------------------------------------

struct InputFile {
  std::string path;
  int64_t bytes = 0;
  std::string digest;  // see DigestFile(); of a folder: of its files' names and digests in order
};

struct MemoryInfo {
  std::string path;
  int64_t rows = 0, dim = 0, outputs = 0, segments = 0, bytes_on_disk = 0;
  std::string key_type, key_transform, form;  // "float32", "logits", ...
  Parameters parameters;
  bool tuned = false, cross_fitted = false;
  Fingerprint fingerprint;
  std::string tool_version, created;
  std::optional<IndexInfo> index;
  bool index_used = false;             // at the memory's k; false: search is exact
  std::optional<double> asked_recall;  // see AskedRecall()
  std::string task;
  int64_t deleted_rows = 0;
  int64_t former_bytes = 0;  // of bytes_on_disk, kept to undo a tuning
  int64_t top = 0;           // sparse: entries kept a row
  bool half_residuals = false, has_sources = false;
  std::string calibrator;
  float calibrator_temperature = 1;
  std::vector<std::string> class_names;
  std::string index_obstacle;
  std::map<std::string, std::string> notes;
  // They read every row, so the caller asks for them: DescribeMass().
  std::optional<double> residual_mass, dropped_mass;
  // They read other folders, so the caller asks for them: ListSnapshots(), FindInSnapshots().
  std::optional<SnapshotList> snapshots;
  std::optional<std::vector<SnapshotRows>> in_snapshots;  // rows that were asked for
};

struct RunInfo {
  std::vector<std::string> command;  // as typed, one argument each
  std::string version, build;
  std::string processor;                  // model name
  int64_t cores = 0;                      // this process may use
  int64_t memory_bytes = 0;               // of the machine
  std::string simd;                       // "avx512", ...
  std::string started;                    // UTC, ISO 8601
  double seconds = 0;                     // the caller sets it when the work is done
  std::map<std::string, uint64_t> seeds;  // by what they drive: "folds", "base", ...
  std::vector<InputFile> inputs;
  std::optional<MemoryInfo> memory;
};

// A RunInfo with everything that the machine and this library know; `started` is now.
RunInfo DescribeRun(std::vector<std::string> command);
// A file, a file's member ("train.npz:logits"; the whole file is described) or a folder.
Result<InputFile> DescribeInput(const std::string& path);
MemoryInfo DescribeMemory(const std::string& path, const ResidualMemory& memory);
// Sets residual_mass, of classification with rows, and dropped_mass, of sparse residuals.
void DescribeMass(const ResidualMemory& memory, MemoryInfo* info);

// ---- Examples: single predictions that a person can judge ------------------------------------

// 8-bit pixels, row-major, channels interleaved: height x width x channels.
struct Thumbnail {
  int64_t height = 0, width = 0;
  int64_t channels = 1;  // 1 gray, 3 RGB
  std::vector<uint8_t> pixels;
  bool empty() const { return pixels.empty(); }
};
// kBadData where the pixels are not height x width x channels, or a side is over 4096.
Result<std::vector<uint8_t>> EncodePng(const Thumbnail& image);

// One query with its exact ledger.  Image and text may both be empty.
struct Example {
  int64_t row = 0;  // among the rows evaluated
  int32_t truth = -1;
  double change = 0;  // of the true class's score: the answer's - the base's
  Explanation explanation;
  Thumbnail image;
  std::string text;  // a token context, a sentence
  // Of the explanation's lines from the first on; may be fewer than those, or none.
  std::vector<Thumbnail> neighbor_images;
  std::vector<std::string> neighbor_texts;
};

enum class ExampleRule {
  kLargestChange,  // the largest change of the true class's score, in the right direction
  kRandom,         // a random sample: typical cases rather than striking ones
};

struct ExampleOptions {
  // Whose answer; none: the memory's own, or ResMem's at parameters that are given and where the
  // memory answers as the base.
  std::optional<Method> method;
  std::optional<Parameters> parameters;  // none: the method's own in this memory
  ExampleRule rule = ExampleRule::kLargestChange;
  int64_t count = 6;           // of each kind, fixed and harmed
  uint64_t seed = 0;           // kRandom
  bool leave_one_out = false;  // the rows are those of the memory; see EvaluationOptions
  std::optional<Role> only;    // see EvaluationOptions
  int threads = 0;
  Progress* progress = nullptr;
};
// The rule as a sentence, for ExamplesJson().
std::string DescribeRule(const ExampleOptions& options);

// The fixed cases first, then the harmed; each kind in the rule's order, ties by row.
Result<std::vector<Example>> ChooseExamples(const Predictor& predictor, const RowSource& rows,
                                            const ExampleOptions& options);

// The image of a row.
using ImageOf = std::function<Result<Thumbnail>(int64_t row)>;
// Sets image and, for the nearest eight, neighbor_images of each example.  `of_memory` is asked for
// memory rows, which are counted in the order of memorizing; null: neighbors get none.
Status AddImages(const ImageOf& of_queries, const ImageOf& of_memory,
                 std::vector<Example>* examples);

// ---- Figures of any content: learning curves, depth, size of the memory ----------------------

struct Axis {
  std::string label;
  bool logarithmic = false;
  bool percent = false;  // values are shares, shown as percent
};
struct CurvePoint {
  double x = 0, y = 0;
  std::optional<Interval> interval;  // of y
};
struct Curve {
  std::string name;
  bool reference = false;  // drawn as a quiet dashed line: a bound, the paper's value
  std::vector<CurvePoint> points;
};
struct Figure {
  std::string title, caption;
  Axis x, y;
  std::vector<Curve> curves;
};

// A figure as an SVG image that stands alone, legend and colors inside.
std::string FigureSvg(const Figure& figure);
// Figures of the same curves in rows of `columns`, under one title and one legend.  All share their
// horizontal scale, those of a column also their vertical one, so that they can be compared.
std::string FigureGridSvg(std::string_view title, std::span<const Figure> figures, size_t columns);

// ---- Documents --------------------------------------------------------------------------------

std::string EvaluationJson(const Evaluation& evaluation, const RunInfo& run);
std::string TuningJson(const Tuning& tuning, const RunInfo& run);
// `class_names` may be empty: classes are then numbers.
std::string ExplanationJson(const Explanation& explanation,
                            std::span<const std::string> class_names, const RunInfo& run);
std::string ExamplesJson(std::span<const Example> examples, std::string_view rule,
                         std::span<const std::string> class_names, const RunInfo& run);
std::string FiguresJson(std::string_view title, std::span<const Figure> figures,
                        const RunInfo& run);
std::string DiagnosisJson(const Diagnosis& diagnosis, const RunInfo& run);
// `harm`: null where no rows were held out for it.
std::string AuditJson(const Audit& audit, const HarmReport* harm, const ResidualMemory& memory,
                      const RunInfo& run);
std::string PrivacyJson(const PrivacyReport& report, const RunInfo& run);
std::string MemoryJson(const MemoryInfo& memory, const RunInfo& run);
// `written`: the path of the compressed memory; empty if none was written.
std::string CompressionJson(const Compression& compression, const std::string& written,
                            int64_t written_bytes, const RunInfo& run);
// `before`, `after`: paths.
std::string DifferenceJson(const std::string& before, const std::string& after,
                           const MemoryDifference& difference, const RunInfo& run);
std::string ScrubJson(const std::string& memory, const ScrubReport& report, const RunInfo& run);

// Several documents as one, in the order in which the page shows them; a combined one
// contributes its parts.
// kBadData if a part is not a document of ours.
Result<std::string> CombineJson(std::string_view title, std::span<const std::string> documents);

// ---- The page -----------------------------------------------------------------------------------

// HTML from any document above.  The JSON is hostile until checked: kBadData names the field,
// what it holds and what was expected; kTooNew a schema of a later version.
Result<std::string> RenderReport(std::string_view json);

// RenderReport() into a file, atomically.
Status WriteReport(std::string_view json, const std::string& path);

}  // namespace resmem

#endif  // RESMEM_REPORT_REPORT_H_
