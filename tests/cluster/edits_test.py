"""Edits of a memory in shards through a stream that three nodes of NATS JetStream keep: two shards, two replicas of
each, a gateway. Every acknowledged edit must end up in every replica, once, whatever is killed meanwhile.

    edits_test.py RESMEM                                      in ctest; 77 without nats-server
    RESMEM_EDIT_FAILURES=300 edits_test.py RESMEM Failures    the long run of docs/cluster.md
"""
import base64
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import nodes
import shards
from shards import harness

SHARDS, REPLICAS, ROWS = 2, 2, 120
FAILURES = int(os.environ.get("RESMEM_EDIT_FAILURES", "6"))


def nats_request(node, subject, payload=b"", headers=None):
    """One request as libnats makes it. -> the answer"""
    with socket.create_connection(("127.0.0.1", node.port), timeout=10) as client:
        stream = client.makefile("rwb")
        stream.readline()  # INFO
        text = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"NATS/1.0\r\n{text}\r\n".encode()
        stream.write(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB answers 1\r\n')
        stream.write(f"HPUB {subject} answers {len(head)} {len(head) + len(payload)}\r\n".encode() + head + payload + b"\r\n")
        stream.flush()
        while True:
            words = stream.readline().split()
            if words[:1] == [b"PING"]:
                stream.write(b"PONG\r\n")
                stream.flush()
            if words[:1] in ([b"MSG"], [b"HMSG"]):
                return stream.read(int(words[-1]))
            if not words or words[0] == b"-ERR":
                raise OSError(str(words))


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.nodes = nodes.Nodes(folder / "nodes")
        self.version = shards.Version(folder / "version", shards=SHARDS, count=ROWS)
        self.names = self.version.config("settings", "--replicas", "1", "--edits", self.nodes.urls)
        self.replicas = {(s, r): None for s in range(SHARDS) for r in range(REPLICAS)}
        self.ports = dict(zip(self.replicas, nodes.free_ports(len(self.replicas))))
        for at in self.replicas:
            shutil.copytree(self.version.shards[at[0]], self.path(at))
        self.gateway = None
        self.rows = {}  # what must be there: id -> (key, logits, label)
        for row, number in enumerate(self.version.arrays["ids"]):
            self.rows[int(number)] = tuple(self.version.arrays[each][row].tolist() for each in ("keys", "logits", "labels"))

    def path(self, at):
        return self.folder / f"s{at[0]}r{at[1]}.resmem"

    def server(self, name, *words, port=0):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return harness.Server(folder, *words, "--edits", self.nodes.urls, memory=None, port=port)

    def start_replica(self, at):
        self.replicas[at] = self.server(f"server{at[0]}{at[1]}", "--shard", f"{at[0] + 1}/{SHARDS}", "--workers", "2",
                                        "--edit-rest", "20", f"{self.names[at[0]]}={self.path(at)}", port=self.ports[at])

    def start(self):
        self.nodes.start()
        for at in self.replicas:
            self.start_replica(at)
        lines = ["name = m", f"answers = {self.version.whole}", "deadline-ms = 20000"]
        for s, (name, (begin, end)) in enumerate(zip(self.names, self.version.bounds)):
            places = " ".join(f"127.0.0.1:{self.ports[s, r]}" for r in range(REPLICAS))
            lines.append(f"shard = {name.split('.')[1]} {end - begin} {places}")
        (self.folder / "shards.conf").write_text("\n".join(lines) + "\n")
        self.gateway = self.server("gateway", "--shards", self.folder / "shards.conf")

    def stop(self):
        for server in [*self.replicas.values(), self.gateway]:
            if server is not None:
                server.process.send_signal(signal.SIGCONT)
                server.stop(signal.SIGKILL)
        self.nodes.stop()

    def edit(self, kind, body, limit=60):
        """Until it is acknowledged, with a token of its own. -> (answer, failed attempts)"""
        body = {"token": os.urandom(8).hex(), **body}
        end, failed = time.time() + limit, 0
        while True:
            status, answer, _ = self.gateway.ask("POST", f"/v1/memories/m/{kind}", body)
            if status == 200:
                return answer, failed
            if status != 503 or time.time() > end:
                raise AssertionError(f"{kind}: {status} {answer}")
            failed += 1
            time.sleep(0.02)

    def learn(self, rows, ids=None, **more):
        body = {name: rows[name].tolist() for name in ("keys", "logits", "labels")}
        answer, _ = self.edit("learn", {**body, **({"ids": ids} if ids else {}), **more})
        for row, number in enumerate(answer["edit"]["ids"]):
            self.rows[number] = tuple(rows[name][row].tolist() for name in ("keys", "logits", "labels"))
        return answer

    def forget(self, ids):
        answer, _ = self.edit("forget", {"ids": ids})
        for number in ids:
            self.rows.pop(number, None)
        return answer

    def relabel(self, number, label):
        answer, _ = self.edit("relabel", {"ids": [number], "label": label})
        self.rows[number] = (*self.rows[number][:2], label)
        return answer

    def wait(self, sequence, limit=60, replicas=None):
        """Until the replicas have the edits up to this one."""
        end = time.time() + limit
        for at in replicas or self.replicas:
            while self.replicas[at].metric("resmem_stream_sequence") < sequence:
                if time.time() > end:
                    raise AssertionError(f"{at}: {self.replicas[at].log_path.read_text()[-2000:]}")
                time.sleep(0.01)

    def content(self, at):
        """{array: bytes} of a replica's rows, in their order."""
        out = self.folder / "content.npz"
        harness.resmem("export", self.path(at), "-o", out, "--quiet")
        with np.load(out) as arrays:
            return {name: arrays[name] for name in arrays.files if name != "rows"}  # numbers with gaps

    def check_content(self, test):
        """Replicas of a shard are equal, and all rows together are those that must be there."""
        found = {}
        for s in range(SHARDS):
            first = self.content((s, 0))
            for r in range(1, REPLICAS):
                other = self.content((s, r))
                test.assertEqual(first.keys(), other.keys())
                for name in first:
                    test.assertEqual(first[name].tobytes(), other[name].tobytes(), f"shard {s + 1}: {name}")
            for row, number in enumerate(first["ids"]):
                test.assertNotIn(int(number), found)
                found[int(number)] = (first["logits"][row].tolist(), int(first["labels"][row]))
        test.assertEqual(found, {number: row[1:] for number, row in self.rows.items()})


class WithCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_edits_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(cls.folder)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def wait_stuck(self, at, words):
        deadline = time.time() + 30
        while not self.cluster.replicas[at].metric("resmem_stream_stuck") and time.time() < deadline:
            time.sleep(0.02)
        self.assertIn(words, self.cluster.replicas[at].log_path.read_text())


class Edits(WithCluster):
    """In the order of their names."""

    def test_1_edits_come_to_every_replica_and_into_the_answers(self):
        cluster, new = self.cluster, harness.rows(12, seed=5)
        one = harness.Server(self.folder, f"old={cluster.version.whole}", memory=None)
        first = cluster.learn(shards.part(new, 0, 6))
        self.assertEqual(first["edit"]["edit"], 1)
        self.assertEqual(first["edit"]["ids"], [2 ** 40 + 4096 + row for row in range(6)])
        cluster.learn(shards.part(new, 6, 9), ids=[5000, 5001, 5002])
        cluster.forget([3, 50, 119, 5001])
        cluster.relabel(60, (int(cluster.rows[60][2]) + 1) % harness.CLASSES)
        last = cluster.relabel(first["edit"]["ids"][2], 1 - min(1, int(cluster.rows[first["edit"]["ids"][2]][2])))
        cluster.wait(last["edit"]["edit"])
        cluster.check_content(self)
        # One memory that was edited in the same way answers the same.
        for kind, body in (("learn", {name: new[name][:9].tolist() for name in ("keys", "logits", "labels")} |
                            {"ids": first["edit"]["ids"] + [5000, 5001, 5002]}), ("forget", {"ids": [3, 50, 119, 5001]}),
                           *(("relabel", {"ids": [number], "label": cluster.rows[number][2]})
                             for number in (60, first["edit"]["ids"][2]))):
            status, answer, _ = one.ask("POST", f"/v1/memories/old/{kind}", body)
            self.assertEqual(status, 200, answer)
        queries = harness.rows(30, seed=9)
        for row in range(30):
            self.assertEqual(shards.ask(cluster.gateway, queries, row, row + 1),
                             shards.ask(one, queries, row, row + 1, name="old"))
        one.stop()
        held = json.loads(nats_request(cluster.nodes.all[0], "$JS.API.STREAM.INFO.resmem-m"))
        self.assertEqual((held["config"]["num_replicas"], held["state"]["messages"]), (3, 5))

    def test_1_the_settings_name_the_nodes_and_the_shard(self):
        settings = self.cluster.version.folder / "settings"
        for s in range(SHARDS):
            lines = (settings / f"hosts/127.0.0.1/{s + 1}-1.conf").read_text().splitlines()
            self.assertIn(f"edits = {self.cluster.nodes.urls}", lines)
            self.assertIn(f"shard = {s + 1}/{SHARDS}", lines)
            self.assertNotIn("read-only = true", lines)
        self.assertIn(f"edits = {self.cluster.nodes.urls}", (settings / "gateway/gateway.conf").read_text().splitlines())
        # A program reads these lines as they stand.
        (settings / "try.conf").write_text("\n".join(line for line in lines if line.startswith(("edits", "shard"))) + "\n")
        copy = self.folder / "try.resmem"
        shutil.copytree(self.cluster.version.shards[SHARDS - 1], copy)
        harness.resmem("serve", "--config", settings / "try.conf", "--check-config", f"{self.cluster.names[-1]}={copy}")
        for wrong in (["--shard", "3/2"], ["--shard", "x"], ["--read-only"], ["--edits-after", "-1"]):
            with self.assertRaises(AssertionError):
                harness.resmem("serve", "--config", settings / "try.conf", "--check-config", f"{self.cluster.names[-1]}={copy}", *wrong)

    def test_2_the_same_edit_twice_changes_nothing(self):
        cluster, new = self.cluster, harness.rows(2, seed=6)
        first = cluster.learn(new, token="twice")
        again = cluster.learn(new, token="twice")
        self.assertTrue(again["repeated"])
        self.assertEqual(again["edit"]["ids"], first["edit"]["ids"])
        cluster.wait(first["edit"]["edit"])
        later = cluster.learn(new, token="twice")  # now the shards know it, too
        self.assertEqual((later["repeated"], later["edit"]["ids"]), (True, first["edit"]["ids"]))
        # As if the stream had forgotten its id: the replicas know the token.
        message = json.loads(nats_request(cluster.nodes.all[1], "$JS.API.STREAM.MSG.GET.resmem-m",
                                          json.dumps({"seq": first["edit"]["edit"]}).encode()))["message"]
        acknowledged = json.loads(nats_request(cluster.nodes.all[1], "resmem.edits.m", base64.b64decode(message["data"])))
        self.assertEqual(acknowledged["seq"], first["edit"]["edit"] + 1)
        cluster.wait(acknowledged["seq"])
        cluster.check_content(self)

    def test_3_what_no_memory_can_take_is_refused_at_the_door_and_by_every_replica(self):
        cluster, new = self.cluster, harness.rows(1, seed=7)
        row = {name: new[name].tolist() for name in ("keys", "logits", "labels")}
        for kind, body, wanted in (
                ("learn", {**row, "ids": [0]}, 409), ("forget", {"ids": [777777]}, 404), ("forget", {}, 400),
                ("relabel", {"ids": [777777], "label": 1}, 404), ("learn", {**row, "labels": [99]}, 400),
                ("learn", {**row, "ids": [2 ** 40]}, 400), ("learn", {**row, "keys": [[1.0]]}, 400),
                ("forget", {"ids": [1], "keep_for_undo": False}, 501), ("undo", {"edit": 1}, 501)):
            status, answer, _ = cluster.gateway.ask("POST", f"/v1/memories/m/{kind}", body)
            self.assertEqual(status, wanted, answer)
        status, answer, _ = cluster.replicas[0, 0].ask("POST", f"/v1/memories/{cluster.names[0]}/learn", row)
        self.assertEqual((status, "gateway" in answer["error"]), (501, True))
        with self.assertRaisesRegex(AssertionError, "stream of edits"):
            harness.resmem("delete", cluster.path((0, 0)), "--ids", "7")
        for garbage in (b"", b"{", b'{"resmem": 2}', b'{"resmem": 1, "kind": "learn", "rows": {"keys": [[1e99]]}}',
                        b'{"resmem": 1, "kind": "forget", "ids": [-1]}'):
            last = json.loads(nats_request(cluster.nodes.all[2], "resmem.edits.m", garbage))["seq"]
        cluster.wait(last)
        for replica in cluster.replicas.values():
            self.assertEqual(replica.metric("resmem_stream_refused_total"), 5)
        cluster.forget([7])

    def test_4_a_replica_catches_up_after_an_absence(self):
        cluster = self.cluster
        cluster.replicas[1, 1].stop()
        for seed in range(20, 28):
            last = cluster.learn(harness.rows(3, seed=seed))
        self.assertEqual(cluster.gateway.ask("GET", "/v2/health/ready")[0], 200)
        cluster.start_replica((1, 1))
        cluster.wait(last["edit"]["edit"])
        cluster.check_content(self)

    def test_5_a_replica_behind_a_trimmed_stream_says_so_and_is_seeded_again(self):
        cluster, at = self.cluster, (0, 1)
        cluster.replicas[at].stop()
        for seed in range(30, 34):
            last = cluster.learn(harness.rows(3, seed=seed))["edit"]["edit"]
        cluster.wait(last, replicas=[(0, 0)])
        nats_request(cluster.nodes.all[0], "$JS.API.STREAM.PURGE.resmem-m", json.dumps({"seq": last}).encode())
        cluster.start_replica(at)
        self.wait_stuck(at, "begins with edit")
        status, answer, _ = cluster.replicas[at].ask("GET", f"/v2/models/{cluster.names[0]}/ready")
        self.assertEqual(status, 503)
        self.assertIn("seed this replica again", answer["error"])
        cluster.replicas[at].stop()
        shutil.rmtree(cluster.path(at))
        shutil.copytree(cluster.path((0, 0)), cluster.path(at))  # of one that serves
        cluster.start_replica(at)
        last = cluster.learn(harness.rows(2, seed=40))["edit"]["edit"]
        cluster.wait(last)
        cluster.check_content(self)
        copy = self.folder / "left.resmem"
        shutil.copytree(cluster.path(at), copy)
        self.assertIn(f"up to {last} of the stream resmem-m, shard 1 of 2", harness.resmem("info", copy))
        harness.resmem("cluster", "leave", copy)
        harness.resmem("delete", copy, "--ids", "5", "--quiet")  # as any other memory

    def test_6_without_a_majority_readers_go_on_and_edits_are_503(self):
        cluster, queries = self.cluster, harness.rows(1, seed=9)
        before = shards.ask(cluster.gateway, queries)
        new = harness.rows(1, seed=8)
        row = {name: new[name].tolist() for name in ("keys", "logits", "labels")}
        for left in (1, 0):
            for node in cluster.nodes.all[left:]:
                node.stop()
            deadline = time.time() + 10
            while left == 0 and cluster.gateway.metric("resmem_door_connected") and time.time() < deadline:
                time.sleep(0.02)
            status, answer, headers = cluster.gateway.ask("POST", "/v1/memories/m/learn", {**row, "token": "minority"})
            self.assertEqual(status, 503, answer)
            self.assertRegex(answer["error"], "nothing was changed|send it again with the \"token\" \"minority\"")
            self.assertIn("Retry-After", headers)
            self.assertEqual(shards.ask(cluster.gateway, queries), before)
            self.assertEqual(cluster.gateway.ask("GET", "/v2/health/ready")[0], 200)
        if FAILURES < 100:
            return
        for node in cluster.nodes.all:  # they take ten seconds to agree on a leader
            node.start()
        cluster.nodes.wait()
        last = cluster.learn(new, token="minority")
        cluster.wait(last["edit"]["edit"])
        cluster.check_content(self)


class OtherStream(WithCluster):
    def test_another_stream_of_the_same_name_is_followed_by_nobody(self):
        cluster = self.cluster
        cluster.wait(cluster.learn(harness.rows(3, seed=5))["edit"]["edit"])
        nats_request(cluster.nodes.all[0], "$JS.API.STREAM.DELETE.resmem-m")
        time.sleep(0.6)
        body = {"ids": [11]}
        status, answer, _ = cluster.gateway.ask("POST", "/v1/memories/m/forget", body)
        self.assertEqual((status, "not the one that the shards have followed" in answer["error"]), (503, True), answer)
        nats_request(cluster.nodes.all[0], "$JS.API.STREAM.CREATE.resmem-m", json.dumps(
            {"name": "resmem-m", "subjects": ["resmem.edits.m"], "num_replicas": 3}).encode())
        for _ in range(60):
            nats_request(cluster.nodes.all[0], "resmem.edits.m", b"{}")
        for each in cluster.replicas:
            self.wait_stuck(each, "another one")
        status, answer, _ = cluster.gateway.ask("POST", "/v1/memories/m/forget", body)
        self.assertEqual((status, "not the one that the shards have followed" in answer["error"]), (503, True), answer)
        cluster.check_content(self)


class Failures(WithCluster):
    """Nodes and replicas are killed and stopped while edits go on."""

    def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice(self):
        cluster, stop, found = self.cluster, threading.Event(), collections.Counter()
        problems, last = [], [0]

        def work():
            choose, number = random.Random(3), 0
            try:
                while not stop.is_set():
                    number += 1
                    living = [each for each in cluster.rows if each >= 2 ** 40]
                    kind = choose.choice(("learn", "learn", "forget", "relabel")) if len(living) > 5 else "learn"
                    begin = time.monotonic()
                    if kind == "learn":
                        answer = cluster.learn(harness.rows(choose.randint(1, 4), seed=1000 + number))
                    elif kind == "forget":
                        answer = cluster.forget([choose.choice(living)])
                    else:
                        row = choose.choice(living)
                        answer = cluster.relabel(row, (cluster.rows[row][2] + 1) % harness.CLASSES)
                    found["worst ms"] = max(found["worst ms"], round(1000 * (time.monotonic() - begin)))
                    found["edits"] += 1
                    last[0] = max(last[0], answer["edit"]["edit"])
            except BaseException as error:  # told below
                problems.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        choose = random.Random(1)
        for i in range(FAILURES):
            kind = ("replica killed", "node killed", "node stopped")[i % 3]
            time.sleep(choose.uniform(0.05, 0.3))
            if kind == "replica killed":
                at = choose.choice(list(cluster.replicas))
                cluster.replicas[at].stop(signal.SIGKILL)
                cluster.start_replica(at)
            else:
                node = choose.choice(cluster.nodes.all)
                if kind == "node killed":
                    node.stop()
                    time.sleep(choose.uniform(0, 0.5))
                    node.start()
                else:
                    node.process.send_signal(signal.SIGSTOP)
                    time.sleep(choose.uniform(0.1, 1.0))
                    node.process.send_signal(signal.SIGCONT)
                cluster.nodes.wait()
            found[kind] += 1
        stop.set()
        thread.join()
        self.assertEqual(problems, [])
        cluster.wait(last[0])
        cluster.check_content(self)
        print(json.dumps({**found, "rows": len(cluster.rows), "load": os.getloadavg()[0]}))


if __name__ == "__main__":
    if nodes.why_not():
        print(f"skipped: {nodes.why_not()}")
        sys.exit(77)
    harness.main()
