"""Results: the JSON documents of docs/json.md as objects, with a page, a table and a plot."""
import ctypes
import html
import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Optional, Union

from . import _lib


class Document:
    """A result.  ``document["field"]`` is the field of docs/json.md; ``json`` is the text as the library gave it."""

    def __init__(self, text: str) -> None:
        self.json = text
        self.data: Dict[str, Any] = json.loads(text)

    def __getitem__(self, field: str) -> Any:
        return self.data[field]

    def __contains__(self, field: object) -> bool:
        return field in self.data

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def get(self, field: str, default: Any = None) -> Any:
        return self.data.get(field, default)

    @property
    def warnings(self) -> List[str]:
        return list(self.data.get("warnings", []))

    def html(self) -> str:
        """The report: one page that stands alone."""
        page = ctypes.c_void_p()
        _lib.check(_lib.lib.resmem_report(self.json.encode(), ctypes.byref(page)))
        return _lib.take_text(page)

    def save_html(self, path: Union[str, "os.PathLike[str]"]) -> None:
        pathlib.Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html(), quote=True)}" sandbox="" '
                'style="width:100%;height:34em;border:1px solid #ccc"></iframe>')

    def __repr__(self) -> str:
        return f"<resmem.{type(self).__name__}: {self.summary()}>"

    def summary(self) -> str:
        return str(self.data.get("schema", ""))


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib, which is not installed") from None
    return pyplot.subplots()[1]


class MemoryInfo(Document):
    """What a memory holds."""

    def summary(self) -> str:
        memory = self.data["memory"]
        return f"{memory['rows']:,} rows"

    def _repr_html_(self) -> str:
        memory = self.data["memory"]
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(_plain(value))}</td></tr>"
            for name, value in memory.items() if name not in ("schema", "run") and value not in (None, ""))
        return f"<table><caption>resmem.Memory</caption>{cells}</table>"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_plain(inner)}" for name, inner in value.items() if inner not in (None, ""))
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


class Evaluation(Document):
    """Does the memory help?"""

    @property
    def base_accuracy(self) -> float:
        return self.data["methods"][0]["accuracy"]["value"]

    @property
    def accuracy(self) -> float:
        """Of the memory's answer."""
        return self.data["methods"][-1]["accuracy"]["value"]

    @property
    def gain(self) -> float:
        return self.data["gain"]["gain"]

    @property
    def base_nll(self) -> float:
        return self.data["calibration"]["base"]["nll"]

    @property
    def nll(self) -> float:
        return self.data["calibration"]["resmem"]["nll"]

    @property
    def metrics(self) -> Dict[str, float]:
        """Of the memory's answer: brier, ece with its interval, auc, macro_f1, balanced_accuracy, top5."""
        return self.data["methods"][-1].get("metrics", {})

    @property
    def pairs(self) -> List[Dict[str, Any]]:
        """Every method against every other, named: ``gain`` and ``nll_gain`` of ``right`` over ``left``."""
        methods = self.data["methods"]
        return [{**pair, "left": methods[pair["left"]]["method"], "right": methods[pair["right"]]["method"]}
                for pair in self.data.get("pairs", [])]

    @property
    def better_rivals(self) -> List[str]:
        """Sentences: which rival is shown to be better than the memory's answer, and in what."""
        return list(self.data.get("better_rivals", []))

    @property
    def fixed(self) -> int:
        return self.data["gain"]["fixed"]

    @property
    def harmed(self) -> int:
        return self.data["gain"]["harmed"]

    def summary(self) -> str:
        if "regression" in self.data:
            errors = self.data["regression"]
            return f"{self.data['rows']:,} rows, mse {errors['base_mse']:.4g} -> {errors['resmem_mse']:.4g}"
        gain = self.data["gain"]
        return (f"{self.data['rows']:,} rows, accuracy {100 * self.base_accuracy:.2f} % -> "
                f"{100 * self.accuracy:.2f} % (gain {100 * gain['gain']:+.2f}, {100 * gain['low']:+.2f} .. "
                f"{100 * gain['high']:+.2f}), fixed {gain['fixed']}, harmed {gain['harmed']}")

    def plot(self, ax: Any = None) -> Any:
        """Reliability before and after; regression: the errors."""
        ax = _axes(ax)
        if "regression" in self.data:
            errors = self.data["regression"]
            ax.bar(["base", "k-NN", "memory"], [errors["base_mse"], errors["knn_mse"], errors["resmem_mse"]])
            ax.set_ylabel("mean squared error")
            return ax
        ax.plot([0, 1], [0, 1], color="0.7", linestyle="--")
        for name, label in (("base", "base"), ("resmem", "with memory")):
            part = self.data["calibration"][name]
            bins = [b for b in part["bins"] if b["count"] > 0]
            ax.plot([b["confidence"] for b in bins], [b["accuracy"] for b in bins], marker="o",
                    label=f"{label}: NLL {part['nll']:.3f}, ECE {part['ece']:.3f}")
        ax.set_xlabel("probability of the answer")
        ax.set_ylabel("share that was right")
        ax.legend()
        return ax


