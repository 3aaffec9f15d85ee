#include "measurement.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <regex>
#include <thread>

#include "resmem/knn_index.h"
#include "resmem_program/simd.h"

namespace resmem::bench {
namespace {

std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

// Of the sources that this program was built from, if git knows them.
std::string Commit() {
  FILE* git = popen("git -C " RESMEM_SOURCE_FOLDER " describe --always --dirty 2>/dev/null", "r");
  if (git == nullptr) return "unknown";
  char text[64] = {};
  const bool read = std::fgets(text, sizeof text, git) != nullptr;
  pclose(git);
  std::string commit = text;
  if (!read || commit.empty()) return "unknown";
  commit.pop_back();  // the line's end
  return commit;
}

// Of the last minute.  More than this program's own threads: other work took part of the machine.
std::string LoadAverage() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", load);
  return text;
}

}  // namespace

std::string CommandLine() {
  const std::regex folders("[^,]*/(?=[^,/])"), plain("[A-Za-z0-9_.,:=/+-]+");
  std::string command;
  std::ifstream arguments("/proc/self/cmdline");
  for (std::string argument; std::getline(arguments, argument, '\0');) {
    argument = std::regex_replace(argument, folders, "");
    if (!std::regex_match(argument, plain)) argument = "'" + argument + "'";
    command += (command.empty() ? "" : " ") + argument;
  }
  return command;
}

std::string MachineLine() {
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  return Processor() + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores, " +
         SimdName() + "; " + date + "; commit " + Commit() + "; load average " + LoadAverage();
}

bool Publish(const std::string& markdown, const std::string& path) {
  std::cout << markdown << std::flush;
  if (path.empty()) return true;
  std::ofstream file(path);
  file << markdown;
  file.close();
  if (!file) std::cerr << path << ": cannot be written\n";
  return static_cast<bool>(file);
}

}  // namespace resmem::bench
