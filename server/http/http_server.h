// HTTP/1.1 over TCP or TLS: connections, deadlines and limits.  One thread reads and writes; the
// handler's work is done elsewhere.  http_server.cc is the only file that sees Boost.
#ifndef RESMEM_SERVER_HTTP_HTTP_SERVER_H_
#define RESMEM_SERVER_HTTP_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/message.h"
#include "resmem/status.h"

namespace resmem::serve {

struct HttpLimits {
  int64_t body_bytes = int64_t{32} << 20;
  int64_t all_bodies_bytes = int64_t{256} << 20;  // held at once, requests and answers
  int64_t header_bytes = 16 << 10;
  int64_t connections = 2000;
  std::chrono::milliseconds header{10'000};  // from its first byte, or from the TLS hello
  std::chrono::milliseconds body{30'000};
  std::chrono::milliseconds write{30'000};
  std::chrono::milliseconds idle{60'000};  // between two requests
  std::chrono::milliseconds drain{30'000};
};

struct HttpCounters {
  std::atomic<int64_t> connections{0};  // open now
  std::atomic<int64_t> accepted{0}, refused{0}, timeouts{0}, malformed{0}, tls_failures{0};
  std::atomic<int64_t> body_bytes{0};  // held now
};

class HttpServer {
 public:
  // Listens at once, so that a port in use is an error here.  Port 0: any free one.
  static Result<std::unique_ptr<HttpServer>> Listen(const std::string& address, uint16_t port,
                                                    const HttpLimits& limits, Handler* handler);
  ~HttpServer();

  uint16_t port() const;
  // TLS for the connections from now on, with a certificate chain and its key in PEM files.  Where
  // they are not sound, nothing changes.
  Status UseCertificate(const std::string& chain_path, const std::string& key_path);
  // Called in Run()'s thread at SIGHUP.
  void OnHangup(std::function<void()> reload);
  // Serves until SIGTERM, SIGINT or Drain(): then no connection is accepted, the requests that
  // have begun are answered, and it returns.  False: some were not in time.
  bool Run();
  void Drain();  // from any thread
  bool draining() const;
  const HttpCounters& counters() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Whether the address is one of this machine's own: 127.0.0.0/8 or ::1.  kInvalidArgument where it
// is no address.
Result<bool> IsLoopback(const std::string& address);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_HTTP_HTTP_SERVER_H_
