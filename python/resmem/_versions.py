"""Named states of a memory in a folder, to come back to; other processes that change it."""
import ctypes
from typing import Any, Dict, List, Optional

import numpy as np

from . import _lib
from ._arrays import integers
from ._lib import lib
from ._watch import Progress, Watch, document, run
from .documents import Difference, MemoryInfo


class Versions:
    """What Memory does with snapshots (docs/versions.md), and where other processes change it."""

    def _open(self) -> ctypes.c_void_p:
        raise NotImplementedError

    def info(self) -> MemoryInfo:
        raise NotImplementedError

    def snapshot(self, name: str, note: str = "") -> None:
        """Keeps the memory as it is now, under a name: a folder ``snapshots/NAME`` in its own, which
        ``Memory.open`` opens.  It shares its files, so it costs next to nothing.  Not in RAM."""
        _lib.check(lib.resmem_snapshot_take(self._open(), name.encode(), note.encode()))

    def snapshots(self) -> List[Dict[str, Any]]:
        """Those it has, oldest first: name, created, note, rows, bytes, own_bytes."""
        return list(self.info()["memory"].get("snapshots", []))

    def drop_snapshot(self, name: str) -> None:
        _lib.check(lib.resmem_snapshot_drop(self._open(), name.encode()))

    def rollback(self, name: str, *, progress: Progress = False) -> None:
        """Makes the memory what it was when the snapshot was taken; what it is now is gone, unless a
        snapshot has it."""
        watch = Watch(progress)
        run(lib.resmem_rollback, watch, self._open(), name.encode(), ctypes.byref(watch.struct))

    def diff(self, before: str, after: Optional[str] = None) -> Difference:
        """What changed from one snapshot to another, or to the memory as it is now."""
        return document(Difference, "diff", self._open(), before.encode(),
                        None if after is None else after.encode())

    def find_in_snapshots(self, ids: Any) -> Dict[str, List[int]]:
        """By snapshot the ids of these that it holds, deleted from the memory or not."""
        array = np.atleast_1d(np.asarray(ids))
        array = integers(array, array.size, "ids", np.uint64)
        text = ctypes.c_void_p()
        _lib.check(lib.resmem_find_in_snapshots(self._open(), array.ctypes.data, array.size, ctypes.byref(text)))
        lines = (line.split(": ") for line in _lib.take_text(text).splitlines())
        return {name: [int(number) for number in held.split(", ")] for name, held in lines}

    def wait(self, seconds: float) -> None:
        """From now on changes wait this long for another process that is changing the memory, instead of
        failing at once."""
        _lib.check(lib.resmem_set_wait(self._open(), float(seconds)))

    def reload(self) -> None:
        """Sees what another process has changed in the folder since."""
        _lib.check(lib.resmem_reload(self._open()))
