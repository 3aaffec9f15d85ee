"""The engine: a memory of keys and residuals, in RAM or in a folder."""
import ctypes
import os
from typing import Any, Dict, Iterable, Optional, Sequence, Union

import numpy as np

from . import _lib
from ._arrays import Neighbors, RowArrays, StoredRows, address, integers, matrix, matrix_struct, texts
from ._lib import lib
from ._tags import Tagged
from ._tuning import Tunable
from ._versions import Versions
from ._watch import Progress, Watch, document, run
from .documents import Diagnosis, Evaluation, Explanation, MemoryInfo

Path = Union[str, "os.PathLike[str]"]


def _encode(text: Optional[Path]) -> Optional[bytes]:
    return None if text is None else os.fsencode(text)


class Memory(Tagged, Tunable, Versions):
    """A memory of what a base model got wrong, beside the model's own embedding of each example.

    Build one from arrays, in RAM or with ``path=`` in a folder, or open one.  Any number of threads may
    use the same object; a change is seen by the calls that begin after it.

    >>> import numpy as np
    >>> from resmem import Memory
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 200)
    >>> keys = np.eye(3, 8, dtype=np.float32)[labels] + 0.1 * rng.standard_normal((200, 8)).astype(np.float32)
    >>> logits = rng.standard_normal((200, 3)).astype(np.float32)   # a base that knows nothing
    >>> memory = Memory.build(keys[:150], logits[:150], labels[:150], k=10)
    >>> memory
    <resmem.Memory in RAM: 150 rows, 8 dimensions, 3 classes, k=10>
    >>> float((memory.predict(keys[150:], logits[150:]) == labels[150:]).mean())
    1.0
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("use Memory.open(path) or Memory.build(keys, logits, labels)")

    @classmethod
    def _of(cls, handle: ctypes.c_void_p) -> "Memory":
        memory = object.__new__(cls)
        memory._handle = handle
        return memory

    _handle: Optional[ctypes.c_void_p] = None

    # ---- where memories come from -------------------------------------------------------------

    @classmethod
    def open(cls, path: Path, *, exact: bool = False, verify: bool = True) -> "Memory":
        """The memory in a folder.  ``exact``: search every key, even where it has an index.

        Every checksum is compared unless ``verify=False``.

        >>> Memory.open("/no/such/folder")
        Traceback (most recent call last):
            ...
        resmem._lib.MemoryNotFound: /no/such/folder: no memory here, it has no file MANIFEST; \
