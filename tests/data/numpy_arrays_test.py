"""NumPy writes arrays in every type, order, version and container; array_copy reads them and writes
them back; NumPy compares."""
import itertools
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

CODES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]
SAFETENSORS = {"f2": "F16", "f4": "F32", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32",
               "i8": "I64", "u1": "U8", "u2": "U16", "u4": "U32", "u8": "U64", "b1": "BOOL"}
SHAPES = [(), (7,), (4, 3), (3, 2, 4)]


def values(code, shape, random):
    if code[0] == "f":
        return random.normal(size=shape).astype(code)
    if code == "b1":
        return random.integers(0, 2, size=shape).astype(bool)
    limits = np.iinfo(code)
    return random.integers(limits.min, min(limits.max, 2**63 - 1), size=shape, dtype=code, endpoint=True)


def write_npy(path, array, version):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": SAFETENSORS[array.dtype.kind + str(array.dtype.itemsize)],
                        "shape": array.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def make_cases(folder):
    """Pairs of what to open and the array that it must be."""
    random = np.random.default_rng(1)
    cases = []
    containers = {}
    for code, shape in itertools.product(CODES, SHAPES):
        name = f"{code}_{'x'.join(map(str, shape))}"
        array = values(code, shape, random)
        containers[name] = array
        for order, endian in itertools.product("CF", "<>"):
            if (order == "F" and len(shape) < 2) or (endian == ">" and array.itemsize == 1):
                continue
            path = folder / f"{name}_{order}{'b' if endian == '>' else 'l'}.npy"
            write_npy(path, np.asarray(array, dtype=endian + code, order=order), (1, 0))
            cases.append((str(path), array))
    for version in [(1, 0), (2, 0), (3, 0)]:
        path = folder / f"version{version[0]}.npy"
        write_npy(path, containers["f4_4x3"], version)
        cases.append((str(path), containers["f4_4x3"]))
    np.savez(folder / "stored.npz", **containers)
    np.savez_compressed(folder / "deflated.npz", **containers)
    write_safetensors(folder / "all.safetensors", containers)
    for name, array in containers.items():
        for file in ("stored.npz", "deflated.npz", "all.safetensors"):
            cases.append((f"{folder / file}:{name}", array))
    large = random.normal(size=(5000, 16)).astype("f4")
    np.savez_compressed(folder / "large.npz", large=large)
    cases.append((str(folder / "large.npz"), large))
    np.savetxt(folder / "table.csv", large[:50].astype("f8"), delimiter=",", fmt="%.17g", comments="",
               header=",".join(f"c{i}" for i in range(16)))
    cases.append((str(folder / "table.csv"), large[:50].astype("f8")))
    cases.append((f"{folder / 'table.csv'}:c3", large[:50, 3].astype("f8")))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5.96e-8, 65504], dtype="f2")
    np.save(folder / "special.npy", special)
    cases.append((str(folder / "special.npy"), special))
    for name, words in {"wide": np.array(["", "train", "größer", "日本😀"]),
                        "narrow": np.array([b"a", b"", b"xyz"])}.items():
        np.save(folder / f"{name}.npy", words)
        cases.append((str(folder / f"{name}.npy"), words))
    return cases


def compare(source, array, line, target):
    if array.dtype.kind in "US":
        words = [word.decode() if isinstance(word, bytes) else word for word in array.tolist()]
        expected = "|".join([f"text {len(words)}"] + words)
        return [] if line == expected else [f"{source}: {line!r} instead of {expected!r}"]
    expected = " ".join([array.dtype.newbyteorder("=").name, *map(str, array.shape)])
    if line != expected and not (".csv" in source and line.split()[1:] == expected.split()[1:]):
        return [f"{source}: {line!r} instead of {expected!r}"]
    problems = []
    rows = array.reshape(array.shape[0] if array.shape else 1, -1)
    if target.endswith(".npy"):
        found = np.load(target)
        equal = found.dtype == np.float32 and np.array_equal(found, rows.astype("f4"))
        return [] if equal else [f"{source}: NumPy reads other values from what was written"]
    found = np.fromfile(f"{target}.float", "<f4").reshape(rows.shape)
    if not np.array_equal(found, rows.astype("f4"), equal_nan=True):
        problems.append(f"{source}: other floats than NumPy's")
    if array.dtype.kind in "iub":
        found = np.fromfile(f"{target}.integer", "<i8").reshape(rows.shape)
        if not np.array_equal(found, rows.astype("i8")):
            problems.append(f"{source}: other integers than NumPy's")
    return problems


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = make_cases(folder)
        targets = [f"{folder}/copy{i}{'.npy' if 'version' in source else ''}"
                   for i, (source, _) in enumerate(cases)]
        text = "".join(f"{source}\t{target}\n" for (source, _), target in zip(cases, targets))
        lines = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True,
                               check=True).stdout.splitlines()
        problems = [] if len(lines) == len(cases) else [f"{len(lines)} lines for {len(cases)} cases"]
        for (source, array), line, target in zip(cases, lines, targets):
            problems += compare(source, array, line, target)
        print("\n".join(problems) or f"{len(cases)} arrays are equal")
        return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
