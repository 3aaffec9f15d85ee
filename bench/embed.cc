// What running a base model costs beyond ONNX Runtime itself, whether its answers depend on
// threads and batches, and how many images it gets right.
//
//   bench_embed MODEL.onnx IMAGES [FILE.md]
//
// MODEL.onnx: of resmem model prepare.  IMAGES: a folder that holds train and test.
#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "measurement.h"
#include "onnx/pixels.h"
#include "onnx/runtime/batch_runner.h"
#include "onnx/runtime/runtime.h"
#include "resmem/models/image_set.h"
#include "resmem/models/onnx_model.h"
#include "support/file_system.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kTimed = 2048;  // images
constexpr int kRepeats = 7;

// The runtime and nothing of ours: inputs lie ready, outputs are thrown away.
class BareSession {
 public:
  static Result<BareSession> Create(const Runtime& runtime, std::span<const std::byte> graph,
                                    int threads) {
    BareSession bare(runtime);
    Owned<ort::SessionOptions, ort::ReleaseSessionOptions> options(runtime);
    RESMEM_RETURN_IF_ERROR(runtime.Try<ort::CreateSessionOptions>(options.out()));
    RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetIntraOpNumThreads>(options.get(), threads));
    RESMEM_RETURN_IF_ERROR(runtime.Try<ort::CreateSessionFromArray>(
        runtime.env(), graph.data(), graph.size(), options.get(), bare.session_.out()));
    return bare;
  }

  // Runs all rows of `inputs` in batches.  `logits`: where they go, or null.
  Status Run(const ModelManifest& manifest, std::span<float> inputs, int64_t batch,
             float* logits) const {
    const int64_t values = manifest.input_values();
    const int64_t rows = static_cast<int64_t>(inputs.size()) / values;
    const char* input_name = manifest.input.c_str();
    const char* names[] = {manifest.embedding.c_str(), manifest.logits.c_str()};
    for (int64_t begin = 0; begin < rows; begin += batch) {
      const int64_t count = std::min(batch, rows - begin);
      const std::vector<int64_t> shape = InputShape(manifest, count);
      Owned<ort::Value, ort::ReleaseValue> input(*runtime_), keys(*runtime_), answer(*runtime_);
      RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::CreateTensorWithDataAsOrtValue>(
          runtime_->cpu(), inputs.data() + begin * values,
          static_cast<size_t>(count * values) * sizeof(float), shape.data(), shape.size(),
          ort::kFloat, input.out()));
      const ort::Value* fed[] = {input.get()};
      ort::Value* outputs[] = {nullptr, nullptr};
      const Status status =
          runtime_->Try<ort::Run>(session_.get(), nullptr, &input_name, fed, 1, names, 2, outputs);
      *keys.out() = outputs[0];
      *answer.out() = outputs[1];
      RESMEM_RETURN_IF_ERROR(status);
      if (logits == nullptr) continue;
      void* data = nullptr;
      RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::GetTensorMutableData>(answer.get(), &data));
      std::memcpy(logits + begin * manifest.classes, data,
                  static_cast<size_t>(count * manifest.classes) * sizeof(float));
    }
    return {};
  }

 private:
  explicit BareSession(const Runtime& runtime) : runtime_(&runtime), session_(runtime) {}
  const Runtime* runtime_;
  Owned<ort::Session, ort::ReleaseSession> session_;
};

struct Cost {
  std::string what;
  std::function<Status()> work;
  std::vector<double> wall, processor;  // seconds
};

// In turns, so that other work on the machine meets all alike.
Status Measure(std::vector<Cost>* costs) {
  for (int repeat = 0; repeat <= kRepeats; ++repeat) {
    for (Cost& cost : *costs) {
      const double begin = SecondsNow();
      const std::clock_t processor = std::clock();
      RESMEM_RETURN_IF_ERROR(cost.work());
      if (repeat == 0) continue;  // to warm up
      cost.wall.push_back(SecondsNow() - begin);
      cost.processor.push_back(static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
    }
  }
  return {};
}

Result<std::string> Accuracy(const OnnxModel& model, const std::string& path, const char* part) {
  ImageSetSource source;
  source.path = path;
  source.part = part;
  RESMEM_ASSIGN_OR_RETURN(const ImageSet images, ImageSet::Open(source));
  const int64_t classes = model.manifest().classes;
  constexpr int64_t kBlock = 1024;
  int64_t correct = 0;
  for (int64_t begin = 0; begin < images.size(); begin += kBlock) {
    const int64_t count = std::min(kBlock, images.size() - begin);
    std::vector<uint8_t> pixels(static_cast<size_t>(count * images.shape().bytes()));
    std::vector<float> logits(static_cast<size_t>(count * classes));
    RESMEM_RETURN_IF_ERROR(images.Read(begin, count, pixels));
    RESMEM_RETURN_IF_ERROR(model.Run(pixels, count, {}, logits));
    for (int64_t row = 0; row < count; ++row) {
      const float* first = logits.data() + row * classes;
      const int64_t answer = std::max_element(first, first + classes) - first;
      correct += answer == images.labels()[static_cast<size_t>(begin + row)] ? 1 : 0;
    }
  }
  std::ostringstream text;
  text << "| " << part << " | " << images.size() << " | " << correct << " | " << std::fixed
       << std::setprecision(2)
       << 100 * static_cast<double>(correct) / static_cast<double>(images.size()) << " % |\n";
  return text.str();
}

// How many of the logits differ from `expected` in any bit.
int64_t Different(const std::vector<float>& a, const std::vector<float>& expected) {
  int64_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    different += std::memcmp(&a[i], &expected[i], sizeof(float)) != 0 ? 1 : 0;
  }
  return different;
}

