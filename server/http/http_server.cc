#include "http/http_server.h"

#include <utility>  // before Asio: its coroutines lack it with g++ 12

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <csignal>
#include <mutex>
#include <set>
#include <vector>

#include "http/http_text.h"
#include "http/read_message.h"

namespace resmem::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using Clock = std::chrono::steady_clock;

Result<std::shared_ptr<ssl::context>> MakeContext(const std::string& chain,
                                                  const std::string& key) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                                    SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  error_code error;
  context->use_certificate_chain_file(chain, error);
  if (error) {
    return Status(ErrorCode::kBadData,
                  chain + ": no certificate chain in PEM could be read (" + error.message() + ")");
  }
  context->use_private_key_file(key, ssl::context::pem, error);
  if (error || SSL_CTX_check_private_key(context->native_handle()) != 1) {
    ERR_clear_error();
    return Status(ErrorCode::kBadData,
                  key + ": no private key in PEM that belongs to the certificate in " + chain);
  }
  return context;
}

}  // namespace

struct HttpServer::Impl {
  // An open connection, known so that draining can end those that wait for a request.
  struct Connection {
    PlainStream* stream = nullptr;
    bool idle = true;
  };
  // So many requests in a row by one connection mean that it is alone.
  static constexpr int kSoloRequests = 4;

  explicit Impl(const HttpLimits& limits_in, Handler* handler_in)
      : limits(limits_in), handler(handler_in) {}

  asio::awaitable<void> Accept();
  template <class Stream>
  asio::awaitable<void> Serve(Stream stream, std::shared_ptr<ssl::context> context);
  template <class Stream>
  asio::awaitable<void> Exchanges(Stream& stream, Connection& connection);
  template <class Stream>
  asio::awaitable<int> ReadBody(Stream& stream, beast::flat_buffer& buffer, Parser& parser,
                                int64_t* held);
  template <class Stream>
  asio::awaitable<bool> Write(Stream& stream, bool is_head, const std::string& id,
                              Response response, unsigned version, bool keep_alive);
  template <class Stream>
  asio::awaitable<void> Linger(Stream& stream);
  asio::awaitable<Response> Ask(Request request);
  void Answer(std::function<void()> resume);
  bool IsSolo(const Connection& connection);
  void StartDraining();

  const HttpLimits limits;
  Handler* const handler;
  // Before the context, which ends connections that are left when it is destroyed.
  HttpCounters counters;
  std::set<Connection*> connections;
  const Connection* latest = nullptr;  // whose request came last
  int in_a_row = 0;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::signal_set stop_signals{io};
  asio::signal_set hangup{io};
  asio::steady_timer drain_timer{io};
  std::function<void()> reload;
  std::shared_ptr<ssl::context> context;  // of new connections; Run()'s thread or before it
  std::atomic<bool> running{false}, draining{false};
  std::mutex answered_mutex;
  std::vector<std::function<void()>> answered;  // go on in Run()'s thread
  bool late = false;
};

asio::awaitable<void> HttpServer::Impl::Accept() {
  while (acceptor.is_open()) {
    error_code error;
    tcp::socket socket =
        co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (error) {
      if (!acceptor.is_open()) co_return;
      // Out of descriptors, say: others will end.
      asio::steady_timer pause(io, std::chrono::milliseconds(20));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    counters.accepted.fetch_add(1, std::memory_order_relaxed);
    if (static_cast<int64_t>(connections.size()) >= limits.connections) {
      counters.refused.fetch_add(1, std::memory_order_relaxed);
      socket.non_blocking(true, error);
      const std::string_view full = FullAnswer();
      if (!context) socket.send(asio::buffer(full.data(), full.size()), 0, error);
      continue;
    }
    socket.set_option(tcp::no_delay(true), error);
    if (context) {
      asio::co_spawn(io, Serve(TlsStream(PlainStream(std::move(socket)), *context), context),
                     asio::detached);
    } else {
      asio::co_spawn(io, Serve(PlainStream(std::move(socket)), nullptr), asio::detached);
    }
  }
}

template <class Stream>
asio::awaitable<void> HttpServer::Impl::Serve(Stream stream,
                                              std::shared_ptr<ssl::context> /*kept*/) {
  Connection connection{&beast::get_lowest_layer(stream)};
  connections.insert(&connection);
  counters.connections.fetch_add(1, std::memory_order_relaxed);
  struct Leave {
    Impl* server;
    Connection* connection;
    ~Leave() {
      server->connections.erase(connection);
      server->counters.connections.fetch_sub(1, std::memory_order_relaxed);
    }
  } leave{this, &connection};
  try {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      error_code error;
      connection.stream->expires_after(limits.header);
      co_await stream.async_handshake(ssl::stream_base::server,
                                      asio::redirect_error(asio::use_awaitable, error));
      if (error) {
        counters.tls_failures.fetch_add(1, std::memory_order_relaxed);
        co_return;
      }
    }
    co_await Exchanges(stream, connection);
  } catch (const std::exception&) {
    // The connection ends here; the others do not notice.
  }
}

