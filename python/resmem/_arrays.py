"""Arrays of any kind as the library wants them, without a copy where the layout allows."""
import ctypes
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _lib

_FLOAT32 = np.dtype(np.float32)


def to_numpy(values: Any) -> np.ndarray:
    """NumPy's view of an array, a pandas object or a torch tensor."""
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu()
    if hasattr(values, "to_numpy"):  # pandas
        values = values.to_numpy()
    return np.asarray(values)


def matrix(values: Any, name: str) -> np.ndarray:
    """Rows of float32 whose values lie side by side; rows may lie apart.

    >>> a = np.zeros((4, 6), np.float32)
    >>> matrix(a, "keys") is a, np.shares_memory(matrix(a[::2, 1:4], "keys"), a)
    (True, True)
    """
    if type(values) is np.ndarray and values.dtype is _FLOAT32 and values.ndim == 2 and values.flags.c_contiguous \
            and values.flags.aligned:
        return values  # what most calls give: nothing to look at
    array = to_numpy(values)
    if array.ndim == 1 and array.size > 0 and name in ("key", "logits of the row"):
        array = array.reshape(1, -1)
    if array.ndim != 2:
        raise _lib.InvalidValue(f"{name}: has the shape {array.shape}, rows x columns is needed")
    if array.dtype == object or array.dtype.kind not in "fiub":
        raise _lib.InvalidValue(f"{name}: has the type {array.dtype}, numbers are needed")
    if array.dtype != np.float32:
        with np.errstate(over="ignore"):  # infinite is refused by the library, with its place
            array = array.astype(np.float32)
    rows, columns = array.shape
    side_by_side = columns <= 1 or array.strides[1] == 4
    apart = rows <= 1 or (array.strides[0] % 4 == 0 and array.strides[0] >= 4 * columns)
    if not (side_by_side and apart and array.dtype.isnative and array.ctypes.data % 4 == 0):
        array = np.ascontiguousarray(array)
    return array


def matrix_struct(array: Optional[np.ndarray]) -> _lib.Matrix:
    if array is None:
        return _lib.Matrix()
    rows, columns = array.shape
    stride = max(array.strides[0] // 4, columns) if rows > 1 else columns
    return _lib.Matrix(address(array), rows, columns, stride)


def address(array: np.ndarray) -> int:
    """Of the first element: array.ctypes.data, in a third of its time where the array allows it."""
    if array.flags.carray and array.size:  # writable, and without gaps
        return ctypes.addressof(ctypes.c_byte.from_buffer(array))  # type: ignore[arg-type]
    return array.ctypes.data


def integers(values: Any, rows: int, name: str, kind: type) -> np.ndarray:
    array = to_numpy(values)
    if array.shape != (rows,):
        raise _lib.InvalidValue(f"{name}: has the shape {array.shape}, there are {rows} rows")
    if array.dtype.kind not in "iub":
        whole = np.asarray(array, dtype=np.float64) if array.dtype.kind == "f" else None
        if whole is None or not np.all(np.isfinite(whole)) or np.any(whole != np.floor(whole)):
            raise _lib.InvalidValue(f"{name}: has the type {array.dtype}, whole numbers are needed")
    limits: Any = np.iinfo(kind)
    if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
        raise _lib.InvalidValue(f"{name}: holds {array.min()} to {array.max()}, allowed are "
                                f"{limits.min} to {limits.max}")
    return np.ascontiguousarray(array, dtype=kind)


def texts(values: Optional[Sequence[str]], count: int, name: str) -> Tuple[Any, Any]:
    """A char*[] and what it points into."""
    if values is None:
        return None, None
    encoded: List[bytes] = [str(value).encode() for value in values]
    if len(encoded) != count:
        raise _lib.InvalidValue(f"{name}: has {len(encoded)} texts where {count} are needed")
    for i, text in enumerate(encoded):
        if b"\0" in text:
            raise _lib.InvalidValue(f"{name}[{i}]: holds a zero character, which ends a text")
    array = (ctypes.c_char_p * max(1, count))(*encoded)
    return array, encoded


_ROLES = {"": 0, "unmarked": 0, "train": 1, "validation": 2, "test": 3}


class RowArrays:
    """Rows for one call; keeps what the struct points into."""

    def __init__(self, keys: Any, logits: Any, labels: Any = None, targets: Any = None, ids: Any = None,
                 sources: Any = None, roles: Any = None, slices: Any = None) -> None:
        self.keys = matrix(keys, "keys")
        count = self.keys.shape[0]
        self.logits = None if logits is None else matrix(logits, "logits")
        self.struct = _lib.Rows()
        self.struct.keys = matrix_struct(self.keys)
        self.struct.logits = matrix_struct(self.logits)
        self._kept: List[Any] = []
        if labels is not None:
            self.struct.labels = self._keep(integers(labels, count, "labels", np.int32))
        if targets is not None:
            array = to_numpy(targets)
            self.targets = matrix(array.reshape(-1, 1) if array.ndim == 1 else array, "targets")
            self.struct.targets = matrix_struct(self.targets)
        if ids is not None:
            self.struct.ids = self._keep(integers(ids, count, "ids", np.uint64))
        if roles is not None:
            self.struct.roles = self._keep(self._roles(roles, count))
        for name, values in (("sources", sources), ("slices", slices)):
            array, encoded = texts(values, count, name)
            if array is not None:
                self._kept += [array, encoded]
                setattr(self.struct, name, array)

    def _keep(self, array: np.ndarray) -> int:
        self._kept.append(array)
        return array.ctypes.data

    @staticmethod
    def _roles(roles: Any, count: int) -> np.ndarray:
        if isinstance(roles, str):
            roles = [roles] * count
        unknown = [role for role in roles if role not in _ROLES]
        if unknown or len(roles) != count:
            raise _lib.InvalidValue(f"roles: {count} of train, validation, test are needed, not "
                                    f"{len(roles)}" + (f" with {unknown[0]!r}" if unknown else ""))
        return np.array([_ROLES[role] for role in roles], np.int32)


class Neighbors(NamedTuple):
    """The nearest rows of each query, nearest first: arrays of queries x k."""

    rows: np.ndarray  # int64; -1 where the memory has fewer
    distances: np.ndarray  # float32, plain Euclidean; infinite where the row is -1
    ids: np.ndarray  # uint64
    weights: np.ndarray  # float32, the share of each in an answer: a line sums to 1
    labels: Optional[np.ndarray]  # int32, -1 where the row is; None: regression


class StoredRows(NamedTuple):
    """What a memory holds of some rows; None where it does not keep it."""

    keys: np.ndarray
    residuals: np.ndarray  # at the memory's temperature
    labels: Optional[np.ndarray]
    targets: Optional[np.ndarray]
    logits: Optional[np.ndarray]
    ids: np.ndarray
    deleted: np.ndarray
