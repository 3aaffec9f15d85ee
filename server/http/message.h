// A request and its answer, free of the HTTP library, so that everything above can be tested
// without a socket.
#ifndef RESMEM_SERVER_HTTP_MESSAGE_H_
#define RESMEM_SERVER_HTTP_MESSAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace resmem::serve {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;  // "GET"
  std::string target;  // "/v2/models/digits/infer?x=1", as sent
  Headers headers;     // names in lower case
  std::string body;
  std::string id;  // X-Request-Id, or one of ours
  bool loopback = true;
  bool solo = false;  // the latest requests all came by this one connection

  // The header's value; "" where it is absent.
  std::string_view header(std::string_view lower_name) const {
    for (const auto& [name, value] : headers) {
      if (name == lower_name) return value;
    }
    return {};
  }
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  Headers headers;
  std::string body;
  std::string reason;  // of a status of 5xx, for the log: never what a client sent
};

// Called once, from any thread.
using Reply = std::function<void(Response)>;

// What became of an exchange, for the access log and the metrics.
struct Exchange {
  std::string_view method, target, id;
  int status = 0;
  double seconds = 0;  // from the last byte of the header to the last byte of the answer
  int64_t bytes_in = 0, bytes_out = 0;
  std::string_view reason{};  // the answer's
};

class Handler {
 public:
  virtual ~Handler() = default;
  // Asked once the header is read: an answer refuses the request before its body is.
  virtual bool Refuse(const Request& head, Response* answer) = 0;
  virtual void Handle(Request request, Reply reply) = 0;
  virtual void Done(const Exchange& exchange) = 0;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_HTTP_MESSAGE_H_
