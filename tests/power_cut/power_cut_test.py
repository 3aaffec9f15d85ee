"""The power is cut at every instant of what changes a memory: what lies on the disk then opens as the
old or the new state, and nothing that was acknowledged is lost.

    power_cut_test.py RESMEM [--images N] [--seed S] [--markdown FILE] [--only NAME,...]

Each command runs once under strace; from its writes, syncs and renames the disks are made that a cut
could leave (disk.py), at most N over all commands (default 2,000).  Each that differs from those
before is opened and asked.  Every hundredth is also changed again, as its owner would.  The long run
is docs/reliability.md's.
"""
import argparse
import collections
import datetime
import hashlib
import itertools
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "cli"), str(HERE.parents[0] / "serve")]
parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("resmem", type=pathlib.Path)
parser.add_argument("--images", type=int, default=2_000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--markdown", type=pathlib.Path)
parser.add_argument("--only", default="")
OPTIONS = parser.parse_args()
sys.argv[1:] = [str(OPTIONS.resmem)]  # as the harness expects it

import numpy as np  # noqa: E402

import disk  # noqa: E402
import fixtures  # noqa: E402
import harness  # noqa: E402
import resmem  # noqa: E402
import system_calls  # noqa: E402

PROGRAM = OPTIONS.resmem.resolve()
AGAIN_EVERY, SERVE_EVERY = 100, 200
NOTHING = "nothing"


def rows(count, seed):
    centers = 2 * np.random.default_rng(0).standard_normal((2 * fixtures.CLASSES, fixtures.DIM))
    return fixtures.draw(np.random.default_rng(seed), centers, count)


PROBES = rows(5, 9)


def answers(folder):
    """What the memory in `folder` holds and says, as a digest; NOTHING where there is none."""
    path = folder / "m.resmem"
    if not (path / "MANIFEST").exists():
        return NOTHING
    with resmem.Memory.open(path) as memory:
        memory.verify()
        described = memory.info().data["memory"]
        mix = hashlib.sha1(json.dumps([described.get(name) for name in (
            "rows", "k", "sigma", "temperature", "parameters", "answer", "index", "key_transform")]).encode())
        stored = memory.rows()
        living = ~stored.deleted
        order = np.argsort(stored.ids[living])
        for array in (stored.ids, stored.labels):
            mix.update(array[living][order].tobytes())
        mix.update(memory.scores(PROBES["keys"], PROBES["logits"]).tobytes())
        return mix.hexdigest()


def change_again(folder):
    """The owner goes on: rows are added to what the cut left, or it is made anew."""
    path = folder / "m.resmem"
    before = 0
    more = rows(7, 55)
    if (path / "MANIFEST").exists():
        with resmem.Memory.open(path) as memory:
            before = len(memory)
            memory.append(more["keys"], more["logits"], more["labels"])
    else:
        with resmem.Memory.build(more["keys"], more["logits"], more["labels"]) as memory:
            memory.save(path, overwrite=True)
    with resmem.Memory.open(path) as memory:
        if len(memory) != before + 7:
            raise AssertionError(f"{len(memory)} rows after 7 were added to {before}")


def command_acks(made):
    """One change; done as soon as stdout says so."""
    return [next((event for event, who, what in made.told if who == "1" and what.strip()), made.events)]


def script_acks(made):
    """The programs that a script starts write to a stdout of theirs: the last words are the command's."""
    return [[event for event, who, what in made.told if who == "1" and what.strip()][-1]]


def reply_acks(made):
    """A change for each good reply of the server."""
    return [event for event, who, what in made.told if what.startswith(b"HTTP/1.1 200")]


class Case:
    """disk/ before, the events, and the states that may be found: states[i] after i acknowledged changes."""

    def __init__(self, name, home):
        self.name, self.home, self.root = name, home / name, home / name / "disk"
        self.root.mkdir(parents=True)
        np.savez(self.home / "train.npz", ids=np.arange(1000, 1060), **rows(60, 1))
        np.savez(self.home / "more.npz", ids=np.arange(5000, 5020), **rows(20, 2))
        np.savez(self.home / "validation.npz", **rows(300, 3))
        self.judge, self.again, self.serve = answers, change_again, None
        self.most = OPTIONS.images

    def resmem(self, *words):
        harness_words = [PROGRAM, *words]
        done = subprocess.run(list(map(str, harness_words)), cwd=self.home, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode} {done.stderr}")

    def prepare(self, *commands):
        for words in commands:
            self.resmem(*words)
        return self

    def record(self, *words, acks=command_acks):
        self.states = [self.judge(self.root)]
        made = disk.Disk(self.root, disk.load(self.root))
        for event in system_calls.run([PROGRAM, *words], self.root, self.home / "trace", self.home):
            made.add(event)
        self.disk, self.acks = made, acks(made)
        return self.finish()

    def record_service(self, edits):
        """Edits over HTTP, one after the other; the state after each is read from the live folder."""
        self.states = [self.judge(self.root)]
        made = disk.Disk(self.root, disk.load(self.root))
        traced = self.home / "traced"
        traced.write_text("#!/bin/sh\nexec " + " ".join(system_calls.command([PROGRAM], self.home / "trace")) + ' "$@"\n')
        traced.chmod(0o755)
        harness.RESMEM, former = traced, harness.RESMEM
        try:
            server = harness.Server(self.home, "--edit-rest", "0", memory="m=disk/m.resmem")
        finally:
            harness.RESMEM = former
        try:
            done = []
            for what, body in edits:
                status, answer, _ = server.ask("POST", f"/v1/memories/m/{what}", body(done) if callable(body) else body)
                assert status == 200, (what, answer)
                done.append(answer)
                self.states.append(self.judge(self.root))
        finally:
            child = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True,
                                       text=True).stdout.split()[0])
            os.kill(child, signal.SIGTERM)
            server.process.wait(60)
        here = os.getcwd()
        os.chdir(self.home)
        try:
            for event in system_calls.events((self.home / "trace").read_text("latin-1"), self.root):
                made.add(event)
        finally:
            os.chdir(here)
        self.disk, self.acks = made, reply_acks(made)
        assert len(self.acks) == len(edits), (len(self.acks), len(edits))
        self.serve = self.serves
        return self.finish()

    def finish(self):
        """The model of the disk must end where the real one did: else it says nothing."""
        everything = self.disk.image(self.disk.events, set(self.disk.pending(self.disk.events)))
        real = disk.Disk(self.root, disk.load(self.root)).image(0, set())
        differs = [name for name in sorted({*everything, *real}) if everything.get(name, 0) != real.get(name, 0)]
        assert not differs, f"{self.name}: the model of the disk differs from the disk: {differs}"
        if len(self.states) == 1:
            self.states.append(self.judge(self.root))
        return self

    def serves(self, folder):
        """The service starts on what the cut left, and learns."""
        server = harness.Server(folder, memory="m=m.resmem")
        try:
            more = rows(1, 71)
            status, answer, _ = server.ask("POST", "/v1/memories/m/learn", {
                name: more[name].tolist() for name in ("keys", "logits", "labels")})
            assert status == 200, answer
        finally:
            server.process.terminate()
            server.process.wait(60)

    def allowed(self, event):
        """From the last acknowledged change to one that may be under way."""
        acknowledged = sum(ack <= event for ack in self.acks)
        return self.states[acknowledged:acknowledged + 2]

    def cuts(self, chosen):
        """(event, kept, torn) without end: first each simple cut, then at random."""
        torn = disk.tearer(chosen)
        for event in range(self.disk.events + 1):
            pending = set(self.disk.pending(event))
            yield event, set(), None
            yield event, pending, None
            for one in sorted(pending):
                yield event, {one}, None
                yield event, pending - {one}, None
                yield event, pending, torn
        places = [(event, self.disk.pending(event)) for event in range(self.disk.events + 1)]
        weights = [len(pending) for _, pending in places]
        while sum(weights):
            event, pending = chosen.choices(places, weights)[0]
            share = chosen.random()
            yield event, {one for one in pending if chosen.random() < share}, torn if chosen.random() < 0.9 else None

    def without_syncs(self):
        """The same on a disk that takes every fsync for nothing: what must be found."""
        self.disk.certain_at = [None] * len(self.disk.changes)
        return self


