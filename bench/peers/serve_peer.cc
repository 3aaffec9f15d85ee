// What others give, behind the service's own HTTP layer, batches and wire format: bench/serve.py
// times it beside the service.
//
//   peer_serve flat KEYS.npy     faiss, every key        answers "rows": the 50 nearest
//   peer_serve hnsw KEYS.npy     faiss, a graph, M = 32, efSearch = 64
//   peer_serve onnx MODEL.onnx   the model alone         answers "logits"; prints first how many
//                                images a second a plain loop runs, one by one, on one thread
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "http/http_server.h"
#include "peers/faiss_settings.h"
#include "protocol/infer.h"
#include "resmem/data/array.h"
#include "resmem/models/onnx_model.h"
#include "timing.h"
#include "work/work_queue.h"

namespace resmem::serve {
namespace {

constexpr int64_t kNeighbors = 50;

[[noreturn]] void Stop(const std::string& why) {
  std::fprintf(stderr, "peer_serve: %s\n", why.c_str());
  std::exit(1);
}

// Answers several requests' first inputs, side by side.
using Engine = std::function<std::vector<Tensor>(const std::vector<const Tensor*>&, bool alone)>;

struct Asked : JobData {
  Request request;
  Reply reply;
};

class PeerHandler : public Handler {
 public:
  explicit PeerHandler(Engine engine)
      : engine_(std::move(engine)),
        queue_(WorkLimits{}),
        group_(std::make_shared<const Job::Group>(
            [this](std::vector<Job> jobs, bool alone) { Answer(std::move(jobs), alone); })) {
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads_.emplace_back([this] { queue_.Work(); });
    }
  }
  ~PeerHandler() override {
    queue_.Close();
    for (std::thread& thread : threads_) thread.join();
  }

  bool Refuse(const Request&, Response*) override { return false; }
  void Done(const Exchange&) override {}
  void Handle(Request request, Reply reply) override {
    auto asked = std::make_unique<Asked>();
    asked->request = std::move(request);
    asked->reply = std::move(reply);
    Job job;
    job.group = group_;
    job.bytes = static_cast<int64_t>(asked->request.body.size());
    job.data = std::move(asked);
    if (!queue_.Push(std::move(job))) Stop("the queue is full");
  }

 private:
  void Answer(std::vector<Job> jobs, bool alone) {
    std::vector<InferRequest> requests;
    for (const Job& job : jobs) {
      const Request& request = static_cast<const Asked&>(*job.data).request;
      auto parsed = ParseInferRequest(
          request.body, request.header("inference-header-content-length"), int64_t{1} << 24);
      if (!parsed.ok()) Stop(parsed.status().message());
      requests.push_back(std::move(*parsed));
    }
    std::vector<const Tensor*> inputs;
    for (const InferRequest& request : requests) inputs.push_back(&request.inputs[0]);
    const std::vector<Tensor> outputs = engine_(inputs, alone);
    for (size_t i = 0; i < jobs.size(); ++i) {
      const bool binary = true;
      InferResponse formatted = FormatInferResponse("m", requests[i].id, {&outputs[i], 1},
                                                    std::span<const bool>(&binary, 1));
      Response response;
      response.type = "application/octet-stream";
      response.headers.emplace_back("Inference-Header-Content-Length",
                                    std::to_string(formatted.json_bytes));
      response.body = std::move(formatted.body);
      static_cast<Asked&>(*jobs[i].data).reply(std::move(response));
    }
  }