template <class Stream>
asio::awaitable<int> HttpServer::Impl::ReadBody(Stream& stream, beast::flat_buffer& buffer,
                                                Parser& parser, int64_t* held) {
  error_code error;
  parser.eager(true);
  ReadDeadline<PlainStream> deadline;
  while (!parser.is_done()) {
    if (!ParseCome(buffer, parser, error)) {
      deadline.Start(beast::get_lowest_layer(stream), limits.body);
      co_await http::async_read_some(stream, buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
    }
    const auto size = static_cast<int64_t>(parser.get().body().size());
    counters.body_bytes.fetch_add(size - *held, std::memory_order_relaxed);
    *held = size;
    if (deadline.late()) {
      counters.timeouts.fetch_add(1, std::memory_order_relaxed);
      co_return 408;
    }
    if (error) co_return StatusOf(error) == 0 ? -1 : StatusOf(error);
    if (counters.body_bytes.load(std::memory_order_relaxed) > limits.all_bodies_bytes) {
      co_return 503;
    }
  }
  co_return 0;
}

asio::awaitable<Response> HttpServer::Impl::Ask(Request request) {
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(Response)>(
      [this](auto completion, Request asked) {
        struct Waiting {
          decltype(completion) resume;
          Response answer;
          asio::executor_work_guard<asio::io_context::executor_type> work;
        };
        auto waiting = std::make_shared<Waiting>(
            Waiting{std::move(completion), {}, asio::make_work_guard(io)});
        handler->Handle(std::move(asked), [this, waiting](Response response) {
          waiting->answer = std::move(response);
          Answer([waiting] { waiting->resume(std::move(waiting->answer)); });
        });
      },
      asio::use_awaitable, std::move(request));
}

// The answers of a batch come together, and wake the thread once.
void HttpServer::Impl::Answer(std::function<void()> resume) {
  {
    const std::lock_guard<std::mutex> lock(answered_mutex);
    answered.push_back(std::move(resume));
    if (answered.size() > 1) return;
  }
  asio::post(io, [this] {
    std::vector<std::function<void()>> all;
    {
      const std::lock_guard<std::mutex> lock(answered_mutex);
      all.swap(answered);
    }
    for (const std::function<void()>& each : all) each();
  });
}

bool HttpServer::Impl::IsSolo(const Connection& connection) {
  in_a_row = latest == &connection ? in_a_row + 1 : 0;
  latest = &connection;
  return in_a_row >= kSoloRequests;
}

template <class Stream>
asio::awaitable<bool> HttpServer::Impl::Write(Stream& stream, bool is_head, const std::string& id,
                                              Response response, unsigned version,
                                              bool keep_alive) {
  // Written out here: a message of Beast costs an allocation and a buffer for each field.
  const std::string text = HeadText(response, id, version, keep_alive);
  if (is_head) response.body.clear();  // its length was told
  beast::buffers_suffix<std::array<asio::const_buffer, 2>> parts(
      {asio::buffer(text), asio::buffer(response.body)});
  error_code error;
  if constexpr (std::is_same_v<Stream, PlainStream>) {
    // Mostly the system takes it all at once, and no timer is needed.
    parts.consume(stream.socket().write_some(parts, error));
    if (!error && beast::buffer_bytes(parts) == 0) co_return true;
    if (error && error != asio::error::would_block) co_return false;
    error = {};
  }
  const auto bytes = static_cast<int64_t>(response.body.size());
  counters.body_bytes.fetch_add(bytes, std::memory_order_relaxed);
  beast::get_lowest_layer(stream).expires_after(limits.write);
  co_await asio::async_write(stream, parts, asio::redirect_error(asio::use_awaitable, error));
  counters.body_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  if (error == beast::error::timeout) counters.timeouts.fetch_add(1, std::memory_order_relaxed);
  co_return !error;
}

// Reads a little of what a refused client is still sending: closing at once would reset the
// connection, and the answer with it.
template <class Stream>
asio::awaitable<void> HttpServer::Impl::Linger(Stream& stream) {
  PlainStream& plain = beast::get_lowest_layer(stream);
  error_code error;
  plain.socket().shutdown(tcp::socket::shutdown_send, error);
  plain.expires_after(std::chrono::seconds(1));
  std::array<char, 4096> scrap;
  for (int i = 0; i < 256 && !error; ++i) {
    co_await plain.async_read_some(asio::buffer(scrap),
                                   asio::redirect_error(asio::use_awaitable, error));
  }
}

template <class Stream>
asio::awaitable<void> HttpServer::Impl::Exchanges(Stream& stream, Connection& connection) {
  PlainStream& plain = *connection.stream;
  error_code error;
  const tcp::endpoint peer = plain.socket().remote_endpoint(error);
  const bool loopback = !error && peer.address().is_loopback();
  plain.socket().non_blocking(true, error);
  beast::flat_buffer buffer(static_cast<size_t>(limits.header_bytes + (64 << 10)));
  for (bool more = true; more;) {
    connection.idle = true;
    if (buffer.size() == 0) {
      plain.expires_after(limits.idle);
      const size_t got = co_await stream.async_read_some(
          buffer.prepare(4096), asio::redirect_error(asio::use_awaitable, error));
      if (error) break;
      buffer.commit(got);
    }
    connection.idle = false;
    Parser parser;
    parser.header_limit(static_cast<uint32_t>(limits.header_bytes));
    parser.body_limit(static_cast<uint64_t>(limits.body_bytes));
    if (!ParseCome(buffer, parser, error)) {
      plain.expires_after(limits.header);
      co_await http::async_read_header(stream, buffer, parser,
                                       asio::redirect_error(asio::use_awaitable, error));
    }
    if (error == beast::error::timeout) {
      counters.timeouts.fetch_add(1, std::memory_order_relaxed);
      break;
    }
    const Clock::time_point begin = Clock::now();
    int status = error ? StatusOf(error) : HeaderMistake(parser);
    if (error && status == 0) break;
    Request head = HeadOf(parser, loopback);
    Response response;
    int64_t held = 0;
    bool refused = true, whole = parser.is_done();
    if (status == 0 && !handler->Refuse(head, &response)) {
      if (LowerCase(head.header("expect")) == "100-continue") {
        http::response<http::empty_body> go_on(http::status::continue_, 11);
        plain.expires_after(limits.write);
        co_await http::async_write(stream, go_on, asio::redirect_error(asio::use_awaitable, error));
        if (error) break;
      }
      status = co_await ReadBody(stream, buffer, parser, &held);
      refused = status != 0;
    }
    struct Release {
      HttpCounters* counters;
      int64_t* held;
      ~Release() { counters->body_bytes.fetch_sub(*held, std::memory_order_relaxed); }
    } release{&counters, &held};
    if (status < 0) break;  // the client left
    if (status != 0) {
      counters.malformed.fetch_add(1, std::memory_order_relaxed);
      response = Refusal(status);
    }
    const unsigned version = parser.get().version() == 10 ? 10 : 11;
    // What a refused client still sends would be taken for its next request.
    more = status == 0 && (!refused || whole) && parser.get().keep_alive();
    const std::string method = head.method, target = head.target, id = head.id;
    Exchange exchange{method, target, id, 0, 0, held, 0};
    if (!refused) {
      head.body = std::move(parser.get().body());
      head.solo = IsSolo(connection);
      plain.expires_never();
      response = co_await Ask(std::move(head));
    }
    more = more && !draining.load(std::memory_order_relaxed);
    const std::string reason = std::move(response.reason);
    exchange.reason = reason;
    exchange.status = response.status;
    exchange.bytes_out = static_cast<int64_t>(response.body.size());
    const bool written =
        co_await Write(stream, method == "HEAD", id, std::move(response), version, more);
    exchange.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    handler->Done(exchange);
    if (!written) break;
    if (refused && !more && !draining) co_await Linger(stream);
  }
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    if (plain.socket().is_open()) {
      plain.expires_after(std::chrono::seconds(2));
      co_await stream.async_shutdown(asio::redirect_error(asio::use_awaitable, error));
    }
  }
  plain.socket().shutdown(tcp::socket::shutdown_both, error);
}

