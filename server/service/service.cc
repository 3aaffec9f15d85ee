#include "service/service.h"

#include <algorithm>

#include "operation/log.h"
#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

// A reply that is given exactly once, whatever happens to the work.
class OnceReply {
 public:
  explicit OnceReply(Reply reply) : reply_(std::move(reply)) {}
  ~OnceReply() { Give(ErrorResponse(500, "the request was lost; this is a bug in resmem")); }
  void Give(Response response) {
    if (!given_.exchange(true)) reply_(std::move(response));
  }

 private:
  Reply reply_;
  std::atomic<bool> given_{false};
};

// "[::1]:8080" -> "::1"
std::string_view HostOf(std::string_view text) {
  if (text.starts_with('[')) return text.substr(1, text.find(']') - 1);
  return text.substr(0, text.find(':'));
}

bool IsOwnHost(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Without keys, being on this machine is the permission.  A page that a browser on this machine has
// open must not have it: it comes under a name of its own, or tells where it is from.
bool ComesFromElsewhere(const Request& head) {
  if (!head.loopback || !IsOwnHost(HostOf(head.header("host")))) return true;
  const std::string_view origin = head.header("origin");
  if (origin.empty()) return false;
  const size_t scheme = origin.find("://");
  return scheme == std::string_view::npos || origin.substr(scheme + 3) != head.header("host");
}

// Whether the question may hold what the memory's model must read first.
bool RunsModel(const Request& request, const ServedMemory& memory) {
  const std::shared_ptr<const MemoryState> state = memory.state();
  return state != nullptr && state->model != nullptr &&
         request.body.find("\"keys\"") == std::string::npos;
}

// A client that is alone, with a small question to a memory that is searched quickly, is answered
// by the thread that reads: handing over to another and back takes longer than the search.
bool AnswersHere(const Context& context, const Request& request, ServedMemory& memory) {
  constexpr double kQuickSearch = 300e-6;
  constexpr size_t kSmallBody = 16 << 10;
  return !memory.source().shards && request.solo && request.body.size() <= kSmallBody &&
         !RunsModel(request, memory) &&
         memory.metrics().latest_search.load(std::memory_order_relaxed) < kQuickSearch &&
         context.quick.idle();
}

// Whoever answers for the service must find out why a request failed.  505 is a client's mistake.
void LogFailure(const Exchange& exchange) {
  constexpr size_t kMostReason = 500;
  const std::string_view path = exchange.target.substr(0, exchange.target.find('?'));
  if (exchange.status < 500 || exchange.status == 505 || path.starts_with("/v2/health/")) return;
  LogWarning("failed", JsonText()
                           .Add("request", exchange.id)
                           .Add("method", exchange.method)
                           .Add("path", path)
                           .Add("status", exchange.status)
                           .Add("reason", exchange.reason.substr(0, kMostReason)));
}

// Why the memory of the address is not asked for this; null where it is.
const char* NotHere(const Context& context, const Route& route, const Call& call) {
  const std::string_view pattern = route.pattern;
  if (!pattern.starts_with("/v1/memories/{}/")) return nullptr;
  const auto at = context.memories.find(call.name());
  if (at == context.memories.end()) return nullptr;
  const MemorySource& source = at->second.memory->source();
  if (source.shards) {
    const bool by_stream = route.answer != nullptr && !pattern.ends_with("/undo");
    if (by_stream && at->second.door != nullptr) return nullptr;
    if (by_stream) {
      return "this is a gateway to shards that do not change; with a stream of edits (--edits) it "
             "would take this";
    }
    return "this is a gateway to shards, which answers /v2/models only; ask a shard for its rows";
  }
  if (!source.edits.empty() && (route.answer != nullptr || pattern.ends_with("/tune"))) {
    return "this memory follows a stream of edits; send the edit to a gateway";
  }
  const bool changes = route.answer != nullptr || pattern.ends_with("/tune");
  return source.read_only && changes ? "this memory is served --read-only" : nullptr;
}

Response Run(Context& context, const Route& route, const Call& call) {
  try {
    return route.respond(context, call);
  } catch (const std::bad_alloc&) {
    return ErrorResponse(503, "not enough memory for this request; send fewer rows");
  } catch (const std::exception& error) {
    LogWarning("exception", JsonText().Add("request", call.request.id).Add("what", error.what()));
    return ErrorResponse(500, "a bug in resmem, please report it with this request");
  }
}

}  // namespace

