"""What HTTP costs: the service beside the library call, with wrk on loopback (apt install wrk).

    PYTHONPATH=python RESMEM_LIBRARY=build/release/capi/libresmem_c.so \\
        /usr/bin/python3 bench/serve.py --resmem build/release/cli/resmem [--large] [--images MEMORY] [--seconds 10] \\
        [--peer build/release/bench/peer_serve]

Every answer is compared with the library's before anything is timed.  One line a case, for
docs/measurements/serve.md: the library's single call and batch (2,000 rows, and as many as 64 clients ask at
once), one client, 64 clients, 64 clients while 10 others teach 100 rows a second, and after that.  Targets: one client adds under 150 us at the median; 64 clients reach 80 % of the
library's batch throughput with p99 under 10 times p50; learning costs under 10 %.

Fields that end in _cpu_us are microseconds of a processor for a row, which other programs on the machine change
little; the others are wall-clock times.  --peer: faiss, flat and as a graph, behind the same HTTP layer, and with
--images the model alone, in a loop and behind the same HTTP layer."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/serve"))
sys.argv, ARGUMENTS = [sys.argv[0]], sys.argv[1:]
import harness  # noqa: E402

import resmem  # noqa: E402

QUERIES, CLASSES = 200, 100


def clusters(rows, dim, seed):
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(0).standard_normal((CLASSES, dim)).astype(np.float32)
    labels = random.integers(0, CLASSES, rows).astype(np.int32)
    keys = centers[labels] + 0.8 * random.standard_normal((rows, dim), dtype=np.float32)
    logits = random.standard_normal((rows, CLASSES), dtype=np.float32)
    logits[np.arange(rows), np.where(random.random(rows) < 0.3, (labels + 1) % CLASSES, labels)] += 3
    return {"keys": keys, "logits": logits, "labels": labels}


def make_memory(folder, rows, dim, index, kept):
    """Edits change the memory, so one that is kept for other runs is copied."""
    store = pathlib.Path(kept) / f"{rows}x{dim}.resmem" if kept else None
    if store and store.exists():
        shutil.copytree(store, folder / "m.resmem")
        return clusters(QUERIES, dim, 2)
    np.savez(folder / "train.npz", **clusters(rows, dim, 1))
    harness.resmem("memorize", "--data", folder / "train.npz", "-o", folder / "m.resmem", "--k", 50, "--quiet")
    if index:
        harness.resmem("index", folder / "m.resmem", "--quiet")
    (folder / "train.npz").unlink()
    if store:
        shutil.copytree(folder / "m.resmem", store)
    return clusters(QUERIES, dim, 2)


def write_script(folder, bodies, headers):
    """A wrk script that sends these bodies in turn."""
    for i, body in enumerate(bodies):
        (folder / f"body-{i}").write_bytes(body)
    lines = [f'local bodies, at = {{}}, 0', f"for i = 0, {len(bodies) - 1} do",
             f'  local file = io.open("{folder}/body-" .. i, "rb")', '  bodies[i] = file:read("*a")', "  file:close()",
             "end", "request = function()", f"  at = (at + 1) % {len(bodies)}",
             "  return wrk.format('POST', '/v2/models/m/infer', {" +
             ", ".join(f"['{name}'] = '{value}'" for name, value in headers.items()) + "}, bodies[at])", "end",
             "done = function(summary, latency)",
             "  io.write(string.format('RESULT %d %d %d %d %d %d\\n', summary.requests, summary.duration,",
             "    latency:percentile(50), latency:percentile(99), summary.errors.status,",
             "    summary.errors.read + summary.errors.write + summary.errors.timeout + summary.errors.connect))", "end"]
    (folder / "load.lua").write_text("\n".join(lines) + "\n")
    return folder / "load.lua"


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(server, script, clients, seconds):
    """-> requests a second, p50 and p99 in microseconds, the server's processor microseconds a request"""
    before = cpu_seconds(server.process.pid)
    done = subprocess.run(["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "-s", script, "--timeout", "30s",
                           f"http://127.0.0.1:{server.port}"], capture_output=True, text=True, check=True).stdout
    requests, duration, p50, p99, statuses, broken = map(int, re.search(r"RESULT (.*)", done).group(1).split())
    assert statuses == 0 and broken == 0, done
    cpu = 1e6 * (cpu_seconds(server.process.pid) - before) / max(1, requests)
    return requests / (duration / 1e6), p50, p99, round(cpu)


