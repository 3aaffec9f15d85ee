#include "outputs/cluster/cluster.h"

namespace resmem::cli {
namespace {

std::string ShardObjects(const Cluster& cluster, int64_t s) {
  const std::string name = "resmem-shard-" + std::to_string(s + 1);
  const ClusterShard& shard = cluster.shards[static_cast<size_t>(s)];
  const std::string served = cluster.ServedName(shard) + "=" + cluster.FolderOf(shard);
  return R"(---
apiVersion: v1
kind: Service
metadata: {name: )" +
         name + R"(}
spec:
  selector: {app: )" +
         name + R"(}
  ports: [{port: 8081}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: )" +
         name + R"(}
spec:
  replicas: )" +
         std::to_string(cluster.replicas) + R"(
  selector: {matchLabels: {app: )" +
         name + R"(}}
  template:
    metadata: {labels: {app: )" +
         name + R"(}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector: {matchLabels: {app: )" +
         name + R"(}}
              topologyKey: kubernetes.io/hostname
      securityContext: {fsGroup: 65534}
      containers:
        - name: shard
          image: resmem
          args: [serve, ")" +
         served + R"(", --read-only, --address, 0.0.0.0, --port, "8081",
                 --keys, /keys/keys.txt]
          ports: [{containerPort: 8081}]
          readinessProbe: {httpGet: {path: /v2/health/ready, port: 8081}, periodSeconds: 1}
          livenessProbe: {httpGet: {path: /v2/health/live, port: 8081}, periodSeconds: 5}
          volumeMounts:
            - {name: memory, mountPath: )" +
         cluster.data + R"(, readOnly: true}
            - {name: keys, mountPath: /keys, readOnly: true}
      volumes:
        - {name: memory, persistentVolumeClaim: {claimName: )" +
         name + R"(, readOnly: true}}
        - {name: keys, secret: {secretName: resmem-shard-keys, defaultMode: 0440}}
)";
}

std::string GatewayObjects(const Cluster& cluster) {
  std::string shards;
  for (int64_t s = 0; s < cluster.count(); ++s) {
    const ClusterShard& shard = cluster.shards[static_cast<size_t>(s)];
    shards += "    shard = " + shard.content + " " + std::to_string(shard.rows) + " resmem-shard-" +
              std::to_string(s + 1) + ":8081\n";
  }
  return R"(---
apiVersion: v1
kind: ConfigMap
metadata: {name: resmem-gateway}
data:
  shards.conf: |
    name = )" +
         cluster.name + R"(
    answers = /answers/answers.resmem
    key-file = /keys/gateway.key
)" + shards +
         R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: resmem-gateway}
spec:
  replicas: 2
  selector: {matchLabels: {app: resmem-gateway}}
  template:
    metadata: {labels: {app: resmem-gateway}}
    spec:
      securityContext: {fsGroup: 65534}
      containers:
        - name: gateway
          image: resmem
          args: [serve, --shards, /config/shards.conf, --address, 0.0.0.0, --port, "8080",
                 --keys, /clients/keys.txt]
          ports: [{containerPort: 8080}]
          readinessProbe: {httpGet: {path: /v2/health/ready, port: 8080}, periodSeconds: 1}
          volumeMounts:
            - {name: config, mountPath: /config, readOnly: true}
            - {name: answers, mountPath: /answers, readOnly: true}
            - {name: keys, mountPath: /keys, readOnly: true}
            - {name: clients, mountPath: /clients, readOnly: true}
      volumes:
        - {name: config, configMap: {name: resmem-gateway}}
        - {name: answers, persistentVolumeClaim: {claimName: resmem-answers, readOnly: true}}
        - {name: keys, secret: {secretName: resmem-gateway-key, defaultMode: 0440}}
        - {name: clients, secret: {secretName: resmem-clients, defaultMode: 0440}}
)";
}

}  // namespace

std::string KubernetesText(const Cluster& cluster) {
  std::string text =
      "# NOT RUN: written by 'resmem cluster config' (docs/cluster.md) and read by no Kubernetes "
      "yet.\n"
      "# A start for one who knows Kubernetes. A Service stands in the place of HAProxy: the "
      "gateway\n"
      "# sends again by itself. The image is packaging/image's. Make the claims resmem-shard-1, "
      "...\n"
      "# (the shards' folders), resmem-answers (gateway/answers.resmem) and the secrets\n"
      "# resmem-shard-keys (keys.txt), resmem-gateway-key (gateway.key) and resmem-clients (who "
      "may ask\n"
      "# the gateway: keys.txt).\n";
  for (int64_t s = 0; s < cluster.count(); ++s) text += ShardObjects(cluster, s);
  return text + GatewayObjects(cluster);
}

}  // namespace resmem::cli
