// A request as Beast's parser has it.  A part of http_server.cc, which alone includes it.
#ifndef RESMEM_SERVER_HTTP_READ_MESSAGE_H_
#define RESMEM_SERVER_HTTP_READ_MESSAGE_H_

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "http/http_text.h"
#include "http/message.h"

namespace resmem::serve {

using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

inline Request HeadOf(const Parser& parser, bool loopback) {
  const auto& message = parser.get();
  Request head;
  head.method = std::string(message.method_string());
  head.target = std::string(message.target());
  head.loopback = loopback;
  for (const auto& field : message) {
    head.headers.emplace_back(LowerCase(std::string(field.name_string())),
                              std::string(field.value()));
  }
  const std::string_view given = head.header("x-request-id");
  head.id = SoundId(given) ? std::string(given) : NewId();
  return head;
}

// Reads on in what has come already.  False: more must come.  Beast's own reads would pass through
// the event loop and set a timer even where everything is there.
inline bool ParseCome(boost::beast::flat_buffer& buffer, Parser& parser,
                      boost::system::error_code& error) {
  error = {};
  if (buffer.size() == 0) return false;
  buffer.consume(parser.put(buffer.data(), error));
  if (error != boost::beast::http::error::need_more) return true;
  error = {};
  return false;
}

// Ends the reading in time and leaves the connection open for the answer, which Beast's own timer
// would close.
template <class PlainStream>
class ReadDeadline {
 public:
  ReadDeadline() = default;
  ReadDeadline(const ReadDeadline&) = delete;
  ReadDeadline& operator=(const ReadDeadline&) = delete;
  ~ReadDeadline() {
    if (state_ == nullptr) return;
    state_->stream = nullptr;
    state_->timer.cancel();
  }

  // The first time; later calls change nothing.
  void Start(PlainStream& stream, std::chrono::milliseconds after) {
    if (state_ != nullptr) return;
    stream.expires_never();
    state_ = std::make_shared<State>(
        State{&stream, boost::asio::steady_timer(stream.get_executor(), after)});
    state_->timer.async_wait([state = state_](const boost::system::error_code& error) {
      if (error || state->stream == nullptr) return;
      state->late = true;
      boost::system::error_code ignored;
      state->stream->socket().cancel(ignored);
    });
  }
  bool late() const { return state_ != nullptr && state_->late; }

 private:
  struct State {
    PlainStream* stream;
    boost::asio::steady_timer timer;
    bool late = false;
  };
  std::shared_ptr<State> state_;
};

// What of a header is a mistake that no handler should see.
inline int HeaderMistake(const Parser& parser) {
  const auto& message = parser.get();
  if (message.version() != 10 && message.version() != 11) return 505;
  if (message.count(boost::beast::http::field::content_length) > 0 &&
      message.count(boost::beast::http::field::transfer_encoding) > 0) {
    return 400;  // whose end would be a matter of opinion
  }
  if (message.count(boost::beast::http::field::host) > 1) return 400;
  if (message.version() == 11 && message.count(boost::beast::http::field::host) == 0) return 400;
  if (message.target().empty() || message.target()[0] != '/') return 400;
  return 0;
}

inline int StatusOf(const boost::system::error_code& error) {
  if (error == boost::beast::http::error::body_limit ||
      error == boost::beast::http::error::buffer_overflow)
    return 413;
  if (error == boost::beast::http::error::header_limit) return 431;
  if (error.category() ==
      boost::beast::http::make_error_code(boost::beast::http::error::bad_method).category())
    return 400;
  return 0;  // the connection broke: there is no one to answer
}

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_HTTP_READ_MESSAGE_H_
