"""An hour (or as long as you say) of everything at once: predictions, edits, previews, reloads, malformed
requests.  Ends with 1 if an answer is wrong, an acknowledged edit is lost, or resident memory grows.

    soak.py RESMEM [--minutes 60]
"""
import json
import pathlib
import random
import shutil
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time

import harness
from harness import rows, triton_arrays, triton_request


class Soak:
    def __init__(self, folder):
        self.folder = folder
        harness.make_memory(folder, 5000)
        self.server = harness.Server(folder)
        self.stop = threading.Event()
        self.problems, self.latencies, self.lock = [], [], threading.Lock()
        self.counts = {}

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def predict(self, seed):
        test = rows(200, seed)
        connection = self.server.connect()
        while not self.stop.is_set():
            i = random.randrange(200)
            body, headers = triton_request({"keys": test["keys"][i:i + 1], "logits": test["logits"][i:i + 1]}, ["scores"])
            begin = time.perf_counter()
            status, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers, connection)
            with self.lock:
                self.latencies.append(time.perf_counter() - begin)
            self.count(f"predict {status}")
            if status != 200:
                self.problems.append(f"predict: {status} {data}")
            elif abs(triton_arrays(data, answer)[1]["scores"].sum() - 1) > 1e-3:
                self.problems.append("a blend that does not sum to 1")
            time.sleep(0.002)

    def teach(self, seed):
        """Learns a row far from the others, sees it in the answer, forgets it, sees that too."""
        dice = random.Random(seed)
        connection = self.server.connect()

        def post(what, body):
            status, answer, _ = self.server.ask("POST", f"/v1/memories/m/{what}", body, connection=connection)
            self.count(f"{what} {status}")
            return status, answer

        while not self.stop.is_set():
            key = [100.0 + 10 * seed + dice.random()] * harness.DIM
            row = {"keys": key, "logits": [0.0] * harness.CLASSES}
            status, done = post("learn", {**row, "label": dice.randrange(4)})
            if status != 200:
                self.problems.append(f"learn: {status} {done}")
                continue
            near = post("neighbors", {**row, "k": 1})[1]["neighbors"][0][0]
            if near["id"] != done["edit"]["ids"][0] or near["distance"] != 0:
                self.problems.append(f"learned, but not in the next answer: {near} {done}")
            post("preview", {"forget": done["edit"]["ids"]})
            what, body = (("forget", {"ids": done["edit"]["ids"], "keep_for_undo": dice.random() < 0.9})
                          if dice.random() < 0.5 else ("undo", {"edit": done["edit"]["edit"]}))
            status, gone = post(what, body)
            if status != 200:
                self.problems.append(f"{what}: {status} {gone}")
            elif post("neighbors", {**row, "k": 1})[1]["neighbors"][0][0]["id"] == done["edit"]["ids"][0]:
                self.problems.append("forgotten, but still in the answer")

    def disturb(self):
        dice = random.Random(3)
        while not self.stop.is_set():
            what = dice.randrange(4)
            if what == 0:
                self.server.process.send_signal(signal.SIGHUP)
            elif what == 1:
                self.server.ask("GET", "/metrics")
            else:
                with self.server.socket() as raw:
                    try:
                        raw.sendall(bytes(dice.randrange(256) for _ in range(50)) if what == 2 else b"GET /v2 HT")
                        raw.shutdown(socket.SHUT_WR)
                        raw.recv(1000)
                    except OSError:
                        pass
            self.count("disturbances")
            time.sleep(0.1)

    def run(self, minutes):
        threads = [threading.Thread(target=self.guard, args=(self.predict, 10 + i)) for i in range(4)]
        threads += [threading.Thread(target=self.guard, args=(self.teach, i)) for i in range(2)]
        threads.append(threading.Thread(target=self.guard, args=(self.disturb,)))
        for thread in threads:
            thread.start()
        end, residents = time.time() + 60 * minutes, []
        while time.time() < end and not self.problems:
            time.sleep(min(10, max(0.1, end - time.time())))
            residents.append(self.server.resident_mb())
        self.stop.set()
        for thread in threads:
            thread.join()
        code = self.server.stop()
        if code != 0:
            self.problems.append(f"the server ended with {code}")
        harness.resmem("verify", self.folder / "m.resmem")
        # After the first tenth, in which buffers find their size.
        settled = residents[len(residents) // 10:]
        if len(settled) > 3 and statistics.median(settled[-3:]) > 1.2 * statistics.median(settled[:3]) + 10:
            self.problems.append(f"resident memory grew from {settled[0]:.0f} to {settled[-1]:.0f} MB")
        ordered = sorted(self.latencies)
        print(json.dumps({"minutes": minutes, "counts": self.counts, "resident_mb": [round(min(residents)),
                          round(max(residents))], "p50_ms": round(1000 * ordered[len(ordered) // 2], 2),
                          "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 2), "problems": self.problems[:5]}))
        return 1 if self.problems else 0

    def guard(self, work, *arguments):
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001
            self.problems.append(f"{work.__name__}: {error!r}")


def main():
    minutes = float(sys.argv[sys.argv.index("--minutes") + 1]) if "--minutes" in sys.argv else 60
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_soak_"))
    try:
        return Soak(folder).run(minutes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