def lesson(count, seed, **more):
    return {**{name: array.tolist() for name, array in rows(count, seed).items()}, **more}


def undo(back):
    return lambda done: {"edit": done[back]["edit"]["edit"]}


def cases(home):
    memorize = ("memorize", "--data", "train.npz", "-o", "disk/m.resmem", "--quiet")
    tune = ("tune", "disk/m.resmem", "--data", "validation.npz", "--quiet")
    index = ("index", "disk/m.resmem", "--recall", "0.9", "--quiet")
    append = ("append", "disk/m.resmem", "--data", "more.npz")
    delete = ("delete", "disk/m.resmem", "--ids", "1003,1005,1040")
    new = lambda name: Case(name, home)  # noqa: E731
    return {
        "runtime install": lambda: runtime(new("runtime")),
        "memorize": lambda: new("memorize").record(*memorize),
        "memorize --overwrite": lambda: new("overwrite").prepare(memorize, append).record(*memorize, "--overwrite"),
        "append": lambda: new("append").prepare(memorize).record(*append),
        "append to an index": lambda: new("append_index").prepare(memorize, index).record(*append),
        "append, merging segments": lambda: many_segments(new("segments"), memorize),
        "delete": lambda: new("delete").prepare(memorize, append).record(*delete),
        "compact": lambda: new("compact").prepare(memorize, append, delete).record("compact", "disk/m.resmem"),
        "index": lambda: new("index").prepare(memorize).record(*index),
        "tune": lambda: new("tune").prepare(memorize).record(*tune),
        "tune, other keys": lambda: new("keys").prepare(memorize).record(*tune, "--key-transform", "whiten"),
        "tune --undo": lambda: new("undo").prepare(memorize, tune, (*tune, "--key-transform", "whiten")).record(
            "tune", "disk/m.resmem", "--undo"),
        "service: learn, forget, erase, undo": lambda: service(new("service"), memorize, tune),
    }