def library(memory, queries, seconds):
    """-> single call's median in microseconds, rows a second in batches, and what a row costs a processor: alone, in
    batches of 2,000 and of 64"""
    times, end, cpu = [], time.perf_counter() + seconds, time.process_time()
    while time.perf_counter() < end:
        i = len(times) % QUERIES
        begin = time.perf_counter()
        memory.predict_proba(queries["keys"][i:i + 1], queries["logits"][i:i + 1])
        times.append(time.perf_counter() - begin)
    single_cpu = 1e6 * (time.process_time() - cpu) / len(times)
    # No query twice: what one reads of an index, the same one would find in the cache.
    many = clusters(2000, queries["keys"].shape[1], 3)
    memory.predict_proba(many["keys"], many["logits"])
    best, cpu = 0, time.process_time()
    for _ in range(3):
        begin = time.perf_counter()
        memory.predict_proba(many["keys"], many["logits"])
        best = max(best, len(many["keys"]) / (time.perf_counter() - begin))
    batch_cpu = 1e6 * (time.process_time() - cpu) / (3 * len(many["keys"]))
    cpu = time.process_time()
    for begin in range(0, 1920, 64):
        memory.predict_proba(many["keys"][begin:begin + 64], many["logits"][begin:begin + 64])
    few_cpu = 1e6 * (time.process_time() - cpu) / 1920
    return 1e6 * float(np.median(times)), best, round(single_cpu), round(batch_cpu, 1), round(few_cpu, 1)


TEACHERS, TAUGHT_ROWS = 10, 100  # clients, and rows a second of all together


def teach(server, queries, stop, learned):
    """One of the clients that learn rows: 10 a request, and the next when the second is over."""
    part = range(10)
    body = json.dumps({name: queries[name][part].tolist() for name in ("keys", "logits", "labels")})
    connection, next_time = server.connect(), time.perf_counter()
    while not stop.is_set():
        status, answer, _ = server.ask("POST", "/v1/memories/m/learn", body, connection=connection)
        assert status == 200, answer
        learned.append(10)
        next_time += 10 * TEACHERS / TAUGHT_ROWS
        stop.wait(max(0, next_time - time.perf_counter()))


