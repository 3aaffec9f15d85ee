// resmem cluster config: what serves the shards of a memory on several hosts.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "outputs/cluster/cluster.h"
#include "resmem/residual_memory.h"
#include "resmem_program/joined_memory.h"
#include "resmem_program/row_parts.h"

namespace resmem::cli {
namespace {

Result<std::vector<ClusterShard>> ReadShards(const std::vector<std::string>& paths) {
  std::vector<ClusterShard> shards;
  for (const std::string& path : paths) {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(path, {.verify_blocks = false}));
    shards.push_back({path, ContentHash(memory), memory.capacity()});
  }
  return shards;
}

Status WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  RESMEM_ASSIGN_OR_RETURN(Output output, Output::File(path.string()));
  RESMEM_RETURN_IF_ERROR(output.Write(text));
  return output.Close();
}

// For its owner only, from its first byte on.
Status WriteSecret(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::filesystem::remove(path, error);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return {ErrorCode::kIo, path.string() + ": cannot be made; is its folder writable?"};
  }
  ::close(file);
  return WriteFile(path, text);  // a file that is replaced passes on its mode
}

// 256 bits, in hexadecimal.
std::string NewKey() {
  std::random_device source;  // the system's
  std::string key;
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = source();
    for (int digit = 0; digit < 8; ++digit) key += "0123456789abcdef"[(word >> (4 * digit)) & 15];
  }
  return key;
}