def many_segments(case, memorize):
    """One append more than may lie side by side: small segments become one."""
    case.prepare(memorize)
    with resmem.Memory.open(case.root / "m.resmem") as memory:
        for number in range(63):
            one = rows(1, 100 + number)
            memory.append(one["keys"], one["logits"], one["labels"])
    return case.record("append", "disk/m.resmem", "--data", "more.npz")


def service(case, *commands):
    if not (PROGRAM.parent / "resmem-serve").exists():
        return "the service is not built"
    return case.prepare(*commands).record_service([
        ("learn", lesson(2, 31, ids=[7000, 7001])), ("forget", {"ids": [1001, 7001]}), ("undo", undo(-1)),
        ("learn", lesson(1, 32)), ("forget", {"ids": [1002], "keep_for_undo": False}), ("undo", undo(3))])


def runtime(case):
    """The library is there whole or not at all; 46 MB an image, so there are few."""
    described = subprocess.run([PROGRAM, "runtime", "info", "--json"], capture_output=True, text=True)
    places = json.loads(described.stdout)["places"] if described.returncode == 0 else []
    library = next((place["path"] for place in places if place["finding"] == "used"), None)
    if not library:
        return "ONNX Runtime is not installed"

    def installed(folder):
        files = [file for file in folder.rglob("libonnxruntime.so.1") if file.is_file()]
        return hashlib.sha1(files[0].read_bytes()).hexdigest() if files else NOTHING

    case.judge, case.again, case.most = installed, None, 60
    case.root = case.home / "cache" / "resmem"
    case.root.mkdir(parents=True)
    former = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(case.root.parent)
    try:
        return case.record("runtime", "install", "--from", library, "--quiet", acks=script_acks)
    finally:
        os.environ.pop("XDG_CACHE_HOME") if former is None else os.environ.update(XDG_CACHE_HOME=former)