check the path, or create one with: resmem memorize
        """
        options = _lib.options_of(_lib.OpenOptions)
        options.exact, options.skip_checksums = int(exact), int(not verify)
        handle = ctypes.c_void_p()
        _lib.check(lib.resmem_open(_encode(path), ctypes.byref(options), ctypes.byref(handle)))
        return cls._of(handle)

    @classmethod
    def build(cls, keys: Any, logits: Any, labels: Any = None, *, targets: Any = None,
              path: Optional[Path] = None, overwrite: bool = False, ids: Any = None,
              sources: Optional[Sequence[str]] = None, classes: Optional[Sequence[str]] = None,
              key_type: str = "float32", key_transform: str = "none", form: Optional[str] = None, top: int = 128,
              half_residuals: bool = False, cross_fitted: bool = False, k: int = 53, sigma: float = 0.7,
              temperature: float = 1.4, model: Optional[str] = None, layer: Optional[str] = None,
              recall: Optional[float] = None, seed: int = 0, tags: Optional[Sequence[str]] = None,
              progress: Progress = False) -> "Memory":
        """A new memory of ``keys`` (rows x dim) and ``logits`` (rows x classes).

        Classification takes ``labels`` 0 .. classes - 1; regression takes ``targets``, and the base's
        predictions as ``logits``.  Without ``path`` the memory lives in RAM until ``save(path)``.
        ``cross_fitted``: each row's logits come from a model that was trained without it.
        ``key_transform``: what the memory does to its keys and to those of queries before it measures distances:
        "none", "unit" (cosine) or "whiten"; tune() can choose.  You always give keys as the model makes them.
        ``model`` and ``layer``: names that tell which model made the arrays.  ``recall``: also make an index.
        ``tags``: of each row, such as "site=north;time=2026-11-19", for ``where`` (docs/filters.md).
        """
        if (labels is None) == (targets is None):
            raise _lib.InvalidValue("give labels for classification or targets for regression, one of them")
        rows = RowArrays(keys, logits, labels, targets, ids, sources)
        options = _lib.options_of(_lib.BuildOptions)
        options.regression, options.overwrite = int(targets is not None), int(overwrite)
        options.key_type, options.form = key_type.encode(), None if form is None else form.encode()
        options.key_transform = key_transform.encode()
        options.top, options.half_residuals = top, int(half_residuals)
        options.cross_fitted, options.k, options.sigma = int(cross_fitted), k, sigma
        options.temperature, options.seed, options.recall = temperature, seed, recall or 0.0
        options.model = None if model is None else model.encode()
        options.layer = None if layer is None else layer.encode()
        outputs = 0 if rows.logits is None else rows.logits.shape[1]
        names, _kept = texts(classes, outputs, "classes")
        if names is not None:
            options.classes = names
        tag_texts, _kept_tags = texts(tags, rows.keys.shape[0], "tags")
        if tag_texts is not None:
            options.tags = tag_texts
        watch = Watch(progress)
        options.watch = watch.struct
        handle = ctypes.c_void_p()
        run(lib.resmem_build, watch, _encode(path), ctypes.byref(rows.struct), ctypes.byref(options),
            ctypes.byref(handle))
        return cls._of(handle)

    def save(self, path: Path, *, overwrite: bool = False, progress: Progress = False) -> None:
        """Copies the memory into a folder, where it answers bit for bit the same; this object stays what it is."""
        watch = Watch(progress)
        run(lib.resmem_save, watch, self._open(), _encode(path), int(overwrite), ctypes.byref(watch.struct))

    def close(self) -> None:
        """Frees the memory; one in RAM is gone then."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            lib.resmem_close(handle)

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if lib is not None:
            self.close()

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise _lib.InvalidValue("this memory was closed")
        return self._handle

    # ---- pickle: the memory's own files --------------------------------------------------------

    def __getstate__(self) -> Dict[str, Any]:
        files = ctypes.c_void_p()
        _lib.check(lib.resmem_files_read(self._open(), ctypes.byref(files)))
        try:
            state = {}
            for i in range(lib.resmem_files_count(files)):
                size = ctypes.c_size_t()
                data = lib.resmem_files_bytes(files, i, ctypes.byref(size))
                state[lib.resmem_files_name(files, i).decode()] = ctypes.string_at(data, size.value)
            return {"files": state}
        finally:
            lib.resmem_files_free(files)

    def __reduce__(self) -> Any:
        return _unpickle, (self.__getstate__()["files"],)

    def copy(self) -> "Memory":
        """A second memory in RAM; what happens to one does not happen to the other."""
        return _unpickle(self.__getstate__()["files"])

    __copy__ = copy

    def __deepcopy__(self, _: Any) -> "Memory":
        return self.copy()

    # ---- what it is ------------------------------------------------------------------------------

    def _info(self) -> _lib.Info:
        info = _lib.Info(size=ctypes.sizeof(_lib.Info))
        _lib.check(lib.resmem_get_info(self._open(), ctypes.byref(info)))
        return info

    def __len__(self) -> int:
        return int(self._info().rows)

    def __bool__(self) -> bool:
        return True

    path = property(lambda self: os.fsdecode(lib.resmem_path(self._open())), doc="The folder, or ram:N.")
    dim = property(lambda self: int(self._info().dim), doc="Values of a key.")
    outputs = property(lambda self: int(self._info().outputs), doc="Classes, or values of a target.")
    capacity = property(lambda self: int(self._info().capacity),
                        doc="Rows stored, deleted ones included: row numbers run from 0 to capacity - 1.")
    k = property(lambda self: int(self._info().k), doc="Neighbors consulted.")
    sigma = property(lambda self: float(self._info().sigma), doc="Width of the weights.")
    temperature = property(lambda self: float(self._info().temperature), doc="T of the residuals.")
    key_transform = property(lambda self: str(self.info()["memory"]["key_transform"]),
                             doc='What is done to keys before distances are measured: "none", "unit" or "whiten".')
    tuned = property(lambda self: bool(self._info().tuned), doc="Whether tune() chose the parameters.")
    answer = property(lambda self: lib.resmem_answer(self._open()).decode(),
                      doc='By what it answers: "resmem" until tune() finds better, "blend", "logit-boost" or "base".')
    in_ram = property(lambda self: bool(self._info().in_ram), doc="Whether it lives in RAM only.")
    task = property(lambda self: "regression" if self._info().regression else "classification")

    @property
    def classes(self) -> Optional[Sequence[str]]:
        """The names of the classes, or None."""
        text = ctypes.c_void_p()
        _lib.check(lib.resmem_classes(self._open(), ctypes.byref(text)))
        lines = _lib.take_text(text)
        return lines.split("\n") if lines else None

    def info(self) -> MemoryInfo:
        """What it holds and how it was made: the document of ``resmem info --json``."""
        return document(MemoryInfo, "describe", self._open())

    def __repr__(self) -> str:
        if self._handle is None:
            return "<resmem.Memory, closed>"
        info = self._info()
        what = f"{info.outputs} {'values' if info.regression else 'classes'}"
        return (f"<resmem.Memory {'in RAM' if info.in_ram else self.path}: {info.rows:,} rows, "
                f"{info.dim} dimensions, {what}, k={info.k}>")

    def _repr_html_(self) -> str:
        return "<pre>resmem.Memory, closed</pre>" if self._handle is None else self.info()._repr_html_()

    # ---- changes -----------------------------------------------------------------------------------

    def append(self, keys: Any, logits: Any, labels: Any = None, *, targets: Any = None, ids: Any = None,
               sources: Optional[Sequence[str]] = None, token: Optional[str] = None,
               tags: Optional[Sequence[str]] = None, progress: Progress = False) -> np.ndarray:
        """Learns rows; gives their ids.

        ``token``: your name for these rows.  Where the memory knows it (the latest 1,000 are kept), they are
        there already: nothing is added, and the ids are those that you gave, or none."""
        rows = RowArrays(keys, logits, labels, targets, ids, sources)
        before = self.capacity
        watch = Watch(progress)
        options, repeated = _lib.options_of(_lib.AppendOptions), ctypes.c_int32()
        options.token, options.watch = None if token is None else token.encode(), watch.struct
        tag_texts, _kept_tags = texts(tags, rows.keys.shape[0], "tags")
        if tag_texts is not None:
            options.tags = tag_texts
        run(lib.resmem_append_with, watch, self._open(), ctypes.byref(rows.struct), ctypes.byref(options),
            ctypes.byref(repeated))
        if ids is not None:
            return integers(ids, rows.keys.shape[0], "ids", np.uint64)
        if repeated.value:
            return np.empty(0, np.uint64)
        return self.rows(range(before, before + rows.keys.shape[0])).ids

    def compact(self, *, freeze: bool = False, progress: Progress = False) -> None:
        """Rewrites the memory without deleted rows; row numbers change, ids stay.

        ``freeze``: keep residuals at the present temperature instead of logits."""
        watch = Watch(progress)
        run(lib.resmem_compact, watch, self._open(), int(freeze), ctypes.byref(watch.struct))

    def set_parameters(self, k: Optional[int] = None, sigma: Optional[float] = None,
                       temperature: Optional[float] = None) -> None:
        info = self._info()
        _lib.check(lib.resmem_set_parameters(
            self._open(), info.k if k is None else k, info.sigma if sigma is None else sigma,
            info.temperature if temperature is None else temperature))

    def index(self, recall: float = 0.95, *, queries: Any = None, code_bits: int = 0, seed: int = 0,
              threads: int = 0, progress: Progress = False) -> None:
        """Makes search approximate and faster: it then finds this share of the true neighbors."""
        options = _lib.options_of(_lib.IndexOptions)
        options.recall, options.code_bits, options.seed, options.threads = recall, code_bits, seed, threads
        kept = None if queries is None else matrix(queries, "queries")
        options.queries = matrix_struct(kept)
        watch = Watch(progress)
        options.watch = watch.struct
        run(lib.resmem_index, watch, self._open(), ctypes.byref(options))

    def remove_index(self) -> None:
        """Search is exact again."""
        _lib.check(lib.resmem_remove_index(self._open()))

    def verify(self, *, progress: Progress = False) -> None:
        """Compares every checksum; a broken file is an OSError."""
        watch = Watch(progress)
        run(lib.resmem_verify, watch, self._open(), ctypes.byref(watch.struct))

    # ---- answers -----------------------------------------------------------------------------------

    def _predict_options(self, method: Optional[str], k: Optional[int], sigma: Optional[float],
                         temperature: Optional[float], lambda_: Optional[float], threads: int) -> Any:
        options = _lib.options_of(_lib.PredictOptions)
        if method is not None:
            options.method = method.encode()
        if k is not None:
            options.k = k
        for name, value in (("sigma", sigma), ("temperature", temperature)):
            if value is not None:
                if not value > 0:  # 0 would stand for the memory's own
                    raise _lib.InvalidValue(f"{name} {value}: give a value above 0, or None for the memory's own")
                setattr(options, name, value)
        if lambda_ is not None:
            options.lambda_ = lambda_
        options.threads = threads
        return options

    def _answer(self, keys: Any, logits: Any, probabilities: bool, method: Optional[str], k: Optional[int],
                sigma: Optional[float], temperature: Optional[float], lambda_: Optional[float],
                threads: int, progress: Progress) -> np.ndarray:
        keys, logits = matrix(keys, "keys"), matrix(logits, "logits")
        options = self._predict_options(method, k, sigma, temperature, lambda_, threads)
        answer = np.empty(logits.shape, np.float32)
        output = _lib.Output(address(answer), *answer.shape)
        scores, calibrated = (None, ctypes.byref(output)) if probabilities else (ctypes.byref(output), None)
        arguments = (self._open(), ctypes.byref(matrix_struct(keys)), ctypes.byref(matrix_struct(logits)),
                     ctypes.byref(options), scores, calibrated)
        # Below a tenth of a second or so Ctrl-C can wait, and a thread would cost more than the answer.
        if progress or (keys.shape[0] > 16 and keys.size * self._info().rows > 2e9):
            watch = Watch(progress)
            options.watch = watch.struct
            run(lib.resmem_predict, watch, *arguments)
        else:
            _lib.check(lib.resmem_predict(*arguments))
        return answer

    def scores(self, keys: Any, logits: Any, *, method: Optional[str] = None, k: Optional[int] = None,
               sigma: Optional[float] = None, temperature: Optional[float] = None,
               lambda_: Optional[float] = None, threads: int = 0, where: Optional[str] = None,
               progress: Progress = False) -> np.ndarray:
        """Raw scores, rows x outputs of float32; the largest is the answer.  Regression: the values.

        ``method``: "base", "resmem", "knn", "knn-lm", "nearest-class-mean" ...; None: the memory's own.
        ``where``: only from rows whose tags match, see ``where()``."""
        if where is not None:
            with self.where(where) as some:
                return some.scores(keys, logits, method=method, k=k, sigma=sigma, temperature=temperature,
                                   lambda_=lambda_, threads=threads, progress=progress)
        return self._answer(keys, logits, False, method, k, sigma, temperature, lambda_, threads, progress)

    def predict_proba(self, keys: Any, logits: Any, *, method: Optional[str] = None, k: Optional[int] = None,
                      sigma: Optional[float] = None, temperature: Optional[float] = None,
                      lambda_: Optional[float] = None, threads: int = 0, where: Optional[str] = None,
                      progress: Progress = False) -> np.ndarray:
        """Probabilities, rows x classes of float32.  Options as of ``scores``."""
        if where is not None:
            with self.where(where) as some:
                return some.predict_proba(keys, logits, method=method, k=k, sigma=sigma, temperature=temperature,
                                          lambda_=lambda_, threads=threads, progress=progress)
        return self._answer(keys, logits, True, method, k, sigma, temperature, lambda_, threads, progress)

    def predict(self, keys: Any, logits: Any, **options: Any) -> np.ndarray:
        """Class numbers; regression: rows x outputs of float32.  Options as of ``scores``."""
        scores = self.scores(keys, logits, **options)
        return scores if self._info().regression else scores.argmax(axis=1)

    def neighbors(self, keys: Any, k: Optional[int] = None, *, sigma: Optional[float] = None,
                  exclude: Any = None, threads: int = 0, where: Optional[str] = None,
                  progress: Progress = False) -> Neighbors:
        """The ``k`` nearest rows of each key (default: the memory's k), weighed by ``sigma``.

        ``exclude``: for each key a row number that it shall not find, or -1.  ``where``: only rows whose
        tags match; where fewer than ``k`` do, the last places have the row -1."""
        if where is not None:
            with self.where(where) as some:
                return some.neighbors(keys, k, sigma=sigma, exclude=exclude, threads=threads, progress=progress)
        keys = matrix(keys, "keys")
        k = self.k if k is None else int(k)
        if k < 1:
            raise _lib.InvalidValue(f"k {k}: give 1 or more neighbors")
        shape = (keys.shape[0], k)
        found = Neighbors(np.empty(shape, np.int64), np.empty(shape, np.float32), np.empty(shape, np.uint64),
                          np.empty(shape, np.float32), None)
        excluded = None if exclude is None else integers(exclude, keys.shape[0], "exclude", np.int64)
        watch = Watch(progress)
        arguments = (self._open(), ctypes.byref(matrix_struct(keys)), k,
                     None if excluded is None else excluded.ctypes.data, threads, ctypes.byref(watch.struct),
                     found.rows.ctypes.data, found.distances.ctypes.data, found.ids.ctypes.data)
        if progress or keys.size * self._info().rows > 2e9:
            run(lib.resmem_neighbors, watch, *arguments)
        else:
            _lib.check(lib.resmem_neighbors(*arguments))
        _lib.check(lib.resmem_weights(found.distances.ctypes.data, *shape, self.sigma if sigma is None else sigma,
                                      found.weights.ctypes.data))
        return found._replace(labels=self._labels(found.rows))

    def _labels(self, rows: np.ndarray) -> Optional[np.ndarray]:
        """Those of row numbers, -1 where there is none."""
        if self._info().regression:
            return None
        labels, there = np.full(rows.shape, -1, np.int32), rows >= 0
        numbers = np.ascontiguousarray(rows[there])
        found = np.empty(numbers.size, np.int32)
        arrays = _lib.RowArrays(size=ctypes.sizeof(_lib.RowArrays), labels=found.ctypes.data)
        _lib.check(lib.resmem_read_rows(self._open(), numbers.ctypes.data, numbers.size, ctypes.byref(arrays)))
        labels[there] = found
        return labels

    def export(self, path: Path, parts: Optional[Sequence[str]] = None, *, progress: Progress = False) -> None:
        """Writes what is stored of the living rows as arrays: an .npz file, or a folder of .npy files.

        ``parts``: "keys", "labels", "logits", "residuals", ...; None: all but residuals that follow from logits."""
        names = [name.encode() for name in parts or ()]
        watch = Watch(progress)
        run(lib.resmem_export, watch, self._open(), _encode(path), (ctypes.c_char_p * len(names))(*names),
            len(names), ctypes.byref(watch.struct))

    def rows(self, numbers: Optional[Iterable[int]] = None) -> StoredRows:
        """What is stored of these rows; None: of all, deleted ones included."""
        info = self._info()
        wanted = np.arange(info.capacity) if numbers is None else \
            np.ascontiguousarray(np.atleast_1d(np.asarray(numbers if hasattr(numbers, "__len__") else list(numbers),
                                                          dtype=np.int64)).ravel())
        count = wanted.size
        stored = StoredRows(
            np.empty((count, info.dim), np.float32), np.empty((count, info.outputs), np.float32),
            None if info.regression else np.empty(count, np.int32),
            np.empty((count, info.outputs), np.float32) if info.regression else None,
            np.empty((count, info.outputs), np.float32) if info.has_logits else None,
            np.empty(count, np.uint64), np.empty(count, np.int32))
        arrays = _lib.RowArrays(size=ctypes.sizeof(_lib.RowArrays))
        for name, array in stored._asdict().items():
            if array is not None:
                setattr(arrays, name, array.ctypes.data)
        _lib.check(lib.resmem_read_rows(self._open(), wanted.ctypes.data, count, ctypes.byref(arrays)))
        return stored._replace(deleted=stored.deleted.astype(bool))

    def find(self, ids: Any) -> np.ndarray:
        """Row numbers of ids; one that does not live here is a KeyError."""
        array = np.atleast_1d(np.asarray(ids))
        array = integers(array, array.size, "ids", np.uint64)
        rows = np.empty(array.size, np.int64)
        _lib.check(lib.resmem_find_ids(self._open(), array.ctypes.data, array.size, rows.ctypes.data))
        return rows

    def explain(self, key: Any, logits: Any, *, without_id: Optional[int] = None, method: Optional[str] = None,
                k: Optional[int] = None, sigma: Optional[float] = None, temperature: Optional[float] = None,
                unknown_rate: float = 0.01, threads: int = 0) -> Explanation:
        """One prediction as a sum: the base's share and each neighbor's, and how far the row lies from the memory.

        Of a blend the sum is in log space, and of a neighbor's share a part is convention: see docs/predictor.md."""
        key, logits = matrix(key, "key"), matrix(logits, "logits of the row")
        options = self._predict_options(method, k, sigma, temperature, None, threads)
        options.unknown_rate = unknown_rate
        without = None if without_id is None else ctypes.byref(ctypes.c_uint64(without_id))
        return document(Explanation, "explain", self._open(), ctypes.byref(matrix_struct(key)),
                        ctypes.byref(matrix_struct(logits)), ctypes.byref(options), without)

    def _judge(self, kind: Any, function: str, rows: Optional[RowArrays], watch: Watch, **fields: Any) -> Any:
        options = _lib.options_of(_lib.EvaluateOptions)
        for name, value in fields.items():
            if value is not None:
                setattr(options, name, value)
        options.watch = watch.struct
        return document(kind, function, self._open(), None if rows is None else ctypes.byref(rows.struct),
                        ctypes.byref(options), watch=watch)

    def evaluate(self, keys: Any = None, logits: Any = None, labels: Any = None, *, targets: Any = None,
                 ids: Any = None, roles: Any = None, slices: Optional[Sequence[str]] = None,
                 leave_one_out: bool = False, baselines: bool = True, k: Optional[int] = None,
                 sigma: Optional[float] = None, temperature: Optional[float] = None, keep_rows: int = 0,
                 coarse_of_class: Any = None, any_model: bool = False, threads: int = 0,
                 progress: Progress = False) -> Evaluation:
        """Does the memory help?  Base and memory on the same rows, with intervals and baselines.

        Without arrays, on the memory's own rows, each without itself."""
        rows = None if keys is None else RowArrays(keys, logits, labels, targets, ids, None, roles, slices)
        coarse = None if coarse_of_class is None else \
            integers(coarse_of_class, self.outputs, "coarse_of_class", np.int32)
        return self._judge(Evaluation, "evaluate", rows, Watch(progress), k=k, sigma=sigma,
                           temperature=temperature, no_baselines=int(not baselines), any_model=int(any_model),
                           leave_one_out=int(leave_one_out), keep_rows=keep_rows, threads=threads,
                           coarse_of_class=None if coarse is None else coarse.ctypes.data)

    def doctor(self, keys: Any = None, logits: Any = None, labels: Any = None, *, targets: Any = None,
               roles: Any = None, sample: int = 500, any_model: bool = False, threads: int = 0,
               progress: Progress = False) -> Diagnosis:
        """Is the memory in order, and does it help?  Verdict and advice in sentences."""
        rows = None if keys is None else RowArrays(keys, logits, labels, targets, roles=roles)
        return self._judge(Diagnosis, "doctor", rows, Watch(progress), sample=sample,
                           any_model=int(any_model), threads=threads)


def _unpickle(files: Dict[str, bytes]) -> Memory:
    names = (ctypes.c_char_p * len(files))(*[name.encode() for name in files])
    # c_char_p keeps the bytes and points at them: no copy is made on the way.
    kept = [ctypes.c_char_p(data) for data in files.values()]
    pointers = (ctypes.c_void_p * len(files))(*[ctypes.cast(data, ctypes.c_void_p) for data in kept])
    sizes = (ctypes.c_size_t * len(files))(*[len(data) for data in files.values()])
    handle = ctypes.c_void_p()
    _lib.check(lib.resmem_files_open(len(files), names, pointers, sizes, None, ctypes.byref(handle)))
    return Memory._of(handle)
