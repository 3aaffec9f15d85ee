"""What a memory costs as it grows: bytes and processor time against rows, columns, k, classes and shards; a model fitted to
that, its error on a size that was held out, and what 1.6 billion tokens would need. Writes docs/scale.md's tables.

    PYTHONPATH=python RESMEM_LIBRARY=build/release/capi/libresmem_c.so \\
        /usr/bin/python3 bench/scale.py --resmem build/release/cli/resmem --result scale.json [--rows 10000,...,10000000]

Each point is a process of its own and is kept in --result: a run that was stopped goes on, and points may be added. Times are
processor time, on one thread but for building and indexing: other programs change them less than they change a clock, but not
by nothing; the load is stored with every point. Keys are Gaussian clusters, 1,000 of them."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import scale_model

ROOT = pathlib.Path(__file__).resolve().parents[1]
BASE = {"rows": 100_000, "dim": 64, "k": 50, "classes": 10, "key_type": "float32"}
CENTERS, QUERIES = 1000, 1000


def clusters(rows, dim, classes, seed):
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(0).standard_normal((CENTERS, dim)).astype(np.float32)
    which = random.integers(0, CENTERS, rows)
    keys = random.standard_normal((rows, dim), dtype=np.float32)
    keys *= 0.6
    for begin in range(0, rows, 100_000):  # no second array of this size
        keys[begin:begin + 100_000] += centers[which[begin:begin + 100_000]]
    logits = random.standard_normal((rows, classes), dtype=np.float32)
    labels = (which % classes).astype(np.int32)
    logits[np.arange(rows), labels] += 2
    return keys, logits, labels


def spent(work):
    """-> processor seconds, of all threads"""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def anonymous_bytes():
    text = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(text.split("RssAnon:")[1].split()[0])


def folder_bytes(path):
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def query_times(memory, queries, k, batch):
    """Processor microseconds of one query alone and of one in a batch, after warming up."""
    for row in range(12):
        memory.neighbors(queries[row:row + 1], k, threads=1)
    memory.neighbors(queries[:batch], k, threads=1)
    alone = min(batch, 100)
    one = spent(lambda: [memory.neighbors(queries[row:row + 1], k, threads=1) for row in range(alone)]) / alone
    many = spent(lambda: memory.neighbors(queries[:batch], k, threads=1)) / batch
    return {"one": 1e6 * one, "batch": 1e6 * many}


def measure_point(point):
    import resmem
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_scale_", dir=point["work"]))
    path = folder / "m.resmem"
    try:
        keys, logits, labels = clusters(point["rows"], point["dim"], point["classes"], 1)
        queries, query_logits, _ = clusters(QUERIES, point["dim"], point["classes"], 2)
        found = {"build": spent(lambda: resmem.Memory.build(keys, logits, labels, path=path, k=point["k"],
                                                            key_type=point["key_type"]))}
        del keys, logits, labels
        found["bytes"] = folder_bytes(path)
        memory = resmem.Memory.open(path, verify=False)
        before, batch = anonymous_bytes(), 100 if point["rows"] >= 1_000_000 else 500
        found["exact"] = query_times(memory, queries, point["k"], batch)
        found["exact_ram"] = anonymous_bytes() - before
        found["answer"] = 1e6 * spent(lambda: [memory.predict_proba(queries[row:row + 1], query_logits[row:row + 1],
                                                                    threads=1) for row in range(100)]) / 100
        exact = memory.neighbors(queries[:200], point["k"], threads=1).distances
        if point["index"]:
            found["indexing"] = spent(lambda: memory.index(recall=0.95))
            found["index_bytes"] = folder_bytes(path) - found["bytes"]
            memory = resmem.Memory.open(path, verify=False)
            before = anonymous_bytes()
            found["indexed"] = query_times(memory, queries, point["k"], QUERIES)
            found["indexed_ram"] = anonymous_bytes() - before
            got = memory.neighbors(queries[:200], point["k"], threads=1).distances
            found["recall"] = float(np.mean(got <= exact[:, -1:]))
        return found
    finally:
        shutil.rmtree(folder)


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_shards(point):
    """A gateway and its shards on loopback, one replica each: processor time of a question, and bytes of an answer."""
    sys.path.insert(0, str(ROOT / "tests/serve"))
    sys.argv = [sys.argv[0], point["resmem"]]
    import harness
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_scale_", dir=point["work"]))
    servers = []
    try:
        keys, logits, labels = clusters(point["rows"], point["dim"], point["classes"], 1)
        bounds = [point["rows"] * i // point["shards"] for i in range(point["shards"] + 1)]
        for i, (begin, end) in enumerate(zip(bounds, bounds[1:])):
            np.savez(folder / "s.npz", keys=keys[begin:end], logits=logits[begin:end], labels=labels[begin:end],
                     ids=np.arange(begin, end))
            harness.resmem("memorize", "--data", folder / "s.npz", "-o", folder / f"s{i}.resmem", "--k", point["k"], "--quiet")
        harness.resmem("cluster", "config", *(folder / f"s{i}.resmem" for i in range(point["shards"])), "--name", "m", "-o",
                       folder / "c", "--replicas", 1, "--quiet")
        lines = (folder / "c/gateway/shards.conf").read_text().splitlines()
        names = [line.split()[2] for line in lines if line.startswith("shard =")]
        for i, name in enumerate(names):
            servers.append(harness.Server(folder, "--read-only", "--workers", "1", "--threads", "1",
                                          f"m.{name}={folder}/s{i}.resmem", memory=None))
        text = "".join(f"shard = {name} {end - begin} 127.0.0.1:{server.port}\n"
                       for name, begin, end, server in zip(names, bounds, bounds[1:], servers))
        (folder / "list.conf").write_text(f"name = m\nanswers = {folder}/s0.resmem\ndeadline-ms = 20000\n{text}")
        servers.append(harness.Server(folder, "--shards", folder / "list.conf", memory=None))
        queries, query_logits, _ = clusters(200, point["dim"], point["classes"], 2)
        asked = [harness.triton_request({"keys": queries[row:row + 1], "logits": query_logits[row:row + 1]}) for row in range(200)]
        client = servers[-1].connect()

        def ask():
            for body, headers in asked:
                status = servers[-1].ask("POST", "/v2/models/m/infer", body, headers, client)[0]
                assert status == 200, status
        ask()
        before = [processor_seconds(server.process) for server in servers]
        ask()
        used = [processor_seconds(server.process) - each for server, each in zip(servers, before)]
        import struct
        body = b"resmemQ1" + struct.pack("<qqq", 1, point["dim"], point["k"]) + queries[:1].tobytes()
        answer = servers[0].ask("POST", f"/v1/memories/m.{names[0]}/parts", body)[1]
        return {"gateway": 1e6 * used[-1] / 200, "shards_us": 1e6 * sum(used[:-1]) / 200, "answer_bytes": len(answer)}
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder)


def points_of(options):
    rows = [int(each) for each in options.rows.split(",")]
    points = [{**BASE, "rows": each, "index": True} for each in rows]
    for name, values in (("dim", (16, 256)), ("k", (10, 200)), ("classes", (100, 1000)), ("key_type", ("float16", "int8"))):
        points += [{**BASE, name: value, "index": name in ("dim", "k")} for value in values]
    points += [{**BASE, "index": False, "shards": each} for each in (1, 2, 4, 8)]
    return points


def measure_all(options, kept):
    work = options.work or tempfile.gettempdir()
    for point in points_of(options):
        key = json.dumps(point, sort_keys=True)
        if key in kept:
            continue
        told = json.dumps({**point, "work": str(work), "resmem": str(options.resmem.resolve())})
        done = subprocess.run([sys.executable, __file__, "--point", told], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{key}: {done.stderr}")
        kept[key] = {"point": key, **point, **json.loads(done.stdout), "load": round(os.getloadavg()[0], 1),
                     "date": time.strftime("%Y-%m-%d")}
        options.result.write_text(json.dumps(list(kept.values()), indent=1) + "\n")
        print(f"{key}: {json.dumps(json.loads(done.stdout))}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resmem", type=pathlib.Path, default=ROOT / "build/release/cli/resmem")
    parser.add_argument("--rows", default="10000,30000,100000,300000,1000000,2000000,4000000,6000000,10000000",
                        help="10,000,000 take 9 GB of RAM")
    parser.add_argument("--held-out", default="6000000,10000000", help="numbers of rows that the model is judged on")
    parser.add_argument("--result", type=pathlib.Path, default=pathlib.Path("scale.json"))
    parser.add_argument("--work", type=pathlib.Path, help="folder for memories while they are measured")
    parser.add_argument("--token-dim", type=int, default=512, help="of the keys of the 1.6 billion tokens")
    parser.add_argument("--token-entries", type=float, default=10, help="residuals kept of a token, at 3 bytes")
    parser.add_argument("--token-key-bits", type=int, default=8, help="a value of a token's key")
    parser.add_argument("--print-only", action="store_true", help="tables of what --result has")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        point = json.loads(options.point)
        print(json.dumps(measure_shards(point) if "shards" in point else measure_point(point)))
        return
    kept = {}
    for each in json.loads(options.result.read_text()) if options.result.exists() else []:
        kept[each["point"]] = each
    if not options.print_only:
        measure_all(options, kept)
    held_out = [int(each) for each in options.held_out.split(",")]
    print(scale_model.report(list(kept.values()), held_out,
                             (options.token_dim, options.token_key_bits, options.token_entries)))


if __name__ == "__main__":
    main()