Service::Service(const Config& config) : config_(config), context_(config.service, config.work) {}

Service::~Service() {
  Stop();
}

Status Service::Load() {
  if (!config_.keys.empty()) {
    RESMEM_ASSIGN_OR_RETURN(Keys keys, Keys::Read(config_.keys));
    context_.SetKeys(std::make_shared<const Keys>(std::move(keys)));
  }
  for (const MemorySource& source : config_.memories) {
    Hosted& hosted = context_.memories[source.name];
    if (hosted.memory != nullptr) {
      return {ErrorCode::kInvalidArgument,
              "two memories are named '" + source.name + "'; give NAME=PATH"};
    }
    hosted.memory = std::make_shared<ServedMemory>(source, config_.recent_queries,
                                                   config_.http.all_bodies_bytes);
    RESMEM_ASSIGN_OR_RETURN(std::shared_ptr<const MemoryState> state,
                            hosted.memory->Open(/*verify=*/true));
    hosted.memory->Publish(std::move(state));
    hosted.editor = std::make_unique<Editor>(hosted.memory.get(), config_.edits);
    RESMEM_RETURN_IF_ERROR(OpenEdits(source, &hosted));
    hosted.infer =
        std::make_shared<const Job::Group>(MakeInferGroup(&context_, hosted.memory.get()));
  }
  context_.reload = [this] { return Reload(); };
  return {};
}

Status Service::OpenEdits(const MemorySource& source, Hosted* hosted) {
  if (source.edits.empty()) return {};
  if (source.shards) {
    RESMEM_ASSIGN_OR_RETURN(std::unique_ptr<EditLog> log,
                            EditLog::Open(source.edits, source.name, nullptr));
    hosted->door = std::make_unique<EditDoor>(std::move(log), source.edit_replicas);
    return {};
  }
  RESMEM_ASSIGN_OR_RETURN(hosted->follower, Follower::Make(hosted->memory.get(), config_.edits));
  return hosted->follower->Check();
}

void Service::Start() {
  for (auto& [name, hosted] : context_.memories) {
    if (hosted.follower != nullptr) hosted.follower->Start();
    if (hosted.follower != nullptr) continue;
    if (hosted.memory->source().shards || hosted.memory->source().read_only) continue;
    const Status status = hosted.editor->Start();
    if (status.ok()) continue;
    // A folder that cannot be written, say: it is served all the same.
    LogWarning("no_edits", JsonText().Add("memory", name).Add("reason", status.message()));
  }
  for (int i = 0; i < config_.workers; ++i) {
    threads_.emplace_back([this] { context_.quick.Work(); });
  }
  for (WorkQueue* queue : {&context_.slow, &context_.tuning, &context_.reloading}) {
    threads_.emplace_back([queue] { queue->Work(); });
  }
}

