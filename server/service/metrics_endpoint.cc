// /metrics, in the text form that Prometheus reads.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "http/http_server.h"
#include "operation/metrics.h"
#include "resmem/version.h"
#include "service/endpoints.h"
#include "shards/shard_set.h"

namespace resmem::serve {
namespace {

// By route: what can be asked is a fixed list, so that no client makes series of its own.
struct RouteCounts {
  RouteCounts() : seconds(LatencyBounds()) {}
  Histogram seconds;
  std::array<std::atomic<int64_t>, 6> by_hundred{};  // of the status
};

std::deque<RouteCounts>& AllCounts() {
  static std::deque<RouteCounts> counts(Routes().size() + 1);  // the last: no route
  return counts;
}

double Load(const std::atomic<int64_t>& value) {
  return static_cast<double>(value.load(std::memory_order_relaxed));
}

void WriteHttp(const HttpCounters& http, MetricsText* text) {
  const auto one = [&](const char* name, const char* type, const char* help,
                       const std::atomic<int64_t>& value) {
    text->Family(name, type, help);
    text->Sample({}, Load(value));
  };
  one("resmem_connections", "gauge", "open connections", http.connections);
  one("resmem_connections_total", "counter", "accepted connections", http.accepted);
  one("resmem_connections_refused_total", "counter", "connections above the limit", http.refused);
  one("resmem_timeouts_total", "counter", "connections ended by a deadline", http.timeouts);
  one("resmem_malformed_total", "counter", "requests refused by the HTTP layer", http.malformed);
  one("resmem_tls_failures_total", "counter", "TLS handshakes that failed", http.tls_failures);
  one("resmem_held_bytes", "gauge", "bodies of requests and answers held", http.body_bytes);
}

void WriteRoutes(MetricsText* text) {
  const auto name = [](size_t i) {
    return i < Routes().size() ? std::string(Routes()[i].method) + " " + Routes()[i].pattern
                               : std::string("other");
  };
  std::deque<RouteCounts>& counts = AllCounts();
  text->Family("resmem_requests_total", "counter", "answered requests");
  for (size_t i = 0; i < counts.size(); ++i) {
    for (size_t hundred = 2; hundred < 6; ++hundred) {
      const double value = Load(counts[i].by_hundred[hundred]);
      if (value == 0) continue;
      text->Sample({{"route", name(i)}, {"status", std::to_string(hundred) + "xx"}}, value);
    }
  }
  text->Family("resmem_request_seconds", "histogram",
               "from the end of the header to the last byte of the answer");
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].seconds.count() > 0) text->Sample({{"route", name(i)}}, counts[i].seconds);
  }
}

// A family with a sample for each memory.
template <class Value>
void Each(const Context& context, const char* name, const char* type, const char* help,
          const Value& value_of, MetricsText* text) {
  text->Family(name, type, help);
  for (const auto& [memory, hosted] : context.memories) {
    const double value = value_of(hosted);
    if (!std::isnan(value)) text->Sample({{"memory", memory}}, value);
  }
}

template <class Member>
void EachHistogram(const Context& context, const char* name, const char* help, Member member,
                   MetricsText* text) {
  text->Family(name, "histogram", help);
  for (const auto& [memory, hosted] : context.memories) {
    text->Sample({{"memory", memory}}, hosted.memory->metrics().*member);
  }
}

void WriteStates(const Context& context, MetricsText* text) {
  const auto of_state = [](auto value) {
    return [value](const Hosted& hosted) {
      const auto state = hosted.memory->state();
      return state == nullptr ? std::nan("") : static_cast<double>(value(*state));
    };
  };
  Each(
      context, "resmem_memory_loaded", "gauge", "1 if the memory is loaded",
      [](const Hosted& hosted) { return hosted.memory->state() != nullptr ? 1.0 : 0.0; }, text);
  Each(context, "resmem_memory_damaged", "gauge", "1 if a file of the memory was found damaged",
       of_state([](const MemoryState& state) { return state.damage().ok() ? 0 : 1; }), text);
  Each(context, "resmem_memory_rows", "gauge", "living rows",
       of_state([](const MemoryState& state) { return state.rows(); }), text);
  Each(context, "resmem_memory_deleted_rows", "gauge", "deleted rows that are not compacted yet",
       of_state(
           [](const MemoryState& state) { return state.memory.capacity() - state.memory.rows(); }),
       text);
  Each(context, "resmem_memory_bytes", "gauge", "bytes on disk",
       of_state([](const MemoryState& state) { return state.memory.bytes_on_disk(); }), text);
  Each(context, "resmem_memory_state", "gauge", "number of the state that is served",
       of_state([](const MemoryState& state) { return state.number; }), text);
}

