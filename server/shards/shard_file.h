// The file that a gateway is started with: which shards a memory has, and where they are asked.
//
//   name = digits
//   answers = answers.resmem               how to answer: the parameters of this memory, not its
//   rows key-file = gateway.key                 the key that the shards are asked with; none
//   without keys shard = 0f3a...77e2 1200 127.0.0.1:9001               content, rows, where: in the
//   rows' order shard = 9bc1...05d4 1180 10.0.0.2:8081 10.0.0.3:8081
//
// Paths are relative to the file's folder; '#' begins a comment.  `resmem cluster config` writes
// it.
#ifndef RESMEM_SERVER_SHARDS_SHARD_FILE_H_
#define RESMEM_SERVER_SHARDS_SHARD_FILE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem::serve {

struct ShardAddress {
  std::string host, port;
};

struct ShardEntry {
  std::string content;  // ContentHash() of the shard: 32 hexadecimal digits
  int64_t rows = 0;     // deleted ones, too
  std::vector<ShardAddress> addresses;
};

struct ShardFile {
  std::string name;                          // of the whole memory
  std::string answers;                       // path of a memory
  std::string key;                           // "" for none
  std::chrono::milliseconds deadline{2000};  // for all shards' answers to a question
  std::chrono::milliseconds resend{50};      // then a shard is asked once more
  std::vector<ShardEntry> shards;
};

// Errors: kNotFound, kInvalidArgument with the line.
Result<ShardFile> ReadShardFile(const std::string& path);
// The key is not read.
Result<ShardFile> ParseShardFile(std::string_view text, const std::string& path,
                                 std::string* key_file);

// "digits.0f3a...77e2": what a shard is called by the server that has it.
std::string ShardName(const std::string& name, const std::string& content);
// The content in such a name; "" where it ends in none.
std::string_view ContentOf(std::string_view name);
// The rest of it.
std::string_view WithoutContent(std::string_view name);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SHARDS_SHARD_FILE_H_
