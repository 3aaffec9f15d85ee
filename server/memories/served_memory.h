// A memory that is answered from while it is changed.  Readers take the present state, which never
// changes, and keep it as long as they need; a change or a reload puts another in its place,
// checked and warmed before.  Nobody who reads ever waits for somebody who writes.
#ifndef RESMEM_SERVER_MEMORIES_SERVED_MEMORY_H_
#define RESMEM_SERVER_MEMORIES_SERVED_MEMORY_H_

#include <memory>
#include <mutex>
#include <string>

#include "memories/answer.h"
#include "memories/memory_metrics.h"
#include "memories/recent_queries.h"

namespace resmem::serve {

// "digits=/srv/digits.resmem", or a path alone, whose file name without its ending is the name.
Result<MemorySource> ParseMemorySource(const std::string& text);

class ServedMemory {
 public:
  // `most_bytes`: that a shard may answer.
  ServedMemory(MemorySource source, size_t recent_queries, int64_t most_bytes = 256 << 20)
      : source_(std::move(source)), most_bytes_(most_bytes), recent_(recent_queries) {}

  const MemorySource& source() const { return source_; }
  const std::string& name() const { return source_.name; }

  // Null where the memory is not loaded; error() then says why.
  std::shared_ptr<const MemoryState> state() const;
  std::string error() const;

  // Opened, with all checksums compared if `verify`, and warmed; not yet seen by readers.  The
  // model is that of the former state where it made these keys, too; so are, unless `verify`, the
  // validation rows and the images.
  Result<std::shared_ptr<const MemoryState>> Open(bool verify);
  // Makes it what readers see.
  void Publish(std::shared_ptr<const MemoryState> state);
  void Unload(std::string why);

  MemoryMetrics& metrics() { return metrics_; }
  RecentQueries& recent() { return recent_; }
  // Held by what changes the folder or replaces the state, one at a time.
  std::mutex& changing() { return changing_; }

 private:
  Result<std::shared_ptr<const MemoryModel>> ModelOf(const ResidualMemory& memory,
                                                     bool verify) const;
  // The rows, those of `former` shared; of a gateway an empty memory and its shards.
  Result<ResidualMemory> OpenRows(bool verify, const MemoryState* former,
                                  std::shared_ptr<const ShardSet>* shards) const;
  Status CheckContent(const ResidualMemory& memory) const;
  Result<BesideMemory> BesideOf(const ResidualMemory& memory, bool verify) const;
  void Warm(const MemoryState& state) const;

  const MemorySource source_;
  const int64_t most_bytes_;
  MemoryMetrics metrics_;
  RecentQueries recent_;
  std::mutex changing_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const MemoryState> state_;
  std::string error_ = "not loaded";
  int64_t states_ = 0;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_SERVED_MEMORY_H_
