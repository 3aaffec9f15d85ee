#include "shards/shard_client.h"

#include <utility>  // before Asio: its coroutines lack it with g++ 12

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "protocol/json_value.h"

namespace resmem::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Stream = beast::tcp_stream;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMostIdle = 64;                          // connections of an address
constexpr std::chrono::seconds kIdle{20}, kAvoided{1};    // a connection; an address that failed
constexpr milliseconds kProbeEvery{500}, kFirstPause{5};  // of a shard; after a failure
constexpr milliseconds kLongestPause{160};

struct IdleStream {
  std::unique_ptr<Stream> stream;
  Clock::time_point since;
};

struct Address {
  std::string host, port, header;  // "Host: ..."
  std::deque<IdleStream> idle;
  Clock::time_point avoided_until{};
};

struct Shard {
  std::string address, rest;  // of a question: /v1/memories/NAME/, and what follows "parts"
  std::string probe;          // the request, whole
  std::deque<Address> addresses;
  size_t next = 0;  // address
  double may_resend = ShardClient::kBurst;
  double usual_ms = 0;  // within which about 95 % of the attempts that answered did so
  std::string last_error = "was not asked yet";  // of a probe
  ShardCounters counters;
};

// One question to one shard, and the attempts to have it answered.
struct Race {
  Race(asio::io_context& io, Shard* shard_in) : shard(shard_in), timer(io) {}

  Shard* const shard;
  asio::steady_timer timer;                 // wakes Run()
  std::shared_ptr<const std::string> body;  // null: a probe
  std::string what;                         // is asked
  Clock::time_point deadline, next;         // attempt
  milliseconds resend{0}, pause{kFirstPause};
  int live = 0;
  bool done = false;
  std::vector<Stream*> streams;  // of attempts that live
  std::vector<const Address*> tried;
  const Address* winner = nullptr;
  std::string last_error = "did not answer in time";
  std::function<void(Result<std::string>)> finish;

  void Finish(Result<std::string> result) {
    if (done) return;
    done = true;
    for (Stream* stream : streams) stream->close();
    timer.cancel();
    finish(std::move(result));
  }
  void Failed(std::string why) {
    if (done) return;
    last_error = std::move(why);
    if (body != nullptr) shard->counters.failed.fetch_add(1, std::memory_order_relaxed);
    next = std::min(next, Clock::now() + pause);
    pause = std::min(2 * pause, kLongestPause);
    timer.cancel();
  }
};

// Moves up by 19 parts where it was exceeded and down by one where it was not: at rest, that is one
// time in twenty.
void NoteAnswer(Clock::duration took, Shard* shard) {
  const double ms = std::chrono::duration<double, std::milli>(took).count();
  const double part = std::max(0.05, 0.005 * shard->usual_ms);
  shard->usual_ms = std::max(0.0, shard->usual_ms + (ms > shard->usual_ms ? 19 * part : -part));
}

// The sentence of {"error": "..."}, or the beginning of what came.
std::string ErrorIn(const std::string& body) {
  const Result<JsonValue> parsed = ParseJson(body, {.depth = 4});
  const JsonValue* error =
      parsed.ok() && parsed->kind == JsonValue::Kind::kObject ? parsed->Find("error") : nullptr;
  if (error != nullptr && error->kind == JsonValue::Kind::kText) return error->text.substr(0, 500);
  return body.substr(0, 100);
}

// What every replica would say of this question; else kOk.
ErrorCode RefusalCode(unsigned status) {
  switch (status) {
    case 400:
    case 413:
      return ErrorCode::kBadData;
    case 501:
      return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kOk;
  }
}

}  // namespace

