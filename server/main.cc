// The program `resmem-serve`, which answers for `resmem serve`.
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "console/program.h"
#include "operation/config.h"
#include "operation/log.h"
#include "resmem/mapped_files.h"
#include "service/service.h"

namespace resmem::serve {
namespace {

// A connection is a descriptor, and the usual limit of 1,024 is for interactive programs.
void RaiseDescriptorLimit(int64_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(connections) + 1000;  // memories and their files too
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted) {
    LogWarning("few_descriptors", JsonText().Add("limit", limit.rlim_cur).Add("wanted", wanted));
  }
}

class Serve : public cli::Command {
 public:
  void Declare(cli::CommandLine& line) override {
    line.About("answer over HTTP, and learn and forget while running",
               "Open Inference Protocol v2, JSON and binary, at /v2; explain, neighbors, learn, "
               "correct, forget, undo, preview, doctor and tune at /v1; metrics at /metrics. "
               "docs/serving.md is the operator's page, docs/api.md lists the addresses. Logs are "
               "lines of JSON on standard error. SIGTERM finishes what has begun and ends; SIGHUP "
               "reads memories, keys and certificate again.");
    DeclareConfig(line, &values_);
    line.AddExample("on this machine only", "resmem serve my.resmem");
    line.AddExample("for others, with keys and TLS",
                    "resmem serve digits=/srv/digits.resmem --address 0.0.0.0 --keys keys.txt "
                    "--certificate chain.pem --private-key key.pem");
    line.AddExample("is this right before I restart?",
                    "resmem serve --config serve.conf --check-config");
  }

  Result<cli::ExitCode> Run(cli::Console& console) override {
    // A memory that somebody cuts is an error for those who ask it, not the end of the service.
    GuardMappedFiles();
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of a write, too
    RESMEM_RETURN_IF_ERROR(ReadConfigFile(console));
    RESMEM_ASSIGN_OR_RETURN(Config config, MakeConfig(values_));
    std::unique_ptr<HttpServer> server;
    if (!config.certificate.empty()) {
      config.reload_certificate = [&server, &config] {
        return server->UseCertificate(config.certificate, config.private_key);
      };
    }
    Service service(config);
    RESMEM_RETURN_IF_ERROR(service.Load());
    if (values_.check_config) return Check(config, &service, console);
    RESMEM_ASSIGN_OR_RETURN(
        server, HttpServer::Listen(config.address, static_cast<uint16_t>(config.port), config.http,
                                   &service));
    if (config.reload_certificate) RESMEM_RETURN_IF_ERROR(config.reload_certificate());
    service.context().http = &server->counters();
    service.context().draining = [&server] { return server->draining(); };
    RaiseDescriptorLimit(config.http.connections);
    server->OnHangup([&service] { ReloadInBackground(service); });
    service.Start();
    LogInfo("listening", JsonText()
                             .Add("address", config.address)
                             .Add("port", server->port())
                             .Add("tls", !config.certificate.empty())
                             .Add("keys", !config.keys.empty())
                             .Add("workers", config.workers));
    const bool in_time = server->Run();
    LogInfo("stopping", JsonText().Add("all_answered", in_time));
    service.Stop();
    LogInfo("stopped");
    return cli::ExitCode::kOk;
  }

 private:
  // The file first, then the command line once more over it.
  Status ReadConfigFile(cli::Console& console) {
    if (values_.config.empty()) return {};
    ConfigValues merged;
    cli::CommandLine line("serve");
    DeclareConfig(line, &merged);
    bool unused = false;
    line.Flag("--quiet", &unused, "");
    RESMEM_RETURN_IF_ERROR(ApplyConfigFile(values_.config, line, &merged));
    const std::vector<std::string>& words = console.words();
    RESMEM_RETURN_IF_ERROR(line.Parse(std::span(words).subspan(2)));
    values_ = std::move(merged);
    return {};
  }

  Result<cli::ExitCode> Check(const Config& config, Service* service, cli::Console& console) {
    if (!config.certificate.empty()) {
      RESMEM_ASSIGN_OR_RETURN(std::unique_ptr<HttpServer> server,
                              HttpServer::Listen("127.0.0.1", 0, config.http, service));
      RESMEM_RETURN_IF_ERROR(server->UseCertificate(config.certificate, config.private_key));
    }
    console.Note("the settings are sound; memories: " + std::to_string(config.memories.size()) +
                 ", address: " + config.address + " port " + std::to_string(config.port));
    return cli::ExitCode::kOk;
  }

  static void ReloadInBackground(Service& service) {
    Job job;
    job.run = [&service] {
      const Status status = service.Reload();
      if (!status.ok()) LogWarning("not_reloaded", JsonText().Add("reason", status.message()));
    };
    if (!service.context().reloading.Push(std::move(job))) LogWarning("not_reloaded");
  }

  ConfigValues values_;
};

std::unique_ptr<cli::Command> MakeServe() {
  return std::make_unique<Serve>();
}

}  // namespace
}  // namespace resmem::serve

int main(int argc, char** argv) {
  using resmem::cli::CommandEntry;
  static constexpr CommandEntry kCommands[] = {{"Use it", "serve", resmem::serve::MakeServe}};
  return resmem::cli::RunProgram({.name = "resmem-serve",
                                  .summary = "the prediction service of resmem",
                                  .commands = kCommands},
                                 argc, argv);
}