// Of gateways; the counters begin at 0 where a reload changed the list of shards.
void WriteShards(const Context& context, MetricsText* text) {
  const auto family = [&](const char* name, const char* type, const char* help, auto value) {
    bool begun = false;
    for (const auto& [memory, hosted] : context.memories) {
      const auto state = hosted.memory->state();
      if (state == nullptr || state->shards == nullptr) continue;
      if (!begun) text->Family(name, type, help);
      begun = true;
      const ShardClient& client = state->shards->client();
      for (size_t i = 0; i < client.shards(); ++i) {
        text->Sample({{"memory", memory}, {"shard", std::to_string(i + 1)}},
                     static_cast<double>(value(client.counters(i))));
      }
    }
  };
  using Counters = const ShardCounters&;
  family("resmem_shard_ready", "gauge", "1 if a replica of the shard said so within a second",
         [](Counters each) { return each.ready ? 1 : 0; });
  family("resmem_shard_questions_total", "counter", "questions to a shard",
         [](Counters each) { return each.asked.load(); });
  family("resmem_shard_resent_total", "counter", "questions sent once more, for being slow",
         [](Counters each) { return each.resent.load(); });
  family("resmem_shard_failed_total", "counter", "attempts that ended without an answer",
         [](Counters each) { return each.failed.load(); });
  family("resmem_shard_missing_total", "counter", "questions that were not answered in time",
         [](Counters each) { return each.missing.load(); });
}

void WriteEdits(const Context& context, MetricsText* text) {
  const auto family = [&](const char* name, const char* type, const char* help, auto value) {
    bool begun = false;
    for (const auto& [memory, hosted] : context.memories) {
      if (hosted.follower == nullptr) continue;
      if (!begun) text->Family(name, type, help);
      begun = true;
      text->Sample({{"memory", memory}},
                   static_cast<double>(value(*hosted.follower, hosted.follower->counters())));
    }
  };
  using Counters = const FollowerCounters&;
  using Of = const Follower&;
  family("resmem_stream_connected", "gauge", "1 if a node of the stream of edits is connected",
         [](Of, Counters each) { return each.connected ? 1 : 0; });
  family("resmem_stream_sequence", "gauge", "the latest edit that is in the answers",
         [](Of, Counters each) { return each.sequence; });
  family("resmem_stream_lag", "gauge", "edits of the stream that are not in the answers yet",
         [](Of, Counters each) { return std::max<int64_t>(0, each.last - each.sequence); });
  family("resmem_stream_stuck", "gauge", "1 if the replica must be seeded again; the log says why",
         [](Of each, Counters) { return each.stuck().empty() ? 0 : 1; });
  family("resmem_stream_refused_total", "counter", "edits that the memory cannot take",
         [](Of, Counters each) { return each.refused; });
  for (const auto& [memory, hosted] : context.memories) {
    if (hosted.door == nullptr) continue;
    text->Family("resmem_door_connected", "gauge", "1 if this gateway reaches the stream of edits");
    text->Sample({{"memory", memory}}, hosted.door->connected() ? 1 : 0);
  }
}

