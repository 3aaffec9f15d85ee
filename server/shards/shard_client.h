// Asks all shards of a memory over HTTP, at the same time and on connections that stay open.
//
// A shard that has not answered after `resend` is asked once more by another connection, then after
// twice that time again, and so on; the first answer counts and the other attempts end.  So a hung
// process costs `resend`, not its time limit.  Where shards usually take longer than `resend`, that
// is waited instead, so that being slow does not use up what may be sent again.  At most a tenth of
// the questions may be sent again for being slow, after a burst of kBurst: otherwise shards that
// are slow under load would get more of it.  After a connection that broke, or an answer that
// another replica may give better, the next attempt is made at once, by another address where there
// are several.
//
// Const methods may be called from any number of threads.
#ifndef RESMEM_SERVER_SHARDS_SHARD_CLIENT_H_
#define RESMEM_SERVER_SHARDS_SHARD_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shards/shard_file.h"

namespace resmem::serve {

struct ShardCounters {
  std::atomic<int64_t> asked{0};    // questions, those about health apart
  std::atomic<int64_t> resent{0};   // attempts beside one that was slow
  std::atomic<int64_t> failed{0};   // attempts that ended without an answer
  std::atomic<int64_t> missing{0};  // questions that were not answered in time
  std::atomic<bool> ready{false};   // said so when it was asked last, twice a second
};

class ShardClient {
 public:
  static constexpr double kBurst = 100, kShareSentAgain = 0.1;

  // `most_bytes`: of an answer.  Begins to ask whether the shards are ready.
  ShardClient(const ShardFile& file, int64_t most_bytes);
  ~ShardClient();
  ShardClient(const ShardClient&) = delete;
  ShardClient& operator=(const ShardClient&) = delete;

  // The shards' answers to POST /v1/memories/NAME/parts, or `what`, in their order.  A shard that
  // did not answer in time is kResourceExhausted; one that refused the question is kBadData,
  // kUnsupported or kInvalidArgument with what it said.
  std::vector<Result<std::string>> AskAll(std::string body, std::string_view what = "parts") const;

  size_t shards() const;
  const ShardCounters& counters(size_t shard) const;
  // Shards that are not ready, counted from 1, and why; waits until there are none, or so long.
  std::string NotReady(std::chrono::milliseconds wait) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SHARDS_SHARD_CLIENT_H_
