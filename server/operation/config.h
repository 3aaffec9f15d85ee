// Everything that can be set, by options of the command line or by lines of a file alike.
#ifndef RESMEM_SERVER_OPERATION_CONFIG_H_
#define RESMEM_SERVER_OPERATION_CONFIG_H_

#include <functional>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "http/http_server.h"
#include "memories/editor.h"
#include "service/context.h"
#include "work/work_queue.h"

namespace resmem::serve {

struct Config {
  std::string address;
  int64_t port = 0;
  std::string keys, certificate, private_key;
  std::vector<MemorySource> memories;
  HttpLimits http;
  ServiceLimits service;
  WorkLimits work;
  EditorLimits edits;
  int workers = 0;
  size_t recent_queries = 0;
  std::function<Status()> reload_certificate;  // set by the program
};

// The values as they are typed.
struct ConfigValues {
  std::vector<std::string> memories, models, tokenizers, texts, validation, images, shards, edits;
  std::string shard;
  std::string config, address = "127.0.0.1", keys, certificate, private_key;
  int64_t port = 8080;
  int64_t max_body = 32, max_bodies = 256, max_header = 16, max_connections = 2000;
  int64_t max_queue = 1024, max_rows = 4096, max_k = 1000, max_json_depth = 16;
  double header_seconds = 10, body_seconds = 30, write_seconds = 30, idle_seconds = 60;
  double queue_seconds = 5, drain_seconds = 30;
  int64_t gather = 200, batch_requests = 256, workers = 0, threads = 0;
  int64_t recent_queries = 256, edit_rest = 1000, edits_after = 0, edit_replicas = 3;
  bool access_log = false, check_config = false, read_only = false;
};
void DeclareConfig(cli::CommandLine& line, ConfigValues* values);

// Lines "name = value" of the options' names without their dashes; '#' begins a comment; "memory"
// may come more than once.  Sets `values` through the options of `line`, which must be declared on
// them.  Errors: kInvalidArgument with the line.
Status ApplyConfigText(std::string_view text, const std::string& path, const cli::CommandLine& line,
                       ConfigValues* values);
Status ApplyConfigFile(const std::string& path, const cli::CommandLine& line, ConfigValues* values);

// Checked: ranges, what needs what, and that no other machine is let in without keys.
Result<Config> MakeConfig(const ConfigValues& values);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_OPERATION_CONFIG_H_
