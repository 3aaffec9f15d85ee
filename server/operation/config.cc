#include "operation/config.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "shards/shard_file.h"

namespace resmem::serve {
namespace {

using std::chrono::milliseconds;

Status Invalid(std::string words) {
  return {ErrorCode::kInvalidArgument, std::move(words)};
}

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

Status SetOption(const cli::CommandLine& line, const std::string& name, const std::string& value,
                 ConfigValues* values) {
  if (name == "memory") return values->memories.push_back(value), Status();
  for (const cli::Option& option : line.options()) {
    if (option.name != "--" + name) continue;
    if (name == "config" || name == "check-config" || name == "help" || name == "quiet") break;
    if (!option.is_flag()) return option.set(value);
    if (value == "true") return option.set("");
    return value == "false" ? Status() : Invalid("'" + value + "' is not true or false");
  }
  return Invalid("there is no setting '" + name +
                 "'; 'resmem serve --help' lists the options, "
                 "which are the settings without their dashes");
}

Status CheckRange(const char* option, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return Invalid(std::string(option) + " " + std::to_string(value) + ": allowed are " +
                 std::to_string(least) + " to " + std::to_string(most));
}

Status ReadSeconds(const char* option, double seconds, milliseconds* out) {
  if (!(seconds >= 0.01 && seconds <= 86'400)) {
    return Invalid(std::string(option) + ": give 0.01 to 86400 seconds");
  }
  *out = milliseconds(std::llround(seconds * 1000));
  return {};
}

// "2/4"
bool ReadPart(const std::string& text, int64_t* part, int64_t* parts) {
  int end = -1;
  int number = 0, of = 0;
  if (std::sscanf(text.c_str(), "%5d/%5d%n", &number, &of, &end) != 2 ||
      end != static_cast<int>(text.size()) || number < 1 || number > of) {
    return false;
  }
  *part = number;
  *parts = of;
  return true;
}

Status UseEdits(const ConfigValues& values, MemorySource* source) {
  if (values.edits.empty()) {
    if (values.shard.empty() && values.edits_after == 0) return {};
    return Invalid("--shard and --edits-after are for replicas that follow --edits");
  }
  if (values.read_only) return Invalid("--edits and --read-only exclude each other");
  const std::string name(source->name.substr(0, source->name.find('.')));
  if (source->shards ? name != source->name : name != WithoutContent(source->name)) {
    return Invalid("memory '" + source->name +
                   "': --edits wants a gateway's memory named without '.', and its shards NAME."
                   "CONTENT, as 'resmem cluster config' writes them");
  }
  source->edits = values.edits;
  source->edits_after = values.edits_after;
  source->edit_replicas = values.edit_replicas;
  if (source->shards || ReadPart(values.shard, &source->shard, &source->shards_in_all)) return {};
  return Invalid("--shard '" + values.shard +
                 "': a replica that follows --edits says which shard it has: --shard 2/4");
}

Status ReadMemories(const ConfigValues& values, Config* config) {
  for (const std::string& text : values.memories) {
    RESMEM_ASSIGN_OR_RETURN(MemorySource source, ParseMemorySource(text));
    source.read_only = values.read_only;
    RESMEM_RETURN_IF_ERROR(UseEdits(values, &source));
    if (!values.read_only && values.edits.empty() && !ContentOf(source.name).empty()) {
      return Invalid("memory '" + source.name +
                     "': a name that ends in a memory's content is served --read-only, or with "
                     "--edits");
    }
    config->memories.push_back(std::move(source));
  }
  for (const std::string& path : values.shards) {
    RESMEM_ASSIGN_OR_RETURN(const ShardFile file, ReadShardFile(path));
    RESMEM_ASSIGN_OR_RETURN(MemorySource source, ParseMemorySource(file.name + "=" + path));
    source.shards = true;
    RESMEM_RETURN_IF_ERROR(UseEdits(values, &source));
    config->memories.push_back(std::move(source));
  }
  struct {
    const char* option;
    const std::vector<std::string>& given;
    std::string MemorySource::*file;
  } const kinds[] = {{"--models ", values.models, &MemorySource::model},
                     {"--tokenizers ", values.tokenizers, &MemorySource::tokenizer},
                     {"--texts ", values.texts, &MemorySource::text},
                     {"--validation ", values.validation, &MemorySource::validation},
                     {"--images ", values.images, &MemorySource::images}};
  for (const auto& kind : kinds) {
    for (const std::string& text : kind.given) {
      const size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      const auto at = std::find_if(config->memories.begin(), config->memories.end(),
                                   [&](const MemorySource& each) { return each.name == name; });
      if (equals == std::string::npos || at == config->memories.end()) {
        return Invalid(kind.option + text + ": give NAME=FILE with the name of a memory");
      }
      (*at).*kind.file = text.substr(equals + 1);
    }
  }
  for (const MemorySource& each : config->memories) {
    if (each.model.empty() && !each.tokenizer.empty()) {
      return Invalid("--tokenizers " + each.name + "=" + each.tokenizer +
                     ": give its language model, too: --models " + each.name + "=FILE.onnx");
    }
  }
  if (config->memories.empty()) return Invalid("no memory is given: resmem serve my.resmem");
  return {};
}

Status CheckDoor(const Config& config) {
  RESMEM_ASSIGN_OR_RETURN(const bool own, IsLoopback(config.address));
  if (!own && config.keys.empty()) {
    return Invalid("--address " + config.address +
                   " lets other machines in, which needs keys: "
                   "give --keys FILE, or stay with 127.0.0.1");
  }
  if (config.certificate.empty() != config.private_key.empty()) {
    return Invalid("--certificate and --private-key are given together");
  }
  return {};
}

}  // namespace

void DeclareConfig(cli::CommandLine& line, ConfigValues* values) {
  line.Arguments("MEMORY", &values->memories,
                 "the memories to serve, each as its folder or NAME=FOLDER; in a file: memory");
  line.Value("--models", &values->models, "NAME=FILE,...",
             "ONNX models of memories, for raw inputs; without it the model that the memory names "
             "is used, if it is there");
  line.Value("--tokenizers", &values->tokenizers, "NAME=FILE,...",
             "tokenizers of memories of tokens, so that they can be asked by text");
  line.Value("--texts", &values->texts, "NAME=FILE,...",
             "the token sets that memories of tokens were made of, to show where a neighbor "
             "stands; without it the one that the memory names, if it is there");
  line.Value("--validation", &values->validation, "NAME=FILE,...",
             "labeled rows of memories, arrays as tune reads them: a preview of an edit tells "
             "which of the first 10,000 it would fix or harm");
  line.Value("--images", &values->images, "NAME=PATH,...",
             "the images that memories were made of, as memorize reads them, so that the page "
             "shows neighbors");
  line.Value("--shards", &values->shards, "FILE,...",
             "be the gateway of memories that are cut into shards: files that 'resmem cluster "
             "config' writes (docs/cluster.md)");
  line.Flag("--read-only", &values->read_only,
            "learn and forget nothing, and write nothing: for shards, whose folders never change");
  line.Value("--edits", &values->edits, "URL,...",
             "nodes of NATS JetStream, nats://HOST:PORT: a gateway puts edits into a stream there, "
             "replicas apply it (docs/cluster.md)");
  line.Value("--shard", &values->shard, "I/N",
             "with --edits: the shard that the memories of this replica are, from 1");
  line.Value("--edits-after", &values->edits_after, "N",
             "with --edits, for a memory that has followed no stream yet: it holds the edits up to "
             "N");
  line.Value("--edit-replicas", &values->edit_replicas, "N",
             "with --shards and --edits: nodes that keep a stream which the gateway makes");
  line.Value("--config", &values->config, "FILE",
             "settings, one a line: the options below without their dashes, 'port = 8080'; an "
             "option of the command line wins")
      .File();
  line.Flag("--check-config", &values->check_config,
            "open the memories, check all settings, and end without serving");
  line.Group("Door");
  line.Value("--address", &values->address, "IP",
             "to listen on; one that other machines reach needs --keys");
  line.Value("--port", &values->port, "N", "to listen on; 0 takes any free one");
  line.Value("--keys", &values->keys, "FILE",
             "who may do what: lines of a name, a role (predict, teach or admin) and a key")
      .File();
  line.Value("--certificate", &values->certificate, "FILE", "TLS: the certificate chain, PEM")
      .File();
  line.Value("--private-key", &values->private_key, "FILE", "TLS: its key, PEM").File();
  line.Group("Limits");
  line.Value("--max-body", &values->max_body, "MB", "of a request");
  line.Value("--max-bodies", &values->max_bodies, "MB", "of all that are held at once");
  line.Value("--max-header", &values->max_header, "KB", "of a request's header");
  line.Value("--max-connections", &values->max_connections, "N", "open at once");
  line.Value("--max-queue", &values->max_queue, "N",
             "requests that wait; one more is answered 429");
  line.Value("--max-rows", &values->max_rows, "N", "of a request");
  line.Value("--max-k", &values->max_k, "N", "neighbors that a request may ask for");
  line.Value("--max-json-depth", &values->max_json_depth, "N", "levels of a request's JSON");
  line.Group("Deadlines");
  line.Value("--header-seconds", &values->header_seconds, "S", "for a header, or a TLS handshake");
  line.Value("--body-seconds", &values->body_seconds, "S", "for a body");
  line.Value("--write-seconds", &values->write_seconds, "S", "for an answer to be taken");
  line.Value("--idle-seconds", &values->idle_seconds, "S", "between two requests of a connection");
  line.Value("--queue-seconds", &values->queue_seconds, "S", "waiting for a thread; then 503");
  line.Value("--drain-seconds", &values->drain_seconds, "S",
             "after SIGTERM, for the requests that have begun");
  line.Group("Work");
  line.Value("--workers", &values->workers, "N", "threads that answer; 0: one a processor");
  line.Value("--threads", &values->threads, "N", "of a query that is alone; 0: all processors");
  line.Value("--gather", &values->gather, "US",
             "microseconds that a query may wait for others to share its search, when several came "
             "at a time before; 0: never");
  line.Value("--batch-requests", &values->batch_requests, "N", "that share a search at most");
  line.Value("--recent-queries", &values->recent_queries, "N",
             "latest queries kept in memory for previews and corrections; 0: none");
  line.Value("--edit-rest", &values->edit_rest, "MS",
             "longest pause after a commit of edits, which is 19 times its processor time");
  line.Flag("--access-log", &values->access_log, "a line of JSON a request, without its content");
}

Status ApplyConfigText(std::string_view text, const std::string& path, const cli::CommandLine& line,
                       ConfigValues* values) {
  std::istringstream lines{std::string(text)};
  std::string each;
  for (int number = 1; std::getline(lines, each); ++number) {
    const std::string content = Trimmed(std::string_view(each).substr(0, each.find('#')));
    if (content.empty()) continue;
    const size_t equals = content.find('=');
    const Status status = equals == std::string::npos
                              ? Invalid("a line is 'name = value'")
                              : SetOption(line, Trimmed(content.substr(0, equals)),
                                          Trimmed(content.substr(equals + 1)), values);
    if (!status.ok()) {
      return Invalid(path + ", line " + std::to_string(number) + ": " + status.message());
    }
  }
  return {};
}

Status ApplyConfigFile(const std::string& path, const cli::CommandLine& line,
                       ConfigValues* values) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file) return {ErrorCode::kNotFound, path + ": the file of settings cannot be read"};
  text << file.rdbuf();
  return ApplyConfigText(text.str(), path, line, values);
}