class ClusterConfig : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "write the settings of servers that answer from shards, with replicas",
        "For the shards of a memory, in the order of their rows: those of 'resmem shard', or any "
        "made alike. Writes which replica runs on which host, HAProxy's settings, systemd's units, "
        "the gateway's list of shards, the key between them, and a Kubernetes manifest, which was "
        "not run yet. Nothing is copied to a host. docs/cluster.md goes through it, and through "
        "changing to a new version while answering.");
    line.Arguments("MEMORY", &paths_, "the shards' memories");
    line.Value("--name", &cluster_.name, "NAME", "of the whole memory, in addresses").Required();
    line.Value("--output", &folder_, "FOLDER", "where to write").Short("-o").Required().Folder();
    line.Value("--hosts", &cluster_.hosts, "HOST,...",
               "names or addresses of the hosts that run shards");
    line.Value("--replicas", &cluster_.replicas, "N", "of each shard, on different hosts");
    line.Value("--shards", &shards_, "N",
               "how many there must be, to be sure that none is missing");
    line.Value("--answers", &answers_, "MEMORY",
               "answer by the parameters of this memory, a shard that was tuned, say, or one made "
               "alike; without it by those of the shards");
    line.Value("--former", &former_, "MEMORY,...",
               "the shards of the version before, which the replicas also serve until all gateways "
               "have changed");
    line.Value(
            "--key", &key_, "FILE",
            "the key between gateways and shards, its first line; without it that of the folder, "
            "or a new one")
        .File();
    line.Value("--data", &cluster_.data, "FOLDER", "where memories lie on the hosts");
    line.Value("--port", &cluster_.port, "N", "the first replica's; the others follow");
    line.Value("--gateway-port", &cluster_.gateway_port, "N", "the gateway's");
    line.Value("--frontend-port", &cluster_.frontend_port, "N",
               "HAProxy's for the first shard, on the gateway's host; the others follow");
    line.Value("--edits", &cluster_.edits, "URL,...",
               "nodes of NATS JetStream: the shards can be edited, by a stream that is kept there; "
               "without it they never change");
    line.Flag("--overwrite", &overwrite_, "replace what this command wrote there before");
    line.AddExample(
        "two replicas on four hosts",
        "resmem cluster config work/shards/*.resmem --name talks --shards 4 --replicas 2 "
        "--hosts 10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4 -o cluster");
  }

  Result<ExitCode> Run(Console&) override {
    if (shards_ && *shards_ != static_cast<int64_t>(paths_.size())) {
      return Status(ErrorCode::kInvalidArgument, "--shards " + std::to_string(*shards_) + ", but " +
                                                     std::to_string(paths_.size()) +
                                                     " memories are named");
    }
    // Opened together, so that what does not fit is refused here and not by a gateway.
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory whole,
                            OpenJoined(paths_, {.verify_blocks = false}));
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory like,
        ResidualMemory::Open(answers_.empty() ? paths_[0] : answers_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(CheckFits(whole, like));
    RESMEM_ASSIGN_OR_RETURN(cluster_.shards, ReadShards(paths_));
    RESMEM_ASSIGN_OR_RETURN(cluster_.former, ReadShards(former_));
    if (cluster_.hosts.empty()) cluster_.hosts = {"127.0.0.1"};
    RESMEM_RETURN_IF_ERROR(CheckCluster(cluster_));
    if (std::filesystem::exists(path() / "gateway") && !overwrite_) {
      return Status(ErrorCode::kInvalidArgument,
                    folder_ +
                        ": holds a cluster's settings already; choose another "
                        "folder, or replace them (--overwrite)");
    }
    RESMEM_RETURN_IF_ERROR(WriteKeys());
    RESMEM_RETURN_IF_ERROR(WriteGateway(answers_.empty() ? whole : like));
    RESMEM_RETURN_IF_ERROR(WriteReplicas());
    if (cluster_.edits.empty()) {  // there, replicas share a folder that they cannot change
      RESMEM_RETURN_IF_ERROR(WriteFile(path() / "kubernetes.yaml", KubernetesText(cluster_)));
    }
    RESMEM_RETURN_IF_ERROR(PrintResult(Summary(whole.rows())));
    return ExitCode::kOk;
  }

 private:
  std::filesystem::path path() const { return folder_; }
  Status WriteKeys() {
    const std::filesystem::path kept = path() / "gateway" / "gateway.key";
    const std::string from = key_.empty() ? kept.string() : key_;
    std::string key;
    std::ifstream file(from);
    std::getline(file, key);
    if (key.empty() && !key_.empty()) {
      return {ErrorCode::kNotFound, key_ + ": its first line holds no key"};
    }
    if (key.empty()) key = NewKey();
    RESMEM_RETURN_IF_ERROR(WriteSecret(kept, key + "\n"));
    return WriteSecret(path() / "keys.txt", "gateway predict " + key + "\n");
  }

  // Whether rows of the shards can be answered as `like` says: as a gateway will do it.
  Status CheckFits(const ResidualMemory& whole, const ResidualMemory& like) const {
    if (whole.capacity() == 0) return {ErrorCode::kInvalidArgument, "the shards have no rows"};
    const std::vector<int64_t> first = {0};
    RESMEM_ASSIGN_OR_RETURN(const RowPart part, CopyRows(whole, first));
    const Status fits = OpenRowParts(like, {&part, 1}).status();
    if (fits.ok() && like.description().fingerprint == whole.description().fingerprint) return {};
    return {ErrorCode::kMismatch, answers_ + ": cannot answer from rows of " + paths_[0] +
                                      "; name a memory that was made alike (--answers)"};
  }

  Status WriteGateway(const ResidualMemory& like) {
    const std::filesystem::path gateway = path() / "gateway";
    // How to answer, without rows.
    RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                            MemoryWriter::Create((gateway / "answers.resmem").string(),
                                                 like.description(), 0, {.overwrite = overwrite_}));
    RESMEM_RETURN_IF_ERROR(writer.Finish());
    RESMEM_RETURN_IF_ERROR(WriteFile(gateway / "haproxy.cfg", HaproxyText(cluster_)));
    RESMEM_RETURN_IF_ERROR(WriteFile(gateway / "gateway.conf", GatewayText(cluster_)));
    RESMEM_RETURN_IF_ERROR(WriteFile(gateway / "resmem-gateway.service", GatewayUnit()));
    return WriteFile(gateway / "shards.conf", ShardsText(cluster_));
  }

  Status WriteReplicas() {
    for (int64_t s = 0; s < cluster_.count(); ++s) {
      for (int64_t r = 0; r < cluster_.replicas; ++r) {
        const std::filesystem::path host = path() / "hosts" / cluster_.HostOf(s, r);
        const std::string name = std::to_string(s + 1) + "-" + std::to_string(r + 1) + ".conf";
        RESMEM_RETURN_IF_ERROR(WriteFile(host / name, ReplicaText(cluster_, s, r)));
        RESMEM_RETURN_IF_ERROR(WriteFile(host / "resmem-shard@.service", ShardUnit(cluster_)));
      }
    }
    return {};
  }

  std::string Summary(int64_t rows) const {
    std::string text = folder_ + ": " + Counted(rows, "row") + " in " +
                       Counted(cluster_.count(), "shard") + ", " +
                       Counted(cluster_.replicas, "replica") + " of each\n";
    for (int64_t s = 0; s < cluster_.count(); ++s) {
      const ClusterShard& shard = cluster_.shards[static_cast<size_t>(s)];
      text += "\n" + shard.path + "\n";
      for (int64_t r = 0; r < cluster_.replicas; ++r) {
        text += "  to " + cluster_.HostOf(s, r) + ":" + cluster_.FolderOf(shard) + "\n";
      }
    }
    return text;
  }

  Cluster cluster_;
  std::vector<std::string> paths_, former_;
  std::string folder_, key_, answers_;
  std::optional<int64_t> shards_;
  bool overwrite_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeClusterConfig() {
  return std::make_unique<ClusterConfig>();
}

}  // namespace resmem::cli
