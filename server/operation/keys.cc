#include "operation/keys.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace resmem::serve {
namespace {

constexpr size_t kFewestCharacters = 16;

}  // namespace

const char* PermissionName(Permission permission) {
  constexpr const char* kNames[] = {"none", "answer", "predict", "teach", "admin"};
  return kNames[static_cast<size_t>(permission)];
}

Keys::Digest Keys::DigestOf(std::string_view key) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return digest;
}

Status Keys::ReadDigest(std::string_view text, Digest* digest) {
  const Status wrong(ErrorCode::kBadData, "sha256: is not followed by 64 hexadecimal digits");
  if (text.size() != 2 * digest->size()) return wrong;
  for (size_t i = 0; i < digest->size(); ++i) {
    const char* pair = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(pair, pair + 2, (*digest)[i], 16);
    if (error != std::errc() || end != pair + 2) return wrong;
  }
  return {};
}

Result<Keys> Keys::Read(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return Status(ErrorCode::kNotFound, path + ": no such file of keys; docs/serving.md shows one");
  }
  if ((info.st_mode & S_IROTH) != 0 && S_ISREG(info.st_mode)) {
    return Status(ErrorCode::kBadData,
                  path + ": everybody on this machine may read the keys; run: chmod o-rwx " + path);
  }
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Status(ErrorCode::kIo, path + ": cannot be read, or is empty");
  }
  return Parse(text.str(), path);
}

Result<Keys> Keys::Parse(std::string_view text, const std::string& path) {
  Keys keys;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string name, role, key, rest;
    if (!(words >> name) || name[0] == '#') continue;
    const auto wrong = [&](const std::string& what) {
      return Status(ErrorCode::kBadData, path + ", line " + std::to_string(number) + ": " + what);
    };
    if (!(words >> role >> key) || (words >> rest)) {
      return wrong("a line is a name, a role and a key, with blanks between them");
    }
    Entry entry;
    entry.owner.name = name;
    for (const Permission each :
         {Permission::kAnswer, Permission::kPredict, Permission::kTeach, Permission::kAdmin}) {
      if (role == PermissionName(each)) entry.owner.permission = each;
    }
    if (entry.owner.permission == Permission::kNone) {
      return wrong("the role '" + role + "' is none of answer, predict, teach, admin");
    }
    if (key.starts_with("sha256:")) {
      const Status read = ReadDigest(std::string_view(key).substr(7), &entry.digest);
      if (!read.ok()) return wrong(read.message());
    } else if (key.size() < kFewestCharacters) {
      return wrong("a key needs 16 characters or more; make one with: openssl rand -hex 32");
    } else {
      entry.digest = DigestOf(key);
    }
    for (const Entry& other : keys.entries_) {
      if (other.owner.name == name) return wrong("the name '" + name + "' comes twice");
      if (other.digest == entry.digest) return wrong("this key is also that of another name");
    }
    keys.entries_.push_back(std::move(entry));
  }
  if (keys.entries_.empty()) return Status(ErrorCode::kBadData, path + ": holds no key");
  return keys;
}

std::optional<KeyOwner> Keys::Find(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if ((authorization[i] | 0x20) != (kScheme[i] | 0x20)) return std::nullopt;
  }
  const Digest digest = DigestOf(authorization.substr(kScheme.size()));
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    const bool same = CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0;
    found = same ? &entry : found;
  }
  if (found == nullptr) return std::nullopt;
  return found->owner;
}

}  // namespace resmem::serve
