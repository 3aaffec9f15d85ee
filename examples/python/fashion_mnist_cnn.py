"""A small torch CNN on Fashion-MNIST, and the same CNN with a memory.

fashion_mnist_cnn.py [FOLDER] [TRAINING ROWS]: the folder holds the four .gz files, by default where Debian's
dataset-fashion-mnist puts them."""
import gzip
import pathlib
import sys

import numpy as np
import torch
from torch import nn

import resmem

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist")
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000


def read(name, header):
    return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=header)


def batches(part, begin, end, size=250):
    images = read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)[begin:end]
    labels = read(f"{part}-labels-idx1-ubyte.gz", 8)[begin:end]
    x, y = torch.from_numpy(images / np.float32(255)), torch.from_numpy(labels.astype(np.int64))
    return [(x[i:i + size], y[i:i + size]) for i in range(0, len(x), size)]


torch.manual_seed(0)
train, held_out, test = batches("train", 0, rows), batches("train", rows, rows + rows // 4), batches("t10k", 0, rows // 4)
model = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 16, 3, 2), nn.ReLU(), nn.Flatten(),
                      nn.Linear(576, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), 2e-3)
for epoch in range(2):
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

# The key is what the last layer gets: the embedding of 32 values.
with_memory = resmem.from_torch(model, "7", train, inputs=True, validation=held_out)
evaluation = with_memory.evaluate(test)
print(evaluation)
print(f"NLL {evaluation.base_nll:.3f} -> {evaluation.nll:.3f}")
log_probabilities = with_memory(test[0][0])  # an nn.Module like any other
assert log_probabilities.shape == (len(test[0][0]), 10)
