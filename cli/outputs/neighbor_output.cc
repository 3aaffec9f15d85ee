#include "outputs/neighbor_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "console/format.h"
#include "outputs/exact_number.h"
#include "outputs/output_paths.h"

namespace resmem::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kNoId = UINT64_MAX;  // of a neighbor that there is not

}  // namespace

void NeighborOutput::DeclareSearch(CommandLine& line) {
  line.Value("--k", &k_, "N", "neighbors of each query, at least 1")
      .Default("those that the memory's answer uses");
  line.Value("--sigma", &sigma_, "X", "distance scale of the weights, above 0")
      .Default("that of the memory's answer");
}

void NeighborOutput::DeclareOutput(CommandLine& line, const char* without) {
  line.Group("Output");
  line.Value("--output", &output_, "PATH",
             "what to write: FILE.npz, FILE.csv, FILE.jsonl, or a folder for one .npy per array")
      .Short("-o")
      .File()
      .Default(without);
  line.Choice<std::optional<Format>, Format>(
          "--format", &format_,
          {{"arrays", Format::kArrays}, {"csv", Format::kCsv}, {"jsonl", Format::kJsonLines}},
          "arrays, or one line per neighbor (CSV) or per query "
          "(JSON)")
      .Default("by the name of the output");
}

Status NeighborOutput::CheckPaths(const std::vector<std::string>& inputs) const {
  if (ChosenFormat() == Format::kArrays && (output_.empty() || output_ == "-")) {
    return Status(ErrorCode::kInvalidArgument,
                  "--format arrays: name the file or folder with -o; standard output takes csv and "
                  "jsonl");
  }
  return CheckOutputPaths({{"-o", output_}}, inputs);
}

NeighborOutput::Format NeighborOutput::ChosenFormat() const {
  if (format_.has_value()) return *format_;
  if (output_.ends_with(".jsonl")) return Format::kJsonLines;
  const bool lines = output_.empty() || output_ == "-" || output_.ends_with(".csv");
  return lines ? Format::kCsv : Format::kArrays;
}

Status NeighborOutput::Begin(const Predictor& predictor, int64_t queries, bool with_ids,
                             int threads) {
  predictor_ = &predictor;
  queries_ = queries;
  with_ids_ = with_ids;
  threads_ = threads;
  const MemoryDescription& description = predictor.memory().description();
  labels_ = description.task == Task::kClassification;
  parameters_ = predictor.DefaultOptions().parameters;
  if (parameters_.k == 0) parameters_ = description.parameters;  // the answer is the base's
  if (k_.has_value()) parameters_.k = *k_;
  if (sigma_.has_value()) parameters_.sigma = *sigma_;
  if (parameters_.k < 1) {
    return Status(ErrorCode::kInvalidArgument,
                  "--k " + Count(parameters_.k) + ": give 1 or more neighbors");
  }
  RESMEM_RETURN_IF_ERROR(CheckParameters(parameters_));
  parameters_.k = std::min(parameters_.k, predictor.memory().rows());
  if (ChosenFormat() == Format::kArrays) return BeginArrays();
  RESMEM_ASSIGN_OR_RETURN(Output lines, Output::Open(output_));
  lines_.emplace(std::move(lines));
  if (ChosenFormat() == Format::kJsonLines) return {};
  return lines_->Write(std::string(with_ids_ ? "query,query_id" : "query") +
                       ",row,id,distance,weight" + (labels_ ? ",label\n" : "\n"));
}

Status NeighborOutput::BeginArrays() {
  const std::vector<int64_t> shape = {queries_, parameters_.k};
  std::vector<ArrayToWrite> arrays = {{{"rows", ElementType::kInt64, shape}},
                                      {{"ids", ElementType::kUInt64, shape}},
                                      {{"distances", ElementType::kFloat32, shape}},
                                      {{"weights", ElementType::kFloat32, shape}}};
  if (labels_) arrays.push_back({{"labels", ElementType::kInt32, shape}});
  if (with_ids_) arrays.push_back({{"query_ids", ElementType::kUInt64, {queries_}}});
  RESMEM_ASSIGN_OR_RETURN(ArrayWriter writer, ArrayWriter::Create(output_, std::move(arrays)));
  arrays_.emplace(std::move(writer));
  return {};
}

Status NeighborOutput::Add(MatrixView keys, std::span<const uint64_t> ids,
                           std::span<const int64_t> exclude) {
  RESMEM_RETURN_IF_ERROR(
      predictor_->FindNeighbors(keys, parameters_.k, exclude, threads_, nullptr, &neighbors_));
  return Write(ids);
}

