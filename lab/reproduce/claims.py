#!/usr/bin/env python3
"""The paper's claims beside ours, as docs/results/README.md.

    lab/reproduce/claims.py            writes the page
    lab/reproduce/claims.py --check    fails where the page is not what the results say

Every figure of ours is a cell of a page that `resmem reproduce` or `resmem theory` has written; the
date is the one of the step that measured it."""
import json
import pathlib
import re
import sys

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"
PAGE = RESULTS / "README.md"


def tables(page):
    """{section: [row as {column: cell}]} of a page; a row is found by its first cell."""
    found, section, header = {}, "", None
    for line in (RESULTS / page).read_text().splitlines():
        if line.startswith("## "):
            section, header = line[3:], None
        elif not line.startswith("|"):
            header = None
        else:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if header is None:
                header = cells
            elif not set("".join(cells)) <= set("-: "):
                found.setdefault(section, []).append(dict(zip(header, cells), first=cells[0]))
    return found


class Page:
    def __init__(self, name):
        self.tables = tables(f"{name}.md")
        dates = re.findall(r"^- date: (\S{10})", (RESULTS / f"{name}.md").read_text(), re.M)
        self.day = dates[0] if dates else "–"
        document = RESULTS / f"{name}.json"
        self.steps = json.loads(document.read_text())["steps"] if document.exists() else {}

    def row(self, section, first):
        rows = [row for title, all_rows in self.tables.items() if title.startswith(section)
                for row in all_rows if row["first"] == first]
        if len(rows) != 1:
            raise SystemExit(f"claims.py: {len(rows)} rows {first!r} in a section {section!r}")
        return rows[0]

    def date(self, step):
        return self.steps[step]["made"]["started"][:10]

    def result(self, step):
        """Of a step that stands on the page; None where it was never run."""
        return self.steps[step]["result"] if step in self.steps else None


def points_text(gain):
    return f"{100 * gain['value']:+.2f} ({100 * gain['low']:+.2f} to {100 * gain['high']:+.2f})"


def sign_of(gain, gains, loses):
    return gains if gain["low"] > 0 else loses if gain["high"] < 0 else "not shown"


# MobileNet-V2 on ImageNet: width, base and ResMem in the paper.
IMAGENET = [("0.35", 60.2, 61.2), ("0.5", 65.3, 66.1), ("0.75", 69.6, 70.1), ("1.0", 71.3, 71.8), ("1.3", 74.7, 75.1)]


def imagenet_claims():
    """A row for each width of the paper's table; ours stands in for it on other photos."""
    page = Page("imagenet") if (RESULTS / "imagenet.json").exists() else None
    for width, base, resmem in IMAGENET:
        claim, paper = f"ImageNet, MobileNet-V2 {width}", f"{base} % to {resmem} %: {resmem - base:+.1f}"
        step = f"table-{width}"
        command = f"reproduce imagenet --steps {step}"
        result = page.result(step) if page else None
        if result is None:
            yield claim, paper, "not run", "open", command, "–", "–"
            continue
        for one in result["reductions"]:
            if one["reduction"] != "none":
                continue
            pairs = {pair["left"]: pair["accuracy"] for pair in one["pairs"]}
            gain = pairs["ResMem, the paper's values"]
            yield (claim, paper, f"{points_text(gain)}; tuned blend {points_text(pairs['blend'])}",
                   "stand-in: " + sign_of(gain, "gains", "**loses**"), command, "[imagenet](imagenet.md)", page.date(step))


def cifar_claims(cifar):
    """What the paper claims of CIFAR-100 and no row of our page's summary says."""
    def row(claim, paper, step, text):
        """`text` gives (ours, verdict) of a result."""
        result = cifar.result(step)
        ours, verdict = text(result) if result else ("not run", "open")
        return (claim, paper, ours, verdict, f"reproduce cifar100 --steps {step}", "[cifar100](cifar100.md)" if result else "–",
                cifar.date(step) if result else "–")

    def gain(result):
        tuned = result["tuned"]["gain"]["test"]["gain"]
        return f"{points_text(tuned)}, tuned", sign_of(tuned, "holds", "**does not hold**")

    for depth in (32, 44, 56):
        yield row(f"ResNet-{depth} gains, too", "a figure", f"short-resnet{depth}-seed1", gain)
    for network, share in ((8, 10), (8, 50), (14, 10), (20, 10)):
        yield row(f"ResNet-{network}, {share} % of the images drawn class by class, gains", "a figure",
                  f"balanced-resnet{network}-{share}", gain)

    def coarse(result):
        at = result["at"]["paper"]
        difference = dict(at["interval"], value=at["difference"])
        return f"{points_text(difference)}, {len(result['runs'])} seeds", sign_of(difference, "holds", "**does not hold**")

    yield row("fixed errors were coarsely right, seeds pooled", "examples", "coarse-pooled", coarse)
    yield row("its examples: wrong but close, right with memory", "a figure", "examples",
              lambda result: (f"{len(result['fixed'])} of 20 superclasses, beside {len(result['harmed'])} the other way", "other measure"))
    def key_bytes(result):
        ratio = result["key_bytes"] / 15e6
        return (f"{result['key_bytes'] / 1e6:.1f} MB for {result['rows']:,} keys",
                "match" if 0.8 < ratio < 1.2 else "above" if ratio > 1 else "below")

    yield row("50,000 keys take about 15 MB", "15 MB", "bytes", key_bytes)
    yield row("ResNet-8 takes 2.5 MB, ResNet-14 4 MB, with one image in work", "2.5 MB, 4 MB", "bytes",
              lambda result: (f"{result['network']['file_bytes'] / 1e6:.2f} MB as a file", "other measure"))


