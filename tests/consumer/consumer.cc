// A memory of four rows, from the public headers alone: the base says class 0 everywhere, the rows
// near 1 know better.
#include <cstdio>
#include <filesystem>
#include <vector>

#include "resmem/predictor.h"
#include "resmem/residual_memory.h"
#include "resmem/version.h"

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "consumer.resmem";
  std::filesystem::remove_all(path);

  const std::vector<float> keys = {0.0f, 0.1f, 1.0f, 1.1f};
  const std::vector<float> logits = {2, 0, 2, 0, 2, 0, 2, 0};
  const std::vector<int32_t> labels = {0, 0, 1, 1};
  resmem::Rows rows;
  rows.keys = resmem::MatrixView(keys.data(), 4, 1);
  rows.logits = resmem::MatrixView(logits.data(), 4, 2);
  rows.labels = labels;

  resmem::MemoryDescription description;
  description.dim = 1;
  description.outputs = 2;
  description.parameters = {2, 0.1f, 1.0f};
  auto writer = resmem::MemoryWriter::Create(path, description, 4, {});
  if (!writer.ok() || !writer->Add(rows).ok() || !writer->Finish().ok()) return 1;

  auto memory = resmem::ResidualMemory::Open(path);
  if (!memory.ok()) {
    std::printf("%s\n", memory.status().message().c_str());
    return 1;
  }
  const resmem::Predictor predictor(*memory);
  const float query[] = {1.05f}, base[] = {2, 0};
  std::vector<float> score(2);
  const resmem::Status status =
      predictor.Predict(resmem::MatrixView(query, 1, 1), resmem::MatrixView(base, 1, 2),
                        predictor.DefaultOptions(), score);
  std::printf("resmem %s: score %.3f %.3f\n", resmem::Version().c_str(), score[0], score[1]);
  return status.ok() && resmem::ArgMax(score) == 1 ? 0 : 1;
}
