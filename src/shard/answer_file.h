// The neighbors of every query in one shard, or merged, as a file: docs/memory_format.md,
// section 13.
#ifndef RESMEM_SHARD_ANSWER_FILE_H_
#define RESMEM_SHARD_ANSWER_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "format/container_reader.h"
#include "format/container_writer.h"
#include "resmem/knn_index.h"
#include "resmem/status.h"

namespace resmem {

struct AnswerHeader {
  std::string plan;     // ShardFolder::digest()
  int64_t shard = 0;    // from 1; 0: merged
  std::string content;  // ContentHash() of the shard; merged: the digest of all shards' in order
  int64_t rows = 0;     // of the shard; merged: of all
  int64_t k = 0;        // neighbors a query
  int64_t queries = 0;

  bool operator==(const AnswerHeader&) const = default;
};

class AnswerWriter {
 public:
  static Result<AnswerWriter> Create(const std::string& path, const AnswerHeader& header);
  // The next queries; with squares.
  Status Add(const Neighbors& found);
  Status Finish();

 private:
  explicit AnswerWriter(ContainerWriter file) : file_(std::move(file)) {}
  ContainerWriter file_;
};

class AnswerFile {
 public:
  // Compares every checksum and value: neighbors ascend, exist, and come once.
  // Errors: kNotFound, kCorrupt, kTooNew, kIo.
  static Result<AnswerFile> Open(const std::string& path);

  const AnswerHeader& header() const { return header_; }
  // The k nearest of these queries, with squares.  Requires all of them to be there.
  Status Read(int64_t begin, int64_t count, int64_t k, Neighbors* out) const;

 private:
  AnswerFile(ContainerReader file, AnswerHeader header)
      : file_(std::move(file)), header_(std::move(header)) {}
  Status CheckValues() const;

  ContainerReader file_;
  AnswerHeader header_;
};

}  // namespace resmem

#endif  // RESMEM_SHARD_ANSWER_FILE_H_