Status NeighborOutput::AddFound(Neighbors found, std::span<const uint64_t> ids) {
  neighbors_ = std::move(found);
  return Write(ids);
}

Status NeighborOutput::Write(std::span<const uint64_t> ids) {
  weights_ = WeightsOf(neighbors_, parameters_);
  RESMEM_RETURN_IF_ERROR(arrays_.has_value() ? WriteArrays(ids) : WriteLines(ids));
  done_ += neighbors_.queries;
  return {};
}

Status NeighborOutput::WriteArrays(std::span<const uint64_t> ids) {
  const ResidualMemory& memory = predictor_->memory();
  std::vector<uint64_t> found_ids;
  std::vector<int32_t> labels;
  for (const int64_t row : neighbors_.rows) {
    found_ids.push_back(row < 0 ? kNoId : memory.id(row));
    if (labels_) labels.push_back(row < 0 ? -1 : memory.label(row));
  }
  RESMEM_RETURN_IF_ERROR(arrays_->Write(0, neighbors_.rows));
  RESMEM_RETURN_IF_ERROR(arrays_->Write(1, found_ids));
  RESMEM_RETURN_IF_ERROR(arrays_->Write(2, neighbors_.distances));
  RESMEM_RETURN_IF_ERROR(arrays_->Write(3, weights_));
  if (labels_) RESMEM_RETURN_IF_ERROR(arrays_->Write(4, labels));
  return with_ids_ ? arrays_->Write(labels_ ? 5 : 4, ids) : Status();
}

Status NeighborOutput::WriteLines(std::span<const uint64_t> ids) {
  const bool csv = ChosenFormat() == Format::kCsv;
  for (int64_t q = 0; q < neighbors_.queries; ++q) {
    RESMEM_RETURN_IF_ERROR(lines_->Write(csv ? CsvLines(q, ids) : JsonLine(q, ids)));
  }
  return {};
}

std::string NeighborOutput::CsvLines(int64_t q, std::span<const uint64_t> ids) const {
  const ResidualMemory& memory = predictor_->memory();
  std::string lines;
  for (int64_t i = 0; i < neighbors_.k; ++i) {
    const auto at = static_cast<size_t>(q * neighbors_.k + i);
    const int64_t row = neighbors_.rows[at];
    if (row < 0) break;
    lines += std::to_string(done_ + q) + ",";
    if (with_ids_) lines += std::to_string(ids[static_cast<size_t>(q)]) + ",";
    lines += std::to_string(row) + "," + std::to_string(memory.id(row)) + "," +
             ExactNumber(neighbors_.distances[at]) + "," + ExactNumber(weights_[at]);
    lines += labels_ ? "," + std::to_string(memory.label(row)) + "\n" : "\n";
  }
  return lines;
}

std::string NeighborOutput::JsonLine(int64_t q, std::span<const uint64_t> ids) const {
  const ResidualMemory& memory = predictor_->memory();
  Json line = {{"query", done_ + q}};
  if (with_ids_) line["query_id"] = ids[static_cast<size_t>(q)];
  line["neighbors"] = Json::array();
  for (int64_t i = 0; i < neighbors_.k; ++i) {
    const auto at = static_cast<size_t>(q * neighbors_.k + i);
    const int64_t row = neighbors_.rows[at];
    if (row < 0) break;
    Json neighbor = {{"row", row},
                     {"id", memory.id(row)},
                     {"distance", ShortestDouble(neighbors_.distances[at])},
                     {"weight", ShortestDouble(weights_[at])}};
    if (labels_) neighbor["label"] = memory.label(row);
    line["neighbors"].push_back(std::move(neighbor));
  }
  return line.dump() + "\n";
}

Result<std::string> NeighborOutput::End() {
  RESMEM_RETURN_IF_ERROR(predictor_->memory().damage());
  if (lines_.has_value()) {
    RESMEM_RETURN_IF_ERROR(lines_->Close());
    return std::string();
  }
  RESMEM_RETURN_IF_ERROR(arrays_->Close());
  return output_ + ": " + Count(queries_) + (queries_ == 1 ? " query" : " queries") + " x " +
         Counted(parameters_.k, "neighbor") + "; rows, ids, distances, weights" +
         (labels_ ? ", labels" : "") + (with_ids_ ? ", query_ids" : "") + "\n";
}

}  // namespace resmem::cli