Status Run(const std::string& path, const std::string& data, const std::string& output) {
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel model,
                          OnnxModel::Open(path, {.threads = 1, .library = ""}));
  RESMEM_ASSIGN_OR_RETURN(const OnnxModel parallel,
                          OnnxModel::Open(path, {.threads = 2, .library = ""}));
  RESMEM_ASSIGN_OR_RETURN(const Runtime* runtime, Runtime::Load(""));
  RESMEM_ASSIGN_OR_RETURN(const MappedFile graph, FileSystem::Posix().Map(path));
  RESMEM_ASSIGN_OR_RETURN(const BareSession bare, BareSession::Create(*runtime, graph.bytes(), 1));
  RESMEM_ASSIGN_OR_RETURN(const BareSession bare2, BareSession::Create(*runtime, graph.bytes(), 2));
  const ModelManifest& manifest = model.manifest();

  ImageSetSource source;
  source.path = data;
  source.part = "test";
  RESMEM_ASSIGN_OR_RETURN(const ImageSet images, ImageSet::Open(source));
  const int64_t rows = std::min(kTimed, images.size());
  std::vector<uint8_t> pixels(static_cast<size_t>(rows * manifest.input_values()));
  RESMEM_RETURN_IF_ERROR(images.Read(0, rows, pixels));
  std::vector<float> inputs(pixels.size());
  PixelTable(manifest).Normalize(pixels.data(), rows, inputs.data());
  std::vector<float> keys(static_cast<size_t>(rows * manifest.dim));
  std::vector<float> expected(static_cast<size_t>(rows * manifest.classes)), logits(expected);
  RESMEM_RETURN_IF_ERROR(model.Run(pixels, rows, keys, expected));

  std::ostringstream text;
  text << "# Base models through ONNX Runtime " << runtime->version() << "\n\n"
       << "`build/release/bench/bench_embed " << path << " " << data
       << " docs/measurements/onnx.md`  \n"
       << MachineLine() << "\n\nNetwork: " << manifest.network << ", " << manifest.height << " x "
       << manifest.width << " images, embedding " << manifest.embedding << " of " << manifest.dim
       << " values.\n\n## Answers\n\n| part | images | right | |\n|---|---|---|---|\n";
  for (const char* part : {"train", "test"}) {
    RESMEM_ASSIGN_OR_RETURN(const std::string line, Accuracy(parallel, data, part));
    text << line;
  }

  text << "\n## Do the bits depend on batches or threads?\n\nLogits of " << rows
       << " images that differ in any bit from those of our own run on one thread:\n\n"
       << "| run | of " << expected.size() << " values |\n|---|---|\n";
  RESMEM_RETURN_IF_ERROR(parallel.Run(pixels, rows, keys, logits));
  text << "| ours, 2 threads | " << Different(logits, expected) << " |\n";
  for (const int64_t batch : {1, 2, 5, 32, 128}) {
    RESMEM_RETURN_IF_ERROR(bare.Run(manifest, inputs, batch, logits.data()));
    text << "| the bare runtime, batches of " << batch << ", 1 thread | "
         << Different(logits, expected) << " |\n";
    RESMEM_RETURN_IF_ERROR(bare2.Run(manifest, inputs, batch, logits.data()));
    text << "| the bare runtime, batches of " << batch << ", its 2 threads | "
         << Different(logits, expected) << " |\n";
  }

  const int64_t batch = RowsOfBatch(manifest, 0);
  const std::string of = "batches of " + std::to_string(batch);
  std::vector<Cost> costs = {
      {"the bare runtime on ready tensors, " + of + ", 1 thread",
       [&] { return bare.Run(manifest, inputs, batch, nullptr); },
       {},
       {}},
      {"ours from pixels, 1 thread", [&] { return model.Run(pixels, rows, keys, logits); }, {}, {}},
      {"the bare runtime on ready tensors, " + of + ", its 2 threads",
       [&] { return bare2.Run(manifest, inputs, batch, nullptr); },
       {},
       {}},
      {"the bare runtime on ready tensors, batches of 128, its 2 threads",
       [&] { return bare2.Run(manifest, inputs, 128, nullptr); },
       {},
       {}},
      {"ours from pixels, 2 threads",
       [&] { return parallel.Run(pixels, rows, keys, logits); },
       {},
       {}}};
  RESMEM_RETURN_IF_ERROR(Measure(&costs));
  text << "\n## Cost\n\n"
       << rows << " images, median of " << kRepeats
       << " runs in turns. Processor time is what other work on the machine does not inflate.\n\n"
       << "| | images/s | processor microseconds an image |\n|---|---|---|\n"
       << std::fixed;
  const auto count = static_cast<double>(rows);
  for (const Cost& cost : costs) {
    text << "| " << cost.what << " | " << std::setprecision(0) << count / SpreadOf(cost.wall).median
         << " | " << std::setprecision(1) << 1e6 * SpreadOf(cost.processor).median / count
         << " |\n";
  }
  const double overhead =
      SpreadOf(costs[1].processor).median / SpreadOf(costs[0].processor).median - 1;
  text
      << "\nOurs costs " << std::setprecision(1) << 100 * overhead
      << " % of processor time beyond the bare runtime on one thread (normalizing, layout, copies, "
         "checks).\n";
  if (!Publish(text.str(), output)) return {ErrorCode::kIo, "the result was not written"};
  if (overhead >= 0.05) return {ErrorCode::kMismatch, "more overhead than allowed"};
  return {};
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: bench_embed MODEL.onnx IMAGES [FILE.md]\n";
    return 2;
  }
  const resmem::Status status = resmem::bench::Run(argv[1], argv[2], argc > 3 ? argv[3] : "");
  if (status.ok()) return 0;
  std::cerr << "bench_embed: " << status.message() << "\n";
  return 1;
}
