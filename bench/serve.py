"""What HTTP costs: the service beside the library call, with wrk on loopback (apt install wrk).

    PYTHONPATH=python RESMEM_LIBRARY=build/release/capi/libresmem_c.so \\
        /usr/bin/python3 bench/serve.py --resmem build/release/cli/resmem [--large] [--images MEMORY] [--seconds 10]

Every answer is compared with the library's before anything is timed.  One line a case, for
docs/measurements/serve.md: the library's single call and batch, one client, 64 clients, 64 clients while 100
rows a second are learned.  Targets: one client adds under 150 us at the median; 64 clients reach 80 % of the
library's batch throughput with p99 under 10 times p50; learning costs under 10 %."""
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


def make_memory(folder, rows, dim, index):
    np.savez(folder / "train.npz", **clusters(rows, dim, 1))
    harness.resmem("memorize", "--data", folder / "train.npz", "-o", folder / "m.resmem", "--k", 50,
                   *(["--index"] if index else []), "--quiet")
    (folder / "train.npz").unlink()
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


def load(server, script, clients, seconds):
    """-> requests a second, p50 and p99 in microseconds"""
    done = subprocess.run(["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "-s", script, "--timeout", "30s",
                           f"http://127.0.0.1:{server.port}"], capture_output=True, text=True, check=True).stdout
    requests, duration, p50, p99, statuses, broken = map(int, re.search(r"RESULT (.*)", done).group(1).split())
    assert statuses == 0 and broken == 0, done
    return requests / (duration / 1e6), p50, p99


def library(memory, queries, seconds):
    """-> single call's median in microseconds, rows a second in batches"""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        i = len(times) % QUERIES
        begin = time.perf_counter()
        memory.predict_proba(queries["keys"][i:i + 1], queries["logits"][i:i + 1])
        times.append(time.perf_counter() - begin)
    many = {name: np.repeat(queries[name], 10, axis=0) for name in ("keys", "logits")}
    memory.predict_proba(many["keys"], many["logits"])
    best = 0
    for _ in range(3):
        begin = time.perf_counter()
        memory.predict_proba(many["keys"], many["logits"])
        best = max(best, len(many["keys"]) / (time.perf_counter() - begin))
    return 1e6 * float(np.median(times)), best


def teach(server, queries, stop, rate=100):
    """Learns `rate` rows a second, 10 a request."""
    connection, count = server.connect(), 0
    next_time = time.perf_counter()
    while not stop.is_set():
        part = [(count + i) % QUERIES for i in range(10)]
        body = {name: queries[name][part].tolist() for name in ("keys", "logits", "labels")}
        status, answer, _ = server.ask("POST", "/v1/memories/m/learn", body, connection=connection)
        assert status == 200, answer
        count += 10
        next_time += 10 / rate
        time.sleep(max(0, next_time - time.perf_counter()))
    return count


def run_arrays(name, rows, dim, index, seconds):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_bench_"))
    try:
        queries = make_memory(folder, rows, dim, index)
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
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(name, memory, queries, server, script, seconds):
    single, batch = library(memory, queries, seconds)
    _, p50, p99 = load(server, script, 1, seconds)
    rate, many50, many99 = load(server, script, 64, seconds)
    stop, learned = threading.Event(), []
    teacher = threading.Thread(target=lambda: learned.append(teach(server, queries, stop)))
    teacher.start()
    taught_rate, _, taught99 = load(server, script, 64, seconds)
    stop.set()
    teacher.join()
    print(json.dumps({
        "case": name, "library_us": round(single), "one_client_p50_us": p50, "one_client_p99_us": p99,
        "added_us": round(p50 - single), "library_rows_per_s": round(batch), "clients_64_per_s": round(rate),
        "share_of_batch": round(rate / batch, 2), "p50_us": many50, "p99_us": many99, "p99_over_p50": round(many99 / many50, 1),
        "learned_rows": learned[0], "while_learning_per_s": round(taught_rate), "learning_costs": round(1 - taught_rate / rate, 3),
        "while_learning_p99_us": taught99}), flush=True)


def run_images(path, seconds):
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
        _, p50, p99 = load(server, script, 1, seconds)
        rate, many50, many99 = load(server, script, 64, seconds)
        print(json.dumps({"case": "images", "one_client_p50_us": p50, "one_client_p99_us": p99,
                          "clients_64_per_s": round(rate), "p50_us": many50, "p99_us": many99}), flush=True)
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resmem", required=True)
    parser.add_argument("--large", action="store_true", help="also 1,000,000 x 128 with an index")
    parser.add_argument("--images", help="a memory whose ONNX model is there, ResNet-8 for instance")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args(ARGUMENTS)
    if shutil.which("wrk") is None:
        sys.exit("wrk is not here; run: apt-get install wrk")
    harness.RESMEM = pathlib.Path(arguments.resmem).resolve()
    print(json.dumps({"machine": os.uname().nodename, "processors": os.cpu_count(), "seconds": arguments.seconds}))
    run_arrays(f"{arguments.rows} x 64", arguments.rows, 64, False, arguments.seconds)
    if arguments.large:
        run_arrays("1000000 x 128, index", 1_000_000, 128, True, arguments.seconds)
    if arguments.images:
        run_images(arguments.images, arguments.seconds)


if __name__ == "__main__":
    main()