def open_questions(cifar):
    """The paper's "future work"."""
    yield ("asked: does training together with the memory help?", "future work", "not run", "open", "–", "–", "–")
    worst = [row for row in cifar.tables["Shifted test images"] if "images, the paper's values" in row]
    losses = [row for row in worst if row["gain"].split(" ")[0].startswith("-")]
    yield ("asked: does it help on shifted images?", "future work",
           f"{len(worst) - len(losses)} of {len(worst)} gain, {len(losses)} lose; worst "
           f"{min(float(row['gain'].split(' ')[0]) for row in worst):+.2f}", "measured", "reproduce cifar100 --steps shift",
           "[cifar100](cifar100.md)", cifar.date("shift"))
    methods = {method["method"]: method for method in cifar.result("calibration")["methods"]}
    named = {name: f"{methods[name]['nll']:.3f} {name}" for name in methods}
    bases = [name for name in methods if name.startswith("base")]
    best = min((name for name in methods if name not in bases), key=lambda name: methods[name]["nll"])
    yield ("asked: can its scores be made probabilities?", "future work",
           "NLL " + ", ".join(named[name] for name in [*bases, best]), "measured",
           "reproduce cifar100 --steps calibration", "[cifar100](cifar100.md)", cifar.date("calibration"))


def claims():
    """(claim, the paper, ours, verdict, command, page, date)"""
    cifar, lm, theory = Page("cifar100"), Page("lm"), Page("theory")

    def summary(page, first):
        row = page.row("Summary", first)
        paper = next(row[column] for column in row if column.startswith("the paper"))
        return paper, next(row[column] for column in row if column.startswith("here")), row["verdict"]

    def of(page, name, claim, first, step):
        return (claim, *summary(page, first), f"reproduce {name} --steps {step}", f"[{name}]({name}.md)", page.date(step))

    def on_page(claim, paper, ours, holds, steps):
        return (claim, paper, ours, verdict(holds), f"reproduce cifar100 --steps {steps}", "[cifar100](cifar100.md)",
                cifar.date(steps.split(",")[0].removesuffix("...")))

    def points(cell):
        return float(cell.split(" ")[0].replace("%", ""))

    def verdict(holds):
        return "holds" if holds else "**does not hold**"

    long = "paper-resnet8-seed1"
    early, late = (cifar.row("By epoch", epoch) for epoch in ("128", "256"))
    few, all_rows = (cifar.row("Number of training", share) for share in ("10 %", "100 %"))
    depths = [cifar.row("Depth", name) for name in ("resnet8", "resnet14", "resnet20")]
    gains = [points(row["gain, tuned"]) for row in depths]
    small, bases = points(depths[0]["ResMem, tuned"]), [points(row["base"]) for row in depths]
    sizes = "balanced-resnet8" if "balanced-resnet8-10" in cifar.steps else "size-resnet8"
    slopes = [row for row in theory.tables["Slopes of log(risk) against log(n), from n = 3162 on"]]
    slowest = max(points(row["ResMem"]) for row in slopes)
    return [
        of(cifar, "cifar100", "ResMem raises ResNet-8's accuracy", "gain", long),
        of(cifar, "cifar100", "wrong answers made right", "TPR: wrong → right", long),
        of(cifar, "cifar100", "right answers made wrong", "FPR: right → wrong", long),
        of(cifar, "cifar100", "k-NN alone is worse", "k-NN only, k 53, σ 0.7", long),
        of(cifar, "cifar100", "than ResMem", "ResMem, k 53, σ 0.7, T 1.4", long),
        of(cifar, "cifar100", "training images are memorized", "ResMem on its training images", long),
        of(cifar, "cifar100", "over seeds (ours: 24 epochs): ResMem", "the same: ResMem at the paper's k, σ, T", "short-resnet8-seed3"),
        on_page("less training, more gain: epoch 128, 256", f"{early['its gain']}, {late['its gain']}",
                f"{early['gain']}, {late['gain']}", points(early["gain"]) > points(late["gain"]), "epochs"),
        on_page("more images, more gain: 10 %, all", "grows", f"{few['gain, tuned']}, {all_rows['gain, tuned']}",
                points(all_rows["gain, tuned"]) > points(few["gain, tuned"]), f"{sizes}-10,short-resnet8-seed1"),
        on_page("smaller nets gain more: ResNet-8, 14, 20", "claimed", ", ".join(f"{gain:+.2f}" for gain in gains),
                gains == sorted(gains, reverse=True), "short-resnet20-seed1,short-resnet14-seed1,short-resnet8-seed1"),
        on_page("ResNet-8 with it lies between the bases of 8 and 14", "56.46 < 59.66 < ResNet-14",
                f"{bases[0]:.2f} < {small:.2f} < {bases[1]:.2f}", bases[0] < small < bases[1],
                "short-resnet14-seed1,short-resnet8-seed1"),
        of(cifar, "cifar100", "fixed errors were coarsely right",
           "fixed errors are within the superclass more often than others", "coarse"),
        of(cifar, "cifar100", "the k-NN step is cheap", "k-NN step for one image, one thread", "latency"),
        of(cifar, "cifar100", "one image through ResNet-8 takes", "one image through ResNet-8, one thread", "latency"),
        *cifar_claims(cifar),
        *imagenet_claims(),
        of(lm, "lm", "tokens: gain at the paper's k and σ", "ResMem's gain, the paper's k 50, σ 1, T 1", "eval-test"),
        of(lm, "lm", "the same, tuned", "ResMem's gain, k and σ tuned on held-out text", "eval-test"),
        of(lm, "lm", "more than kNN-LM, the paper's k and σ", "ResMem less kNN-LM, the paper's k and σ", "eval-test"),
        of(lm, "lm", "the same, tuned", "ResMem less kNN-LM, tuned k and σ", "eval-test"),
        of(lm, "lm", "a larger memory gains more", "the gain grows with the memory", "sizes"),
        ("theory: ResMem's risk falls at least as proved", "slope -0.181 and less", f"at most {slowest:g}",
         verdict(all(points(row["ResMem"]) <= points(row["proved T2, Z_n"]) for row in slopes)), "theory",
         "[theory](theory.md)", theory.day),
        ("tokens: small with memory beats the larger base (T5-base)", "40.87 % against 40.08 %", "not run", "open", "–", "–", "–"),
        *open_questions(cifar),
    ]


