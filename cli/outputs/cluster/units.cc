// systemd's units: of a replica, one for all by its number ("resmem-shard@2-1"), and of the
// gateway.
#include "outputs/cluster/cluster.h"

namespace resmem::cli {
namespace {

std::string Unit(const std::string& description, const std::string& program) {
  return "# written by 'resmem cluster config': docs/cluster.md\n[Unit]\nDescription=" +
         description + "\nAfter=network-online.target\nWants=network-online.target\n\n" +
         "[Service]\nType=exec\n" + program +
         R"(Restart=always
RestartSec=1
TimeoutStopSec=60
LimitNOFILE=65536
User=resmem
Group=resmem
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6
RestrictNamespaces=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
)";
}

}  // namespace

std::string ShardUnit(const Cluster& cluster) {
  return Unit(
      "resmem shard, replica %i",
      (cluster.edits.empty() ? "" : "ReadWritePaths=" + cluster.data + "\n") +
          "LoadCredential=keys:/etc/resmem/shard/keys.txt\n"
          "ExecStart=/usr/bin/resmem serve --config /etc/resmem/shard/%i.conf --keys %d/keys\n");
}

std::string GatewayUnit() {
  return Unit("resmem gateway to shards",
              "ExecStart=/usr/bin/resmem serve --config /etc/resmem/gateway/gateway.conf\n"
              "ExecReload=/bin/kill -HUP $MAINPID\n");
}

}  // namespace resmem::cli
