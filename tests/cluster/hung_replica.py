"""How long a question waits where one of two replicas hangs, by HAProxy alone: without a gateway, which sends again.

    hung_replica.py RESMEM [--rounds 6]       not part of ./test; needs haproxy

Replicas are stopped (SIGSTOP) in turn while a question begins every 20 ms. Printed for the settings as 'resmem cluster config'
writes them, without on-marked-down, and with a shorter timeout.
"""
import argparse
import collections
import http.client
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

import nodes
import shards
from shards import harness

MARKED = " on-marked-down shutdown-sessions"
VARIANTS = (("as written", ("", "")), ("without on-marked-down", (MARKED, "")),
            ("timeout server 300ms", ("timeout server 1s", "timeout server 300ms")))


def ask(port, path, body, key, found):
    begin = time.monotonic()
    try:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        client.request("POST", path, body, {"Authorization": f"Bearer {key}"})
        response = client.getresponse()
        response.read()
        client.close()
        status = response.status
    except OSError as error:
        status = type(error).__name__
    found.append((time.monotonic() - begin, status))


def measure(settings, replicas, question, rounds):
    haproxy = subprocess.Popen(["haproxy", "-db", "-f", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found, threads = [], []
    try:
        time.sleep(1)  # its checks have found both
        for round_number in range(rounds):
            process = replicas[round_number % 2].process
            process.send_signal(signal.SIGSTOP)
            end = time.monotonic() + 1.2
            while time.monotonic() < end:
                threads.append(threading.Thread(target=ask, args=(*question, found)))
                threads[-1].start()
                time.sleep(0.02)
            time.sleep(1.5)
            process.send_signal(signal.SIGCONT)
            time.sleep(1.2)
        for thread in threads:
            thread.join()
    finally:
        haproxy.kill()
        haproxy.wait()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("resmem")
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_hung_"))
    replicas = []
    try:
        version = shards.Version(folder / "version", shards=1, count=400)
        ports = nodes.free_ports(2)
        name, = version.config("settings", "--replicas", "1", "--port", ports[0], "--frontend-port", ports[1])
        for _ in range(2):
            replicas.append(harness.Server(folder, "--read-only", "--keys", version.folder / "settings/keys.txt",
                                           f"{name}={version.shards[0]}", memory=None))
        text = (version.folder / "settings/gateway/haproxy.cfg").read_text()
        text = text[:text.index("    server replica_1")] + "".join(
            f"    server replica_{i + 1} 127.0.0.1:{each.port}\n" for i, each in enumerate(replicas))
        keys = harness.rows(1)["keys"]
        body = b"resmemQ1" + struct.pack("<qqq", 1, keys.shape[1], 20) + keys.tobytes()
        key = (version.folder / "settings/gateway/gateway.key").read_text().strip()
        question = (ports[1], f"/v1/memories/{name}/parts", body, key)
        for words, (old, new) in VARIANTS:
            assert old in text, old
            (folder / "haproxy.cfg").write_text(text.replace(old, new) if old else text)
            found = measure(folder / "haproxy.cfg", replicas, question, options.rounds)
            seconds = sorted(each[0] for each in found)
            print(f"{words}: {len(found)} questions, p50 {1000 * seconds[len(seconds) // 2]:.0f} ms, "
                  f"worst {1000 * seconds[-1]:.0f} ms, {sum(each > 0.2 for each in seconds)} above 200 ms, "
                  f"status {dict(collections.Counter(each[1] for each in found))}", flush=True)
    finally:
        for each in replicas:
            each.process.send_signal(signal.SIGCONT)
            each.stop(signal.SIGKILL)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
