"""What a scikit-learn estimator gives a memory: logits or predictions, and keys."""
from typing import Any, Callable, Dict, Optional

import numpy as np

from ._lib import InvalidValue


def dense(values: Any) -> np.ndarray:
    """A finite matrix of float32, of whatever a transformer gave."""
    if hasattr(values, "toarray"):  # scipy.sparse
        values = values.toarray()
    array = np.asarray(values)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.dtype.kind not in "fiub":
        raise InvalidValue(f"keys have the type {array.dtype}, numbers are needed; give keys= a transformer that "
                           "makes numbers of these columns")
    return np.ascontiguousarray(array.reshape(array.shape[0], -1), dtype=np.float32)


def logits_of(base: Any, X: Any, classes: np.ndarray, floor: float) -> np.ndarray:
    """log p, where p below ``floor`` counts as ``floor``: trees say 0, which has no logarithm.

    Columns in the order of ``classes``; one that the base has not seen gets the floor."""
    if hasattr(base, "predict_proba"):
        found = np.log(np.maximum(np.asarray(base.predict_proba(X), np.float64), floor))
        missing = np.log(floor)
    elif hasattr(base, "decision_function"):
        found = np.asarray(base.decision_function(X), np.float64)
        if found.ndim == 1:
            found = np.stack([np.zeros_like(found), found], axis=1)
        missing = found.min(initial=0.0) - 10.0
    else:
        raise InvalidValue(f"{type(base).__name__} has neither predict_proba nor decision_function")
    own = getattr(base, "classes_", classes)
    if len(own) == len(classes) and np.all(own == classes):
        return np.ascontiguousarray(found, np.float32)
    logits = np.full((found.shape[0], len(classes)), missing, np.float32)
    logits[:, np.searchsorted(classes, own)] = found
    return logits


def values_of(base: Any, X: Any) -> np.ndarray:
    """A regressor's predictions, rows x outputs, in its own precision."""
    found = np.asarray(base.predict(X), np.float64)
    return found.reshape(found.shape[0], -1)


def _last_step(base: Any) -> Any:
    return base.steps[-1][1] if hasattr(base, "steps") else base


def _before_last(base: Any) -> Optional[Any]:
    return base[:-1] if hasattr(base, "steps") and len(base.steps) > 1 else None


def _is_network(estimator: Any) -> bool:
    return hasattr(estimator, "coefs_") and hasattr(estimator, "intercepts_") and len(estimator.coefs_) > 1


_ACTIVATIONS: Dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
}


class HiddenLayer:
    """The layer before the last of a fitted MLPClassifier or MLPRegressor, alone or at the end of a Pipeline."""

    def __init__(self, base: Any) -> None:
        self.base = base
        if not _is_network(_last_step(base)):
            raise InvalidValue(f"keys='hidden': {type(_last_step(base)).__name__} has no hidden layer that can be "
                               "read; give a transformer, 'input' or 'auto'")

    def transform(self, X: Any) -> np.ndarray:
        before = _before_last(self.base)
        values = np.asarray(X if before is None else dense(before.transform(X)), np.float64)
        network = _last_step(self.base)
        activation = _ACTIVATIONS[network.activation]
        for weights, shift in zip(network.coefs_[:-1], network.intercepts_[:-1]):
            values = activation(values @ weights + shift)
        return values


class Steps:
    """What a Pipeline makes of the inputs before its last step."""

    def __init__(self, base: Any) -> None:
        self.steps = _before_last(base)

    def transform(self, X: Any) -> Any:
        return X if self.steps is None else self.steps.transform(X)


class Scaled:
    """Each input by its mean and spread, so that no unit decides who is near."""

    def __init__(self, X: Any) -> None:
        values = np.asarray(X, np.float64)
        self.mean = values.mean(axis=0)
        spread = values.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)

    def transform(self, X: Any) -> np.ndarray:
        return (np.asarray(X, np.float64) - self.mean) / self.spread


class Called:
    """A function of the user's."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def transform(self, X: Any) -> Any:
        return self.function(X)


class Inputs:
    """The inputs as they are."""

    def transform(self, X: Any) -> Any:
        return X


def make_keys(keys: Any, base: Any, X: Any, y: Any) -> Any:
    """Something with transform(), for the estimators' parameter ``keys``; ``base`` is fitted."""
    if isinstance(keys, str):
        if keys == "auto":
            if _is_network(_last_step(base)):
                return HiddenLayer(base)
            return Scaled(X) if _before_last(base) is None else Steps(base)
        if keys == "hidden":
            return HiddenLayer(base)
        if keys == "input":
            return Inputs()
        raise InvalidValue(f"keys={keys!r}: there are 'auto', 'input', 'hidden', a transformer and a function")
    if hasattr(keys, "transform"):
        from sklearn.base import clone
        return clone(keys).fit(X, y)
    if callable(keys):
        return Called(keys)
    raise InvalidValue(f"keys={keys!r}: there are 'auto', 'input', 'hidden', a transformer and a function")
