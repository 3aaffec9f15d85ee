// NATS JetStream by libnats.
#include <nats/nats.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <thread>

#include "edits/edit_log.h"

namespace resmem::serve {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int64_t kAnswerMs = 2000, kReconnectMs = 100;
// Of a publication that was not answered; it is sent again under the same id.
constexpr milliseconds kLongestAttempt{1000}, kPause{50};

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* value) const { Free(value); }
};
using Options = std::unique_ptr<natsOptions, Freed<natsOptions, natsOptions_Destroy>>;
using Connection = std::unique_ptr<natsConnection, Freed<natsConnection, natsConnection_Destroy>>;
using Context = std::unique_ptr<jsCtx, Freed<jsCtx, jsCtx_Destroy>>;
using Subscription =
    std::unique_ptr<natsSubscription, Freed<natsSubscription, natsSubscription_Destroy>>;
using Message = std::unique_ptr<natsMsg, Freed<natsMsg, natsMsg_Destroy>>;
using Ack = std::unique_ptr<jsPubAck, Freed<jsPubAck, jsPubAck_Destroy>>;
using Info = std::unique_ptr<jsStreamInfo, Freed<jsStreamInfo, jsStreamInfo_Destroy>>;

// Whom libnats's threads tell.  One may still be on its way when its log ends, so these never do.
struct Listener {
  std::mutex mutex;
  std::function<void()> changed;

  void Tell() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (changed) changed();
  }
};

Listener* NewListener(std::function<void()> changed) {
  static std::mutex mutex;
  static std::deque<Listener>* const all = new std::deque<Listener>();
  const std::lock_guard<std::mutex> lock(mutex);
  Listener& listener = all->emplace_back();
  listener.changed = std::move(changed);
  return &listener;
}

void OnMessage(natsConnection*, natsSubscription*, natsMsg* message, void* listener) {
  natsMsg_Destroy(message);
  static_cast<Listener*>(listener)->Tell();
}
void OnConnection(natsConnection*, void* listener) {
  static_cast<Listener*>(listener)->Tell();
}
// Otherwise libnats prints.
void OnError(natsConnection*, natsSubscription*, natsStatus, void*) {}

class NatsEditLog final : public EditLog {
 public:
  NatsEditLog(const std::string& memory, std::function<void()> changed)
      : stream_("resmem-" + memory),
        subject_("resmem.edits." + memory),
        listener_(NewListener(std::move(changed))) {}
  ~NatsEditLog() override {
    if (connection_ != nullptr) natsConnection_Close(connection_.get());
    const std::lock_guard<std::mutex> lock(listener_->mutex);
    listener_->changed = nullptr;
  }

  Status Connect(const std::vector<std::string>& addresses) {
    natsOptions* made = nullptr;
    natsStatus status = natsOptions_Create(&made);
    const Options options(made);
    std::vector<const char*> servers;
    for (const std::string& address : addresses) servers.push_back(address.c_str());
    const auto set = [&](natsStatus next) { status = status == NATS_OK ? next : status; };
    if (status == NATS_OK) {
      set(natsOptions_SetServers(made, servers.data(), static_cast<int>(servers.size())));
    }
    if (status != NATS_OK) {
      return {ErrorCode::kInvalidArgument,
              "--edits: give addresses like nats://10.0.0.1:4222, separated by commas: " +
                  std::string(natsStatus_GetText(status))};
    }
    set(natsOptions_SetMaxReconnect(made, -1));
    set(natsOptions_SetReconnectWait(made, kReconnectMs));
    set(natsOptions_SetRetryOnFailedConnect(made, true, OnConnection, listener_));
    set(natsOptions_SetReconnectedCB(made, OnConnection, listener_));
    set(natsOptions_SetErrorHandler(made, OnError, nullptr));
    set(natsOptions_SetPingInterval(made, 2000));
    set(natsOptions_SetTimeout(made, kAnswerMs));
    natsConnection* connection = nullptr;
    if (status == NATS_OK) {
      status = natsConnection_Connect(&connection, made);
      if (status == NATS_NOT_YET_CONNECTED) status = NATS_OK;
    }
    connection_.reset(connection);
    jsOptions wait;
    jsOptions_Init(&wait);
    wait.Wait = kAnswerMs;
    jsCtx* context = nullptr;
    if (status == NATS_OK) status = natsConnection_JetStream(&context, connection, &wait);
    context_.reset(context);
    natsSubscription* subscription = nullptr;
    if (status == NATS_OK) {
      status = natsConnection_Subscribe(&subscription, connection, subject_.c_str(), OnMessage,
                                        listener_);
    }
    subscription_.reset(subscription);
    if (status == NATS_OK) return {};
    return {ErrorCode::kResourceExhausted,
            "the stream of edits: " + std::string(natsStatus_GetText(status))};
  }