void HttpServer::Impl::StartDraining() {
  if (draining.exchange(true)) return;
  error_code error;
  acceptor.close(error);
  stop_signals.cancel(error);
  hangup.cancel(error);
  for (Connection* connection : connections) {
    if (connection->idle) connection->stream->cancel();
  }
  drain_timer.expires_after(limits.drain);
  drain_timer.async_wait([this](const error_code& failed) {
    if (failed) return;
    late = !connections.empty();
    io.stop();
  });
}

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(const std::string& address, uint16_t port,
                                                       const HttpLimits& limits, Handler* handler) {
  error_code error;
  const asio::ip::address where = asio::ip::make_address(address, error);
  if (error) {
    return Status(ErrorCode::kInvalidArgument,
                  "address '" + address + "' is no IP address; give 127.0.0.1, 0.0.0.0 or ::1");
  }
  auto impl = std::make_unique<Impl>(limits, handler);
  const tcp::endpoint endpoint(where, port);
  impl->acceptor.open(endpoint.protocol(), error);
  if (!error) impl->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) impl->acceptor.bind(endpoint, error);
  if (!error) impl->acceptor.listen(4096, error);
  if (error) {
    return Status(ErrorCode::kIo, "cannot listen on " + address + " port " + std::to_string(port) +
                                      ": " + error.message() + "; choose another --port");
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
  error_code error;
  return impl_->acceptor.local_endpoint(error).port();
}