struct ShardClient::Impl {
  Impl(const ShardFile& file, int64_t most_bytes_in)
      : deadline(file.deadline), resend(file.resend), most_bytes(most_bytes_in) {
    const std::string key = file.key.empty() ? "" : "Authorization: Bearer " + file.key + "\r\n";
    for (const ShardEntry& entry : file.shards) {
      Shard& shard = shards.emplace_back();
      const std::string name = ShardName(file.name, entry.content);
      shard.address = "POST /v1/memories/" + name + "/";
      shard.rest =
          " HTTP/1.1\r\n" + key + "Content-Type: application/octet-stream\r\nContent-Length: ";
      shard.probe = "GET /v2/models/" + name + "/ready HTTP/1.1\r\n" + key;
      for (const ShardAddress& address : entry.addresses) {
        const bool v6 = address.host.find(':') != std::string::npos;
        const std::string host = v6 ? "[" + address.host + "]" : address.host;
        Address& made = shard.addresses.emplace_back();
        made.host = address.host;
        made.port = address.port;
        made.header = "Host: " + host + ":" + address.port + "\r\n";
      }
    }
  }

  asio::awaitable<void> Run(std::shared_ptr<Race> race);
  asio::awaitable<void> Attempt(std::shared_ptr<Race> race, Address* address);
  asio::awaitable<bool> Exchange(Race& race, Address& address, Stream& stream, bool reused);
  asio::awaitable<std::string> Connect(Stream& stream, const Address& address);
  asio::awaitable<void> Probe(Shard* shard);
  std::unique_ptr<Stream> TakeIdle(Address* address);
  static Address* Choose(Race* race);

  const milliseconds deadline, resend;
  const int64_t most_bytes;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::deque<Shard> shards;  // but for the counters, of the thread alone
  mutable std::mutex mutex;  // guards last_error
  std::thread thread;
};

