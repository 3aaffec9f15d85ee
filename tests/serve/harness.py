"""A real server on loopback, and clients that speak to it: http.client, raw sockets, and the wire
format of NVIDIA's tritonclient, which cannot be installed by name on Debian."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "cli"))
import fixtures  # noqa: E402

RESMEM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
DIM, CLASSES = fixtures.DIM, fixtures.CLASSES


def rows(count, seed=1):
    random = np.random.default_rng(seed)
    centers = 2 * np.random.default_rng(0).standard_normal((2 * CLASSES, DIM))
    return fixtures.draw(random, centers, count)


def resmem(*words):
    done = subprocess.run([RESMEM, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"resmem {words}: {done.returncode} {done.stderr}")
    return done.stdout


def make_memory(folder, count=300, tuned=True, **more):
    """folder/m.resmem of `count` rows, with ids from 1000 on."""
    np.savez(folder / "train.npz", ids=np.arange(1000, 1000 + count), **rows(count), **more)
    np.savez(folder / "validation.npz", **rows(150, seed=2))
    resmem("memorize", "--data", folder / "train.npz", "-o", folder / "m.resmem", "--quiet")
    if tuned:
        resmem("tune", folder / "m.resmem", "--data", folder / "validation.npz", "--quiet")
    return folder / "m.resmem"


class Server:
    """resmem-serve with --port 0; .port is the one it took."""

    def __init__(self, folder, *words, memory="m=m.resmem", tls=False, port=0):
        self.folder, self.tls = folder, tls
        self.log_path = folder / "serve.log"
        self.log = open(self.log_path, "ab")
        begin = self.log_path.stat().st_size
        self.process = subprocess.Popen([RESMEM, "serve", *([memory] if memory else []), "--port", str(port),
                                         *map(str, words)], cwd=folder, stdout=subprocess.DEVNULL, stderr=self.log)
        deadline = time.time() + 60
        while True:
            text = self.log_path.read_text()[begin:]
            found = re.search(r'"event":"listening".*"port":(\d+)', text)
            if found:
                break
            if self.process.poll() is not None or time.time() > deadline:
                raise AssertionError(f"the server did not start: {text}")
            time.sleep(0.01)
        self.port = int(found.group(1))

    def connect(self, timeout=30):
        if not self.tls:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        context = ssl._create_unverified_context()
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)

    def socket(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """-> (status, parsed JSON or bytes, headers)"""
        client = connection or self.connect()
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        client.request(method, path, body, headers or {})
        response = client.getresponse()
        data = response.read()
        if response.headers.get("Content-Type", "") == "application/json" and data:
            data = json.loads(data)
        if connection is None:
            client.close()
        return response.status, data, response.headers

    def resident_mb(self):
        if os.environ.get("RESMEM_SANITIZED"):
            return 0.0  # what a sanitizer keeps is no measure
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024

    def metric(self, name, headers=None):
        text = self.ask("GET", "/metrics", headers=headers)[1].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if re.match(re.escape(name) + r"[ {]", line))

    def stop(self, kind=signal.SIGTERM, timeout=60):
        """-> its exit code; may be called again."""
        if self.process.poll() is None:
            self.process.send_signal(kind)
        code = self.process.wait(timeout)
        self.log.close()
        return code


def infer_json(arrays, begin=0, end=1, outputs=None, **parameters):
    keys, logits = arrays["keys"][begin:end], arrays["logits"][begin:end]
    body = {"inputs": [{"name": name, "shape": list(array.shape), "datatype": "FP32",
                        "data": array.ravel().tolist()} for name, array in (("keys", keys), ("logits", logits))]}
    if outputs:
        body["outputs"] = [{"name": name} for name in outputs]
    if parameters:
        body["parameters"] = parameters
    return body


def output(answer, name):
    found = next(each for each in answer["outputs"] if each["name"] == name)
    kind = {"FP32": np.float32, "INT64": np.int64, "BYTES": object}[found["datatype"]]
    return np.array(found["data"], dtype=kind).reshape(found["shape"])


def triton_request(inputs, outputs=None, request_id="", parameters=None):
    """Body and headers as tritonclient.http makes them: JSON, then the arrays' bytes, no Content-Type."""
    request, blobs = {}, []
    if request_id:
        request["id"] = request_id
    request["inputs"] = []
    for name, array in inputs.items():
        if isinstance(array, list):  # of bytes
            blob, shape = b"".join(struct.pack("<I", len(each)) + each for each in array), [len(array)]
        else:
            blob, shape = array.tobytes(), list(array.shape)
        kind = "BYTES" if isinstance(array, list) else {
            "float32": "FP32", "uint8": "UINT8", "float64": "FP64", "float16": "FP16"}[array.dtype.name]
        request["inputs"].append({"name": name, "shape": shape, "datatype": kind,
                                  "parameters": {"binary_data_size": len(blob)}})
        blobs.append(blob)
    if outputs:
        request["outputs"] = [{"name": name, "parameters": {"binary_data": True}} for name in outputs]
    else:
        request["parameters"] = {"binary_data_output": True}
    if parameters:
        request["parameters"] = {**request.get("parameters", {}), **parameters}
    head = json.dumps(request).encode()
    return head + b"".join(blobs), {"Inference-Header-Content-Length": str(len(head))}


def triton_arrays(body, headers):
    """The arrays of an answer, as tritonclient.http.InferResult finds them."""
    length = int(headers["Inference-Header-Content-Length"])
    head, at, arrays = json.loads(body[:length]), length, {}
    for each in head["outputs"]:
        size = each["parameters"]["binary_data_size"]
        kind = {"FP32": np.float32, "INT64": np.int64, "BOOL": np.bool_}[each["datatype"]]
        arrays[each["name"]] = np.frombuffer(body[at:at + size], kind).reshape(each["shape"])
        at += size
    assert at == len(body), "bytes after the last array"
    return head, arrays


def png(pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, channels = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


class ServerTest(unittest.TestCase):
    """One server for a class of tests; `words` are its options."""
    words, memory, count, tuned = (), "m=m.resmem", 300, True

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_serve_"))
        cls.prepare()
        cls.server = Server(cls.folder, *cls.words, memory=cls.memory)

    @classmethod
    def prepare(cls):
        make_memory(cls.folder, cls.count, cls.tuned)

    @classmethod
    def tearDownClass(cls):
        try:
            code = cls.server.stop()
            if code != 0:
                raise AssertionError(f"the server ended with {code}: {cls.server.log_path.read_text()[-3000:]}")
        finally:
            shutil.rmtree(cls.folder, ignore_errors=True)


def main():
    if not RESMEM or not os.access(RESMEM.with_name("resmem-serve"), os.X_OK):
        print("resmem-serve was not built")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
