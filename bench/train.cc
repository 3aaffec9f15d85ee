// What our training loop costs beyond libtorch: ResNet-8 by a bare loop on a batch that lies ready,
// against `resmem train` with its shuffling, cropping, logging and checkpoints, in float32 and in
// bfloat16.  Both run with the environment that the program sets; the bare loop also without it, as
// a user would find it.
//
//   bench_train [FILE.md]
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <vector>

#include "measurement.h"
#include "recipe/train_recipe.h"
#include "support/random.h"
#include "train/environment.h"
#include "train/trainer.h"

namespace resmem::bench {
namespace {

namespace nn = torch::nn;
constexpr int64_t kBatch = 128, kClasses = 100, kRows = 12800;
constexpr int kSteps = 60, kRounds = 3;
constexpr char kAsFound[] = "--as-found";

double Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// The same network out of libtorch's own parts.
struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride) {
    const auto conv = [&](const char* name, int64_t from, int64_t kernel, int64_t step) {
      return register_module(
          name,
          nn::Conv2d(
              nn::Conv2dOptions(from, out, kernel).stride(step).padding(kernel / 2).bias(false)));
    };
    conv1 = conv("conv1", in, 3, stride);
    conv2 = conv("conv2", out, 3, 1);
    norm1 = register_module("norm1", nn::BatchNorm2d(out));
    norm2 = register_module("norm2", nn::BatchNorm2d(out));
    if (in == out) return;
    conv3 = conv("conv3", in, 1, stride);
    norm3 = register_module("norm3", nn::BatchNorm2d(out));
  }
  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor y = norm2(conv2(norm1(conv1(x)).relu_()));
    return y.add_(conv3 ? norm3(conv3(x)) : x).relu_();
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::BatchNorm2d norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
};
TORCH_MODULE(Block);

// Rows a second, the best of some rounds.
double BareLoop(int threads, bool channels_last) {
  at::set_num_threads(threads);
  torch::manual_seed(1);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1).bias(false)),
                     nn::BatchNorm2d(16), nn::ReLU(), Block(16, 16, 1), Block(16, 32, 2),
                     Block(32, 64, 2), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                     nn::Linear(64, kClasses));
  torch::Tensor inputs = torch::randn({kBatch, 3, 32, 32});
  if (channels_last) {
    inputs = inputs.contiguous(at::MemoryFormat::ChannelsLast);
    for (torch::Tensor& p : net->parameters()) {
      if (p.dim() == 4) p.set_data(p.data().contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
  const torch::Tensor labels = torch::randint(kClasses, {kBatch});
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(1e-4));
  double best = 0;
  for (int round = 0; round <= kRounds; ++round) {
    const double begin = Now();
    for (int step = 0; step < kSteps; ++step) {
      optimizer.zero_grad();
      torch::Tensor loss = torch::cross_entropy_loss(net->forward(inputs), labels);
      loss.backward();
      optimizer.step();
      if (!std::isfinite(loss.item<double>())) return 0;
    }
    if (round > 0) best = std::max(best, kSteps * kBatch / (Now() - begin));  // the first warms up
  }
  return best;
}

// Rows a second of the best epoch; 0: failed, or a machine that cannot.
double OurProgram(int threads, Precision precision) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("resmem_bench_" + std::to_string(getpid()));
  fs::create_directories(folder / "run");
  {
    std::ofstream file(folder / "train.bin", std::ios::binary);
    Random random(1);
    for (int64_t row = 0; row < kRows; ++row) {
      file.put(static_cast<char>(0));
      file.put(static_cast<char>(row % kClasses));
      for (int i = 0; i < 3072; ++i) file.put(static_cast<char>(random.Below(256)));
    }
  }
  TrainRecipe recipe;
  recipe.images = (folder / "train.bin").string();
  recipe.part = "";
  recipe.epochs = kRounds + 1;
  recipe.warmup_epochs = 1;
  recipe.peak_rate = 0.01;
  recipe.threads = threads;
  recipe.precision = precision;
  double best = 0;
  train::TrainObserver observer;
  observer.note = [](const std::string&) {};
  observer.step = [](int64_t, int64_t, int64_t, double) { return true; };
  double begin = Now();
  observer.epoch = [&](const train::EpochReport&) {
    best = std::max(best, kRows / (Now() - begin));  // with checkpoint and export
    begin = Now();
  };
  Status status = WriteTrainRecipe((folder / "run" / "recipe.json").string(), recipe);
  if (status.ok()) status = train::Train((folder / "run").string(), observer);
  fs::remove_all(folder);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? best : 0;
}

// The bare loop in a process whose environment nobody has set.
double AsFound(const char* program, int threads) {
  const std::string command = std::string("env -u RESMEM_TRAIN_READY -u DNNL_MAX_CPU_ISA ") +
                              "-u OPENBLAS_CORETYPE -u OPENBLAS_THREAD_TIMEOUT -u GOMP_SPINCOUNT " +
                              program + " " + kAsFound + " " + std::to_string(threads);
  std::FILE* pipe = popen(command.c_str(), "r");
  double rate = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &rate) != 1) rate = 0;
  if (pipe != nullptr) pclose(pipe);
  return rate;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  using namespace resmem::bench;
  if (argc == 3 && std::string(argv[1]) == kAsFound) {
    std::cout << BareLoop(std::atoi(argv[2]), false) << "\n";
    return 0;
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  resmem::train::SetEnvironment(argv);
  std::ostringstream page;
  page << "# Training speed\n\n`build/release/bench/bench_train docs/measurements/train.md`  \n"
       << MachineLine() << "\n\nResNet-8, images of 32 x 32, batches of " << kBatch << ", best of "
       << kRounds << " rounds, rows a second. \"As found\": libtorch's default "
       << "layout, allocator and environment.\n\n"
       << "| threads | bare loop, as found | bare loop, environment and layout set | resmem train, "
       << "float32 | float32 / bare loop | resmem train, bfloat16 | bfloat16 / float32 |\n"
       << "|---|---|---|---|---|---|---|\n";
  bool sound = true;
  for (const int threads : {1, 2}) {
    const double found = AsFound(program.c_str(), threads), bare = BareLoop(threads, true),
                 ours = OurProgram(threads, resmem::Precision::kFloat32),
                 tiles = OurProgram(threads, resmem::Precision::kBfloat16);
    sound = sound && found > 0 && bare > 0 && ours > 0;
    page << std::fixed << std::setprecision(0) << "| " << threads << " | " << found << " | " << bare
         << " | " << ours << " | " << std::setprecision(2) << ours / bare << " | ";
    if (tiles > 0) {
      page << std::setprecision(0) << tiles << " | " << std::setprecision(2) << tiles / ours
           << " |\n";
    } else {
      page << "no AMX tiles | |\n";
    }
  }
  page << "\nOurs reads, shuffles, crops and flips every image, checks each loss, logs, and "
          "writes "
       << "a checkpoint and an ONNX file an epoch of " << kRows
       << " rows; the bare loop repeats one batch.\n";
  return sound && Publish(page.str(), argc > 1 ? argv[1] : "") ? 0 : 1;
}
