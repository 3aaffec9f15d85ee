// What serves the shards of a memory on several hosts, as the files of settings that the programs
// there read: docs/cluster.md.
#ifndef RESMEM_CLI_OUTPUTS_CLUSTER_CLUSTER_H_
#define RESMEM_CLI_OUTPUTS_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

struct ClusterShard {
  std::string path;     // of its memory, here
  std::string content;  // ContentHash()
  int64_t rows = 0;     // deleted ones, too
};

struct Cluster {
  std::string name;
  std::vector<ClusterShard> shards;
  std::vector<ClusterShard> former;  // of the version before: also served; empty for none
  std::vector<std::string> hosts = {"127.0.0.1"};
  int64_t replicas = 2;
  int64_t port = 8081;           // of the first replica of the first shard; the others follow
  int64_t gateway_port = 8080;   // the gateway's
  int64_t frontend_port = 9001;  // of HAProxy for the first shard, beside the gateway
  std::string data = "/var/lib/resmem";
  std::vector<std::string>
      edits;  // nodes of the stream of edits; empty for shards that never change

  // The host of a replica, both from 0: those of one shard are on different hosts.
  const std::string& HostOf(int64_t shard, int64_t replica) const;
  int64_t PortOf(int64_t shard, int64_t replica) const;
  // "digits.0f3a...77e2", and where that folder lies on its hosts.
  std::string ServedName(const ClusterShard& shard) const;
  std::string FolderOf(const ClusterShard& shard) const;
  int64_t count() const { return static_cast<int64_t>(shards.size()); }
};

// Errors: kInvalidArgument: more replicas than hosts but for a trial on one, ports above 65535, a
// name that no address can hold.
Status CheckCluster(const Cluster& cluster);

std::string HaproxyText(const Cluster& cluster);
// The gateway's list of shards, and its settings.
std::string ShardsText(const Cluster& cluster);
std::string GatewayText(const Cluster& cluster);
// Settings of one replica.
std::string ReplicaText(const Cluster& cluster, int64_t shard, int64_t replica);
std::string GatewayUnit();
std::string ShardUnit(const Cluster& cluster);
// Not run here: it says so.
std::string KubernetesText(const Cluster& cluster);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_CLUSTER_CLUSTER_H_
