"""many_segments.py MEMORY NEW COUNT: a memory of COUNT segments with one row each, made of the first
segment of MEMORY, which has one row.  Appending joins small segments, so none grows like this by
itself; docs/memory_format.md describes the bytes."""
import ctypes
import json
import pathlib
import struct
import sys

HASH = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
HASH.restype, HASH.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
BLOCK = 1 << 20


def digest(data):
    return HASH(data, len(data))


def read(path):
    """The kind of a file and its sections: name, element type, rows, columns, bytes."""
    data = path.read_bytes()
    kind, _, count = struct.unpack_from("<III", data, 12)
    sections = []
    for place in range(64, 64 + 64 * (count - 1), 64):
        element, = struct.unpack_from("<I", data, place + 16)
        rows, columns, offset, size = struct.unpack_from("<QQQQ", data, place + 24)
        sections.append([data[place:place + 16].rstrip(b"\0"), element, rows, columns, data[offset:offset + size]])
    return kind, sections


def line(name, element, rows, columns, offset, size):
    return name.ljust(16, b"\0") + struct.pack("<IIQQQQQ", element, 0, rows, columns, offset, size, 0)


def write(path, kind, sections):
    """-> its size and the hash of its header"""
    header_bytes = 64 + 64 * (len(sections) + 1)
    table, body, sums = b"", b"", []
    for name, element, rows, columns, data in sections:
        table += line(name, element, rows, columns, header_bytes + len(body), len(data))
        extent = data + b"\0" * (-len(data) % 64)
        sums += [digest(extent[i:i + BLOCK]) for i in range(0, len(extent), BLOCK)]
        body += extent
    checksums = struct.pack(f"<{len(sums)}Q", *sums)
    table += line(b"checksums", 6, len(sums), 1, header_bytes + len(body), len(checksums))
    size = header_bytes + len(body) + len(checksums)
    start = b"RESMEM\r\n" + struct.pack("<IIIIQQ", 1, kind, header_bytes, len(sections) + 1, size, digest(checksums))
    start += bytes(16)
    header_hash = digest(start + bytes(8) + table)
    path.write_bytes(start + struct.pack("<Q", header_hash) + table + body + checksums)
    return size, f"{header_hash:016x}"


def main():
    memory, new, count = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    new.mkdir()
    kind, sections = read(next(memory.glob("segment-*")))
    manifest_kind, manifest = read(memory / "MANIFEST")
    described = json.loads(manifest[0][4])
    described.update(segments=[], generation=count, next_id=count)
    ids = next(section for section in sections if section[0] == b"ids")
    for number in range(count):
        ids[4] = struct.pack("<Q", number)
        name = f"segment-{number + 1:06d}.resmem"
        size, header_hash = write(new / name, kind, sections)
        described["segments"].append({"file": name, "rows": 1, "bytes": size, "header_hash": header_hash})
    manifest[0][4] = json.dumps(described, indent=1).encode()
    manifest[0][2] = len(manifest[0][4])
    write(new / "MANIFEST", manifest_kind, manifest)


if __name__ == "__main__":
    main()