  const Engine engine_;
  WorkQueue queue_;
  const std::shared_ptr<const Job::Group> group_;
  std::vector<std::thread> threads_;
};

Engine SearchEngine(const std::string& kind, const std::string& path) {
  Result<Array> keys = OpenArray({path, {}, {}});
  if (!keys.ok()) Stop(keys.status().message());
  const int64_t rows = keys->rows(), dim = keys->columns();
  std::vector<float> values(static_cast<size_t>(rows * dim));
  const Status read = keys->ReadFloats(0, rows, values);
  if (!read.ok()) Stop(read.message());
  bench::SetFaiss(rows, static_cast<int>(std::thread::hardware_concurrency()));
  std::shared_ptr<faiss::Index> index;
  if (kind == "flat") {
    index = std::make_shared<faiss::IndexFlatL2>(dim);
  } else {
    auto graph = std::make_shared<faiss::IndexHNSWFlat>(static_cast<int>(dim), /*M=*/32);
    graph->hnsw.efConstruction = 100;
    graph->hnsw.efSearch = 64;
    index = graph;
  }
  index->add(rows, values.data());
  return [index, dim](const std::vector<const Tensor*>& inputs, bool alone) {
    std::vector<float> queries;
    for (const Tensor* each : inputs) {
      queries.insert(queries.end(), each->floats.begin(), each->floats.end());
    }
    const auto count = static_cast<int64_t>(queries.size()) / dim;
    const auto processors = static_cast<int>(std::thread::hardware_concurrency());
    bench::SetFaiss(count, alone ? processors : 1);
    std::vector<float> distances(static_cast<size_t>(count * kNeighbors));
    std::vector<faiss::Index::idx_t> found(distances.size());
    index->search(count, queries.data(), kNeighbors, distances.data(), found.data());
    std::vector<Tensor> outputs;
    auto at = found.begin();
    for (const Tensor* each : inputs) {
      Tensor& output = outputs.emplace_back();
      output.name = "rows";
      output.type = DataType::kInt64;
      output.shape.sizes = {each->rows(), kNeighbors};
      output.whole.assign(at, at + each->rows() * kNeighbors);
      at += each->rows() * kNeighbors;
    }
    return outputs;
  };
}

Engine ModelEngine(const std::string& path) {
  OnnxOptions options;
  options.threads = 1;
  Result<OnnxModel> opened = OnnxModel::Open(path, options);
  if (!opened.ok()) Stop(opened.status().message());
  auto model = std::make_shared<const OnnxModel>(std::move(*opened));
  const ModelManifest& manifest = model->manifest();
  std::vector<uint8_t> pixels(static_cast<size_t>(manifest.input_values()), 100);
  std::vector<float> logits(static_cast<size_t>(manifest.classes));
  int64_t runs = 0;
  const double begin = bench::SecondsNow();
  for (; bench::SecondsNow() < begin + 3; ++runs) {
    if (!model->Run(pixels, 1, {}, logits).ok()) Stop("the model does not run");
  }
  std::printf("{\"loop_images_per_s\": %.0f}\n",
              static_cast<double>(runs) / (bench::SecondsNow() - begin));
  return [model](const std::vector<const Tensor*>& inputs, bool) {
    std::vector<Tensor> outputs;
    for (const Tensor* each : inputs) {
      Tensor& output = outputs.emplace_back();
      output.name = "logits";
      output.shape.sizes = {each->rows(), model->manifest().classes};
      output.floats.resize(static_cast<size_t>(each->rows() * model->manifest().classes));
      if (!model->Run(each->bytes, each->rows(), {}, output.floats).ok()) Stop("a wrong image");
    }
    return outputs;
  };
}

}  // namespace
}  // namespace resmem::serve

int main(int argc, char** argv) {
  using namespace resmem::serve;  // NOLINT
  if (argc != 3) Stop("flat KEYS.npy, hnsw KEYS.npy or onnx MODEL.onnx");
  const std::string kind = argv[1];
  PeerHandler handler(kind == "onnx" ? ModelEngine(argv[2]) : SearchEngine(kind, argv[2]));
  auto server = HttpServer::Listen("127.0.0.1", 0, {}, &handler);
  if (!server.ok()) Stop(server.status().message());
  std::printf("{\"event\":\"listening\",\"port\":%d}\n", (*server)->port());
  std::fflush(stdout);
  return (*server)->Run() ? 0 : 1;
}
