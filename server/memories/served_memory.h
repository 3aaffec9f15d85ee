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
#include "resmem/models/onnx_model.h"

namespace resmem::serve {

struct MemorySource {
  std::string name;   // in addresses: letters, digits, - _ .
  std::string path;   // of the memory
  std::string model;  // ONNX file; "": the one that the memory names, if it is there
};
// "digits=/srv/digits.resmem", or a path alone, whose file name without its ending is the name.
Result<MemorySource> ParseMemorySource(const std::string& text);

class ServedMemory {
 public:
  ServedMemory(MemorySource source, size_t recent_queries)
      : source_(std::move(source)), recent_(recent_queries) {}

  const MemorySource& source() const { return source_; }
  const std::string& name() const { return source_.name; }

  // Null where the memory is not loaded; error() then says why.
  std::shared_ptr<const MemoryState> state() const;
  std::string error() const;
  // Null where the memory has no model, or ONNX Runtime is not installed.
  std::shared_ptr<const OnnxModel> model() const;

  // Opened, with all checksums compared if `verify`, and warmed; not yet seen by readers.
  Result<std::shared_ptr<const MemoryState>> Open(bool verify);
  // Makes it what readers see.
  void Publish(std::shared_ptr<const MemoryState> state);
  void Unload(std::string why);

  MemoryMetrics& metrics() { return metrics_; }
  RecentQueries& recent() { return recent_; }
  // Held by what changes the folder or replaces the state, one at a time.
  std::mutex& changing() { return changing_; }

 private:
  void OpenModel(const MemoryDescription& description);
  void Warm(const MemoryState& state) const;

  const MemorySource source_;
  MemoryMetrics metrics_;
  RecentQueries recent_;
  std::mutex changing_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const MemoryState> state_;
  std::shared_ptr<const OnnxModel> model_;
  std::string error_ = "not loaded";
  int64_t states_ = 0;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_SERVED_MEMORY_H_
