"""scikit-learn estimators that give any other a memory."""
import warnings
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._bases import dense, logits_of, make_keys, values_of
from ._lib import InvalidValue
from .documents import Diagnosis, Explanation, Tuning
from .memory import Memory


def _validate(estimator: Any, X: Any, y: Any = None, reset: bool = False, **options: Any) -> Any:
    """sklearn's checks; its name for them changed in 1.6."""
    if hasattr(estimator, "_validate_data"):
        return estimator._validate_data(X, "no_validation" if y is None else y, reset=reset, **options)
    from sklearn.utils.validation import validate_data
    return validate_data(estimator, X, "no_validation" if y is None else y, reset=reset, **options)


def _has_texts(X: Any) -> bool:
    """A table with columns that are not numbers: the base's own pipeline deals with them."""
    return hasattr(X, "dtypes") and hasattr(X, "iloc") and any(kind.kind not in "fiub" for kind in X.dtypes
                                                               if hasattr(kind, "kind")) or \
        (hasattr(X, "iloc") and any(not hasattr(kind, "kind") for kind in getattr(X, "dtypes", [])))


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


class _Remembering(BaseEstimator):
    """What both estimators share: base, keys, honest outputs for every row, and the memory."""

    def __init__(self, base: Any = None, *, keys: Any = "auto", cv: int = 5, held_out: Optional[float] = None,
                 prefit: bool = False, adopt: str = "auto", k: Optional[int] = None,
                 sigma: Optional[float] = None, temperature: Optional[float] = None, key_type: str = "float32",
                 key_transform: str = "auto", random_state: Any = 0, progress: bool = False):
        self.base = base
        self.keys = keys
        self.cv = cv
        self.held_out = held_out
        self.prefit = prefit
        self.adopt = adopt
        self.k = k
        self.sigma = sigma
        self.temperature = temperature
        self.key_type = key_type
        self.key_transform = key_transform
        self.random_state = random_state
        self.progress = progress

    # ---- given by the two kinds: _default_base, _outputs, _folds, _build, _row_losses, _adjust

    def _check_options(self) -> None:
        if self.adopt not in ("auto", "always", "never"):
            raise InvalidValue(f"adopt={self.adopt!r}: there are 'auto', 'always', 'never'")
        if self.key_transform not in ("auto", "none", "unit", "whiten"):
            raise InvalidValue(f"key_transform={self.key_transform!r}: there are 'auto', 'none', 'unit', 'whiten'")
        if self.held_out is not None and not 0 < self.held_out < 1:
            raise InvalidValue(f"held_out={self.held_out!r}: give a share between 0 and 1, or None to cross-fit")
        if int(self.cv) < 2:
            raise InvalidValue(f"cv={self.cv!r}: give 2 folds or more")

    def _check_inputs(self, X: Any, y: Any, reset: bool) -> Tuple[Any, Any]:
        """X for the base (a table stays one), and y as an array."""
        if reset and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if _has_texts(X):
            if reset:
                self._check_feature_names(X, reset=True)
                self._check_n_features(X, reset=True)
            return X, y if y is None else np.asarray(y)
        if y is None:
            checked = _validate(self, X, reset=reset)
        else:
            checked, y = _validate(self, X, y, reset=reset, **self._target_checks)
        return (X if hasattr(X, "iloc") else checked), y

    def _fit(self, X: Any, y: np.ndarray) -> None:
        """``y``: class numbers, or targets of rows x outputs."""
        self._check_options()
        rows = np.arange(y.shape[0])
        honest = True
        if self.prefit:
            self.base_ = self.base
            remembered = judged = rows
            outputs = self._outputs(self.base_, X)
        elif self.held_out is not None:
            remembered, judged = self._split(rows, y)
            self.base_ = self._fitted(_take(X, remembered), y[remembered])
            outputs = self._outputs(self.base_, X)
        else:
            remembered = judged = rows
            self.base_ = self._fitted(X, y)
            outputs, honest = self._cross_fitted(X, y)
        self.keys_ = make_keys(self.keys, self.base_, X, self._original(y))
        keys = dense(self.keys_.transform(X))
        separate = self.held_out is not None and not self.prefit
        self.memory_ = self._build(keys[remembered], outputs[remembered], y[remembered], not separate and honest)
        self.remembered_ = remembered
        self.tuning_: Optional[Tuning] = None
        self.adopted_ = False
        if honest and self.adopt != "never":
            held_out = (keys[judged], outputs[judged], y[judged]) if separate else ()
            # The memory's own answer; where few rows do not carry it, the paper's form.
            for method in (None, "resmem"):
                gain = self._judge_split(keys, outputs, y, judged, method) if separate else \
                    self._judge_folds(keys, outputs, y, method)
                self._tune(self.memory_, *held_out, method=method)
                # What halves of the rows gained is not lost on all of them by an answer that is the base's.
                self.adopted_ = self._is_gain(gain) and self.memory_.answer != "base"
                if self.adopted_:
                    break
        self.memory_.compact()  # former keys are not needed
        self.adopted_ = self.adopted_ or self.adopt == "always"

    def _fitted(self, X: Any, y: np.ndarray) -> Any:
        base = self._default_base() if self.base is None else clone(self.base)
        return base.fit(X, self._original(y))

    def _split(self, rows: np.ndarray, y: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        first, second = train_test_split(rows, test_size=self.held_out, random_state=self.random_state,
                                         stratify=self._strata(y, 2))
        return np.sort(first), np.sort(second)

    def _cross_fitted(self, X: Any, y: np.ndarray) -> Tuple[np.ndarray, bool]:
        """Each row's output of a base that was fitted without it, where there are rows enough."""
        folds = self._folds(y)
        if folds is None:
            return self._outputs(self.base_, X), False
        outputs: Any = None
        for train, test in folds:
            found = self._outputs(self._fitted(_take(X, train), y[train]), _take(X, test))
            if outputs is None:
                outputs = np.zeros((y.shape[0], found.shape[1]), found.dtype)
            outputs[test] = found
        return outputs, True

    def _tune(self, memory: Memory, *rows: np.ndarray, method: Optional[str], keep: bool = True) -> bool:
        """Chooses what was not given; too few rows leave the memory as it is."""
        given: Dict[str, Any] = {name: [value] for name, value in
                 (("k", self.k), ("sigma", self.sigma), ("temperature", self.temperature)) if value is not None}
        if self._regression:
            given.pop("temperature", None)
            if rows:
                rows, given["targets"] = rows[:2], rows[2]
        given["key_transform"] = "keep"
        if self.key_transform == "auto":  # keys are chosen by the blend; the paper's form has them as they are
            given["key_transform"] = "auto" if method is None else "none"
        try:
            tuning = memory.tune(*rows, any_model=True, method=method, progress=self.progress and keep, **given)
        except InvalidValue:
            return False
        if keep:
            self.tuning_ = tuning
        return True

    def _judge_folds(self, keys: np.ndarray, outputs: np.ndarray, y: np.ndarray,
                     method: Optional[str]) -> np.ndarray:
        """What each row gains by a memory and a choice that know nothing of it: two halves, each by the other."""
        half = np.random.RandomState(0).permutation(y.shape[0]) % 2
        gains = []
        for part in (0, 1):
            inside, outside = half != part, half == part
            if inside.sum() < 4 or outside.sum() < 1:
                return np.zeros(0)
            memory = self._build(keys[inside], outputs[inside], y[inside], True)
            if not self._tune(memory, method=method, keep=False):
                return np.zeros(0)
            gains.append(self._gains(memory, keys[outside], outputs[outside], y[outside]))
        return np.concatenate(gains)

    def _judge_split(self, keys: np.ndarray, outputs: np.ndarray, y: np.ndarray, judged: np.ndarray,
                     method: Optional[str]) -> np.ndarray:
        half = np.random.RandomState(0).permutation(judged.size) % 2
        gains = []
        for part in (0, 1):
            chosen_on, tried_on = judged[half != part], judged[half == part]
            memory = self.memory_.copy()
            if min(chosen_on.size, tried_on.size) < 1 or \
                    not self._tune(memory, keys[chosen_on], outputs[chosen_on], y[chosen_on], method=method,
                                   keep=False):
                return np.zeros(0)
            gains.append(self._gains(memory, keys[tried_on], outputs[tried_on], y[tried_on]))
        return np.concatenate(gains)

    def _gains(self, memory: Memory, keys: np.ndarray, outputs: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self._row_losses(outputs, None, y) - \
            self._row_losses(outputs, self._adjust(memory, keys, outputs), y)

    def _is_gain(self, gains: np.ndarray) -> bool:
        """The mean is above 0 by more than two of its standard errors."""
        self.held_out_gain_ = float(gains.mean()) if gains.size else 0.0
        if gains.size < 10:
            return False
        return bool(gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(gains.size))

    # ---- questions ---------------------------------------------------------------------------------

    def _arrays(self, X: Any) -> Tuple[Any, np.ndarray, np.ndarray]:
        check_is_fitted(self, "memory_")
        X, _ = self._check_inputs(X, None, reset=False)
        return X, dense(self.keys_.transform(X)), self._outputs(self.base_, X)

    def kneighbors(self, X: Any = None, n_neighbors: Optional[int] = None, return_distance: bool = True) -> Any:
        """Distances and row numbers of the nearest remembered rows, as of sklearn's k-NN.

        Without ``X``: of the remembered rows, each without itself."""
        check_is_fitted(self, "memory_")
        k = max(1, self.memory_.k) if n_neighbors is None else n_neighbors
        if X is None:
            stored = self.memory_.rows()
            living = np.flatnonzero(~stored.deleted)
            found = self.memory_.neighbors(stored.keys[living], k, exclude=living)
        else:
            found = self.memory_.neighbors(self._arrays(X)[1], k)
        return (found.distances, found.rows) if return_distance else found.rows

    def explain(self, X: Any, unknown_rate: float = 0.01) -> List[Explanation]:
        """Each row's prediction by the memory as a sum over its neighbors, and how far the row lies from it."""
        _, keys, outputs = self._arrays(X)
        return [self.memory_.explain(keys[i], outputs[i].astype(np.float32), unknown_rate=unknown_rate)
                for i in range(keys.shape[0])]

    def unknown(self, X: Any, rate: float = 0.01) -> np.ndarray:
        """Which rows are farther from the memory than all but this share of those its blend was fitted on.

        A memory without a blend raises ``InvalidValue``."""
        return self.memory_.unknown(self._arrays(X)[1], rate)

    def doctor(self, X: Any = None, y: Any = None) -> Diagnosis:
        """Is the memory in order, and does it help?  On rows given, or on its own, each without itself."""
        check_is_fitted(self, "memory_")
        if X is None:
            return self.memory_.doctor()
        _, keys, outputs = self._arrays(X)
        return self.memory_.doctor(keys, outputs, any_model=True, **self._answers(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "_Remembering":
        """Learns rows without fitting the base again; the first call is ``fit``.  Their ids: ``learned_ids_``."""
        if not hasattr(self, "memory_"):
            return self._first_fit(X, y, classes)
        X, y = self._check_inputs(X, y, reset=False)
        answers = self._answers(y)
        keys, outputs = dense(self.keys_.transform(X)), self._outputs(self.base_, X)
        if not self.adopted_:
            warnings.warn("the memory was not adopted, so what it learns changes no prediction; "
                          "adopt='always' uses it all the same", UserWarning, stacklevel=2)
        elif self.memory_.answer == "base":
            warnings.warn("the memory answers as the base, which tuning found no worse, so what it learns changes no "
                          "prediction; memory_.undo_tuning() makes it answer by ResMem", UserWarning, stacklevel=2)
        self.learned_ids_ = self.memory_.append(keys, outputs, **answers)
        return self

    def forget(self, ids: Any) -> "_Remembering":
        """Forgets rows by id: the number of a row given to ``fit``, or one of ``learned_ids_``.

        An id that is not there is a KeyError.  The base keeps what it was fitted on."""
        check_is_fitted(self, "memory_")
        self.memory_.delete(ids)
        return self

    def _more_tags(self) -> dict:
        return {"allow_nan": False}


class ResMemClassifier(ClassifierMixin, _Remembering):
    """A classifier with a memory of what it got wrong.

    Parameters
    ----------
    base : any scikit-learn classifier, fitted or not; None: LogisticRegression.
    keys : where rows are compared.  "auto": the hidden layer of an MLP, what a Pipeline makes of the inputs, else
        the inputs scaled; or "input", "hidden", a transformer, a function of X.
    cv : folds by which every row gets the output of a base that has not seen it.
    held_out : instead of ``cv``, the share of rows split off, which the memory is tuned on.
    prefit : ``base`` is fitted and stays as it is; the rows given to ``fit`` must be new to it.
    adopt : "auto" uses the memory where it lowers the loss on rows that neither base nor memory knew, by more than two
        standard errors; otherwise predictions are the base's.  "always", "never".
    k, sigma, temperature : None: tuned.
    key_transform : what is done to keys before distances are measured: "auto" chooses by cross-validation; "none",
        "unit" (cosine), "whiten".
    floor : probabilities below it count as it, because trees say 0 and that has no logarithm.

    Attributes: ``base_``, ``memory_``, ``adopted_``, ``held_out_gain_`` (NLL), ``tuning_``, ``classes_``.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ResMemClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, y)
    >>> model.predict(X[:3]), model.predict_proba(X[:3]).shape
    (array([0, 0, 0]), (3, 3))
    >>> len(model.forget([7, 8]).memory_)
    148
    """

    _regression = False
    _target_checks: dict = {}

    def __init__(self, base: Any = None, *, keys: Any = "auto", cv: int = 5, held_out: Optional[float] = None,
                 prefit: bool = False, adopt: str = "auto", k: Optional[int] = None,
                 sigma: Optional[float] = None, temperature: Optional[float] = None, key_type: str = "float32",
                 key_transform: str = "auto", floor: float = 1e-4, random_state: Any = 0, progress: bool = False):
        super().__init__(base, keys=keys, cv=cv, held_out=held_out, prefit=prefit, adopt=adopt, k=k, sigma=sigma,
                         temperature=temperature, key_type=key_type, key_transform=key_transform,
                         random_state=random_state, progress=progress)
        self.floor = floor

    def fit(self, X: Any, y: Any) -> "ResMemClassifier":
        """Fits base and memory.  ``X`` may be a table with column names, ``y`` labels of any type."""
        return self._first_fit(X, y, None)

    def _first_fit(self, X: Any, y: Any, classes: Any) -> "ResMemClassifier":
        X, y = self._check_inputs(X, y, reset=True)
        check_classification_targets(y)
        if not 0 < self.floor < 1:
            raise InvalidValue(f"floor={self.floor!r}: give a probability above 0 and below 1")
        known = np.unique(y) if classes is None else np.unique(classes)
        if self.prefit:
            known = np.asarray(self.base.classes_)
        if known.size < 2:
            raise ValueError(f"y holds one class, {known[0]!r}; a classifier needs 2 classes or more")
        self.classes_ = known
        self._fit(X, self._numbers(y))
        return self

    def _numbers(self, y: Any) -> np.ndarray:
        y = np.asarray(y)
        numbers = np.searchsorted(self.classes_, y)
        unknown = (numbers >= self.classes_.size) | (self.classes_[np.minimum(numbers, self.classes_.size - 1)] != y)
        if unknown.any():
            raise ValueError(f"y holds {y[unknown][0]!r}, which was no class when the base was fitted")
        return numbers

    def _original(self, y: np.ndarray) -> np.ndarray:
        return self.classes_[y]

    def _answers(self, y: Any) -> dict:
        return {"labels": self._numbers(y)}

    def _default_base(self) -> Any:
        return LogisticRegression(max_iter=1000)

    def _strata(self, y: np.ndarray, least: int) -> Optional[np.ndarray]:
        return y if np.bincount(y)[np.unique(y)].min() >= least else None

    def _folds(self, y: np.ndarray) -> Optional[Any]:
        counts = np.bincount(y, minlength=self.classes_.size)
        folds = int(min(self.cv, counts[counts > 0].min()))
        if folds < 2:
            return None
        return StratifiedKFold(folds, shuffle=True, random_state=self.random_state).split(np.zeros(y.size), y)

    def _outputs(self, base: Any, X: Any) -> np.ndarray:
        return logits_of(base, X, self.classes_, self.floor)

    def _build(self, keys: np.ndarray, outputs: np.ndarray, y: np.ndarray, cross_fitted: bool) -> Memory:
        names = [str(name).replace("\n", " ") for name in self.classes_]
        return Memory.build(keys, outputs, y, classes=names, cross_fitted=cross_fitted, key_type=self.key_type,
                            key_transform="none" if self.key_transform == "auto" else self.key_transform,
                            k=self.k or 53, sigma=self.sigma or 0.7, temperature=self.temperature or 1.4)

    def _adjust(self, memory: Memory, keys: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        return memory.predict_proba(keys, outputs).astype(np.float64)

    def _row_losses(self, outputs: np.ndarray, answers: Optional[np.ndarray], y: np.ndarray) -> np.ndarray:
        p: Any = answers
        if p is None:
            p = np.exp(outputs.astype(np.float64) - outputs.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
        return -np.log(np.maximum(p[np.arange(y.size), y], 2.0 ** -23))

    def predict_proba(self, X: Any) -> np.ndarray:
        X, keys, outputs = self._arrays(X)
        if self.adopted_:
            answers = self._adjust(self.memory_, keys, outputs)
        elif hasattr(self.base_, "predict_proba") and len(self.base_.classes_) == self.classes_.size:
            return np.asarray(self.base_.predict_proba(X))
        else:
            answers = np.exp(outputs.astype(np.float64) - outputs.max(axis=1, keepdims=True))
        return answers / answers.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)] if hasattr(self, "classes_") else \
            self.predict_proba(X)


class ResMemRegressor(RegressorMixin, _Remembering):
    """A regressor with a memory of what it got wrong; parameters as of ``ResMemClassifier``.

    ``y`` may have several columns where the base takes them.  ``held_out_gain_`` is of the squared error.

    >>> import numpy as np
    >>> X = np.linspace(-3, 3, 300).reshape(-1, 1)
    >>> model = ResMemRegressor().fit(X, np.sin(2 * X.ravel()))     # a straight line, and its memory
    >>> model.adopted_, bool(model.score(X, np.sin(2 * X.ravel())) > 0.95)
    (True, True)
    """

    _regression = True
    _target_checks = {"multi_output": True, "y_numeric": True}

    def fit(self, X: Any, y: Any) -> "ResMemRegressor":
        """Fits base and memory."""
        return self._first_fit(X, y, None)

    def _first_fit(self, X: Any, y: Any, _classes: Any) -> "ResMemRegressor":
        X, y = self._check_inputs(X, y, reset=True)
        y = np.asarray(y, np.float64)
        self.one_output_ = y.ndim == 1
        self._fit(X, y.reshape(y.shape[0], -1))
        return self

    def _original(self, y: np.ndarray) -> np.ndarray:
        return y.ravel() if self.one_output_ else y

    def _answers(self, y: Any) -> dict:
        return {"targets": np.asarray(y, np.float64)}

    def _default_base(self) -> Any:
        return LinearRegression()

    def _strata(self, _y: np.ndarray, _least: int) -> None:
        return None

    def _folds(self, y: np.ndarray) -> Optional[Any]:
        folds = min(int(self.cv), y.shape[0] // 2)
        if folds < 2:
            return None
        return KFold(folds, shuffle=True, random_state=self.random_state).split(y)

    def _outputs(self, base: Any, X: Any) -> np.ndarray:
        return values_of(base, X)

    def _build(self, keys: np.ndarray, outputs: np.ndarray, y: np.ndarray, cross_fitted: bool) -> Memory:
        return Memory.build(keys, outputs, targets=y, cross_fitted=cross_fitted, key_type=self.key_type,
                            key_transform="none" if self.key_transform == "auto" else self.key_transform,
                            k=self.k or 53, sigma=self.sigma or 0.7)

    def _adjust(self, memory: Memory, keys: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        # The correction alone is float32; the base's digits stay.
        single = outputs.astype(np.float32)
        return outputs + (memory.scores(keys, single).astype(np.float64) - single)

    def _row_losses(self, outputs: np.ndarray, answers: Optional[np.ndarray], y: np.ndarray) -> np.ndarray:
        return (((outputs if answers is None else answers) - y) ** 2).mean(axis=1)

    def predict(self, X: Any) -> np.ndarray:
        _, keys, outputs = self._arrays(X)
        answers = self._adjust(self.memory_, keys, outputs) if self.adopted_ else outputs
        return answers.ravel() if self.one_output_ else answers

    def _more_tags(self) -> dict:
        return {"allow_nan": False, "multioutput": True}
