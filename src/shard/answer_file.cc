#include "shard/answer_file.h"

#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "format/json_fields.h"
#include "search/search_request.h"
#include "support/text.h"

namespace resmem {
namespace {

enum Sections : size_t { kJson, kRows, kSquares };
constexpr int64_t kMostJsonBytes = 1 << 16;
constexpr uint64_t kNoRow = std::numeric_limits<uint64_t>::max();

std::vector<SectionShape> SectionsOf(int64_t json_bytes, const AnswerHeader& header) {
  return {{"json", StoredType::kU8, json_bytes, 1},
          {"rows", StoredType::kU64, header.queries, header.k},
          {"squares", StoredType::kU64, header.queries, header.k}};
}

std::string HeaderText(const AnswerHeader& header) {
  const Json json = {{"plan", header.plan}, {"shard", header.shard}, {"content", header.content},
                     {"rows", header.rows}, {"k", header.k},         {"queries", header.queries}};
  return json.dump();
}

Result<AnswerHeader> ParseHeader(std::string_view text) {
  RESMEM_ASSIGN_OR_RETURN(const Json json, ParseShallowJson(text, 2));
  AnswerHeader header;
  Fields fields(json, "its header");
  fields.Get("plan", &header.plan);
  fields.Get("shard", &header.shard);
  fields.Get("content", &header.content);
  fields.Get("rows", &header.rows);
  fields.Get("k", &header.k);
  fields.Get("queries", &header.queries);
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (header.k < 1) return Status(ErrorCode::kCorrupt, "its header: k is 0");
  return header;
}

}  // namespace

Result<AnswerWriter> AnswerWriter::Create(const std::string& path, const AnswerHeader& header) {
  const std::string json = HeaderText(header);
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter file,
      ContainerWriter::Create(FileSystem::Posix(), path, FileKind::kAnswers,
                              SectionsOf(static_cast<int64_t>(json.size()), header)));
  RESMEM_RETURN_IF_ERROR(file.Append(kJson, std::as_bytes(std::span(json))));
  return AnswerWriter(std::move(file));
}

Status AnswerWriter::Add(const Neighbors& found) {
  std::vector<uint64_t> rows, squares;
  rows.reserve(found.rows.size());
  squares.reserve(found.rows.size());
  for (size_t i = 0; i < found.rows.size(); ++i) {
    rows.push_back(found.rows[i] < 0 ? kNoRow : static_cast<uint64_t>(found.rows[i]));
    squares.push_back(std::bit_cast<uint64_t>(found.squared[i]));
  }
  RESMEM_RETURN_IF_ERROR(file_.AppendValues<uint64_t>(kRows, rows));
  return file_.AppendValues<uint64_t>(kSquares, squares);
}

Status AnswerWriter::Finish() {
  return file_.Finish().status();
}

Result<AnswerFile> AnswerFile::Open(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader file,
                          ContainerReader::Open(FileSystem::Posix(), path, FileKind::kAnswers));
  const auto& sections = file.sections();
  if (sections.empty() || sections[kJson].shape.type != StoredType::kU8 ||
      sections[kJson].bytes > kMostJsonBytes) {
    return file.Corrupt("the sections of answers are not there");
  }
  RESMEM_RETURN_IF_ERROR(file.VerifyBlocks());
  const auto bytes = file.Bytes(kJson);
  auto header = ParseHeader({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!header.ok()) return file.Corrupt(header.status().message());
  RESMEM_RETURN_IF_ERROR(file.ExpectSections(SectionsOf(sections[kJson].shape.rows, *header)));
  AnswerFile answers(std::move(file), std::move(*header));
  RESMEM_RETURN_IF_ERROR(answers.CheckValues());
  return answers;
}

Status AnswerFile::CheckValues() const {
  const auto rows = file_.Values<uint64_t>(kRows), squares = file_.Values<uint64_t>(kSquares);
  const auto k = static_cast<size_t>(header_.k);
  std::unordered_set<uint64_t> seen;
  for (size_t line = 0; line < rows.size(); line += k) {
    seen.clear();
    bool ended = false;
    for (size_t i = line; i < line + k; ++i) {
      const auto square = std::bit_cast<double>(squares[i]);
      const bool sound = rows[i] == kNoRow
                             ? square == std::numeric_limits<double>::infinity()
                             : !ended && rows[i] < static_cast<uint64_t>(header_.rows) &&
                                   square >= 0 && std::isfinite(square) &&
                                   seen.insert(rows[i]).second;
      ended = ended || rows[i] == kNoRow;
      const bool ascends =
          i == line || rows[i] == kNoRow ||
          MeasuredRow{std::bit_cast<double>(squares[i - 1]), static_cast<int64_t>(rows[i - 1])} <
              MeasuredRow{square, static_cast<int64_t>(rows[i])};
      if (sound && ascends) continue;
      return file_.Corrupt(
          Text("neighbor ", i - line, " of query ", line / k, " is row ", rows[i], " of ",
               header_.rows, " at a squared distance of ", square,
               "; neighbors are rows of the memory, each once, the nearest first"));
    }
  }
  return {};
}

Status AnswerFile::Read(int64_t begin, int64_t count, int64_t k, Neighbors* out) const {
  if (begin < 0 || count < 0 || begin + count > header_.queries || k > header_.k) {
    return {ErrorCode::kInvalidArgument, Text(file_.path(), ": holds ", header_.k, " neighbors of ",
                                              header_.queries, " queries, but ", k, " of queries ",
                                              begin, " to ", begin + count, " were asked for")};
  }
  RESMEM_RETURN_IF_ERROR(PrepareNeighbors(count, k, /*squared=*/true, out));
  const auto rows = file_.Values<uint64_t>(kRows), squares = file_.Values<uint64_t>(kSquares);
  std::vector<MeasuredRow> line;
  for (int64_t q = 0; q < count; ++q) {
    line.clear();
    const auto first = static_cast<size_t>((begin + q) * header_.k);
    for (size_t i = first; i < first + static_cast<size_t>(k) && rows[i] != kNoRow; ++i) {
      line.push_back({std::bit_cast<double>(squares[i]), static_cast<int64_t>(rows[i])});
    }
    WriteNeighbors(line, q, out);
  }
  return {};
}

}  // namespace resmem
