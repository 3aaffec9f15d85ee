"""Flips one bit in the middle of a folder's largest file."""
import pathlib
import sys

largest = max((p for p in pathlib.Path(sys.argv[1]).rglob("*") if p.is_file()),
              key=lambda p: p.stat().st_size)
content = bytearray(largest.read_bytes())
content[len(content) // 2] ^= 1
largest.write_bytes(content)