Result<Config> MakeConfig(const ConfigValues& values) {
  Config config;
  config.address = values.address;
  config.keys = values.keys;
  config.certificate = values.certificate;
  config.private_key = values.private_key;
  RESMEM_RETURN_IF_ERROR(ReadMemories(values, &config));
  RESMEM_RETURN_IF_ERROR(CheckRange("--port", values.port, 0, 65535));
  config.port = values.port;
  struct {
    const char* option;
    int64_t value, least, most, unit;
    int64_t* target;
  } const numbers[] = {
      {"--max-body", values.max_body, 1, 4096, 1 << 20, &config.http.body_bytes},
      {"--max-bodies", values.max_bodies, 1, 1 << 20, 1 << 20, &config.http.all_bodies_bytes},
      {"--max-header", values.max_header, 1, 1024, 1 << 10, &config.http.header_bytes},
      {"--max-connections", values.max_connections, 1, 1'000'000, 1, &config.http.connections},
      {"--max-queue", values.max_queue, 1, 1'000'000, 1, &config.work.waiting},
      {"--max-rows", values.max_rows, 1, 1'000'000, 1, &config.service.rows},
      {"--max-k", values.max_k, 0, 100'000, 1, &config.service.k},
      {"--max-json-depth", values.max_json_depth, 4, 1000, 1, &config.service.json_depth},
      {"--batch-requests", values.batch_requests, 1, 100'000, 1, &config.work.batch_requests},
  };
  for (const auto& number : numbers) {
    RESMEM_RETURN_IF_ERROR(CheckRange(number.option, number.value, number.least, number.most));
    *number.target = number.value * number.unit;
  }
  config.service.body_bytes = config.http.body_bytes;
  config.http.all_bodies_bytes = std::max(config.http.all_bodies_bytes, config.http.body_bytes);
  config.edits.waiting = config.work.waiting;
  RESMEM_RETURN_IF_ERROR(
      ReadSeconds("--header-seconds", values.header_seconds, &config.http.header));
  RESMEM_RETURN_IF_ERROR(ReadSeconds("--body-seconds", values.body_seconds, &config.http.body));
  RESMEM_RETURN_IF_ERROR(ReadSeconds("--write-seconds", values.write_seconds, &config.http.write));
  RESMEM_RETURN_IF_ERROR(ReadSeconds("--idle-seconds", values.idle_seconds, &config.http.idle));
  RESMEM_RETURN_IF_ERROR(ReadSeconds("--drain-seconds", values.drain_seconds, &config.http.drain));
  RESMEM_RETURN_IF_ERROR(
      ReadSeconds("--queue-seconds", values.queue_seconds, &config.service.queue_wait));
  RESMEM_RETURN_IF_ERROR(CheckRange("--gather", values.gather, 0, 1'000'000));
  config.work.gather = std::chrono::microseconds(values.gather);
  RESMEM_RETURN_IF_ERROR(CheckRange("--workers", values.workers, 0, 1024));
  RESMEM_RETURN_IF_ERROR(CheckRange("--threads", values.threads, 0, 1024));
  RESMEM_RETURN_IF_ERROR(CheckRange("--recent-queries", values.recent_queries, 0, 100'000));
  RESMEM_RETURN_IF_ERROR(CheckRange("--edits-after", values.edits_after, 0, int64_t{1} << 40));
  RESMEM_RETURN_IF_ERROR(CheckRange("--edit-replicas", values.edit_replicas, 1, 5));
  RESMEM_RETURN_IF_ERROR(CheckRange("--edit-rest", values.edit_rest, 0, 60'000));
  config.edits.longest_rest = milliseconds(values.edit_rest);
  config.recent_queries = static_cast<size_t>(values.recent_queries);
  config.service.threads = static_cast<int>(values.threads);
  config.service.access_log = values.access_log;
  const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  // A thread of a gateway waits for shards most of the time.
  constexpr int kGatewayWorkers = 32;
  const int usual = values.shards.empty() ? processors : std::max(processors, kGatewayWorkers);
  config.workers = values.workers == 0 ? usual : static_cast<int>(values.workers);
  RESMEM_RETURN_IF_ERROR(CheckDoor(config));
  return config;
}

}  // namespace resmem::serve