Status HttpServer::UseCertificate(const std::string& chain_path, const std::string& key_path) {
  RESMEM_ASSIGN_OR_RETURN(std::shared_ptr<ssl::context> made, MakeContext(chain_path, key_path));
  if (!impl_->running) {
    impl_->context = std::move(made);
  } else {
    asio::post(impl_->io, [this, made] { impl_->context = made; });
  }
  return {};
}

void HttpServer::OnHangup(std::function<void()> reload) {
  impl_->reload = std::move(reload);
}

bool HttpServer::Run() {
  Impl& server = *impl_;
  for (const int signal : {SIGTERM, SIGINT}) server.stop_signals.add(signal);
  server.stop_signals.async_wait([&server](const error_code& failed, int) {
    if (!failed) server.StartDraining();
  });
  server.hangup.add(SIGHUP);
  std::function<void()> wait = [&server, &wait] {
    server.hangup.async_wait([&server, &wait](const error_code& failed, int) {
      if (failed) return;
      if (server.reload) server.reload();
      wait();
    });
  };
  wait();
  server.running = true;
  asio::co_spawn(server.io, server.Accept(), asio::detached);
  // Only the timer of a drain is left when the last connection has ended.
  while (server.io.run_one() > 0) {
    if (server.draining && server.connections.empty()) break;
  }
  return !server.late;
}

void HttpServer::Drain() {
  asio::post(impl_->io, [this] { impl_->StartDraining(); });
}

bool HttpServer::draining() const {
  return impl_->draining.load(std::memory_order_relaxed);
}

const HttpCounters& HttpServer::counters() const {
  return impl_->counters;
}

Result<bool> IsLoopback(const std::string& address) {
  error_code error;
  const asio::ip::address where = asio::ip::make_address(address, error);
  if (error) {
    return Status(ErrorCode::kInvalidArgument,
                  "address '" + address + "' is no IP address; give 127.0.0.1, 0.0.0.0 or ::1");
  }
  return where.is_loopback();
}

}  // namespace resmem::serve
