// resmem version: which program this is.
#include "resmem/version.h"

#include <link.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "console/command.h"
#include "console/output.h"
#include "process/commit.h"
#include "resmem_program/memory_format.h"
#include "resmem_program/simd.h"

namespace resmem::cli {
namespace {

// The files of the shared libraries that this process has loaded; a link's name would hide the
// version.
std::vector<std::string> LoadedLibraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        std::error_code error;
        const auto file = std::filesystem::canonical(name, error);
        // Neither the program itself nor the kernel's page has a file's name.
        if (!error) static_cast<std::vector<std::string>*>(list)->push_back(file.string());
        return 0;
      },
      &paths);
  return paths;
}

constexpr char kProcessor[] =
#if defined(__x86_64__)
    "x86_64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "other";
#endif

class VersionCommand : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("print the version, the commit, the build and the libraries");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    line.AddExample("for a bug report", "resmem version");
  }

  Result<ExitCode> Run(Console&) override {
    if (json_) {
      const nlohmann::ordered_json document = {{"schema", "resmem.version.v1"},
                                               {"version", Version()},
                                               {"commit", BuiltFromCommit()},
                                               {"build", BuildDescription()},
                                               {"processor", kProcessor},
                                               {"memory_format", kMemoryFormatVersion},
                                               {"simd", SimdName()},
                                               {"simd_available", SimdNamesAvailable()},
                                               {"libraries", LoadedLibraries()}};
      RESMEM_RETURN_IF_ERROR(PrintResult(document.dump() + "\n"));
      return ExitCode::kOk;
    }
    RESMEM_RETURN_IF_ERROR(PrintResult("resmem " + Version() + "\n" + BuildDescription() + "\n" +
                                       "commit " + BuiltFromCommit() + "\n"));
    return ExitCode::kOk;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeVersion() {
  return std::make_unique<VersionCommand>();
}

}  // namespace resmem::cli
