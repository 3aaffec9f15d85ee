"""An hour (or as long as you say) of everything at once: predictions, edits, previews, reloads, malformed
requests.  Ends with 1 if an answer is not that of the beginning (what is taught lies far away, so none may change), an
acknowledged edit is lost, or resident memory grows.

    soak.py RESMEM [--minutes 60]
"""
import json
import os
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

ROWS = 5000


class Soak:
    def __init__(self, folder):
        self.folder = folder
        harness.make_memory(folder, ROWS)
        self.server = harness.Server(folder)
        self.stop = threading.Event()
        self.problems, self.latencies, self.lock = [], [], threading.Lock()
        self.counts = {}
        self.stored = {}  # id: label, of the taught rows that were left in the memory
        self.edits = []   # the numbers of all that were acknowledged
        self.loads = []
        self.test = rows(200, 10)
        self.reference = [self.scores(i, self.server.connect()) for i in range(200)]

    def scores(self, i, connection):
        """The bytes of an answer; None where it waited too long."""
        body, headers = triton_request({name: self.test[name][i:i + 1] for name in ("keys", "logits")}, ["scores"])
        begin = time.perf_counter()
        status, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers, connection)
        with self.lock:
            self.latencies.append(time.perf_counter() - begin)
        self.count(f"predict {status}")
        if status == 503 and "waited too long" in data["error"]:
            return None
        if status != 200:
            raise AssertionError(f"predict: {status} {data}")
        return triton_arrays(data, answer)[1]["scores"].tobytes()

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def predict(self, seed):
        dice = random.Random(seed)
        connection = self.server.connect()
        while not self.stop.is_set():
            i = dice.randrange(200)
            scores = self.scores(i, connection)
            if scores is None:
                time.sleep(1)  # as Retry-After says: the machine is busy
            elif scores != self.reference[i]:
                self.problems.append(f"the answer to query {i} is not that of the beginning")
            time.sleep(0.002)

    def teach(self, seed):
        """Learns a row far from the others, sees it in the answer, forgets it, sees that too."""
        dice = random.Random(seed)
        connection, taught = self.server.connect(), 0

        def post(what, body):
            status, answer, _ = self.server.ask("POST", f"/v1/memories/m/{what}", body, connection=connection)
            self.count(f"{what} {status}")
            if status == 200 and "edit" in answer:
                with self.lock:
                    self.edits.append(answer["edit"]["edit"])
            return status, answer

        while not self.stop.is_set():
            taught += 1  # no two rows are the same, or one would hide the other
            key = [100.0 + 10 * seed] * (harness.DIM - 2) + [float(taught % 100), float(taught // 100)]
            row = {"keys": key, "logits": [0.0] * harness.CLASSES}
            label = dice.randrange(4)
            status, done = post("learn", {**row, "label": label})
            if status != 200:
                self.problems.append(f"learn: {status} {done}")
                continue
            near = post("neighbors", {**row, "k": 1})[1]["neighbors"][0][0]
            if near["id"] != done["edit"]["ids"][0] or near["distance"] != 0:
                self.problems.append(f"learned, but not in the next answer: {near} {done}")
            post("preview", {"forget": done["edit"]["ids"]})
            if dice.random() < 0.2:
                label = (label + 1) % 4
                status, answer = post("relabel", {"ids": done["edit"]["ids"], "label": label})
                if status != 200:
                    self.problems.append(f"relabel: {status} {answer}")
                if post("neighbors", {**row, "k": 1})[1]["neighbors"][0][0]["label"] != label:
                    self.problems.append("relabeled, but not in the next answer")
                done = {"edit": {**done["edit"], "edit": None}}  # its learning is not undone: its row is another
            if dice.random() < 0.1:  # it stays, and must be there at the end
                with self.lock:
                    self.stored[done["edit"]["ids"][0]] = label
                continue
            what, body = (("forget", {"ids": done["edit"]["ids"], "keep_for_undo": dice.random() < 0.9})
                          if dice.random() < 0.5 or not done["edit"]["edit"] else ("undo", {"edit": done["edit"]["edit"]}))
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
            self.loads.append(os.getloadavg()[0])
        self.stop.set()
        for thread in threads:
            thread.join()
        code = self.server.stop()
        if code != 0:
            self.problems.append(f"the server ended with {code}")
        harness.resmem("verify", self.folder / "m.resmem")
        self.check_edits()
        # After the first tenth, in which buffers find their size.
        settled = residents[len(residents) // 10:]
        if len(settled) > 3 and statistics.median(settled[-3:]) > 1.2 * statistics.median(settled[:3]) + 10:
            self.problems.append(f"resident memory grew from {settled[0]:.0f} to {settled[-1]:.0f} MB")
        late = self.counts.get("predict 503", 0)
        if late > 0.01 * self.counts["predict 200"]:
            self.problems.append(f"{late} predictions waited too long")
        ordered = sorted(self.latencies)
        print(json.dumps({"minutes": minutes, "counts": dict(sorted(self.counts.items())), "edits": len(self.edits),
                          "rows_left": len(self.stored), "load": [round(min(self.loads), 1), round(max(self.loads), 1)], "resident_mb": [round(min(residents)),
                          round(max(residents))], "p50_ms": round(1000 * ordered[len(ordered) // 2], 2),
                          "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 2), "problems": self.problems[:5]}))
        return 1 if self.problems else 0

    def check_edits(self):
        """Asks a new process for every row that must be there, for how many there are, and for the history."""
        self.server = harness.Server(self.folder)
        ids = sorted(self.stored)
        for first in range(0, len(ids), 100):
            some = ids[first:first + 100]
            status, answer, _ = self.server.ask("GET", "/v1/memories/m/rows?ids=" + ",".join(map(str, some)))
            found = {row["id"]: row["label"] for row in answer["rows"]} if status == 200 else answer
            if found != {each: self.stored[each] for each in some}:
                self.problems.append(f"acknowledged rows are lost or wrong: {str(found)[:300]}")
        count = int(self.server.metric("resmem_memory_rows"))
        if count != ROWS + len(ids):
            self.problems.append(f"{count} rows, not {ROWS} and the {len(ids)} that were left: forgotten ones are back")
        remembered, before = {}, ""
        while page := self.server.ask("GET", f"/v1/memories/m/history?limit=1000{before}")[1]["edits"]:
            remembered.update((edit["edit"], edit["done"]) for edit in page)
            before = f"&before={page[-1]['edit']}"
        lost = [number for number in self.edits if number >= min(remembered, default=0) and not remembered.get(number)]
        if lost:
            self.problems.append(f"acknowledged edits are not in the history: {lost[:10]}")
        self.counts["edits checked in the history"] = len(remembered)
        self.server.stop()

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
