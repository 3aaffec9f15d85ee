// Runs a harness without libFuzzer: `replay <file or folder>...` gives it each file, and
// `replay --mutations <n> [--seed <s>]` gives it the sound seeds and n damaged copies, the same
// ones for the same s.  A crash leaves its input in fuzz-crash.bin.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "data/test_seeds.h"
#include "support/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// There only in programs built with a sanitizer.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

std::string current_input;

void SaveInput() {
  if (std::FILE* file = std::fopen("fuzz-crash.bin", "wb")) {
    std::fwrite(current_input.data(), 1, current_input.size(), file);
    std::fclose(file);
    std::fputs("the input that failed is in fuzz-crash.bin\n", stderr);
  }
}

void SaveInputAndDie(int signal) {
  SaveInput();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Run(const std::string& input) {
  current_input = input;
  // A copy of its exact size, so that a sanitizer sees the first byte read beyond it.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// Numbers that sit at the edges of what headers hold.
constexpr uint64_t kEdges[] = {0,          1,          0x7f,       0x80,       0xff,       0xffff,
                               0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40, 1ull << 63, ~0ull};

void Mutate(resmem::Random* random, std::string* bytes) {
  const auto below = [&](size_t bound) { return static_cast<size_t>(random->Below(bound)); };
  // Mostly near the front, where the headers are.
  const size_t reach = random->Below(4) == 0 ? bytes->size() : std::min<size_t>(bytes->size(), 256);
  if (reach == 0) return;
  const size_t at = below(reach);
  switch (random->Below(6)) {
    case 0:
      (*bytes)[at] = static_cast<char>(static_cast<uint8_t>((*bytes)[at]) ^ (1u << below(8)));
      break;
    case 1:
      (*bytes)[at] = static_cast<char>(random->Below(256));
      break;
    case 2: {
      const uint64_t edge = kEdges[below(std::size(kEdges))];
      const size_t width = std::min(size_t{1} << below(4), bytes->size() - at);
      std::memcpy(bytes->data() + at, &edge, width);
      break;
    }
    case 3:
      bytes->resize(at);
      break;
    case 4:
      bytes->insert(at, bytes->substr(below(reach), below(16)));
      break;
    default:
      bytes->erase(at, below(16));
      break;
  }
}

void RunMutations(int64_t count, uint64_t seed) {
  const std::vector<resmem::Seed> seeds = resmem::Seeds();
  for (size_t i = 0; i < seeds.size(); ++i) Run(static_cast<char>(i) + seeds[i].bytes);
  for (int64_t i = 0; i < count; ++i) {
    resmem::Random random(seed, static_cast<uint64_t>(i));
    const auto which = static_cast<size_t>(i) % seeds.size();
    std::string bytes = seeds[which].bytes;
    for (uint64_t m = 1 + random.Below(4); m > 0; --m) Mutate(&random, &bytes);
    Run(static_cast<char>(which) + bytes);
  }
}

// The files of a folder in the order of their names.
std::vector<std::string> FilesOf(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveInput);
  } else {
    std::signal(SIGABRT, SaveInputAndDie);
    std::signal(SIGSEGV, SaveInputAndDie);
  }
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  int64_t mutations = 0;
  uint64_t seed = 1;
  std::vector<std::string> files;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool last = i + 1 == arguments.size();
    if (arguments[i] == "--mutations" && !last) {
      mutations = std::atoll(arguments[++i].c_str());
    } else if (arguments[i] == "--seed" && !last) {
      seed = std::strtoull(arguments[++i].c_str(), nullptr, 10);
    } else {
      const std::vector<std::string> named = FilesOf(arguments[i]);
      files.insert(files.end(), named.begin(), named.end());
    }
  }
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
      return 1;
    }
    Run({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  }
  RunMutations(mutations, seed);
  std::printf("%zu files and %lld mutations read without a crash\n", files.size(),
              static_cast<long long>(mutations));
  return 0;
}