void WriteAnswers(const Context& context, MetricsText* text) {
  using Counter = std::atomic<int64_t> MemoryMetrics::*;
  const auto counter = [&](const char* name, const char* help, Counter member) {
    Each(
        context, name, "counter", help,
        [member](const Hosted& hosted) { return Load(hosted.memory->metrics().*member); }, text);
  };
  counter("resmem_rows_total", "rows answered", &MemoryMetrics::rows);
  EachHistogram(context, "resmem_batch_rows", "rows of a search", &MemoryMetrics::batch_rows, text);
  EachHistogram(context, "resmem_batch_requests", "requests that shared a search",
                &MemoryMetrics::batch_requests, text);
  EachHistogram(context, "resmem_search_seconds", "one search and its scores",
                &MemoryMetrics::search_seconds, text);
  EachHistogram(context, "resmem_distance_percentile",
                "distance of a query among those of the rows the memory was tuned on, 0 .. 100",
                &MemoryMetrics::distance_percentile, text);
  counter("resmem_measured_rows_total", "rows with a distance percentile",
          &MemoryMetrics::measured);
  counter("resmem_unknown_rows_total", "rows at the 99th percentile or beyond: the base answered",
          &MemoryMetrics::unknown);
  counter("resmem_compared_rows_total", "rows of which base and memory gave a class",
          &MemoryMetrics::compared);
  counter("resmem_agreed_rows_total", "rows of which they gave the same", &MemoryMetrics::agreed);
  Each(
      context, "resmem_drift", "gauge",
      "distance of the latest 1,000 percentiles from those at tuning, 0 .. 1",
      [](const Hosted& hosted) {
        return hosted.memory->metrics().drift.Distance().value_or(std::nan(""));
      },
      text);
  counter("resmem_learned_rows_total", "rows learned", &MemoryMetrics::learned);
  counter("resmem_forgotten_rows_total", "rows forgotten", &MemoryMetrics::forgotten);
  counter("resmem_commits_total", "changes of the memory on disk", &MemoryMetrics::commits);
  counter("resmem_edit_failures_total", "edits that could not be made",
          &MemoryMetrics::commit_failures);
  EachHistogram(context, "resmem_commit_seconds", "from the first edit of a commit to its state",
                &MemoryMetrics::commit_seconds, text);
  Each(
      context, "resmem_edits_waiting", "gauge", "edits that wait",
      [](const Hosted& hosted) {
        return hosted.editor == nullptr ? 0.0 : static_cast<double>(hosted.editor->waiting());
      },
      text);
  text->Family("resmem_feedback_total", "counter", "corrections, by what had been answered");
  for (const auto& [memory, hosted] : context.memories) {
    const MemoryMetrics& metrics = hosted.memory->metrics();
    for (const auto& [kind, value] : {std::pair{"both_right", &metrics.both_right},
                                      {"both_wrong", &metrics.both_wrong},
                                      {"fixed", &metrics.fixed},
                                      {"harmed", &metrics.harmed}}) {
      text->Sample({{"memory", memory}, {"answer", kind}}, Load(*value));
    }
  }
}

}  // namespace

void CountExchange(std::string_view method, std::string_view target, int status, double seconds) {
  std::vector<std::string> names;
  bool other = false;
  const Route* route = FindRoute(method, target, &names, &other);
  const size_t number =
      route == nullptr ? Routes().size() : static_cast<size_t>(route - Routes().data());
  RouteCounts& counts = AllCounts()[number];
  counts.seconds.Observe(seconds);
  const auto hundred = static_cast<size_t>(status / 100);
  if (hundred < counts.by_hundred.size()) {
    counts.by_hundred[hundred].fetch_add(1, std::memory_order_relaxed);
  }
}

Response Metrics(Context& context, const Call&) {
  MetricsText text;
  text.Family("resmem_build_info", "gauge", "1, with the version");
  text.Sample({{"version", Version()}}, 1);
  if (context.http != nullptr) WriteHttp(*context.http, &text);
  text.Family("resmem_queue", "gauge", "requests that wait for a thread");
  text.Sample({{"queue", "quick"}}, static_cast<double>(context.quick.waiting()));
  text.Sample({{"queue", "slow"}}, static_cast<double>(context.slow.waiting()));
  text.Sample({{"queue", "tuning"}}, static_cast<double>(context.tuning.waiting()));
  text.Sample({{"queue", "reloading"}}, static_cast<double>(context.reloading.waiting()));
  WriteRoutes(&text);
  WriteStates(context, &text);
  WriteAnswers(context, &text);
  WriteShards(context, &text);
  WriteEdits(context, &text);
  Response response;
  response.type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = text.text();
  return response;
}

}  // namespace resmem::serve
