"""What erasure_test.py and traces_test.py share: a memory, a secret row, and where its bytes are found."""
import pathlib
import shutil
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
import harness  # noqa: E402
from harness import resmem  # noqa: E402

SECRET_ID, SECRET_SOURCE = 0x5EC12E7A1B2C3D4, "patient Zebedee Quux 1931"
WINDOW, MANY = 8, 5  # a run of bytes, and how many different ones make it a pattern


def bytes_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def runs(data):
    """Every run of WINDOW bytes that is neither text nor padding, as numbers."""
    values = np.frombuffer(data, np.uint8)
    if values.size < WINDOW:
        return np.empty(0, np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
    ordered = np.sort(windows, axis=1)
    different = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    text = ((windows >= 32) & (windows < 127)).all(axis=1)
    chosen = np.ascontiguousarray(windows[(different >= MANY) & ~text])
    return np.unique(chosen.view(np.uint64).ravel())


def all_runs(files):
    return np.unique(np.concatenate([runs(data) for name, data in files.items() if not name.endswith("MANIFEST")]))


class SecretRow(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_erasure_", dir=harness.fixtures.FAST))
        self.addCleanup(shutil.rmtree, self.folder)
        self.memory = harness.make_memory(self.folder, count=400, sources=np.array([f"image {i}" for i in range(400)]))
        self.secret = harness.rows(1, seed=77)
        np.savez(self.folder / "secret.npz", ids=np.array([SECRET_ID]), sources=np.array([SECRET_SOURCE]), **self.secret)

    def patterns(self):
        key, logits = self.secret["keys"][0], self.secret["logits"][0]
        return {"key as f32": key.tobytes(), "half of the key": key[:4].tobytes(),
                "key as f16": key.astype(np.float16).tobytes(), "logits": logits.tobytes(),
                "id": np.array([SECRET_ID], np.int64).tobytes(), "id as text": str(SECRET_ID).encode(),
                "source": SECRET_SOURCE.encode(), "key as text": np.format_float_positional(key[0]).encode()}

    def found(self, *folders):
        """Patterns in any file of the folders; none given: of the memory."""
        files = {(folder, name): data for folder in folders or [self.memory] for name, data in bytes_of(folder).items()}
        return sorted(name for name, pattern in self.patterns().items()
                      if any(pattern in data for data in files.values()))

    def erase(self):
        resmem("delete", self.memory, "--ids", SECRET_ID, "--quiet")
        resmem("compact", self.memory, "--quiet")
