"""Memories cut into shards, and what one memory of all their rows answers."""
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "serve"))
import harness  # noqa: E402

OUTPUTS = ["prediction", "probabilities", "scores", "distance_percentile"]


def part(arrays, begin, end):
    return {name: array[begin:end] for name, array in arrays.items()}


class Version:
    """One version of a memory: whole.resmem, and its rows in shards, made in `folder`."""

    def __init__(self, folder, shards=4, count=1200, seed=1):
        folder.mkdir(parents=True)
        self.folder, arrays = folder, harness.rows(count, seed)
        arrays["ids"] = np.arange(count)
        bounds = [count * i * i // shards ** 2 for i in range(shards + 1)]  # of very different sizes
        self.bounds = list(zip(bounds, bounds[1:]))
        self.arrays = arrays
        self.whole = self.memorize("whole", arrays)
        np.savez(folder / "validation.npz", **harness.rows(150, seed=2))
        self.shards = [self.memorize(f"shard{i + 1}", part(arrays, *bound)) for i, bound in enumerate(self.bounds)]
        harness.resmem("tune", self.whole, "--data", folder / "validation.npz", "--quiet")

    def memorize(self, name, arrays):
        np.savez(self.folder / f"{name}.npz", **arrays)
        path = self.folder / f"{name}.resmem"
        harness.resmem("memorize", "--data", self.folder / f"{name}.npz", "-o", path, "--key-transform", "unit", "--quiet")
        return path

    def without(self, shard):
        """One memory of all rows but those of a shard, that answers as the whole."""
        left = [part(self.arrays, *bound) for i, bound in enumerate(self.bounds) if i != shard]
        joined = {name: np.concatenate([each[name] for each in left]) for name in self.arrays}
        return self.memorize(f"without{shard + 1}", joined)

    def config(self, name, *words):
        """Runs cluster config into folder/name; -> the shards' names in addresses."""
        harness.resmem("cluster", "config", *self.shards, "--name", "m", "--answers", self.whole, "-o", self.folder / name,
                       "--shards", len(self.shards), *words)
        text = (self.folder / name / "gateway/shards.conf").read_text()
        return ["m." + content for content in re.findall(r"^shard = (\w+)", text, re.M)]


def request_of(rows, begin, end, **parameters):
    """-> (body, headers)"""
    inputs = {each: rows[each][begin:end] for each in ("keys", "logits")}
    body, headers = harness.triton_request(inputs, OUTPUTS)
    if not parameters:
        return body, headers
    length = int(headers["Inference-Header-Content-Length"])
    head = harness.json.loads(body[:length])
    head["parameters"] = {**head.get("parameters", {}), **parameters}
    text = harness.json.dumps(head).encode()
    return text + body[length:], {"Inference-Header-Content-Length": str(len(text))}


def answer_of(data, headers):
    """-> (parameters, {output: bytes})"""
    head, arrays = harness.triton_arrays(data, headers)
    return head.get("parameters", {}), {each: array.tobytes() for each, array in arrays.items()}


def ask(server, rows, begin=0, end=1, name="m", **parameters):
    """-> (status, {output: bytes} or the error, parameters)"""
    status, data, headers = server.ask("POST", f"/v2/models/{name}/infer", *request_of(rows, begin, end, **parameters))
    if status != 200:
        return status, data["error"], {}
    told, arrays = answer_of(data, headers)
    return status, arrays, told