# The groups of the first sentence: the first of these words that a verdict holds.
GROUPS = (("stand-in", "stand-ins on other photos"), ("does not hold", "does not hold"), ("open", "not tried"),
          ("not shown", "not shown"), ("below", "smaller here"), ("other measure", "measured otherwise"),
          ("measured", "asked by the paper and measured"), ("holds", "holds, match or exceeded"),
          ("match", "holds, match or exceeded"), ("above", "holds, match or exceeded"),
          ("times faster", "holds, match or exceeded"))


def group_of(verdict):
    for word, group in GROUPS:
        if word in verdict:
            return group
    raise SystemExit(f"claims.py: the verdict {verdict!r} belongs to no group")


def page():
    rows = claims()
    counts = {}
    for row in rows:
        counts[group_of(row[3])] = counts.get(group_of(row[3]), 0) + 1
    order = ["holds, match or exceeded", "smaller here", "not shown", "does not hold", "measured otherwise",
             "asked by the paper and measured", "stand-ins on other photos", "not tried"]
    cells = [(*row[:4], row[4] if row[4] == "–" else f"`{row[4]}`", *row[5:]) for row in rows]
    return "\n".join([
        "# The paper's claims, and what we found", "",
        f"**Of {len(rows)} figures and claims:** " + "; ".join(f"{name}: {counts[name]}" for name in order if name in counts) + ".", "",
        "Made by `lab/reproduce/claims.py` from the pages beside it; a test compares them. Match: the paper's figure lies within our 95 % "
        "interval.", "",
        "| claim | the paper | here | verdict | `resmem` ... | page | measured |", "|---|---|---|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in cells), "",
        "The networks, texts, photos and memories are not the paper's own: each page says what differs. Every command also takes its "
        "data, and all of its steps in turn:", "",
        "```", "resmem reproduce cifar100 --data cifar100", "resmem reproduce lm --data text",
        "resmem reproduce imagenet --data imagenet --models 0.35=a035.onnx,1.0=a100.onnx", "resmem theory --plot docs/results/theory.svg --markdown docs/results/theory.md", "```", "",
        "Beyond the paper: [the service's and the search's figures](../measurements), [small models on Fashion-MNIST](fashion_mnist.md), [beside tuned rivals](fashion_answers.md), "
        "[the guard](guard.md), [a second stage](second_stage.md), [a language model beside tuned rivals](lm_answers.md), "
        "[what a memory answers](predictor.md), [label errors](audit.md), [a memory of fewer bytes](compress.md).", ""])


def main():
    text = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != text:
            print("docs/results/README.md is not what the results say: run lab/reproduce/claims.py")
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