void Service::Stop() {
  for (WorkQueue* queue :
       {&context_.quick, &context_.slow, &context_.tuning, &context_.reloading}) {
    queue->Close();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (auto& [name, hosted] : context_.memories) {
    if (hosted.editor != nullptr) hosted.editor->Stop();
    if (hosted.follower != nullptr) hosted.follower->Stop();
  }
}

Status Service::Reload() {
  std::shared_ptr<const Keys> keys;
  if (!config_.keys.empty()) {
    RESMEM_ASSIGN_OR_RETURN(Keys read, Keys::Read(config_.keys));
    keys = std::make_shared<const Keys>(std::move(read));
  }
  std::vector<std::unique_lock<std::mutex>> locks;
  std::vector<std::pair<ServedMemory*, std::shared_ptr<const MemoryState>>> states;
  for (auto& [name, hosted] : context_.memories) {
    locks.emplace_back(hosted.memory->changing());
    RESMEM_ASSIGN_OR_RETURN(std::shared_ptr<const MemoryState> state,
                            hosted.memory->Open(/*verify=*/true));
    states.emplace_back(hosted.memory.get(), std::move(state));
  }
  if (config_.reload_certificate) RESMEM_RETURN_IF_ERROR(config_.reload_certificate());
  for (auto& [memory, state] : states) memory->Publish(std::move(state));
  if (keys != nullptr) context_.SetKeys(std::move(keys));
  LogInfo("reloaded", JsonText().Add("memories", states.size()));
  return {};
}

bool Service::Allow(const Request& head, const Route& route, KeyOwner* who,
                    Response* answer) const {
  const std::shared_ptr<const Keys> keys = context_.keys();
  if (keys == nullptr) {
    if (ComesFromElsewhere(head)) {
      *answer = ErrorResponse(403,
                              "without keys (--keys) this server answers programs on its own "
                              "machine only, under the name localhost or 127.0.0.1");
      return false;
    }
    *who = {"local", Permission::kAdmin};
    return true;
  }
  if (route.permission == Permission::kNone) return true;
  const std::optional<KeyOwner> owner = keys->Find(head.header("authorization"));
  if (!owner) {
    *answer = ErrorResponse(401, "give a key: Authorization: Bearer KEY");
    return false;
  }
  *who = *owner;
  if (owner->permission >= route.permission) return true;
  *answer = ErrorResponse(403, "the key '" + owner->name + "' has the role " +
                                   PermissionName(owner->permission) + "; this needs " +
                                   PermissionName(route.permission));
  return false;
}

bool Service::Refuse(const Request& head, Response* answer) {
  std::vector<std::string> names;
  bool other_method = false;
  const Route* route = FindRoute(head.method, head.target, &names, &other_method);
  if (route == nullptr) {
    *answer = other_method ? ErrorResponse(405, "this address is asked by another method")
                           : ErrorResponse(404,
                                           "there is nothing at this address; /openapi.json "
                                           "lists what there is");
    return true;
  }
  KeyOwner who;
  return !Allow(head, *route, &who, answer);
}

void Service::Handle(Request request, Reply reply) {
  auto once = std::make_shared<OnceReply>(std::move(reply));
  Call call;
  bool other_method = false;
  const Route* route = FindRoute(request.method, request.target, &call.names, &other_method);
  Response refusal;
  if (route == nullptr || !Allow(request, *route, &call.who, &refusal)) {
    return once->Give(std::move(refusal));  // the keys changed while the body was read
  }
  const size_t question = request.target.find('?');
  if (question != std::string::npos) call.query = request.target.substr(question + 1);
  call.request = std::move(request);
  call.arrived = WorkClock::now();
  call.reply = [once](Response response) { once->Give(std::move(response)); };
  if (const char* why = NotHere(context_, *route, call)) {
    return call.reply(ErrorResponse(501, why));
  }
  if (route->lane == Lane::kInline) return call.reply(Run(context_, *route, call));
  Job job;
  job.bytes = static_cast<int64_t>(call.request.body.size());
  if (route->lane == Lane::kBatch) {
    Found found;
    Response failure;
    if (!FindMemory(context_, call, &found, &failure)) return call.reply(std::move(failure));
    job.group = found.hosted->infer;
    const bool here = AnswersHere(context_, call.request, *found.hosted->memory);
    job.data = MakeInferJob(std::move(call));
    if (here) {
      job.arrived = WorkClock::now();
      std::vector<Job> jobs;
      jobs.push_back(std::move(job));
      const auto group = jobs[0].group;
      return (*group)(std::move(jobs), /*alone=*/true);
    }
  } else {
    auto shared = std::make_shared<Call>(std::move(call));
    job.run = [this, route, shared] {
      if (WaitedTooLong(context_, shared->arrived)) {
        return shared->reply(ErrorResponse(503, "the request waited too long; try again"));
      }
      if (route->respond != nullptr) return shared->reply(Run(context_, *route, *shared));
      try {
        route->answer(context_, std::move(*shared));
      } catch (const std::exception&) {
        // OnceReply answers.
      }
    };
  }
  WorkQueue& queue = route->lane == Lane::kSlow     ? context_.slow
                     : route->lane == Lane::kTuning ? context_.tuning
                     : route->lane == Lane::kReload ? context_.reloading
                                                    : context_.quick;
  if (!queue.Push(std::move(job))) {
    once->Give(ErrorResponse(429, "too many requests wait; try again"));
  }
}

void Service::Done(const Exchange& exchange) {
  CountExchange(exchange.method, exchange.target, exchange.status, exchange.seconds);
  LogFailure(exchange);
  if (!context_.limits.access_log) return;
  LogInfo("access", JsonText()
                        .Add("request", exchange.id)
                        .Add("method", exchange.method)
                        .Add("path", exchange.target.substr(0, exchange.target.find('?')))
                        .Add("status", exchange.status)
                        .Add("seconds", exchange.seconds)
                        .Add("bytes_in", exchange.bytes_in)
                        .Add("bytes_out", exchange.bytes_out));
}

}  // namespace resmem::serve