def run_edits(name, rows, dim, index, kept):
    """What learning 10 rows costs, one request after another: until it is synced and in the next answer."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_bench_"))
    try:
        queries = make_memory(folder, rows, dim, index, kept)
        server = harness.Server(folder, "--edit-rest", "0")
        connection, walls, cpus = server.connect(), [], []
        for i in range(12):
            body = {each: queries[each][10 * i:10 * i + 10].tolist() for each in ("keys", "logits", "labels")}
            begin, before = time.perf_counter(), cpu_seconds(server.process.pid)
            status, answer, _ = server.ask("POST", "/v1/memories/m/learn", body, connection=connection)
            assert status == 200, answer
            walls.append(1e3 * (time.perf_counter() - begin))
            cpus.append(1e3 * (cpu_seconds(server.process.pid) - before))
        print(json.dumps({"edits": name, "cpu_ms": round(float(np.mean(cpus[2:])), 1),
                          "answered_ms": round(float(np.median(walls[2:])))}), flush=True)
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_arrays(name, rows, dim, index, seconds, peer, kept):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_bench_"))
    try:
        queries = make_memory(folder, rows, dim, index, kept)
        memory = resmem.Memory.open(folder / "m.resmem")
        bodies, lengths = [], set()
        for i in range(QUERIES):
            body, headers = harness.triton_request({"keys": queries["keys"][i:i + 1], "logits": queries["logits"][i:i + 1]})
            lengths.add(headers["Inference-Header-Content-Length"])
            bodies.append(body)
        assert len(lengths) == 1
        server = harness.Server(folder)
        expected = memory.predict_proba(queries["keys"], queries["logits"])
        for i, body in enumerate(bodies):
            _, data, answer = server.ask("POST", "/v2/models/m/infer", body, headers)
            got = harness.triton_arrays(data, answer)[1]["probabilities"]
            assert got.tobytes() == expected[i:i + 1].astype(np.float32).tobytes(), f"query {i} has another answer"
        script = write_script(folder, bodies, headers)
        report(name, memory, queries, server, script, seconds)
        report_several(name, queries, server, folder, seconds)
        server.stop()
        if peer:  # the same keys, asked by keys alone
            del memory
            np.save(folder / "keys.npy", clusters(rows, dim, 1)["keys"])
            requests = [harness.triton_request({"keys": queries["keys"][i:i + 1]}) for i in range(QUERIES)]
            script = write_script(folder, [body for body, _ in requests], requests[0][1])
            for kind in ("flat", "hnsw"):
                run_peer(f"faiss {kind}, {name}", [peer, kind, folder / "keys.npy"], script, seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(name, memory, queries, server, script, seconds):
    single, batch, single_cpu, batch_cpu, few_cpu = library(memory, queries, seconds)
    _, p50, p99, one_cpu = load(server, script, 1, seconds)
    rate, many50, many99, many_cpu = load(server, script, 64, seconds)
    stop, learned = threading.Event(), []
    teachers = [threading.Thread(target=teach, args=(server, queries, stop, learned)) for _ in range(TEACHERS)]
    for teacher in teachers:
        teacher.start()
    taught_rate, _, taught99, taught_cpu = load(server, script, 64, seconds)
    rows = sum(learned)
    stop.set()
    for teacher in teachers:
        teacher.join()
    # Rows that an index does not have yet cost readers with or without learning.
    after_rate, _, _, after_cpu = load(server, script, 64, seconds)
    print(json.dumps({
        "case": name, "library_us": round(single), "one_client_p50_us": p50, "one_client_p99_us": p99,
        "added_us": round(p50 - single), "library_rows_per_s": round(batch), "clients_64_per_s": round(rate),
        "share_of_batch": round(rate / batch, 2), "cpu_share_of_batch": round(batch_cpu / many_cpu, 2), "p50_us": many50, "p99_us": many99, "p99_over_p50": round(many99 / many50, 1),
        "library_cpu_us": single_cpu, "library_batch_cpu_us": batch_cpu, "library_64_cpu_us": few_cpu, "one_client_cpu_us": one_cpu,
        "clients_64_cpu_us": many_cpu, "while_learning_cpu_us": taught_cpu, "learned_per_s": round(rows / seconds),
        "after_learning_per_s": round(after_rate), "after_learning_cpu_us": after_cpu,
        "while_learning_per_s": round(taught_rate), "learning_costs": round(1 - taught_rate / after_rate, 3), "learning_costs_cpu": round(1 - after_cpu / taught_cpu, 3),
        "while_learning_p99_us": taught99}), flush=True)


def thread_times(pid):
    """{thread: (seconds of a processor, times that it waited)}"""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        waits = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)
        found[int(task.name)] = ((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(waits.group(1)))
    return found


def run_against(programs, rows, dim, seconds, kept):
    """The programs in turn, twice: 64 clients, and the first rows asked after an edit."""
    for program in programs * 2:
        harness.RESMEM = pathlib.Path(program).resolve()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_bench_"))
        try:
            queries = make_memory(folder, rows, dim, False, kept)
            requests = [harness.triton_request({each: queries[each][i:i + 1] for each in ("keys", "logits")})
                        for i in range(QUERIES)]
            server = harness.Server(folder, "--edit-rest", "0")
            script = write_script(folder, [body for body, _ in requests], requests[0][1])
            load(server, script, 64, 1)
            pid = server.process.pid
            before, answered, batches = thread_times(pid), server.metric("resmem_rows_total"), server.metric("resmem_batch_rows_count")
            rate, _, _, cpu = load(server, script, 64, seconds)
            answered = server.metric("resmem_rows_total") - answered
            batches = server.metric("resmem_batch_rows_count") - batches
            spent = {name: (now[0] - before[name][0], now[1] - before[name][1])
                     for name, now in thread_times(pid).items() if name in before}
            print(json.dumps({
                "program": str(program), "clients_64_per_s": round(rate), "clients_64_cpu_us": cpu,
                "reading_thread_cpu_us": round(1e6 * spent[pid][0] / answered, 1),
                "other_threads_waits": round(sum(waits for name, (_, waits) in spent.items() if name != pid) / answered, 3),
                "rows_a_search": round(answered / batches, 1), **first_answers(server, queries)}), flush=True)
            server.stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def first_answers(server, queries, edits=12):
    """All queries in one request, just after an edit and later: medians in milliseconds."""
    body, headers = harness.triton_request({each: queries[each] for each in ("keys", "logits")})
    connection = server.connect()

    def ask():
        begin = time.perf_counter()
        assert server.ask("POST", "/v2/models/m/infer", body, headers, connection)[0] == 200
        return 1e3 * (time.perf_counter() - begin)

    for _ in range(5):
        ask()
    first, later = [], []
    for i in range(edits):
        lesson = {each: queries[each][i:i + 1].tolist() for each in ("keys", "logits", "labels")}
        assert server.ask("POST", "/v1/memories/m/learn", lesson, connection=connection)[0] == 200
        first.append(ask())
        ask()
        later.append(ask())
    return {"first_rows_after_edit_ms": round(float(np.median(first)), 1), "later_ms": round(float(np.median(later)), 1)}


def report_several(name, queries, server, folder, seconds, rows=16):
    """64 clients that send several rows a request."""
    bodies, many = [], clusters(2000, queries["keys"].shape[1], 3)
    for begin in range(0, 2000, rows):
        part = {each: many[each][begin:begin + rows] for each in ("keys", "logits")}
        body, headers = harness.triton_request(part)
        bodies.append(body)
    rate, p50, p99, cpu = load(server, write_script(folder, bodies, headers), 64, seconds)
    print(json.dumps({"case": name, "rows_a_request": rows, "clients_64_rows_per_s": round(rows * rate), "p50_us": p50,
                      "p99_us": p99, "cpu_us_a_row": round(cpu / rows, 1)}), flush=True)


def run_images(path, seconds, peer):
    """One image through the memory's own model; the memory is used as it is."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_bench_"))
    try:
        shutil.copytree(path, folder / "m.resmem")
        server = harness.Server(folder)
        metadata = server.ask("GET", "/v2/models/m")[1]
        shape = next(each["shape"] for each in metadata["inputs"] if each["name"] == "image")
        images = np.random.default_rng(3).integers(0, 256, (QUERIES, *shape[1:]), dtype=np.uint8)
        bodies = []
        for i in range(QUERIES):
            body, headers = harness.triton_request({"image": images[i:i + 1]})
            bodies.append(body)
        script = write_script(folder, bodies, headers)
        _, p50, p99, one_cpu = load(server, script, 1, seconds)
        rate, many50, many99, many_cpu = load(server, script, 64, seconds)
        print(json.dumps({"case": "images", "one_client_cpu_us": one_cpu, "clients_64_cpu_us": many_cpu, "one_client_p50_us": p50, "one_client_p99_us": p99,
                          "clients_64_per_s": round(rate), "p50_us": many50, "p99_us": many99}), flush=True)
        server.stop()
        if peer:
            run_peer("the model alone", [peer, "onnx", metadata_model(path)], script, seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def metadata_model(path):
    return json.loads(harness.resmem("info", path, "--json"))["memory"]["notes"]["model"]


class Peer:
    """peer_serve, as load() needs it."""

    def __init__(self, words):
        self.process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True)
        self.told = {}
        while "port" not in self.told:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"{words} ended with {self.process.wait()}")
            self.told.update(json.loads(line))
        self.port = self.told["port"]


