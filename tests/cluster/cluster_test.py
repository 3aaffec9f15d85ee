"""Shards with replicas behind HAProxy, on hosts that are network namespaces, while replicas are killed, hang,
lose their network and change to a new version under load. Every answer is compared with one memory's.

    cluster_test.py RESMEM                                     a minute, in ctest
    cluster_test.py RESMEM --failures 2000 --result FILE       the long run of docs/cluster.md

A replica of every shard lives at any time, so that no answer may be wrong and none may be lost. Exits with
77 where there can be no namespaces or there is no HAProxy.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import hosts
import shards
from shards import harness

SHARDS, REPLICAS, HOSTS, CLIENTS = 4, 2, 4, 4
KINDS = ("kill -9", "SIGSTOP", "cable pulled")
ROLL_EVERY = 50  # failures


class Replica:
    def __init__(self, cluster, shard, number):
        self.host = cluster.network.hosts[(shard + number) % HOSTS]
        self.port = 8081 + shard * REPLICAS + number
        self.name, self.cluster, self.process = f"{shard + 1}-{number + 1}", cluster, None

    def start(self):
        folder = self.cluster.settings
        self.process = self.host.start(
            [harness.RESMEM.with_name("resmem-serve"), "serve", "--config",
             folder / "hosts" / self.host.address / f"{self.name}.conf", "--keys", folder / "keys.txt", "--workers", "2",
             "--threads", "1"], stdout=subprocess.DEVNULL, stderr=self.cluster.log)

    def signal(self, kind):
        # `ip netns exec` becomes the program: its process is the server.
        self.process.send_signal(kind)

    def wait_ready(self, limit=120):
        end = time.time() + limit
        while time.time() < end:
            try:
                client = http.client.HTTPConnection(self.host.address, self.port, timeout=2)
                client.request("GET", "/v2/health/ready")
                if client.getresponse().status == 200:
                    return
            except OSError:
                pass
            finally:
                client.close()
            time.sleep(0.05)
        raise AssertionError(f"replica {self.name} did not come back: {self.cluster.last_log()}")


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.log = open(folder / "cluster.log", "ab")
        self.versions = [shards.Version(folder / name, SHARDS, seed=seed) for name, seed in (("a", 1), ("b", 7))]
        self.network = hosts.Network(HOSTS)
        self.settings = None
        self.others = []
        self.replicas = [[Replica(self, s, r) for r in range(REPLICAS)] for s in range(SHARDS)]

    def all(self):
        return [replica for each in self.replicas for replica in each]

    def last_log(self):
        return (self.folder / "cluster.log").read_text(errors="replace")[-3000:]

    def write_settings(self, version, former=None):
        """cluster config into the same folder; memories go to the folder that all hosts see."""
        settings = self.folder / "settings"
        words = ["--hosts", ",".join(host.address for host in self.network.hosts), "--replicas", REPLICAS,
                 "--data", self.folder / "data", "--overwrite"]
        if former:
            words += ["--former", ",".join(map(str, former.shards))]
        names = version.config(settings, *words)
        for name, path in zip(names, version.shards):
            if not (self.folder / "data" / f"{name}.resmem").exists():
                shutil.copytree(path, self.folder / "data" / f"{name}.resmem")
        with open(settings / "gateway/shards.conf", "a") as file:
            file.write("deadline-ms = 20000\n")  # of a machine that is busy with other work
        self.settings = settings

    def start(self):
        (self.folder / "data").mkdir()
        self.write_settings(self.versions[0])
        for replica in self.all():
            replica.start()
        gateway = self.network.gateway
        self.others.append(gateway.start(["haproxy", "-db", "-f", self.settings / "gateway/haproxy.cfg"],
                                         stdout=self.log, stderr=self.log))
        for replica in self.all():
            replica.wait_ready()
        self.gateway = gateway.start([harness.RESMEM.with_name("resmem-serve"), "serve", "--shards",
                                      self.settings / "gateway/shards.conf", "--port", "8080"],
                                     stdout=subprocess.DEVNULL, stderr=self.log)
        self.others.append(self.gateway)
        end = time.time() + 120
        while time.time() < end:
            try:
                if self.ask_gateway("GET", "/v2/health/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"the gateway did not start: {self.last_log()}")

    @staticmethod
    def ask_gateway(method, path):
        client = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
        try:
            client.request(method, path)
            response = client.getresponse()
            return response.status, response.read()
        finally:
            client.close()

    def roll(self, version, former):
        """To another version: every replica gets it beside the former one, the gateway changes, the former goes."""
        for settings in ((version, former), (version, None)):
            self.write_settings(*settings)
            if settings[1] is None:
                status, body = self.ask_gateway("POST", "/v1/admin/reload")
                assert status == 200, body
            for replica in self.all():
                replica.signal(signal.SIGTERM)
                replica.process.wait(60)
                replica.start()
                replica.wait_ready()
                time.sleep(0.5)  # HAProxy takes it back after two checks

    def stop(self):
        for process in [*(replica.process for replica in self.all()), *reversed(self.others)]:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        self.network.close()
        self.log.close()


class Load:
    """Clients that ask without a pause, each its own queries, and compare."""

    def __init__(self, cluster, wanted, queries):
        self.cluster, self.wanted, self.queries = cluster, wanted, queries
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.count, self.lost, self.wrong, self.late = 0, [], [], []
        self.seconds = collections.defaultdict(list)
        self.what = "nothing fails"
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(CLIENTS)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def work(self, number):
        self.cluster.network.gateway.enter()
        choose = random.Random(number)
        asked = [shards.request_of(self.queries, row, row + 1) for row in range(len(self.wanted[0]))]
        client = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
        while not self.stop.is_set():
            row = choose.randrange(len(asked))
            what, begin = self.what, time.monotonic()
            try:
                client.request("POST", "/v2/models/m/infer", *asked[row])
                response = client.getresponse()
                data = response.read()
                seconds = time.monotonic() - begin
                if response.status != 200:
                    self.note(self.lost, what, seconds, data)
                    continue
                got = shards.answer_of(data, response.headers)[1]
                if got not in (version[row] for version in self.wanted):
                    self.note(self.wrong, what, seconds, f"row {row}")
                self.note(None, what, seconds, "")
            except (OSError, http.client.HTTPException) as error:
                self.note(self.lost, what, time.monotonic() - begin, error)
                client.close()

    def note(self, problems, what, seconds, words):
        with self.lock:
            if problems is not None:
                problems.append(f"while {what}, after {seconds:.3f} s: {words!r}"[:300])
            else:
                self.count += 1
                self.seconds[what].append(seconds)


def fail_once(cluster, load, kind, choose):
    replica = choose.choice(cluster.all())
    hurt = [replica]
    load.what = kind
    if kind == "kill -9":
        replica.signal(signal.SIGKILL)
        replica.process.wait()
        time.sleep(choose.uniform(0, 0.6))
        replica.start()
    elif kind == "SIGSTOP":
        replica.signal(signal.SIGSTOP)
        time.sleep(choose.uniform(0.1, 1.5))
        replica.signal(signal.SIGCONT)
    else:
        hurt = [each for each in cluster.all() if each.host is replica.host]
        replica.host.pull_cable(True)
        time.sleep(choose.uniform(0.1, 1.5))
        replica.host.pull_cable(False)
    for each in hurt:
        each.wait_ready()
    time.sleep(0.5)  # HAProxy takes it back after two checks
    load.what = "nothing fails"


def answers_of_one_memory(folder, versions, queries):
    words = [f"v{i}={version.whole}" for i, version in enumerate(versions)]
    (folder / "one").mkdir()
    server = harness.Server(folder / "one", "--read-only", *words, memory=None)
    try:
        return [[shards.ask(server, queries, row, row + 1, name=f"v{i}")[1] for row in range(len(queries["keys"]))]
                for i in range(len(versions))]
    finally:
        server.stop()


def run(folder, options):
    cluster = Cluster(folder)
    queries = harness.rows(200, seed=9)
    wanted = answers_of_one_memory(folder, cluster.versions, queries)
    done, rolls, begin = collections.Counter(), 0, time.time()
    load = Load(cluster, wanted, queries)
    try:
        entered = threading.Thread(target=drive, args=(cluster, load, options, done))
        cluster.problem = None
        entered.start()
        entered.join()
        if cluster.problem:
            raise cluster.problem
    finally:
        load.end() if load.threads[0].ident else None
        cluster.stop()
    return report(load, done, time.time() - begin, options)


def drive(cluster, load, options, done):
    """In a thread that is on the gateway's host."""
    try:
        cluster.network.gateway.enter()
        cluster.start()
        load.start()
        time.sleep(2)
        choose, version = random.Random(options.seed), 0
        for i in range(options.failures):
            kind = KINDS[i % len(KINDS)]
            fail_once(cluster, load, kind, choose)
            done[kind] += 1
            if i % ROLL_EVERY == ROLL_EVERY - 1 or i == options.failures - 1:
                load.what = "rolling"
                cluster.roll(cluster.versions[1 - version], cluster.versions[version])
                version, load.what = 1 - version, "nothing fails"
                done["rolls"] += 1
            if options.result and i % 10 == 9:
                options.result.write_text(json.dumps(figures(load, done), indent=1) + "\n")
        time.sleep(0.5)
        if len(load.wanted) != 2 or not newest(load, version):
            raise AssertionError("the gateway does not answer from the version that it was changed to")
        check_nothing_allowed_is_lost(cluster, load)
    except BaseException as error:  # told by run()
        cluster.problem = error