def try_images(case, count, chosen, scratch):
    """Makes `count` images; (different ones, changed again, served, what went wrong)."""
    seen, wrong = {}, []
    again = served = 0
    source = case.cuts(chosen)
    for event, kept, torn in itertools.islice(source, count):
        image = case.disk.image(event, kept, torn)
        key = disk.digest(image)
        if key not in seen:
            folder = scratch / "image"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            disk.write(image, folder)
            try:
                seen[key] = case.judge(folder)
                if case.again and len(seen) % AGAIN_EVERY == 1:
                    again += 1
                    case.again(folder)
                if case.serve and len(seen) % SERVE_EVERY == 1 and seen[key] != NOTHING:
                    served += 1
                    case.serve(folder)
            except Exception as error:  # whatever it is: the memory did not survive the cut
                seen[key] = f"{type(error).__name__}: {error}"
        if seen[key] not in case.allowed(event):
            wrong.append((event, sorted(kept), sorted(image), seen[key]))
    return len(seen), again, served, wrong


def check_the_check(home, scratch):
    """A program that never syncs loses its memory, and this test sees it."""
    case = cases(home)["append"]().without_syncs()
    wrong = try_images(case, 2_000, random.Random(1), scratch)[3]
    assert any(found != case.states[0] for _, _, _, found in wrong), "a torn memory was not seen"
    assert any(found == case.states[0] for _, _, _, found in wrong), "a lost row was not seen"
    shutil.rmtree(case.home)


def main():
    chosen = random.Random(OPTIONS.seed)
    lines, total, failures, start = [], collections.Counter(), 0, time.time()
    left = OPTIONS.images
    scratch_root = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # images are not synced: the model is the disk
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory(dir=scratch_root) as scratch:
        check_the_check(pathlib.Path(home), pathlib.Path(scratch))
        wanted = {name: make for name, make in cases(pathlib.Path(home)).items()
                  if not OPTIONS.only or name in OPTIONS.only.split(",")}
        for place, (name, make) in enumerate(wanted.items()):
            case = make()
            if isinstance(case, str):
                lines.append(f"| {name} | not run: {case} | | | | |")
                print(lines[-1], flush=True)
                continue
            count = min(case.most, left // (len(wanted) - place))
            left -= count
            different, again, served, wrong = try_images(case, count, chosen, pathlib.Path(scratch))
            total.update(images=count, different=different, again=again, served=served)
            failures += len(wrong)
            lines.append(f"| {name} | {case.disk.events} | {count:,} | {different:,} | {again + served} | {len(wrong)} |")
            print(lines[-1], flush=True)
            for event, kept, names, found in wrong[:5]:
                print(f"  cut after event {event}, kept {kept}: {found}\n    files: {names}", file=sys.stderr)
    page = "\n".join([
        "| what was running | file system events | images | different | changed again, or served | lost or torn |",
        "|---|--:|--:|--:|--:|--:|", *lines,
        f"| **all** | | **{total['images']:,}** | **{total['different']:,}** | **{total['again'] + total['served']:,}** | **{failures}** |",
        "", f"Seed {OPTIONS.seed}, {time.time() - start:.0f} s, {platform.machine()}, {os.cpu_count()} processors, "
        f"{datetime.date.today()}."])
    print(page)
    if OPTIONS.markdown:
        OPTIONS.markdown.write_text(page + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    if not shutil.which("strace"):
        print("strace is not installed", file=sys.stderr)
        sys.exit(77)
    sys.exit(main())
