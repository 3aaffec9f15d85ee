"""resmem gives any prediction model a memory.

What a model got wrong on its training data is stored beside the model's own embedding of each example; a
prediction is corrected by the nearest examples' errors.  ``Memory`` is the engine, for arrays;
``ResMemClassifier`` and ``ResMemRegressor`` wrap a scikit-learn estimator; ``from_torch`` wraps a torch model.
"""
from typing import Any

from ._lib import (Cancelled, InvalidValue, MemoryFileError, MemoryNotFound, OutOfMemory, ResmemError, UnknownId,
                   lib as _library)
from .documents import Diagnosis, Difference, Document, Evaluation, Explanation, MemoryInfo, Tuning
from .memory import Memory, Neighbors, StoredRows

__version__: str = _library.resmem_version().decode()
__all__ = ["Memory", "Neighbors", "StoredRows", "ResMemClassifier", "ResMemRegressor", "from_torch",
           "TorchMemory", "Document", "Evaluation", "Tuning", "Explanation", "Diagnosis", "Difference",
           "MemoryInfo",
           "ResmemError", "InvalidValue", "UnknownId", "MemoryFileError", "MemoryNotFound", "OutOfMemory",
           "Cancelled", "__version__"]


def __getattr__(name: str) -> Any:
    # scikit-learn and torch are imported when something of theirs is asked for.
    if name in ("ResMemClassifier", "ResMemRegressor"):
        from . import estimators
        return getattr(estimators, name)
    if name in ("from_torch", "TorchMemory"):
        from . import torch_memory
        return getattr(torch_memory, name)
    raise AttributeError(f"module 'resmem' has no attribute {name!r}")
