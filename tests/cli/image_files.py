"""Small images in files: PNG written without any library, CIFAR-100 records."""
import struct
import zlib

import numpy as np

ANIMALS = ["ant", "bee", "cat", "dog"]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels):
    """pixels: height x width x 3 bytes."""
    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def animal(random, label, height=8, width=8):
    """Noise in the color of the class."""
    color = np.array([[200, 60, 60], [60, 200, 60], [60, 60, 200], [180, 180, 60]])[label]
    noise = random.integers(-50, 50, (height, width, 3))
    return np.clip(color + noise, 0, 255).astype(np.uint8)


def write(folder):
    random = np.random.default_rng(5)
    for part, count in (("train", 15), ("test", 10)):
        for label, name in enumerate(ANIMALS):
            place = folder / "animals" / part / name
            place.mkdir(parents=True)
            for i in range(count):
                (place / f"{i:02}.png").write_bytes(png(animal(random, label)))
    (folder / "animals/train/cat/list.txt").write_text("not an image")
    (folder / "photo.png").write_bytes(png(animal(random, 2)))
    (folder / "large.png").write_bytes(png(animal(random, 3, 30, 20)))
    (folder / "damaged.png").write_bytes(png(animal(random, 1))[:-20])
    (folder / "animals.txt").write_text("\n".join(ANIMALS) + "\n")
    (folder / "ragged.bin").write_bytes(bytes(3074 * 2 + 1))
