#include "process/program_search.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

extern char** environ;

namespace resmem::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPath[] = "PATH";
constexpr std::string_view kPathStart = "PATH=";

std::string Path() {
  const char* value = std::getenv(kPath);
  return value == nullptr ? "" : value;
}

std::vector<std::string> Folders(const std::string& path) {
  std::vector<std::string> folders;
  std::istringstream list(path);
  for (std::string folder; std::getline(list, folder, ':');) folders.push_back(folder);
  return folders;
}

// Why others could have put something in the place of `path`; "": they could not.
std::string Doubt(const fs::path& path, bool above) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path.string() + " cannot be read";
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return path.string() + " belongs to another user";
  }
  // In a folder above, as /tmp, the sticky bit keeps what it holds from others.
  const bool kept = above && (info.st_mode & S_ISVTX) != 0;
  const bool open = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !kept;
  return open ? "others may write " + path.string() : "";
}

std::string DoubtOfFolder(const std::string& folder) {
  // A relative one means another place wherever the user goes.
  if (folder.empty() || folder[0] != '/') return "'" + folder + "' is not an absolute path";
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return folder + " cannot be read";
  std::string doubt = Doubt(real, false);
  for (fs::path above = real.parent_path(); doubt.empty(); above = above.parent_path()) {
    doubt = Doubt(above, true);
    if (above == above.parent_path()) break;
  }
  return doubt;
}

// Of the file and, where its name is a link, of the folders to which that leads.
std::string DoubtOfFile(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return path + " cannot be read";
  const std::string doubt = Doubt(real, false);
  return doubt.empty() ? DoubtOfFolder(real.parent_path().string()) : doubt;
}

}  // namespace

std::string TrustedPath(const std::string& path) {
  std::string trusted;
  for (const std::string& folder : Folders(path)) {
    if (DoubtOfFolder(folder).empty()) trusted += (trusted.empty() ? "" : ":") + folder;
  }
  return trusted;
}

Result<std::string> FindProgram(const std::string& name) {
  std::string doubt;
  for (const std::string& folder : Folders(Path())) {
    const std::string path = folder + "/" + name;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (::access(path.c_str(), X_OK) != 0) continue;
    std::string found = DoubtOfFolder(folder);
    if (found.empty()) found = DoubtOfFile(path);
    if (found.empty()) return path;
    if (doubt.empty()) doubt = path + ": not run, because " + found;
  }
  if (doubt.empty()) return Status(ErrorCode::kNotFound, name + ": not found in PATH");
  return Status(ErrorCode::kUnsupported,
                doubt + "; close it to others (chmod go-w), or install the program");
}

std::vector<std::string> TrustedEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with(kPathStart)) variables.emplace_back(text);
  }
  variables.push_back(std::string(kPathStart) + TrustedPath(Path()));
  return variables;
}

}  // namespace resmem::cli
