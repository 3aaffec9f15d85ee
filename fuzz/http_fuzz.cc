// libFuzzer's entry for what the service reads besides JSON: the head and body of a request, the
// answer of a shard, files of its operator, and the journal of edits.
#include <unistd.h>

#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fuzz/seal.h"
#include "fuzz/target.h"
#include "http/read_message.h"
#include "memories/journal.h"
#include "operation/config.h"
#include "resmem/ram_memory.h"
#include "service/query_text.h"
#include "shards/parts.h"
#include "shards/shard_file.h"

namespace resmem {
namespace {

using namespace serve;  // NOLINT: this file is about them

constexpr int64_t kRows = 4, kDim = 3, kClasses = 2, kNeighbors = 2;

// In pieces, as it would come; the first byte is how long they are.
Status ReadRequest(std::string_view input) {
  if (input.empty()) return {};
  const size_t piece = 1 + static_cast<uint8_t>(input[0]);
  input.remove_prefix(1);
  Parser parser;
  parser.header_limit(1024);
  parser.body_limit(4096);
  parser.eager(true);
  boost::beast::flat_buffer buffer;
  boost::system::error_code error;
  bool asked = false;
  while (!input.empty() && !parser.is_done()) {
    const size_t come = std::min(piece, input.size());
    const auto space = buffer.prepare(come);
    std::memcpy(space.data(), input.data(), come);
    buffer.commit(come);
    input.remove_prefix(come);
    (void)ParseCome(buffer, parser, error);
    if (error) {
      Require(StatusOf(error) == 0 || StatusOf(error) >= 400);
      return {ErrorCode::kBadData, error.message()};
    }
    if (!parser.is_header_done() || asked) continue;
    asked = true;
    Require(HeaderMistake(parser) == 0 || HeaderMistake(parser) >= 400);
    const Request head = HeadOf(parser, true);
    Require(SoundId(head.id));
    const size_t mark = std::min(head.target.find('?'), head.target.size());
    (void)QueryNumber(std::string_view(head.target).substr(mark), "limit", 5);
    (void)QueryText(std::string_view(head.target).substr(mark), "before");
  }
  Require(parser.get().body().size() <= 4096);
  return {};
}

ResidualMemory ShardOf(const RamFolder& folder) {
  const std::vector<float> keys = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                           logits = {1, 0, 0, 1, 2, 1, 1, 2};
  const std::vector<int32_t> labels = {0, 1, 1, 0};
  MemoryDescription description;
  description.dim = kDim;
  description.outputs = kClasses;
  Rows rows;
  rows.keys = MatrixView(keys.data(), kRows, kDim);
  rows.logits = MatrixView(logits.data(), kRows, kClasses);
  rows.labels = labels;
  auto writer = MemoryWriter::Create(folder.path(), description, kRows, {});
  Require(writer.ok() && writer->Add(rows).ok() && writer->Finish().ok());
  return std::move(ResidualMemory::Open(folder.path())).value();
}

const ResidualMemory& Shard() {
  static const RamFolder folder;
  static const ResidualMemory memory = ShardOf(folder);
  return memory;
}

Status ReadQuestion(std::string_view input) {
  const auto question = ReadPartsQuestion(input);
  if (!question.ok() || question->k > 1000) return question.status();
  return MakePartsAnswer(Shard(), *question, 1).status();
}

// The rows in it are a segment with checksums, which begins after the numbers.
Status ReadAnswer(std::string_view input) {
  constexpr size_t kHead = 48, kHashAt = 32, kQueries = 1;
  constexpr size_t kNumbers = kHead + 2 * kQueries * kNeighbors * sizeof(int64_t);
  std::string body(input);
  if (body.size() > kNumbers) {
    std::string segment = body.substr(kNumbers);
    SealForged(&segment);
    body.replace(kNumbers, std::string::npos, segment);
    if (segment.size() >= static_cast<size_t>(kHeaderBytes)) {
      std::memcpy(body.data() + kHashAt, segment.data() + offsetof(FileHeader, header_hash), 8);
    }
  }
  const auto answer = ReadPartsAnswer(body, kQueries, kNeighbors, kRows);
  if (!answer.ok()) return answer.status();
  const RowPart parts[] = {answer->part};
  return OpenRowParts(Shard(), parts).status();
}

Status ReadShards(std::string_view input) {
  std::string key_file;
  return ParseShardFile(input, "it", &key_file).status();
}

Status ReadConfig(std::string_view input) {
  ConfigValues values;
  cli::CommandLine line("serve");
  DeclareConfig(line, &values);
  return ApplyConfigText(input, "it", line, &values);
}

Status ReadJournal(std::string_view input) {
  const std::string parent = ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
  const std::string folder = parent + "/http_fuzz_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  fixtures::WriteBytes(folder + "/journal.jsonl", std::string(input));
  for (const bool again : {false, true}) {
    Journal journal(folder);
    Expect(journal.Open());
    (void)journal.OpenEdits();
    for (const Edit& edit : journal.History(INT64_MAX, 20)) {
      Require(journal.Find(edit.number).has_value());
      (void)EditJson(edit);
    }
    // What was read once is read again as the same, and can be added to.
    if (!again) Expect(journal.Begin({}, {}));
  }
  std::filesystem::remove_all(folder);
  return {};
}

std::string SoundQuestion() {
  const std::vector<float> key = {1, 2, 3};
  return WritePartsQuestion(MatrixView(key.data(), 1, kDim), kNeighbors);
}

}  // namespace

std::vector<Kind> Kinds() {
  const std::string question = SoundQuestion();
  const std::string answer = *MakePartsAnswer(Shard(), *ReadPartsQuestion(question), 1);
  const std::string content(32, 'a');
  const std::string edit = R"({"edit":1,"kind":"learn","time":"t","who":"w","request":"r",)"
                           R"("token":"k","ids":[7]})";
  return {{"get", "\xffGET /v1/memories/m/history?limit=3&before=9 HTTP/1.1\r\nHost: h\r\n\r\n",
           ReadRequest},
          {"post",
           "\x0cPOST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\nX-Request-Id: a-1\r\n"
           "Content-Length: 2\r\n\r\n{}",
           ReadRequest},
          {"chunked",
           "\x05POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
           "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
           ReadRequest},
          {"question", question, ReadQuestion},
          {"answer", answer, ReadAnswer},
          {"shards",
           "name = d\nanswers = a.resmem\nkey-file = k\nshard = " + content +
               " 1200 127.0.0.1:9001 [::1]:80\n",
           ReadShards},
          {"config", "# c\nport = 81\nmemory = m=m.resmem\nmax-body = 4\nread-only = true\n",
           ReadConfig},
          {"journal", edit + "\n{\"edit\":1,\"done\":true}\n", ReadJournal}};
}

}  // namespace resmem
