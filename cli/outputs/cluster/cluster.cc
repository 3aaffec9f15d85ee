#include "outputs/cluster/cluster.h"

#include <algorithm>
#include <cctype>

namespace resmem::cli {
namespace {

constexpr int64_t kLastPort = 65535;
constexpr size_t kLongestName = 60;

Status Invalid(std::string words) {
  return {ErrorCode::kInvalidArgument, std::move(words)};
}

// The line of settings that names the nodes; none without a stream of edits.
std::string EditsLine(const Cluster& cluster) {
  std::string line;
  for (const std::string& node : cluster.edits) line += (line.empty() ? "edits = " : ",") + node;
  return line.empty() ? "" : line + "\n";
}

bool IsWord(const std::string& text, std::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || also.find(c) != also.npos;
  });
}

std::string Header(const char* what) {
  return std::string("# ") + what + ", written by 'resmem cluster config': docs/cluster.md.\n";
}

}  // namespace

const std::string& Cluster::HostOf(int64_t shard, int64_t replica) const {
  return hosts[static_cast<size_t>(shard + replica) % hosts.size()];
}

int64_t Cluster::PortOf(int64_t shard, int64_t replica) const {
  return port + shard * replicas + replica;
}

std::string Cluster::ServedName(const ClusterShard& shard) const {
  return name + "." + shard.content;
}

std::string Cluster::FolderOf(const ClusterShard& shard) const {
  return data + "/" + ServedName(shard) + ".resmem";
}

Status CheckCluster(const Cluster& cluster) {
  if (!IsWord(cluster.name, "-_.") || cluster.name[0] == '.' ||
      cluster.name.size() > kLongestName) {
    return Invalid("--name '" + cluster.name +
                   "': give letters, digits, '-', '_' and '.', at most " +
                   std::to_string(kLongestName));
  }
  for (const std::string& host : cluster.hosts) {
    if (!IsWord(host, "-.:")) return Invalid("--hosts '" + host + "': give names or addresses");
  }
  if (cluster.replicas < 1 || cluster.replicas > 64) {
    return Invalid("--replicas " + std::to_string(cluster.replicas) + ": give 1 to 64");
  }
  const auto hosts = static_cast<int64_t>(cluster.hosts.size());
  if (hosts > 1 && cluster.replicas > hosts) {
    return Invalid("--replicas " + std::to_string(cluster.replicas) + " on " +
                   std::to_string(hosts) +
                   " hosts: two replicas of a shard on one host end together; name more --hosts");
  }
  const int64_t last = std::max(cluster.PortOf(cluster.count() - 1, cluster.replicas - 1),
                                cluster.frontend_port + cluster.count() - 1);
  if (cluster.port < 1 || cluster.frontend_port < 1 || cluster.gateway_port < 1 ||
      std::max(last, cluster.gateway_port) > kLastPort) {
    return Invalid("the ports end at " + std::to_string(last) + "; they must lie in 1 .. " +
                   std::to_string(kLastPort));
  }
  if (!cluster.edits.empty() && cluster.name.find('.') != std::string::npos) {
    return Invalid("--name '" + cluster.name + "': with --edits a name without '.'");
  }
  for (const std::string& node : cluster.edits) {
    if (!node.starts_with("nats://") || node.find_first_of(" #,") != std::string::npos) {
      return Invalid("--edits '" + node + "': give addresses like nats://10.0.0.1:4222");
    }
  }
  for (const ClusterShard& shard : cluster.shards) {
    const bool twice =
        std::count_if(cluster.shards.begin(), cluster.shards.end(),
                      [&](const ClusterShard& each) { return each.content == shard.content; }) > 1;
    if (twice) return Invalid(shard.path + ": another shard has the same rows; name each once");
  }
  return {};
}

std::string HaproxyText(const Cluster& cluster) {
  std::string text = Header("HAProxy beside a gateway");
  text +=
      R"(# Balances the replicas of each shard, notices those that do not answer, and sends again what they
# lost. The gateway sends again by itself, too.
global
    maxconn 4000
    # A question that does not fit cannot be sent again by HAProxy: queries x columns x 4 bytes.
    tune.bufsize 262144

defaults
    mode http
    option http-buffer-request
    option redispatch 1
    retries 3
    retry-on conn-failure empty-response response-timeout 404 502 503
    timeout connect 200ms
    timeout server 1s
    timeout queue 500ms
    timeout client 65s
    timeout http-keep-alive 65s
    option httpchk
    http-check send meth GET uri /v2/health/ready ver HTTP/1.1 hdr Host shard
    http-check expect status 200
    # A question to a replica that is taken out is sent again at once, not after "timeout server".
    default-server check inter 200ms fall 2 rise 2 on-marked-down shutdown-sessions
)";
  for (int64_t s = 0; s < cluster.count(); ++s) {
    const std::string name = "shard_" + std::to_string(s + 1);
    text += "\nfrontend " + name +
            "\n    bind 127.0.0.1:" + std::to_string(cluster.frontend_port + s) +
            "\n    default_backend " + name + "\nbackend " + name + "\n    balance leastconn\n";
    for (int64_t r = 0; r < cluster.replicas; ++r) {
      text += "    server replica_" + std::to_string(r + 1) + " " + cluster.HostOf(s, r) + ":" +
              std::to_string(cluster.PortOf(s, r)) + "\n";
    }
  }
  return text;
}

std::string ShardsText(const Cluster& cluster) {
  std::string text = Header("The shards of a memory, for resmem serve --shards");
  text += "name = " + cluster.name + "\nanswers = answers.resmem\nkey-file = gateway.key\n";
  text += "# content, rows, where they are asked: HAProxy's frontend\n";
  for (int64_t s = 0; s < cluster.count(); ++s) {
    const ClusterShard& shard = cluster.shards[static_cast<size_t>(s)];
    text += "shard = " + shard.content + " " + std::to_string(shard.rows) +
            " 127.0.0.1:" + std::to_string(cluster.frontend_port + s) + "\n";
  }
  return text;
}

std::string GatewayText(const Cluster& cluster) {
  return Header("Settings of the gateway") +
         "# For clients on other machines: address = 0.0.0.0, and keys = FILE (docs/serving.md).\n"
         "shards = /etc/resmem/gateway/shards.conf\naddress = 127.0.0.1\nport = " +
         std::to_string(cluster.gateway_port) + "\n" + EditsLine(cluster);
}

std::string ReplicaText(const Cluster& cluster, int64_t shard, int64_t replica) {
  std::string text = Header("Settings of a replica");
  text += cluster.edits.empty() ? "read-only = true\n"
                                : EditsLine(cluster) + "shard = " + std::to_string(shard + 1) +
                                      "/" + std::to_string(cluster.count()) + "\n";
  text += "address = 0.0.0.0\nport = " + std::to_string(cluster.PortOf(shard, replica)) + "\n";
  std::vector<ClusterShard> served = {cluster.shards[static_cast<size_t>(shard)]};
  // The version before, of which a shard may be as it is now.
  if (static_cast<size_t>(shard) < cluster.former.size() &&
      cluster.former[static_cast<size_t>(shard)].content != served[0].content) {
    served.push_back(cluster.former[static_cast<size_t>(shard)]);
  }
  for (const ClusterShard& each : served) {
    text += "memory = " + cluster.ServedName(each) + "=" + cluster.FolderOf(each) + "\n";
  }
  return text;
}

}  // namespace resmem::cli
