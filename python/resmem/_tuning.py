"""What a memory answers: fitted on held-out rows, taken back, and how far it reaches."""
import ctypes
from typing import Any, Iterable, Optional

import numpy as np

from . import _lib
from ._arrays import RowArrays, matrix, matrix_struct
from ._lib import lib
from ._watch import Progress, Watch, document, run
from .documents import Tuning


class Tunable:
    """What Memory does with its answer (docs/predictor.md)."""

    def _open(self) -> ctypes.c_void_p:
        raise NotImplementedError

    def tune(self, keys: Any = None, logits: Any = None, labels: Any = None, *, targets: Any = None,
             roles: Any = None, k: Optional[Iterable[int]] = None, sigma: Optional[Iterable[float]] = None,
             temperature: Optional[Iterable[float]] = None, objective: Optional[str] = None,
             method: Optional[str] = None, fpr_limit: float = 0.05, folds: Optional[int] = None, seed: int = 0,
             dry_run: bool = False, any_model: bool = False, threads: int = 0, key_transform: str = "auto",
             fit_memory: Optional[int] = None, progress: Progress = False) -> Tuning:
        """Fits the memory's answer on held-out rows and stores it; ``undo_tuning()`` takes it back.

        The result says in ``"answer"`` what the memory answers by; without it nothing was fitted or supported by
        cross-validation, and the memory is as it was.

        Without arrays, on the memory's own rows, each without itself: right where their logits are
        ``cross_fitted``.  ``k``, ``sigma``, ``temperature``: the grid to try for ResMem.  ``method``: what is fitted
        beside it, "blend" (the default; used where cross-validation supports it), "logit-boost" or "resmem" for none.
        ``objective``: "nll" (the default), "accuracy" or "tpr-at-fpr".  ``key_transform``: "auto" chooses by
        cross-validation what is done to keys, and rewrites them; "keep", "none", "unit", "whiten".
        ``fit_memory``: MB for the rows that the blend is fitted on; of more rows than fit, as many as do."""
        rows = None if keys is None else RowArrays(keys, logits, labels, targets, roles=roles)
        options = _lib.options_of(_lib.TuneOptions)
        axes = {"k": None if k is None else np.array(list(k), np.int64),
                "sigma": None if sigma is None else np.array(list(sigma), np.float32),
                "temperature": None if temperature is None else np.array(list(temperature), np.float32)}
        for name, axis in axes.items():
            if axis is not None:
                setattr(options, name, axis.ctypes.data)
                setattr(options, name + "_count", axis.size)
        options.objective = None if objective is None else objective.encode()
        options.method = None if method is None else method.encode()
        options.fpr_limit, options.folds = fpr_limit, -1 if folds is None else folds
        options.seed, options.dry_run, options.any_model = seed, int(dry_run), int(any_model)
        options.threads, options.key_transform = threads, key_transform.encode()
        if fit_memory is not None:
            options.fit_megabytes = fit_memory
        watch = Watch(progress)
        options.watch = watch.struct
        return document(Tuning, "tune", self._open(), None if rows is None else ctypes.byref(rows.struct),
                        ctypes.byref(options), watch=watch)

    def undo_tuning(self, *, progress: Progress = False) -> None:
        """Restores what the memory answered before the last ``tune`` that stored something; once."""
        watch = Watch(progress)
        run(lib.resmem_undo_tuning, watch, self._open(), ctypes.byref(watch.struct))

    def distance_percentiles(self, keys: Any, *, threads: int = 0, progress: Progress = False) -> np.ndarray:
        """How far each key lies from the memory: its percentile, 0 to 100, among the rows the blend was fitted on.

        -1 where no neighbor is found.  A memory without a blend raises ``InvalidValue``."""
        keys = matrix(keys, "keys")
        found = np.empty(keys.shape[0], np.float32)
        watch = Watch(progress)
        run(lib.resmem_distance_percentiles, watch, self._open(), ctypes.byref(matrix_struct(keys)), threads,
            ctypes.byref(watch.struct), found.ctypes.data)
        return found

    def unknown(self, keys: Any, rate: float = 0.01, *, threads: int = 0) -> np.ndarray:
        """Which keys are farther than all but this share of the rows the blend was fitted on: an array of bool.

        Without any neighbor a key is unknown, too."""
        if not 0 <= rate <= 1:
            raise _lib.InvalidValue(f"rate {rate}: give a share, 0 to 1")
        percentiles = self.distance_percentiles(keys, threads=threads)
        return (percentiles < 0) | (percentiles >= np.float32(100 * (1 - rate)))
