"""Rows of a memory by their tags (docs/filters.md), and rows that are forgotten."""
import ctypes
import warnings
from typing import Any, Iterable, Optional, Sequence

import numpy as np

from . import _lib
from ._arrays import integers
from ._lib import lib


class Tagged:
    """What Memory does with tags."""

    _open: Any
    _of: Any
    in_ram: Any
    find_in_snapshots: Any

    def where(self, conditions: str) -> Any:
        """The rows whose tags match now, as a memory that is searched exactly and cannot be changed.

        "site=north,time<2026-01-01": docs/filters.md.  It may have fewer rows than k, or none: look at len().
        ``predict``, ``predict_proba``, ``scores`` and ``neighbors`` take ``where=`` instead."""
        handle = ctypes.c_void_p()
        _lib.check(lib.resmem_where(self._open(), conditions.encode(), ctypes.byref(handle)))
        return self._of(handle)

    def tags(self, numbers: Iterable[int]) -> Sequence[str]:
        """The tags of these rows, "" where one has none."""
        wanted = np.ascontiguousarray(list(numbers), dtype=np.int64)
        text = ctypes.c_void_p()
        _lib.check(lib.resmem_read_tags(self._open(), wanted.ctypes.data, wanted.size, ctypes.byref(text)))
        lines = _lib.take_text(text)
        return lines.split("\n") if wanted.size else []

    def delete(self, ids: Any = None, *, where: Optional[str] = None) -> int:
        """Forgets rows, by id or by their tags (``where="time<2026-01-01"``); gives how many.

        An id that does not live here is a KeyError, and nothing is deleted.
        A warning says which snapshots hold rows still."""
        if (ids is None) == (where is None):
            raise _lib.InvalidValue("give ids or where, one of them")
        if where is not None:
            with self.where(where) as matching:
                rows = matching.rows()
                ids = rows.ids[~rows.deleted]
            if not len(ids):
                return 0
        array = np.atleast_1d(np.asarray(ids))
        array = integers(array, array.size, "ids", np.uint64)
        _lib.check(lib.resmem_delete(self._open(), array.ctypes.data, array.size))
        for name, held in ({} if self.in_ram else self.find_in_snapshots(array)).items():
            warnings.warn(f"{len(held)} of the rows live on in the snapshot {name}; "
                          f"drop_snapshot({name!r}) forgets them there, too", stacklevel=2)
        return int(array.size)
