"""Asks a running service for the first rows of a folder of arrays, and compares with 'resmem predict'.

    ask_service.py PORT NAME MEMORY ARRAYS [OPTION of predict]...

The environment's RESMEM_KEY, if there is one, is the key that opens the service.
"""
import csv
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy

ROWS = 20


def ask(port, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode() if body else None)
    if "RESMEM_KEY" in os.environ:
        request.add_header("Authorization", "Bearer " + os.environ["RESMEM_KEY"])
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def wait(port):
    for _ in range(600):
        try:
            ask(port, "/v2/health/ready")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit("ask_service.py: the service did not become ready within a minute")


def main():
    port, name, memory, arrays, *options = sys.argv[1:]
    wait(port)
    inputs = []
    for kind in ("keys", "logits"):
        values = numpy.load(f"{arrays}/{kind}.npy")[:ROWS].astype(numpy.float32)
        inputs.append({"name": kind, "datatype": "FP32", "shape": list(values.shape), "data": values.ravel().tolist()})
    answer = json.loads(ask(port, f"/v2/models/{name}/infer", {"inputs": inputs}))
    served = next(out["data"] for out in answer["outputs"] if out["name"] == "prediction")
    told = subprocess.run(["resmem", "predict", memory, "--data", arrays, "--quiet", *options], capture_output=True, text=True)
    if told.returncode:
        sys.exit(f"ask_service.py: resmem predict ended with {told.returncode}: {told.stderr}")
    expected = [int(row["prediction"]) for row in csv.DictReader(told.stdout.splitlines())][:ROWS]
    if list(served) != expected or len(expected) != ROWS:
        sys.exit(f"ask_service.py: the service answers {served}, resmem predict {expected}")
    print(f"the service's {ROWS} answers are those of resmem predict")


if __name__ == "__main__":
    main()
