// A base model as an ONNX file: a graph with two named outputs and a manifest beside it.
//
//   model.onnx   self-contained (no external data), whose outputs hold
//                  embedding   rows x dim       the key of each row (rows x dim x 1 x 1 will do)
//                  logits      rows x classes
//                of a language model: windows x positions x dim and x classes (or without the
//                first side), and the input is token ids, windows x positions; it may also take
//                masks, positions and what it computed of earlier tokens (docs/lm.md)
//   model.json   the manifest: what goes in, what comes out, docs/models.md
//
// The graph is run by ONNX Runtime, a shared library that is loaded when the first model is
// opened; everything else here works without it.
#ifndef RESMEM_MODELS_ONNX_MODEL_H_
#define RESMEM_MODELS_ONNX_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "resmem/fingerprint.h"
#include "resmem/matrix_view.h"
#include "resmem/status.h"

namespace resmem {

// How to feed a model and read its answer.  A row of the input is an image (channels, height and
// width), a line of a table (columns) or a window of tokens (context): the others are zero.
struct ModelManifest {
  std::string input;  // name of the graph's input
  int64_t channels = 0, height = 0, width = 0;
  int64_t columns = 0;
  int64_t context = 0;    // tokens: the longest window; ids are below `classes`
  std::string tokenizer;  // tokens: the fingerprint of what made them; empty where it is unknown
  // Images: a channel's value is (pixel / 255 - mean) / deviation, one entry per channel.  A table
  // is fed as it is: both are empty.
  std::vector<float> mean, deviation;
  // Images: the shorter side is resized to this, then height x width is cropped from the center.
  // 0: an image of another size than height x width is refused.
  int64_t resize = 0;
  std::string embedding, logits;  // names of the graph's outputs
  int64_t dim = 0, classes = 0;
  std::vector<std::string> class_names;  // empty or `classes` names
  std::string network;                   // free text: "resnet8"

  bool takes_images() const { return channels > 0; }
  bool takes_tokens() const { return context > 0; }
  // The most numbers that a row has.
  int64_t input_values() const {
    if (takes_tokens()) return context;
    return takes_images() ? channels * height * width : columns;
  }
};
// kInvalidArgument, with the field, where a manifest contradicts itself.
Status CheckManifest(const ModelManifest& manifest);

// "dir/model.onnx" -> "dir/model.json".  Another ending is kept: "net" -> "net.json".
std::string ManifestPath(const std::string& onnx_path);
// Errors: kNotFound (not prepared yet), kCorrupt (text, a missing or wrong field), kTooNew, kIo.
Result<ModelManifest> ReadModelManifest(const std::string& onnx_path);
// Atomically, over what is there.
Status WriteModelManifest(const std::string& onnx_path, const ModelManifest& manifest);

// What identifies a base model to a memory: the digest covers the bytes of the graph and everything
// in the manifest that changes a number (not class names, not the network's name); the layer is
// the embedding.  Needs no runtime.
Result<Fingerprint> FingerprintModel(const std::string& onnx_path);

struct OnnxTensor {
  std::string name;
  std::string type;  // "float32", "" where the graph does not say
  // "64", a symbol such as "batch", or "?"; empty where the graph does not say.
  std::vector<std::string> shape;
  std::string made_by;  // operator: "GlobalAveragePool"; empty for an input
};

// What a file holds, without running it.
struct OnnxSummary {
  std::string producer;
  int64_t ir_version = 0;
  int64_t opset = 0;               // of the standard operators
  int64_t parameters = 0;          // values in the initializers
  std::vector<OnnxTensor> inputs;  // without initializers
  std::vector<OnnxTensor> outputs;
  // Tensors that can serve as the embedding, the most likely first: the input of the last Gemm or
  // MatMul, then those before it, backwards.
  std::vector<OnnxTensor> candidates;
  std::string logits;         // what prepare takes as logits; "" where that is unclear
  bool takes_tokens = false;  // a language model, by its inputs
  std::map<std::string, int64_t> operators;  // how often each occurs, subgraphs too
};
// The file is hostile until checked: sizes, nesting, external data outside its folder.
// Errors: kNotFound, kBadData, kUnsupported (above 2 GB), kIo.
Result<OnnxSummary> InspectOnnx(const std::string& onnx_path);

struct OnnxOptions {
  int threads = 0;      // batches run at once, 0: all processors
  std::string library;  // libonnxruntime.so; empty: RESMEM_ONNXRUNTIME, then the usual places
};

struct PrepareOptions {
  std::string embedding;  // a tensor of the graph; empty: the first candidate
  // Empty: the output that follows from the last Gemm or MatMul, or the input of its Softmax.
  std::string logits;
  // Where the graph leaves height or width open, images need them here.
  int64_t height = 0, width = 0;
  std::vector<float> mean, deviation;  // empty: 0 and 1 for every channel; one value: for all
  int64_t resize = 0;
  // Tokens: the longest window; 0: what config.json beside the file says, else 512 or what runs.
  int64_t context = 0;
  std::string tokenizer;  // its fingerprint; empty: unknown
  std::vector<std::string> class_names;
  std::string network;
};
// Writes `output` and its manifest: the graph of `source` with embedding and logits among its
// outputs, external data included, and a Transpose before it if it takes channels last.  Runs
// it first: the manifest's dim and classes are what came out, and a graph whose answer to a row
// changes with the rows around it, one exported for training, is refused.  So is a language model
// whose answers change with the tokens behind them, or with whether those before it are kept.
// Errors: kNotFound, kBadData, kInvalidArgument (a name that is not there), kUnsupported (an
// operator or library that is not there), kIo.
Result<ModelManifest> PrepareOnnx(const std::string& source, const PrepareOptions& options,
                                  const std::string& output, const OnnxOptions& runtime);

// What a language model keeps of the tokens that it has read (past_key_values); of one text, and of
// the model that filled it.
class TokenPast {
 public:
  TokenPast();
  TokenPast(TokenPast&&) noexcept;
  TokenPast& operator=(TokenPast&&) noexcept;
  ~TokenPast();
  int64_t tokens() const;

