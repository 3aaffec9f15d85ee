"""A crowd at one memory: processes that append, delete, compact, index, tune, take snapshots, predict and
read, some of them killed, and every reader judged by a model of what it may see.

    crowd_test.py RESMEM [--seconds S] [--processes N] [--seed S] [--markdown FILE] [--log FILE]

A reader sees the state of one instant between the begin and the end of its opening.  So:
- what was acknowledged before is there, unless somebody had begun to delete it;
- what was deleted before is gone, for ever; nothing is there before somebody began to add it;
- a change is seen whole or not at all, also one whose process was killed;
- what one reader saw, every later one sees (linearizable at the manifest);
- each row has its own label, and the key that was stored with it finds it.
At the end the memory holds what the model holds, with sound checksums and no file too many.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("resmem", type=os.path.abspath)
parser.add_argument("--seconds", type=float, default=20)
parser.add_argument("--processes", type=int, default=6)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--markdown", type=pathlib.Path)
parser.add_argument("--log", type=pathlib.Path, help="gets what everybody did and saw, as JSON")
OPTIONS = parser.parse_args()

DIM, CLASSES, FIRST_ROWS, MOST_OF_A_BATCH, MOST_LIVING = 6, 4, 80, 12, 300
WAIT = ["--wait", "100"]
GRID = ["--data", "validation.npz", "--grid-k", "3,9", "--grid-sigma", "0.5,1", "--grid-temperature", "1"]


def rows(ids):
    """The rows of these ids: everything follows from the number."""
    keys = np.stack([np.random.default_rng(int(i)).standard_normal(DIM) for i in ids]).astype(np.float32)
    labels = np.asarray(ids, np.int64) % CLASSES
    logits = keys[:, :CLASSES] + 0.0
    return {"keys": keys, "logits": logits, "labels": labels.astype(np.int32), "ids": np.asarray(ids, np.int64)}


class Worker:
    """One process of the crowd; its log is a list of what it did and saw."""

    def __init__(self, folder, number):
        self.folder, self.number, self.log = folder, number, []
        self.random = random.Random(OPTIONS.seed * 1000 + number)
        self.next_id = (number + 1) * 1_000_000
        self.batches = []  # own rows that are there for certain
        self.name = 0

    def note(self, kind, begin, **more):
        self.log.append({"kind": kind, "worker": self.number, "begin": begin, "end": time.monotonic(), **more})

    def command(self, words, may_kill=False):
        """'done', 'killed' or 'failed: ...'."""
        process = subprocess.Popen([OPTIONS.resmem, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if may_kill and self.random.random() < 0.1:
            try:
                process.wait(self.random.uniform(0, 0.2))
            except subprocess.TimeoutExpired:
                process.kill()
        said = process.communicate()[1]
        if process.returncode == -signal.SIGKILL:
            return "killed"
        return "done" if process.returncode == 0 else f"failed: exit {process.returncode}, {said.strip()}"

    def append(self):
        ids = list(range(self.next_id, self.next_id + self.random.randint(1, MOST_OF_A_BATCH)))
        self.next_id += len(ids)
        file = f"batch{self.number}.npz"
        np.savez(self.folder / file, **rows(ids))
        begin = time.monotonic()
        result = self.command(["append", "m", "--data", file, *WAIT], may_kill=True)
        self.note("append", begin, ids=ids, result=result)
        if result == "done":
            self.batches.append(ids)

    def delete(self):
        if not self.batches:
            return self.append()
        batch = self.batches.pop(self.random.randrange(len(self.batches)))
        ids = self.random.sample(batch, self.random.randint(1, len(batch)))
        begin = time.monotonic()
        result = self.command(["delete", "m", "--ids", ",".join(map(str, ids)), *WAIT], may_kill=True)
        self.note("delete", begin, ids=ids, result=result)
        left = [i for i in batch if i not in ids]
        if result == "done" and left:
            self.batches.append(left)
        return None

    def change(self):
        kind, words = self.random.choice([
            ("compact", ["compact", "m"]), ("index", ["index", "m", "--recall", "0.9"]),
            ("index --remove", ["index", "m", "--remove"]), ("tune", ["tune", "m", *GRID])])
        begin = time.monotonic()
        result = self.command([*words, *WAIT], may_kill=True)
        if kind == "index --remove" and "no index" in result:
            result = "done"
        self.note(kind, begin, result=result)

    def snapshot(self):
        self.name += 1
        name = f"s{self.number}-{self.name}"
        begin = time.monotonic()
        result = self.command(["snapshot", "take", "m", name, *WAIT])
        self.note("snapshot take", begin, result=result)
        begin = time.monotonic()
        self.note("snapshot drop", begin, result=self.command(["snapshot", "drop", "m", name, *WAIT]))

    def predict(self):
        begin = time.monotonic()
        result = self.command(["predict", "m", "--data", "validation.npz", "-o", f"p{self.number}.csv"])
        self.note("predict", begin, result=result)

    def look(self):
        import resmem
        begin = time.monotonic()
        with resmem.Memory.open(self.folder / "m", exact=True) as memory:
            opened = time.monotonic()
            stored = memory.rows()
            living = stored.ids[~stored.deleted]
            wrong = [int(i) for i in living[stored.labels[~stored.deleted] != living % CLASSES]]
            asked = self.random.sample([int(i) for i in living], min(3, len(living)))
            if asked:
                nearest = memory.neighbors(rows(asked)["keys"], 1)
                found = stored.ids[np.asarray(nearest.rows)[:, 0]]
                wrong += [i for i, f in zip(asked, found) if i != f]
        self.log.append({"kind": "look", "worker": self.number, "begin": begin, "end": opened, "wrong": wrong,
                         "ids": [int(i) for i in living], "result": "done"})

    def run(self, until):
        acts = [self.append] * 5 + [self.delete] * 4 + [self.change] * 2 + [self.snapshot, self.predict]
        while time.monotonic() < until:
            try:
                if self.number % 3 == 2 or self.random.random() < 0.3:
                    self.look()
                elif sum(map(len, self.batches)) > MOST_LIVING:
                    self.delete()
                else:
                    self.random.choice(acts)()
            except Exception as error:  # a reader that fails is a finding, not the end of the crowd
                self.note("look", time.monotonic(), result=f"failed: {type(error).__name__}: {error}", ids=None)
        (self.folder / f"log{self.number}.json").write_text(json.dumps(self.log))


class Model:
    """What the logs say of each row: when it may and when it must be seen."""

    def __init__(self, log):
        never = float("inf")
        self.begun, self.there, self.going, self.gone = {}, {}, {}, {}
        self.batches = []  # ids that come, or go, together
        for i in range(FIRST_ROWS):
            self.begun[i] = self.there[i] = -1.0
        for event in log:
            if event["kind"] not in ("append", "delete"):
                continue
            self.batches.append((event["kind"], frozenset(event["ids"]), event))
            first, last = (self.begun, self.there) if event["kind"] == "append" else (self.going, self.gone)
            for i in event["ids"]:
                first[i] = event["begin"]
                last[i] = event["end"] if event["result"] == "done" else never

    def judge(self, look, seen_before, absent_before):
        """What is wrong with what was seen; ids that earlier readers saw, or saw gone."""
        never, seen, wrong = float("inf"), set(look["ids"]), list(look["wrong"])
        if wrong:
            yield f"wrong labels or neighbors: {wrong[:5]}"
        for i in seen:
            if self.begun.get(i, never) > look["end"]:
                yield f"row {i} is there before it was added"
            if self.gone.get(i, never) < look["begin"]:
                yield f"row {i} is there although it was deleted"
            if i in absent_before:
                yield f"row {i} is there again"
        for i, time_there in self.there.items():
            if i not in seen and self.going.get(i, never) > look["end"]:
                if time_there < look["begin"]:
                    yield f"row {i} is lost"
                elif i in seen_before:
                    yield f"row {i} was there and is not"
        for kind, ids, event in self.batches:
            if kind == "append":
                certain = {i for i in ids if self.going.get(i, never) > look["end"]}
                part = certain & seen
            else:
                certain = ids
                part = ids & seen
            if part and part != certain:
                yield f"half of {event['kind']} {sorted(ids)[0]} ({event['result']}) is there"


def judge(log):
    model, problems = Model(log), []
    looks = sorted((event for event in log if event["kind"] == "look" and event["ids"] is not None),
                   key=lambda event: event["end"])
    # Of readers that had ended before this one began: what they saw, and what they saw gone.  Two that
    # overlap may have seen their instants in either order.
    seen, absent, place, gone = set(), set(), 0, {}
    for look in sorted(looks, key=lambda event: event["begin"]):
        while place < len(looks) and looks[place]["end"] < look["begin"]:
            seen.update(looks[place]["ids"])
            absent |= gone.pop(id(looks[place]))
            place += 1
        problems += [f"reader {look['worker']} at {look['begin']:.3f}: {text}"
                     for text in model.judge(look, seen, absent)]
        certain = seen | {i for i, time_there in model.there.items() if time_there < look["begin"]}
        gone[id(look)] = certain - absent - set(look["ids"])
    return model, problems


def check_the_check():
    """The model sees each kind of lie."""
    def event(kind, begin, end, ids, result="done", **more):
        return {"kind": kind, "begin": begin, "end": end, "ids": ids, "result": result, "worker": 0, **more}

    start = list(range(FIRST_ROWS))

    def problems(*events):
        return judge([event("append", 1, 2, [1000, 1001]), event("delete", 5, 6, [1000, 1001]), *events])[1]

    def look(begin, ids):
        return event("look", begin, begin + 0.1, start + ids, wrong=[])

    assert not problems(look(1.5, []), look(3, [1000, 1001]), look(5.5, [1000, 1001]), look(7, []))
    assert problems(look(3, [])), "a lost row was not seen"
    assert problems(look(0, [1000, 1001])), "a row of the future was not seen"
    assert problems(look(3, [1000])), "half a change was not seen"
    assert problems(look(7, [1000, 1001])), "a deleted row was not seen"
    assert problems(look(1.2, [1000, 1001]), look(1.5, [])), "a row that went back was not seen"
    assert problems(look(5.2, []), look(5.5, [1000, 1001])), "a row that came back was not seen"
    early, late = look(1.5, [1000, 1001]), look(1.45, [])
    late["end"] = 1.65  # its instant may be before the other's
    assert not problems(early, late, look(3, [1000, 1001])), "two that overlap may see either order"


def final_state(folder, log):
    """The memory as it was left, against the model."""
    import resmem
    problems = []
    for words in (["verify", "m"], ["compact", "m"], ["verify", "m"]):
        done = subprocess.run([OPTIONS.resmem, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"{words}: {done.stderr}")
    with resmem.Memory.open(folder / "m", exact=True) as memory:
        stored = memory.rows()
        ids = [int(i) for i in stored.ids[~stored.deleted]]
    end = time.monotonic()
    looks = log + [{"kind": "look", "worker": -1, "begin": end, "end": end, "ids": ids, "wrong": [], "result": "done"}]
    problems += judge(looks)[1]
    if (folder / "m" / "LOCK").exists():
        problems.append("a lock is left")
    return problems, len(ids)


def main():
    check_the_check()
    scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="resmem_crowd_", dir=scratch) as name:
        folder = pathlib.Path(name)
        np.savez(folder / "train.npz", **rows(range(FIRST_ROWS)))
        validation = rows(range(500_000, 500_040))
        del validation["ids"]
        np.savez(folder / "validation.npz", **validation)
        subprocess.run([OPTIONS.resmem, "memorize", "--data", "train.npz", "-o", "m", "--quiet"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        until = time.monotonic() + OPTIONS.seconds
        crowd = [multiprocessing.Process(target=Worker(folder, number).run, args=(until,))
                 for number in range(OPTIONS.processes)]
        for process in crowd:
            process.start()
        for process in crowd:
            process.join()
        log = [event for number in range(OPTIONS.processes)
               for event in json.loads((folder / f"log{number}.json").read_text())]
        if OPTIONS.log:
            OPTIONS.log.write_text(json.dumps(log))
        problems = judge(log)[1]
        problems += [f"{event['kind']}: {event['result']}" for event in log if event["result"].startswith("failed")]
        left, living = final_state(folder, log)
        problems += left
    for problem in problems[:20]:
        print(problem)
    counts = collections.Counter(event["kind"] for event in log)
    killed = sum(event["result"] == "killed" for event in log)
    page = "\n".join(["| what | how often |", "|---|--:|",
                      *(f"| {kind} | {count:,} |" for kind, count in sorted(counts.items())),
                      f"| of these killed | {killed:,} |", f"| **problems** | **{len(problems)}** |", "",
                      f"{OPTIONS.processes} processes for {OPTIONS.seconds:.0f} s, {living} rows at the end, seed "
                      f"{OPTIONS.seed}, {platform.machine()}, {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}."])
    print(page)
    if OPTIONS.markdown:
        OPTIONS.markdown.write_text(page + "\n")
    if min(counts[kind] for kind in ("append", "delete", "look")) == 0:
        print("the crowd did nothing")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
