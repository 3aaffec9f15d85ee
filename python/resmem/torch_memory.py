"""A torch model with a memory."""
from typing import Any, Iterable, List, Optional, Tuple, Union

import numpy as np
import torch
from torch import nn

from ._lib import InvalidValue
from ._watch import Bar, Progress
from .documents import Evaluation, Explanation
from .memory import Memory


def _find_layer(model: nn.Module, layer: Union[str, nn.Module]) -> nn.Module:
    if isinstance(layer, nn.Module):
        return layer
    layers = dict(model.named_modules())
    if layer not in layers:
        raise InvalidValue(f"layer {layer!r}: the model has {', '.join(name for name in layers if name)}")
    return layers[layer]


class _Tap:
    """Takes what a layer gives (or, with ``inputs``, what it gets) while the model runs."""

    def __init__(self, model: nn.Module, layer: Union[str, nn.Module], inputs: bool) -> None:
        self.values: Optional[torch.Tensor] = None
        self._inputs = inputs
        self._handle = _find_layer(model, layer).register_forward_hook(self._take)

    def _take(self, _module: nn.Module, given: Any, made: Any) -> None:
        values = given[0] if self._inputs else made
        self.values = values[0] if isinstance(values, (tuple, list)) else values

    def keys(self) -> torch.Tensor:
        if self.values is None:
            raise InvalidValue("the layer was not run by the model")
        values, self.values = self.values, None
        return values.detach().flatten(1)

    def remove(self) -> None:
        self._handle.remove()


def _rows(values: torch.Tensor) -> np.ndarray:
    """NumPy's view of a tensor; a copy only where it is on another device or not float32."""
    return values.detach().to("cpu", torch.float32).numpy()


class TorchMemory(nn.Module):
    """A model whose answers are corrected by its memory: ``from_torch`` makes it.

    Called as the model is, it gives log probabilities (regression: values), on the model's device.  Training goes on
    in ``model``; a memory belongs to the weights it was made with.
    """

    def __init__(self, model: nn.Module, layer: Union[str, nn.Module], memory: Memory, inputs: bool = False) -> None:
        super().__init__()
        self.model = model
        self.layer = layer
        self.inputs = inputs
        self.memory = memory

    def arrays(self, x: Any) -> Tuple[torch.Tensor, torch.Tensor]:
        """Keys and logits of a batch."""
        tap = _Tap(self.model, self.layer, self.inputs)
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                logits = self.model(*x) if isinstance(x, (tuple, list)) else self.model(x)
                return tap.keys(), logits.detach()
        finally:
            tap.remove()
            self.model.train(was_training)

    def probabilities(self, x: Any) -> torch.Tensor:
        keys, logits = self.arrays(x)
        answer = torch.from_numpy(self.memory.predict_proba(_rows(keys), _rows(logits)))
        return answer.to(logits.device, logits.dtype)

    def forward(self, x: Any) -> torch.Tensor:
        keys, logits = self.arrays(x)
        if self.memory.task == "regression":
            answer = torch.from_numpy(self.memory.scores(_rows(keys), _rows(logits.reshape(len(logits), -1))))
            return answer.reshape(logits.shape).to(logits.device, logits.dtype)
        answer = torch.from_numpy(self.memory.predict_proba(_rows(keys), _rows(logits)))
        return answer.clamp_min(torch.finfo(torch.float32).tiny).log().to(logits.device, logits.dtype)

    def collect(self, loader: Iterable, progress: Progress = False) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Keys, logits and labels of everything that a loader gives."""
        return _collect(self.model, self.layer, loader, self.inputs, progress)

    def tune(self, loader: Iterable, **options: Any) -> Any:
        """Chooses the memory's parameters on held-out batches."""
        keys, logits, labels = self.collect(loader)
        return self.memory.tune(keys, logits, **_answers(self.memory.task, labels), **options)

    def evaluate(self, loader: Iterable, **options: Any) -> Evaluation:
        """Does the memory help on these batches?"""
        keys, logits, labels = self.collect(loader)
        return self.memory.evaluate(keys, logits, **_answers(self.memory.task, labels), **options)

    def explain(self, x: Any, unknown_rate: float = 0.01) -> List[Explanation]:
        keys, logits = (_rows(values) for values in self.arrays(x))
        return [self.memory.explain(keys[i], logits[i], unknown_rate=unknown_rate) for i in range(keys.shape[0])]

    def unknown(self, x: Any, rate: float = 0.01) -> np.ndarray:
        """Which inputs are farther from the memory than all but this share of those its blend was fitted on."""
        return self.memory.unknown(_rows(self.arrays(x)[0]), rate)

    def learn(self, x: Any, labels: Any) -> np.ndarray:
        """Remembers a batch without training; gives its ids."""
        keys, logits = (_rows(values) for values in self.arrays(x))
        return self.memory.append(keys, logits, **_answers(self.memory.task, np.asarray(labels)))

    def forget(self, ids: Any) -> None:
        self.memory.delete(ids)


def _answers(task: str, labels: np.ndarray) -> dict:
    return {"targets": labels} if task == "regression" else {"labels": labels}


def _collect(model: nn.Module, layer: Union[str, nn.Module], loader: Iterable, inputs: bool,
             progress: Progress) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    tap = _Tap(model, layer, inputs)
    was_training = model.training
    model.eval()
    bar = Bar() if progress is True else None
    parts: List[Tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    total = len(loader) if hasattr(loader, "__len__") else 0  # type: ignore[arg-type]
    try:
        with torch.no_grad():
            for i, (x, y) in enumerate(loader):
                logits = model(x.to(device))
                parts.append((_rows(tap.keys()), _rows(logits), np.asarray(torch.as_tensor(y).cpu())))
                if bar:
                    bar.draw("embed", i + 1, max(total, i + 1))
                elif callable(progress):
                    progress("embed", i + 1, max(total, i + 1))
    finally:
        tap.remove()
        model.train(was_training)
        if bar:
            bar.close()
    if not parts:
        raise InvalidValue("the loader gave no batch")
    keys, logits, labels = (np.concatenate(column) for column in zip(*parts))
    return keys, logits.reshape(len(keys), -1), labels


def from_torch(model: nn.Module, layer: Union[str, nn.Module], loader: Iterable, *, inputs: bool = False,
               validation: Optional[Iterable] = None, regression: bool = False, progress: Progress = False,
               **options: Any) -> TorchMemory:
    """A memory of what ``model`` gets wrong on ``loader``, keyed by what ``layer`` gives.

    ``layer``: a module or its name; its output is flattened.  ``inputs=True``: what the layer gets instead, so that
    the last Linear can be named and the embedding before it is the key.  ``loader`` gives (x, labels) batches.
    ``validation``: batches that the model was not trained on, to tune the memory.  Options as of ``Memory.build``.

    >>> import torch
    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <...>
    >>> x = torch.randn(200, 4); y = (x[:, 0] * x[:, 1] > 0).long()
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> model = from_torch(net, "2", [(x, y)], inputs=True, k=1)
    >>> model(x).shape, bool((model(x).argmax(1) == y).all())
    (torch.Size([200, 2]), True)
    """
    keys, logits, labels = _collect(model, layer, loader, inputs, progress)
    task = "regression" if regression else "classification"
    memory = Memory.build(keys, logits, progress=progress, **_answers(task, labels), **options)
    result = TorchMemory(model, layer, memory, inputs)
    if validation is not None:
        result.tune(validation, progress=progress)
    return result