 private:
  friend class OnnxModel;
  struct State;
  std::unique_ptr<State> state_;
};

// Rows are run in batches that begin at the same rows for any number of threads; a batch is
// computed by one thread, so an answer never depends on their number.  The last batch of a
// call is a shorter one (where the graph takes a fixed number of rows, it is filled up with zeros).
// Whether a row's last bits change with the size of its batch is up to the runtime: with 1.30 none
// did, docs/measurements/onnx.md.  Immutable: const methods need no lock on any number of threads.
class OnnxModel {
 public:
  // Errors: kNotFound (no file, manifest or runtime), kBadData, kCorrupt (the manifest), kMismatch
  // (the manifest does not describe the graph), kUnsupported, kResourceExhausted.
  static Result<OnnxModel> Open(const std::string& onnx_path, const OnnxOptions& options = {});
  OnnxModel(OnnxModel&&) noexcept;
  OnnxModel& operator=(OnnxModel&&) noexcept;
  ~OnnxModel();

  const ModelManifest& manifest() const;
  const Fingerprint& fingerprint() const;

  // Images: count x height x width x channels bytes.  keys: count x dim, logits: count x classes;
  // either may be empty.  Errors: kInvalidArgument (sizes, or a model of tables), kBadData (an
  // answer that is not finite), kMismatch (another shape than the manifest's), kUnsupported (the
  // runtime fails), kResourceExhausted.
  Status Run(std::span<const uint8_t> pixels, int64_t count, std::span<float> keys,
             std::span<float> logits) const;
  // Rows of manifest().input_values() floats as the graph takes them: lines of a table, or
  // images as channels x height x width, normalized.
  Status RunFloats(MatrixView inputs, std::span<float> keys, std::span<float> logits) const;

  // What came out for one window: positions x dim and positions x classes.  Called on the thread
  // that ran the window, several at once and in any order; the arrays are gone when it returns.
  using TokenAnswer = std::function<Status(int64_t window, std::span<const float> keys,
                                           std::span<const float> logits)>;
  // Windows of 1 to context token ids.  Each is run on its own, so its answer does not depend on
  // the others; the answers of as many windows as there are threads are in memory at once.  An
  // error, also one of `answer`, is that of the first window that failed; those after it may be
  // left out.
  Status RunTokens(std::span<const std::span<const int32_t>> windows,
                   const TokenAnswer& answer) const;

  // Whether the graph takes what it computed of earlier tokens, and gives it.
  bool keeps_past() const;
  // Reads `ids` behind the tokens of `past`, together at most context, and answers the last one.
  // After an error `past` is of no use.  Errors: kUnsupported where !keeps_past(), and those of
  // RunTokens().
  Status RunOn(std::span<const int32_t> ids, TokenPast* past, std::span<float> key,
               std::span<float> logits) const;

 private:
  struct Impl;
  explicit OnnxModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace resmem

#endif  // RESMEM_MODELS_ONNX_MODEL_H_
