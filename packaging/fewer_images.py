"""Copies the first images of Fashion-MNIST:  fewer_images.py FROM TO TRAIN TEST

What packaging/test tries is whether the installed programs do the demo's job, not how well."""
import gzip
import math
import os
import struct
import sys


def main():
    source, target, *counts = sys.argv[1:]
    os.makedirs(target, exist_ok=True)
    for part, count in zip(("train", "t10k"), map(int, counts)):
        for name in (f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"):
            with gzip.open(f"{source}/{name}") as file:
                magic = file.read(4)
                rows, *shape = struct.unpack(f">{magic[3]}I", file.read(4 * magic[3]))
                if rows < count:
                    sys.exit(f"fewer_images.py: {source}/{name} has {rows} rows, not {count}")
                content = file.read(count * math.prod(shape))
            with gzip.open(f"{target}/{name}", "wb", compresslevel=1) as file:
                file.write(magic + struct.pack(f">{magic[3]}I", count, *shape) + content)


if __name__ == "__main__":
    main()