  const std::string& stream() const override { return stream_; }
  bool connected() const override {
    return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED;
  }

  Result<EditLogState> State() override {
    jsStreamInfo* got = nullptr;
    auto error = static_cast<jsErrCode>(0);
    const natsStatus status =
        js_GetStreamInfo(&got, context_.get(), stream_.c_str(), nullptr, &error);
    const Info info(got);
    if (status == NATS_OK) {
      return EditLogState{info->Created, static_cast<int64_t>(info->State.FirstSeq),
                          static_cast<int64_t>(info->State.LastSeq)};
    }
    if (error == JSStreamNotFoundErr) {
      return Status(ErrorCode::kNotFound, "there is no stream " + stream_);
    }
    return Failure(status);
  }

  Result<std::optional<std::string>> Read(int64_t sequence) override {
    natsMsg* got = nullptr;
    auto error = static_cast<jsErrCode>(0);
    const natsStatus status = js_GetMsg(&got, context_.get(), stream_.c_str(),
                                        static_cast<uint64_t>(sequence), nullptr, &error);
    const Message message(got);
    if (status == NATS_OK) {
      return std::optional(
          std::string(natsMsg_GetData(got), static_cast<size_t>(natsMsg_GetDataLength(got))));
    }
    if (error == JSNoMessageFoundErr || status == NATS_NOT_FOUND) {
      return std::optional<std::string>();
    }
    return Failure(status);
  }

  Result<Published> Publish(const std::string& id, const std::string& edit, milliseconds deadline,
                            bool* unknown) override {
    *unknown = false;
    const Clock::time_point end = Clock::now() + deadline;
    Status last = NotConnected();
    while (Clock::now() < end) {
      natsStatus status = NATS_NOT_YET_CONNECTED;
      auto error = static_cast<jsErrCode>(0);
      if (connected()) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MsgId = id.c_str();
        options.ExpectStream = stream_.c_str();
        options.MaxWait = std::max<int64_t>(1, std::min(left, kLongestAttempt).count());
        jsPubAck* got = nullptr;
        status = js_Publish(&got, context_.get(), subject_.c_str(), edit.data(),
                            static_cast<int>(edit.size()), &options, &error);
        const Ack ack(got);
        if (status == NATS_OK) {
          return Published{static_cast<int64_t>(ack->Sequence), ack->Duplicate};
        }
        if (status == NATS_MAX_PAYLOAD) {
          return Status(ErrorCode::kInvalidArgument,
                        "the edit has " + std::to_string(edit.size()) +
                            " bytes, more than the nodes take (max_payload); send fewer rows");
        }
        // Nobody took it, or one said that it did not: all else may have been stored.
        if (status != NATS_NO_RESPONDERS && error == 0) *unknown = true;
        last = Failure(status);
      }
      std::this_thread::sleep_for(kPause);
    }
    return last;
  }

  Status Create(int64_t replicas) override {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    const char* subjects[] = {subject_.c_str()};
    config.Name = stream_.c_str();
    config.Description = "edits of a memory of resmem, in order";
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Replicas = replicas;
    config.Duplicates = std::chrono::nanoseconds(kKnownFor).count();
    jsStreamInfo* got = nullptr;
    auto error = static_cast<jsErrCode>(0);
    const natsStatus status = js_AddStream(&got, context_.get(), &config, nullptr, &error);
    const Info info(got);
    return status == NATS_OK ? Status() : Failure(status);
  }

 private:
  static Status NotConnected() {
    return {ErrorCode::kResourceExhausted, "no node of the stream of edits can be reached"};
  }
  Status Failure(natsStatus status) const {
    if (!connected()) return NotConnected();
    const char* words = nats_GetLastError(nullptr);
    return {ErrorCode::kResourceExhausted,
            "the stream of edits " + stream_ + ": " + natsStatus_GetText(status) +
                (words != nullptr && *words != '\0' ? std::string(" (") + words + ")" : "")};
  }

  const std::string stream_, subject_;
  Listener* const listener_;
  Connection connection_;
  Context context_;
  Subscription subscription_;
};

}  // namespace

Result<std::unique_ptr<EditLog>> EditLog::Open(const std::vector<std::string>& addresses,
                                               const std::string& memory,
                                               std::function<void()> changed) {
  auto log = std::make_unique<NatsEditLog>(memory, std::move(changed));
  RESMEM_RETURN_IF_ERROR(log->Connect(addresses));
  return std::unique_ptr<EditLog>(std::move(log));
}

}  // namespace resmem::serve
