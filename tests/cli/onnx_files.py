"""Small ONNX files, written without any library: fields of protobuf by their numbers."""
import sys

import numpy as np

FLOAT, INT = 1, 2  # TensorProto.DataType; AttributeProto.AttributeType


def varint(value):
    out = b""
    while True:
        out += bytes([(value & 127) | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(content)) + content


def value_info(field, name, sides):
    dims = b"".join(message(1, message(2, side) if isinstance(side, str) else number(1, side))
                    for side in sides)
    return message(field, message(1, name), message(2, message(1, number(1, FLOAT), message(2, dims))))


def node(operator, inputs, output, **integers):
    attributes = b"".join(message(5, message(1, name), number(3, value), number(20, INT))
                          for name, value in integers.items())
    return message(1, *(message(1, name) for name in inputs), message(2, output),
                   message(4, operator), attributes)


def weights(name, values):
    values = np.asarray(values, "<f4")
    return message(5, *(number(1, side) for side in values.shape), number(2, FLOAT),
                   message(8, name), message(9, values.tobytes()))


def model(*parts):
    graph = message(7, *parts, message(2, "graph"))
    return number(1, 8) + message(2, "a test") + graph + message(8, number(2, 13))


def table(keys, logits):
    """x (n x dim) -> Relu h -> Gemm y: a head on the arrays' own keys, fitted to their logits."""
    head, *_ = np.linalg.lstsq(np.maximum(keys, 0), logits, rcond=None)
    return model(node("Relu", ["x"], "h"), node("Gemm", ["h", "head"], "y"), weights("head", head),
                 value_info(11, "x", ["n", keys.shape[1]]), value_info(12, "y", ["n", logits.shape[1]]))


def image():
    """image (n x 3 x 8 x 8) -> Conv, GlobalAveragePool, Flatten flat (n x 4) -> Gemm y (n x 4)."""
    random = np.random.default_rng(3)
    return model(node("Conv", ["image", "filters"], "maps"), node("Relu", ["maps"], "active"),
                 node("GlobalAveragePool", ["active"], "pool"), node("Flatten", ["pool"], "flat"),
                 node("Gemm", ["flat", "head"], "y"),
                 weights("filters", random.standard_normal((4, 3, 3, 3))),
                 weights("head", random.standard_normal((4, 4))),
                 value_info(11, "image", ["n", 3, 8, 8]), value_info(12, "y", ["n", 4]))


def write(folder, train):
    random = np.random.default_rng(4)
    (folder / "table.onnx").write_bytes(table(train["keys"], train["logits"]))
    (folder / "image.onnx").write_bytes(image())
    (folder / "unknown.onnx").write_bytes(
        model(node("Frobnicate", ["x"], "h"), node("Gemm", ["h", "head"], "y"),
              weights("head", np.eye(2)), value_info(11, "x", ["n", 2]), value_info(12, "y", ["n", 2])))
    np.save(folder / "photos.npy", random.integers(0, 256, (300, 8, 8, 3), np.uint8))
    np.save(folder / "photo_labels.npy", random.integers(0, 4, 300))


def check(images, folder):
    """The image model in NumPy, with mean 0.5 and deviation 0.25, against what was embedded."""
    random = np.random.default_rng(3)
    filters, head = random.standard_normal((4, 3, 3, 3)), random.standard_normal((4, 4))
    images = (np.load(images) / 255 - 0.5) / 0.25
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), (1, 2))
    maps = np.einsum("nyxcij,fcij->nfyx", windows, filters)
    keys = np.maximum(maps, 0).mean((2, 3))
    for name, expected in (("keys", keys), ("logits", keys @ head)):
        np.testing.assert_allclose(np.load(f"{folder}/{name}.npy"), expected, rtol=1e-4, atol=1e-4)
    print("keys and logits agree")


if __name__ == "__main__":
    check(*sys.argv[1:])
