#include "shards/shard_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace resmem::serve {
namespace {

constexpr size_t kContentDigits = 32, kMostShards = 1024, kMostAddresses = 64;

Status Wrong(std::string words) {
  return {ErrorCode::kInvalidArgument, std::move(words)};
}

bool IsContent(std::string_view text) {
  return text.size() == kContentDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<int64_t> ReadNumber(const std::string& text, int64_t most) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
    return Wrong("'" + text + "' is no whole number from 0 to " + std::to_string(most));
  }
  return number;
}

// "10.0.0.1:8081", "[::1]:8081", "shard-1.example:8081"
Result<ShardAddress> ReadAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  ShardAddress address;
  if (colon != std::string::npos && colon > 0) {
    address.host = text.substr(0, colon);
    address.port = text.substr(colon + 1);
    if (address.host.front() == '[' && address.host.back() == ']') {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
  }
  const Result<int64_t> port = ReadNumber(address.port, 65535);
  const bool sound = std::all_of(address.host.begin(), address.host.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == ':' ||
           c == '_';
  });
  if (address.host.empty() || !sound || !port.ok() || *port == 0) {
    return Wrong("'" + text + "' is no HOST:PORT");
  }
  return address;
}

Result<ShardEntry> ReadShard(const std::string& value) {
  std::istringstream words(value);
  ShardEntry shard;
  std::string rows, address;
  words >> shard.content >> rows;
  if (!IsContent(shard.content)) {
    return Wrong("'" + shard.content + "' is no content of a memory: 32 hexadecimal digits");
  }
  RESMEM_ASSIGN_OR_RETURN(shard.rows, ReadNumber(rows, int64_t{1} << 40));
  while (words >> address) {
    RESMEM_ASSIGN_OR_RETURN(ShardAddress read, ReadAddress(address));
    shard.addresses.push_back(std::move(read));
  }
  if (shard.addresses.empty() || shard.addresses.size() > kMostAddresses) {
    return Wrong("a shard has 1 to 64 addresses: shard = CONTENT ROWS HOST:PORT ...");
  }
  return shard;
}

Status ReadSetting(const std::string& name, const std::string& value, ShardFile* file,
                   std::string* key_file) {
  if (name == "name") return file->name = value, Status();
  if (name == "answers") return file->answers = value, Status();
  if (name == "key-file") return *key_file = value, Status();
  if (name == "shard") {
    RESMEM_ASSIGN_OR_RETURN(ShardEntry shard, ReadShard(value));
    file->shards.push_back(std::move(shard));
    return {};
  }
  if (name == "deadline-ms" || name == "resend-ms") {
    RESMEM_ASSIGN_OR_RETURN(const int64_t number, ReadNumber(value, 600'000));
    if (number == 0) return Wrong(name + " is 0; give 1 or more");
    (name == "deadline-ms" ? file->deadline : file->resend) = std::chrono::milliseconds(number);
    return {};
  }
  return Wrong("there is no setting '" + name +
               "'; there are name, answers, key-file, shard, deadline-ms and resend-ms");
}

std::string Stripped(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string BesideFile(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).string();
}

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file) return Status(ErrorCode::kNotFound, path + ": the file cannot be read");
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Result<ShardFile> ParseShardFile(std::string_view text, const std::string& path,
                                 std::string* key_file) {
  ShardFile file;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string content = Stripped(line.substr(0, line.find('#')));
    if (content.empty()) continue;
    const size_t equals = content.find('=');
    const Status status = equals == std::string::npos
                              ? Wrong("a line is 'name = value'")
                              : ReadSetting(Stripped(content.substr(0, equals)),
                                            Stripped(content.substr(equals + 1)), &file, key_file);
    if (!status.ok()) {
      return Wrong(path + ", line " + std::to_string(number) + ": " + status.message());
    }
  }
  if (file.name.empty() || file.answers.empty() || file.shards.empty() ||
      file.shards.size() > kMostShards) {
    return Wrong(path + ": has no name, no answers, or not 1 to " + std::to_string(kMostShards) +
                 " shards; 'resmem cluster config' writes such a file");
  }
  file.answers = BesideFile(path, file.answers);
  return file;
}

Result<ShardFile> ReadShardFile(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  std::string key_file;
  RESMEM_ASSIGN_OR_RETURN(ShardFile file, ParseShardFile(text, path, &key_file));
  if (key_file.empty()) return file;
  key_file = BesideFile(path, key_file);
  RESMEM_ASSIGN_OR_RETURN(std::string key, ReadWhole(key_file));
  file.key = Stripped(key.substr(0, key.find('\n')));
  const bool sound =
      std::all_of(file.key.begin(), file.key.end(), [](char c) { return c > ' ' && c < 127; });
  if (file.key.empty() || !sound) {
    return Wrong(key_file + ": its first line is no key: 1 or more characters without blanks");
  }
  return file;
}

std::string ShardName(const std::string& name, const std::string& content) {
  return name + "." + content;
}

std::string_view ContentOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view content = name.substr(dot + 1);
  return IsContent(content) ? content : std::string_view();
}

std::string_view WithoutContent(std::string_view name) {
  const std::string_view content = ContentOf(name);
  return content.empty() ? name : name.substr(0, name.size() - content.size() - 1);
}

}  // namespace resmem::serve