def run_peer(name, words, script, seconds):
    peer = Peer(words)
    try:
        _, p50, p99, one_cpu = load(peer, script, 1, seconds)
        rate, many50, many99, many_cpu = load(peer, script, 64, seconds)
    finally:
        peer.process.terminate()
        peer.process.wait()
    more = {key: value for key, value in peer.told.items() if key not in ("event", "port")}
    print(json.dumps({"peer": name, **more, "one_client_p50_us": p50, "one_client_p99_us": p99, "clients_64_per_s": round(rate),
                      "p50_us": many50, "p99_us": many99, "one_client_cpu_us": one_cpu, "clients_64_cpu_us": many_cpu}),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resmem", required=True)
    parser.add_argument("--edits", action="store_true", help="only what an edit costs")
    parser.add_argument("--large", action="store_true", help="also 1,000,000 x 128 with an index")
    parser.add_argument("--images", help="a memory whose ONNX model is there, ResNet-8 for instance")
    parser.add_argument("--peer", help="peer_serve of the build's bench folder (needs libfaiss-dev, libopenblas-dev)")
    parser.add_argument("--against", help="another resmem: only what 64 clients cost each, in turn")
    parser.add_argument("--kept", help="a folder where the memories of one run are kept for the next")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args(ARGUMENTS)
    if shutil.which("wrk") is None:
        sys.exit("wrk is not here; run: apt-get install wrk")
    harness.RESMEM = pathlib.Path(arguments.resmem).resolve()
    print(json.dumps({"processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "seconds": arguments.seconds,
                      "date": time.strftime("%Y-%m-%d")}))
    if arguments.against:
        run_against([arguments.against, arguments.resmem], arguments.rows, 64, arguments.seconds, arguments.kept)
        return
    if arguments.edits:
        run_edits(f"{arguments.rows} x 64", arguments.rows, 64, False, arguments.kept)
        if arguments.large:
            run_edits("1000000 x 128, index", 1_000_000, 128, True, arguments.kept)
        return
    run_arrays(f"{arguments.rows} x 64", arguments.rows, 64, False, arguments.seconds, arguments.peer, arguments.kept)
    if arguments.large:
        run_arrays("1000000 x 128, index", 1_000_000, 128, True, arguments.seconds, arguments.peer, arguments.kept)
    if arguments.images:
        run_images(arguments.images, arguments.seconds, arguments.peer)


if __name__ == "__main__":
    main()