class Tuning(Document):
    """How the parameters were chosen."""

    @property
    def chosen(self) -> Dict[str, float]:
        return self.data["chosen"]

    @property
    def rivals(self) -> List[Dict[str, Any]]:
        """k-NN, kNN-LM, a temperature and a refitted last layer, tuned on the same rows."""
        return list(self.data.get("rivals", []))

    def summary(self) -> str:
        chosen = self.chosen
        return (f"k = {chosen['k']}, sigma = {chosen['sigma']:.4g}, T = {chosen.get('temperature', 1):.4g} "
                f"on {self.data['rows']:,} rows")

    def plot(self, ax: Any = None) -> Any:
        """The objective over k and sigma, at the chosen temperature."""
        import numpy as np
        ax = _axes(ax)
        grid, points = self.data["grid"], self.data["points"]
        if "loss" in points:
            values, label = np.array(points["loss"]), "mean squared error"
        else:
            values = (np.array(points["fixed"]) - np.array(points["harmed"])) / max(1, self.data["rows"])
            label = "gain"
        values = values.reshape(len(grid["temperature"]), len(grid["sigma"]), len(grid["k"]))
        chosen = self.chosen.get("temperature", grid["temperature"][0])
        nearest = int(np.argmin(np.abs(np.array(grid["temperature"]) - chosen)))
        mesh = ax.pcolormesh(grid["k"], grid["sigma"], values[nearest], shading="nearest")
        ax.figure.colorbar(mesh, ax=ax, label=label)
        ax.set_xlabel("k")
        ax.set_ylabel("sigma")
        return ax


class Explanation(Document):
    """One prediction as a sum over its neighbors.

    A blend's sum is in log space: ``ledger["parts"]`` sum to it exactly, and so does each neighbor's ``exact`` to
    the part ``residual``; what else a neighbor's ``contribution`` holds is shared by convention."""

    @property
    def ledger(self) -> Dict[str, Any]:
        return self.data["ledger"]

    @property
    def prediction(self) -> Optional[int]:
        return self.ledger.get("prediction")

    @property
    def base_prediction(self) -> Optional[int]:
        return self.ledger.get("base_prediction")

    @property
    def neighbors(self) -> List[Dict[str, Any]]:
        """Nearest first: id, row, distance, weight, label, contribution; of a blend also what of it is exact."""
        return self.ledger["lines"]

    @property
    def distance_percentile(self) -> Optional[float]:
        """How far the row lies from the memory, 0 to 100 among the rows it was tuned on; None: it cannot tell."""
        return self.ledger.get("distance_percentile")

    @property
    def unknown(self) -> Optional[bool]:
        """Whether it is farther than all but ``unknown_rate`` of them; None: the memory cannot tell."""
        return self.ledger.get("unknown")

    def class_name(self, number: int) -> str:
        names = self.data.get("class_names") or []
        return names[number] if 0 <= number < len(names) else str(number)

    def summary(self) -> str:
        if self.prediction is None or self.prediction < 0:
            return f"{len(self.neighbors)} neighbors"
        far = ", unknown: like nothing it was tuned on" if self.unknown else ""
        return (f"{self.class_name(self.prediction)} (base: {self.class_name(self.base_prediction or 0)}), "
                f"{len(self.neighbors)} neighbors{far}")

    def plot(self, ax: Any = None, most: int = 10) -> Any:
        """What base and neighbors add to the winning output."""
        ax = _axes(ax)
        column = self.ledger["outputs"].index(self.prediction) if (self.prediction or -1) >= 0 else 0
        lines = sorted(self.neighbors, key=lambda line: -abs(line["contribution"][column]))[:most]
        names = ["base"] + [f"row {line['id']}" for line in lines]
        values = [self.ledger["base"][column]] + [line["contribution"][column] for line in lines]
        ax.barh(names[::-1], values[::-1])
        log = "parts" in self.ledger
        ax.set_xlabel("added in log space; neighbors' shares partly by convention" if log else "added to the score")
        return ax


class Difference(Document):
    """What changed between two states of a memory."""

    def summary(self) -> str:
        return (f"{self.data['added']:,} added, {self.data['removed']:,} removed, "
                f"{self.data['changed']:,} changed, {len(self.data['settings']):,} settings")


class Diagnosis(Document):
    """Is the memory in order?"""

    @property
    def verdict(self) -> str:
        return self.data["verdict"]

    @property
    def advice(self) -> List[str]:
        return list(self.data["advice"])

    @property
    def worse(self) -> bool:
        """Base + memory is worse than the base on the rows judged."""
        return bool(self.data["worse"])

    def summary(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in self.advice)
        return f"<p><b>{html.escape(self.verdict)}</b></p><ul>{items}</ul>"
