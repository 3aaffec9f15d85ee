"""Small models on Fashion-MNIST: base, the rivals tuned for themselves, ResMem and the blend.

    fashion_answers.py RESMEM RESMEM_LAB WORK [BASE...]

Each base learns from the first 50,000 training images, which its memory holds; `resmem tune` fits
everything on the other 10,000, `resmem eval` judges on the 10,000 of the test file.  Prints
Markdown; every figure is the program's."""
import json
import pathlib
import subprocess
import sys

from answers_table import answers_table

DATA = "/usr/share/datasets/fashion-mnist"  # Debian's package dataset-fashion-mnist
BASES = {  # hidden units, epochs, rate, weight decay
    "linear": (0, 15, 4, 1e-4), "16 hidden": (16, 15, 4, 1e-4), "64 hidden": (64, 15, 4, 1e-4),
    "128 hidden": (128, 15, 4, 1e-4), "128 hidden, over-trained": (128, 60, 8, 0)}


def images(part):
    return f"{DATA}/{part}-images-idx3-ubyte.gz", f"{DATA}/{part}-labels-idx1-ubyte.gz"


def main():
    resmem, lab, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])

    def run(program, *words):
        return subprocess.run([program, *map(str, words), "--quiet"], check=True, capture_output=True, text=True).stdout

    for name in sys.argv[4:] or BASES:
        hidden, epochs, rate, decay = BASES[name]
        folder = work / name.replace(", ", "-").replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        model, memory = folder / "model.base", folder / "m.resmem"
        inputs, labels = images("train")
        run(lab, "base", "train", "--inputs", inputs, "--labels", labels, "--rows", "0:50000", "--hidden", hidden,
            "--epochs", epochs, "--learning-rate", rate, "--weight-decay", decay, "-o", model)
        for part, file, rows in (("train", "train", "0:50000"), ("validation", "train", "50000:60000"),
                                 ("test", "t10k", "0:10000")):
            inputs, labels = images(file)
            run(lab, "base", "run", model, "--inputs", inputs, "--labels", labels, "--rows", rows, "--role", part, "-o",
                folder / part)
        run(resmem, "memorize", "--data", folder / "train", "-o", memory, "--overwrite")
        tuned = json.loads(run(resmem, "tune", memory, "--data", folder / "validation", "--json"))
        blend = tuned["blend"]
        kept = "adopted" if blend["adopted"] else "**not adopted**: " + blend["reason"]
        print(f"## {name}\n\nKeys: {tuned['keys']['chosen']}; the blend is {kept}.\n")
        judged = json.loads(run(resmem, "eval", memory, "--data", folder / "test", "--json"))
        print(answers_table(judged, "NLL", lambda nll: f"{nll:.4f}"), flush=True)


if __name__ == "__main__":
    main()