def newest(load, version):
    status, data, headers = load_one(load, 0)
    return status == 200 and shards.answer_of(data, headers)[1] == load.wanted[version][0]


def load_one(load, row):
    client = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
    client.request("POST", "/v2/models/m/infer", *shards.request_of(load.queries, row, row + 1))
    response = client.getresponse()
    data = response.read()
    client.close()
    return response.status, data, response.headers


def check_nothing_allowed_is_lost(cluster, load):
    """Both replicas of a shard gone: said plainly, and never an answer as if it were whole."""
    load.end()
    for replica in cluster.replicas[2]:
        replica.signal(signal.SIGKILL)
    time.sleep(2)
    status, data, _ = load_one(load, 1)
    assert status == 503 and b"shard 3 of 4" in data, (status, data)


def figures(load, done):
    with load.lock:
        table = {what: {"answers": len(each), "p50_ms": round(1000 * float(np.percentile(each, 50)), 2),
                        "p99_ms": round(1000 * float(np.percentile(each, 99)), 2), "worst_ms": round(1000 * max(each), 1)}
                 for what, each in load.seconds.items() if each}
        return {"failures": dict(done), "answers": load.count, "lost": len(load.lost), "wrong": len(load.wrong),
                "latency": table, "load": os.getloadavg()[0], "problems": (load.lost + load.wrong)[:20]}


def report(load, done, seconds, options):
    found = {**figures(load, done), "seconds": round(seconds, 1)}
    print(json.dumps(found, indent=1))
    if options.result:
        options.result.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if load.lost or load.wrong or load.count == 0 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("resmem")
    parser.add_argument("--failures", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--result", type=pathlib.Path)
    options = parser.parse_args()
    if not os.access(harness.RESMEM.with_name("resmem-serve"), os.X_OK):
        print("skipped: resmem-serve was not built")
        return 77
    reason = "" if shutil.which("haproxy") else "no haproxy here; ./setup installs it"
    reason = reason or hosts.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_cluster_"))
    try:
        return run(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
