#include "shards/parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace resmem::serve {
namespace {

constexpr std::string_view kQuestion = "resmemQ1", kAnswer = "resmemA2";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
void AppendValues(const T* values, size_t count, std::string* out) {
  out->append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

void AppendNumber(int64_t number, std::string* out) {
  AppendValues(&number, 1, out);
}

Status Bad(const std::string& words) {
  return {ErrorCode::kBadData, words};
}

// Takes from the front of a body.
class Bytes {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}

  bool Word(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // 0 to 2^40, so that two of them can be multiplied by a size without care for one that is larger.
  bool Number(int64_t* number) { return Raw(number) && *number >= 0 && *number <= kMost; }
  template <class T>
  bool Raw(T* value) {
    if (text_.size() < sizeof(T)) return false;
    std::memcpy(value, text_.data(), sizeof(T));
    text_.remove_prefix(sizeof(T));
    return true;
  }
  template <class T>
  bool Values(int64_t lines, int64_t columns, std::vector<T>* values) {
    const auto room = static_cast<int64_t>(text_.size() / sizeof(T));
    if (columns > 0 && lines > room / columns) return false;
    values->resize(static_cast<size_t>(lines * columns));
    const size_t bytes = values->size() * sizeof(T);
    if (bytes > 0) std::memcpy(values->data(), text_.data(), bytes);
    text_.remove_prefix(bytes);
    return true;
  }
  std::string_view rest() const { return text_; }

 private:
  static constexpr int64_t kMost = int64_t{1} << 40;
  std::string_view text_;
};

// Each row that was found once, ascending.
std::vector<int64_t> RowsFound(const std::vector<int64_t>& found) {
  std::vector<int64_t> rows;
  std::copy_if(found.begin(), found.end(), std::back_inserter(rows),
               [](int64_t row) { return row >= 0; });
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Ordered as every search orders, so that merging finds the nearest at the front.
Status CheckOrder(const Neighbors& found, int64_t shard_rows) {
  for (int64_t q = 0; q < found.queries; ++q) {
    double last = -1;
    int64_t last_row = -1;
    bool ended = false;
    for (int64_t i = q * found.k; i < (q + 1) * found.k; ++i) {
      const auto at = static_cast<size_t>(i);
      const int64_t row = found.rows[at];
      const double squared = found.squared[at];
      if (row == -1 && squared == kInfinity) {
        ended = true;
        continue;
      }
      const bool after = squared > last || (squared == last && row > last_row);
      if (ended || row < 0 || row >= shard_rows || !std::isfinite(squared) || squared < 0 ||
          !after) {
        return Bad("the shard's neighbors of query " + std::to_string(q) +
                   " are no list of its rows by distance");
      }
      last = squared;
      last_row = row;
    }
  }
  return {};
}

}  // namespace

std::string WritePartsQuestion(MatrixView keys, int64_t k) {
  std::string body(kQuestion);
  for (const int64_t number : {keys.rows, keys.columns, k}) AppendNumber(number, &body);
  AppendValues(keys.data, static_cast<size_t>(keys.rows * keys.columns), &body);
  return body;
}

Result<PartsQuestion> ReadPartsQuestion(std::string_view body) {
  Bytes bytes(body);
  PartsQuestion question;
  if (!bytes.Word(kQuestion) || !bytes.Number(&question.queries) || !bytes.Number(&question.dim) ||
      !bytes.Number(&question.k) || question.queries < 1 || question.dim < 1 || question.k < 1 ||
      !bytes.Values(question.queries, question.dim, &question.keys) || !bytes.rest().empty()) {
    return Bad(
        "the body is no question of a gateway: \"resmemQ1\", then queries, dim and k as 8-byte "
        "integers from 1 on, then queries x dim floats");
  }
  return question;
}

Result<std::string> MakePartsAnswer(const ResidualMemory& memory, const PartsQuestion& question,
                                    int threads) {
  Neighbors found;
  const auto count = static_cast<size_t>(question.queries * question.k);
  if (memory.rows() > 0) {
    SearchOptions options;
    options.k = question.k;
    options.threads = threads;
    options.squared = true;
    RESMEM_RETURN_IF_ERROR(memory.index().Search(question.view(), options, &found));
  } else {
    found.rows.assign(count, -1);
    found.squared.assign(count, kInfinity);
  }
  const std::vector<int64_t> rows = RowsFound(found.rows);
  RowPart part;
  if (!rows.empty()) {
    RESMEM_ASSIGN_OR_RETURN(part, CopyRows(memory, rows));
  }
  std::string body(kAnswer);
  body.reserve(64 + count * 16 + part.bytes.size());
  for (const int64_t number : {question.queries, question.k, part.rows}) {
    AppendNumber(number, &body);
  }
  AppendValues(&part.header_hash, 1, &body);
  AppendNumber(memory.rows(), &body);
  AppendValues(found.squared.data(), count, &body);
  AppendValues(found.rows.data(), count, &body);
  AppendValues(part.bytes.data(), part.bytes.size(), &body);
  return body;
}

Result<PartsAnswer> ReadPartsAnswer(std::string body, int64_t queries, int64_t k,
                                    int64_t shard_rows) {
  const auto kept = std::make_shared<const std::string>(std::move(body));
  Bytes bytes(*kept);
  PartsAnswer answer;
  Neighbors& found = answer.found;
  if (!bytes.Word(kAnswer) || !bytes.Number(&found.queries) || !bytes.Number(&found.k) ||
      !bytes.Number(&answer.part.rows) || !bytes.Raw(&answer.part.header_hash) ||
      !bytes.Number(&answer.living)) {
    return Bad("what came is no answer of a shard");
  }
  if (found.queries != queries || found.k != k) {
    return Bad("the shard answered " + std::to_string(found.queries) + " queries with " +
               std::to_string(found.k) + " neighbors; asked were " + std::to_string(queries) +
               " with " + std::to_string(k));
  }
  if (!bytes.Values(queries, k, &found.squared) || !bytes.Values(queries, k, &found.rows)) {
    return Bad("the shard's answer ends too early");
  }
  RESMEM_RETURN_IF_ERROR(CheckOrder(found, shard_rows));
  answer.rows = RowsFound(found.rows);
  if (std::ssize(answer.rows) != answer.part.rows) {
    return Bad("the shard found " + std::to_string(answer.rows.size()) + " rows and sent " +
               std::to_string(answer.part.rows));
  }
  for (int64_t& row : found.rows) {
    if (row < 0) continue;
    row = std::lower_bound(answer.rows.begin(), answer.rows.end(), row) - answer.rows.begin();
  }
  answer.part.bytes = std::as_bytes(std::span(bytes.rest()));
  answer.part.owner = kept;
  return answer;
}

}  // namespace resmem::serve
