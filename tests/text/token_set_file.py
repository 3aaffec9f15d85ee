"""Reads a token set as docs/memory_format.md describes it; nothing is shared with the library."""
import json
import struct

import numpy as np

TYPES = {1: "u1", 2: "i1", 3: "<u2", 4: "<i4", 5: "<u4", 6: "<u8", 7: "<f2", 8: "<f4"}


def sections(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"RESMEM\r\n"
    found = {}
    for i in range(struct.unpack_from("<I", data, 20)[0]):
        at = 64 + 64 * i
        name = data[at:at + 16].rstrip(b"\0").decode()
        kind, = struct.unpack_from("<I", data, at + 16)
        rows, columns, offset, _ = struct.unpack_from("<4Q", data, at + 24)
        found[name] = np.frombuffer(data, TYPES[kind], rows * columns, offset)
    return found


def documents(path):
    """The ids of each document, and the description."""
    s = sections(path)
    description = json.loads(s["json"].tobytes())
    starts = np.concatenate([[0], s["document_ends"][:-1]]).astype(int)
    ids = [s["ids"][b:e].astype(np.int64) for b, e in zip(starts, s["document_ends"].astype(int))]
    return ids, description
