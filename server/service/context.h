// What every endpoint can reach.
#ifndef RESMEM_SERVER_SERVICE_CONTEXT_H_
#define RESMEM_SERVER_SERVICE_CONTEXT_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "edits/edit_door.h"
#include "edits/follower.h"
#include "http/message.h"
#include "memories/editor.h"
#include "memories/served_memory.h"
#include "operation/keys.h"
#include "resmem/progress.h"
#include "work/work_queue.h"

namespace resmem::serve {

struct HttpCounters;
struct Route;
struct Context;

struct ServiceLimits {
  int64_t rows = 4096;  // of a request
  int64_t k = 1000;
  int64_t json_depth = 16;
  int64_t body_bytes = int64_t{32} << 20;
  int threads = 0;                              // of a query that is alone; 0: all processors
  std::chrono::milliseconds queue_wait{5'000};  // then 503
  bool access_log = false;
};

// A request on its way through an endpoint.
struct Call {
  Request request;
  Reply reply;
  std::vector<std::string> names;  // what stood in the address: the memory's name, ...
  std::string query;               // after '?'
  KeyOwner who;
  WorkClock::time_point arrived{};

  const std::string& name() const { return names[0]; }
};

// A memory with what belongs to it.
struct Hosted {
  std::shared_ptr<ServedMemory> memory;
  std::unique_ptr<Editor> editor;
  std::unique_ptr<Follower> follower;  // of a replica with a stream of edits
  std::unique_ptr<EditDoor> door;      // of a gateway with one
  std::shared_ptr<const Job::Group> infer;
};

struct Context {
  // Long work stops when the server does, so that its client is told and nobody waits for it.
  class UntilDrain : public Progress {
   public:
    explicit UntilDrain(const Context& context) : context_(context) {}
    bool Cancelled() const override { return context_.draining(); }

   private:
    const Context& context_;
  };

  explicit Context(const ServiceLimits& limits_in, const WorkLimits& work)
      : limits(limits_in), quick(work), slow(kFewJobs), tuning(kFewJobs), reloading(kFewJobs) {}

  static constexpr WorkLimits kFewJobs{.waiting = 16, .gather = std::chrono::microseconds(0)};

  const ServiceLimits limits;
  std::map<std::string, Hosted, std::less<>> memories;  // unchanged once the service runs
  WorkQueue quick, slow, tuning, reloading;
  const HttpCounters* http = nullptr;
  std::function<bool()> draining = [] { return false; };
  std::function<Status()> reload = [] { return Status(); };  // keys, certificate and memories

  std::shared_ptr<const Keys> keys() const {
    const std::lock_guard<std::mutex> lock(keys_mutex);
    return keys_now;
  }
  void SetKeys(std::shared_ptr<const Keys> keys) {
    const std::lock_guard<std::mutex> lock(keys_mutex);
    keys_now = std::move(keys);
  }

  mutable std::mutex keys_mutex;
  std::shared_ptr<const Keys> keys_now;  // null: nobody needs one
};

// ---- Answers that all endpoints share --------------------------------------------------------

// The one table from errors to HTTP; docs/errors.md has it for people.
int HttpStatusOf(ErrorCode code);
Response ErrorResponse(int status, std::string_view words);
Response ErrorResponse(const Status& status);
Response JsonResponse(std::string json);

// Whether a request waited longer than --queue-seconds, or than `timeout` microseconds of its own.
bool WaitedTooLong(const Context& context, WorkClock::time_point arrived,
                   std::optional<int64_t> timeout = std::nullopt);

// The memory of the address, loaded; else the answer that says why not.
struct Found {
  Hosted* hosted = nullptr;
  std::shared_ptr<const MemoryState> state;
};
bool FindMemory(Context& context, const Call& call, Found* found, Response* failure);

// ---- Endpoints ---------------------------------------------------------------------------------

// How an endpoint is run: at once, in batches, or by a thread for short or for long work.
// Tuning has a thread of its own, and so have reloads, so that nobody waits for it.
enum class Lane { kInline, kBatch, kQuick, kSlow, kTuning, kReload };

struct Route {
  const char* method;
  const char* pattern;  // "/v2/models/{}/infer"
  Permission permission;
  Lane lane;
  // One of the two; `answer` may reply later.
  Response (*respond)(Context&, const Call&) = nullptr;
  void (*answer)(Context&, Call) = nullptr;
};
std::span<const Route> Routes();

// The route of a target; null where there is none.  `other_method`: there is one for another.
const Route* FindRoute(std::string_view method, std::string_view target,
                       std::vector<std::string>* names, bool* other_method);

// The body of batches of inference requests.
Job::Group MakeInferGroup(Context* context, ServedMemory* memory);
// Runs a job's call: reads its arrays, waits for its batch.
std::unique_ptr<JobData> MakeInferJob(Call call);

// What Done() counts, by route.
void CountExchange(std::string_view method, std::string_view target, int status, double seconds);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SERVICE_CONTEXT_H_
