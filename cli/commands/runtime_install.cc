// resmem runtime install: gets ONNX Runtime, which Debian does not have.
#include <sys/resource.h>

#include "console/command.h"
#include "console/output.h"
#include "process/run_program.h"
#include "process/sibling.h"
#include "resmem/models/runtime.h"

namespace resmem::cli {
namespace {

constexpr char kGetter[] = "resmem-get-runtime";

// The installer is a shell script: without descriptors for its pipes every check of it would fail
// for a false reason.
Status CheckOpenFiles() {
  constexpr rlim_t kNeeded = 32;
  struct rlimit limit {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kNeeded) return {};
  return {ErrorCode::kResourceExhausted,
          "installing needs " + std::to_string(kNeeded) + " open files, but the limit is " +
              std::to_string(limit.rlim_cur) + "; raise it: ulimit -n 64"};
}

class RuntimeInstall : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("install ONNX Runtime, the library that runs models",
               "Installs ONNX Runtime " + PinnedRuntimeVersion() +
                   ", the official library, as npm's package onnxruntime-node carries it. npm "
                   "fetches it by name and version (114 MB, 46 MB installed); it is taken only if "
                   "its SHA-512 is the one that this program knows. Without a network, give the "
                   "file: 'npm pack onnxruntime-node@" +
                   PinnedRuntimeVersion() + "' makes it on another machine.");
    line.Value("--from", &from_, "FILE", "the npm package (.tgz) or libonnxruntime.so.1 from it")
        .Default("fetched by npm")
        .File();
    line.Flag("--system", &system_,
              "for all users and services, into " + SystemRuntimeFolder() +
                  ", as root; else for this user");
    line.AddExample("for me", "resmem runtime install");
    line.AddExample("for everybody, and for the service", "sudo resmem runtime install --system");
    line.AddExample("without a network", "resmem runtime install --from onnxruntime-node-" +
                                             PinnedRuntimeVersion() + ".tgz");
  }

  Result<ExitCode> Run(Console& console) override {
    const std::string folder = system_ ? SystemRuntimeFolder() : UserRuntimeFolder();
    if (folder.empty()) {
      return Status(ErrorCode::kUnsupported,
                    "this user has no home folder to install into; use --system as root, or set "
                    "XDG_CACHE_HOME");
    }
    const std::string getter = FindSibling(kGetter);
    if (getter.empty()) {
      return Status(ErrorCode::kNotFound,
                    std::string(kGetter) + " is not installed beside resmem; install resmem again");
    }
    RESMEM_RETURN_IF_ERROR(CheckOpenFiles());
    if (from_.empty()) console.Note("fetching ONNX Runtime " + PinnedRuntimeVersion() + " by npm");
    std::vector<std::string> words = {getter, folder};
    if (!from_.empty()) words.push_back(from_);
    RESMEM_ASSIGN_OR_RETURN(const ProgramEnd end, RunToEnd(words));
    if (end.exit_code != 0) return Status(ErrorCode::kIo, end.LastLine());
    RESMEM_RETURN_IF_ERROR(PrintResult(end.LastLine() + "\n"));
    const RuntimeUse use = DescribeRuntime();
    if (use.path.empty()) return Status(use.error, use.reason);
    if (use.path != end.LastLine()) {
      console.Warn(use.path + " is used all the same: " + use.reason +
                   "; 'resmem runtime info' lists the places");
    }
    return ExitCode::kOk;
  }

 private:
  std::string from_;
  bool system_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRuntimeInstall() {
  return std::make_unique<RuntimeInstall>();
}

}  // namespace resmem::cli