asio::awaitable<void> ShardClient::Impl::Run(std::shared_ptr<Race> race) {
  Shard& shard = *race->shard;
  error_code error;
  while (!race->done) {
    const Clock::time_point now = Clock::now();
    if (now >= race->deadline) {
      if (race->body != nullptr) shard.counters.missing.fetch_add(1, std::memory_order_relaxed);
      race->Finish(Status(ErrorCode::kResourceExhausted, race->last_error));
      break;
    }
    if (now >= race->next) {
      race->next = now + race->resend;
      race->resend *= 2;
      const bool beside = race->live > 0;  // one that is only slow
      if (!beside || shard.may_resend >= 1) {
        if (beside) shard.may_resend -= 1;
        if (beside && race->body != nullptr) {
          shard.counters.resent.fetch_add(1, std::memory_order_relaxed);
        }
        ++race->live;
        asio::co_spawn(io, Attempt(race, Choose(race.get())), asio::detached);
        if (race->done) break;
      }
    }
    race->timer.expires_at(std::min(race->next, race->deadline));
    co_await race->timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

// The next one in turn that was neither tried for this question nor failed lately, if there is one.
Address* ShardClient::Impl::Choose(Race* race) {
  Shard& shard = *race->shard;
  const Clock::time_point now = Clock::now();
  const size_t count = shard.addresses.size();
  const size_t first = shard.next++ % count;
  Address* best = nullptr;
  int best_rank = 3;
  for (size_t i = 0; i < count; ++i) {
    Address& address = shard.addresses[(first + i) % count];
    const bool again =
        std::find(race->tried.begin(), race->tried.end(), &address) != race->tried.end();
    const int rank = (again ? 1 : 0) + (now < address.avoided_until ? 1 : 0);
    if (rank >= best_rank) continue;
    best = &address;
    best_rank = rank;
  }
  race->tried.push_back(best);
  return best;
}

std::unique_ptr<Stream> ShardClient::Impl::TakeIdle(Address* address) {
  const Clock::time_point oldest = Clock::now() - kIdle;
  while (!address->idle.empty()) {
    IdleStream idle = std::move(address->idle.back());  // the warmest
    address->idle.pop_back();
    if (idle.since >= oldest) return std::move(idle.stream);
    address->idle.clear();  // the others are older
  }
  return nullptr;
}

// Empty, or why not.
asio::awaitable<std::string> ShardClient::Impl::Connect(Stream& stream, const Address& address) {
  error_code error;
  const auto numeric = asio::ip::make_address(address.host, error);
  if (!error) {
    const tcp::endpoint endpoint(numeric, static_cast<uint16_t>(std::stoi(address.port)));
    co_await stream.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
  } else {
    tcp::resolver resolver(io);
    error = {};
    const auto found = co_await resolver.async_resolve(
        address.host, address.port, asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      co_await stream.async_connect(found, asio::redirect_error(asio::use_awaitable, error));
    }
  }
  if (error) co_return error.message();
  stream.socket().set_option(tcp::no_delay(true), error);
  co_return "";
}

// False: a connection that had been idle turned out to be closed; nothing is known of the address.
asio::awaitable<bool> ShardClient::Impl::Exchange(Race& race, Address& address, Stream& stream,
                                                  bool reused) {
  const std::string head = race.body == nullptr
                               ? race.shard->probe + address.header + "\r\n"
                               : race.shard->address + race.what + race.shard->rest +
                                     std::to_string(race.body->size()) + "\r\n" + address.header +
                                     "\r\n";
  const std::array<asio::const_buffer, 2> parts = {
      asio::buffer(head), race.body == nullptr ? asio::const_buffer() : asio::buffer(*race.body)};
  error_code error;
  const Clock::time_point sent = Clock::now();
  co_await asio::async_write(stream, parts, asio::redirect_error(asio::use_awaitable, error));
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.header_limit(16 << 10);
  parser.body_limit(static_cast<uint64_t>(most_bytes));
  if (!error) {
    co_await http::async_read(stream, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, error));
  }
  if (race.done) co_return true;
  const bool nothing_came = !parser.got_some();
  if (error && reused && nothing_came && error != beast::error::timeout) co_return false;
  if (error) {
    if (error != beast::error::timeout) address.avoided_until = Clock::now() + kAvoided;
    race.Failed(error.message());
    co_return true;
  }
  const unsigned status = parser.get().result_int();
  std::string body = std::move(parser.get().body());
  if (parser.get().keep_alive() && buffer.size() == 0 && address.idle.size() < kMostIdle) {
    stream.expires_never();
    address.idle.push_back({std::make_unique<Stream>(std::move(stream)), Clock::now()});
  }
  // It is no longer this attempt's to close.
  race.streams.erase(std::remove(race.streams.begin(), race.streams.end(), &stream),
                     race.streams.end());
  if (status == 200) {
    if (!race.done) race.winner = &address;
    if (!race.done && race.body != nullptr) NoteAnswer(Clock::now() - sent, race.shard);
    race.Finish(std::move(body));
  } else if (RefusalCode(status) != ErrorCode::kOk && race.body != nullptr) {
    race.Finish(Status(RefusalCode(status), ErrorIn(body)));
  } else {
    race.Failed("HTTP status " + std::to_string(status) + ": " + ErrorIn(body));
  }
  co_return true;
}

asio::awaitable<void> ShardClient::Impl::Attempt(std::shared_ptr<Race> race, Address* address) {
  const size_t before = race->tried.size();
  for (bool again = true; again && !race->done;) {
    again = false;
    std::unique_ptr<Stream> stream = TakeIdle(address);
    const bool reused = stream != nullptr;
    if (!reused) stream = std::make_unique<Stream>(io);
    race->streams.push_back(stream.get());
    stream->expires_at(race->deadline);
    try {
      std::string refused;
      if (!reused) refused = co_await Connect(*stream, *address);
      if (!refused.empty()) {
        if (!race->done) address->avoided_until = Clock::now() + kAvoided;
        race->Failed("connecting to " + address->host + ":" + address->port + ": " + refused);
      } else {
        again = !co_await Exchange(*race, *address, *stream, reused);
      }
    } catch (const std::exception& error) {
      race->Failed(error.what());
    }
    race->streams.erase(std::remove(race->streams.begin(), race->streams.end(), stream.get()),
                        race->streams.end());
  }
  // Another attempt overtook it: where there is a choice, the next question goes elsewhere.
  if (race->winner != nullptr && race->winner != address && race->tried.size() > before) {
    address->avoided_until = Clock::now() + kAvoided;
  }
  --race->live;
}

asio::awaitable<void> ShardClient::Impl::Probe(Shard* shard) {
  asio::steady_timer pause(io);
  error_code error;
  while (true) {
    auto race = std::make_shared<Race>(io, shard);
    race->next = Clock::now();
    race->deadline = race->next + std::min<milliseconds>(deadline, milliseconds(1000));
    race->resend = resend;
    race->finish = [this, shard](Result<std::string> answer) {
      shard->counters.ready.store(answer.ok());
      const std::lock_guard<std::mutex> lock(mutex);
      shard->last_error = answer.ok() ? "" : answer.status().message();
    };
    co_await Run(race);
    pause.expires_after(shard->counters.ready ? kProbeEvery : kProbeEvery / 5);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

ShardClient::ShardClient(const ShardFile& file, int64_t most_bytes)
    : impl_(std::make_unique<Impl>(file, most_bytes)) {
  for (Shard& shard : impl_->shards) {
    asio::co_spawn(impl_->io, impl_->Probe(&shard), asio::detached);
  }
  impl_->thread = std::thread([impl = impl_.get()] { impl->io.run(); });
}

ShardClient::~ShardClient() {
  impl_->io.stop();
  impl_->thread.join();
}

std::vector<Result<std::string>> ShardClient::AskAll(std::string body,
                                                     std::string_view what) const {
  struct Asked {
    std::mutex mutex;
    std::condition_variable changed;
    size_t open = 0;
    std::vector<Result<std::string>> answers;
  };
  const auto asked = std::make_shared<Asked>();
  const auto shared = std::make_shared<const std::string>(std::move(body));
  asked->open = shards();
  asked->answers.assign(shards(), Status(ErrorCode::kResourceExhausted, "was not asked"));
  asio::post(impl_->io, [impl = impl_.get(), asked, shared, what = std::string(what)] {
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < impl->shards.size(); ++i) {
      Shard& shard = impl->shards[i];
      shard.counters.asked.fetch_add(1, std::memory_order_relaxed);
      shard.may_resend = std::min(kBurst, shard.may_resend + kShareSentAgain);
      auto race = std::make_shared<Race>(impl->io, &shard);
      race->body = shared;
      race->what = what;
      race->next = now;
      // A shard that has not answered for a while is not waited for as long.
      race->deadline = now + (shard.counters.ready ? impl->deadline : impl->deadline / 4);
      const milliseconds usual(std::llround(shard.usual_ms));
      race->resend = std::max(impl->resend, std::min(usual, impl->deadline / 4));
      race->finish = [asked, i](Result<std::string> answer) {
        const std::lock_guard<std::mutex> lock(asked->mutex);
        asked->answers[i] = std::move(answer);
        if (--asked->open == 0) asked->changed.notify_all();
      };
      asio::co_spawn(impl->io, impl->Run(std::move(race)), asio::detached);
    }
  });
  std::unique_lock<std::mutex> lock(asked->mutex);
  asked->changed.wait(lock, [&] { return asked->open == 0; });
  return std::move(asked->answers);
}

size_t ShardClient::shards() const {
  return impl_->shards.size();
}

const ShardCounters& ShardClient::counters(size_t shard) const {
  return impl_->shards[shard].counters;
}

std::string ShardClient::NotReady(milliseconds wait) const {
  const Clock::time_point end = Clock::now() + wait;
  while (true) {
    std::string missing;
    {
      const std::lock_guard<std::mutex> lock(impl_->mutex);
      for (size_t i = 0; i < impl_->shards.size(); ++i) {
        if (impl_->shards[i].counters.ready) continue;
        missing += (missing.empty() ? "shard " : "; shard ") + std::to_string(i + 1) + ": " +
                   impl_->shards[i].last_error;
      }
    }
    if (missing.empty() || Clock::now() >= end) return missing;
    std::this_thread::sleep_for(milliseconds(5));
  }
}

}  // namespace resmem::serve
