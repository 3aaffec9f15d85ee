"""A language model's answers: base, the rivals tuned for themselves, ResMem and the blend.

    lm_answers.py RESMEM RESMEM_LAB DATA WORK [--train-bytes N] [--pieces N] [--network NAME]

DATA as for `resmem reproduce lm`: enwiki2015/{train,valid,test}.txt.zst, and where they are there
wikitext-valid-test/ and c4-sample/.  A tokenizer and a model learn from the first --train-bytes of
the training text, the memory holds the same tokens, `resmem lm tune` fits everything on the
validation text, and `resmem lm eval` judges.  Prints Markdown; every figure is the program's.
WORK keeps what is finished."""
import argparse
import json
import math
import pathlib
import subprocess

from answers_table import answers_table

TEXTS = (("Wikipedia, held out", "enwiki2015", "test.*"),
         ("WikiText-103 test", "wikitext-valid-test", "wikitext-103.test.*"), ("C4", "c4-sample", "c4*"))


def cut(source, size, target):
    """The first whole documents of a compressed text."""
    if target.exists():
        return
    reading = subprocess.Popen(["zstd", "-dc", "--long=27", source], stdout=subprocess.PIPE)
    text = reading.stdout.read(size)
    reading.stdout.close()
    reading.wait()
    target.write_bytes(text[:text.rindex(b"</doc>") + len(b"</doc>\n")])


def main():
    parser = argparse.ArgumentParser()
    for name in ("resmem", "lab", "data", "work"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--train-bytes", type=int, default=3_000_000)
    parser.add_argument("--pieces", default="4000")
    parser.add_argument("--network", default="t5-d64-l2-h2-f256")
    parser.add_argument("--tune-documents", default="8")
    parser.add_argument("--eval-documents", default="20,20,20", help="of each text, in the order of TEXTS")
    asked = parser.parse_args()
    work = asked.work
    work.mkdir(parents=True, exist_ok=True)

    def run(program, *words):
        return subprocess.run([program.resolve(), *map(str, words), "--quiet"], check=True, capture_output=True,
                              text=True, cwd=work).stdout

    cut(asked.data / "enwiki2015/train.txt.zst", asked.train_bytes, work / "train.txt")
    if not (work / "t.model").exists():
        run(asked.resmem, "tokenizer", "train", "train.txt", "--pieces", asked.pieces, "-o", "t.model")
    texts = [("train", "train.txt"), ("valid", next((asked.data / "enwiki2015").glob("valid.*")).resolve())]
    for title, folder, pattern in TEXTS:
        texts += [(title, file.resolve()) for file in sorted((asked.data / folder).glob(pattern))[:1]]
    sets = {}
    for title, file in texts:
        path = title.split(",")[0].lower().replace(" ", "-") + ".tokens"
        if not (work / path).exists():
            run(asked.resmem, "lm", "tokens", file, "--tokenizer", "t.model", "-o", path)
        sets[title] = path
    model = ["--model", "run/last.onnx"]
    if not (work / "run/last.onnx").exists() or not (work / "trained").exists():
        run(asked.lab, "lm", "train", sets["train"], "--validation", sets["valid"], "--network", asked.network,
            "--validation-windows", 64, "-o", "run")
        (work / "trained").touch()
    if not (work / "m.resmem").exists():
        run(asked.resmem, "lm", "memorize", sets["train"], *model, "-o", "m.resmem")
    tuned = json.loads(run(asked.resmem, "lm", "tune", "m.resmem", "--tokens", sets["valid"], "--documents",
                           asked.tune_documents, *model, "--json"))
    info = json.loads(run(asked.resmem, "info", "m.resmem", "--json"))["memory"]
    blend, keys = tuned["blend"], tuned["keys"]
    log = [json.loads(line) for line in (work / "run/log.jsonl").read_text().splitlines()]
    print(f"Model `{asked.network}`, {asked.pieces} pieces, one pass over {info['rows']:,} tokens of Wikipedia, which the "
          f"memory holds; validation loss {log[-1]['validation_loss']:.3f}. Tuned on {tuned['rows']:,} tokens of "
          f"{asked.tune_documents} other documents: " +
          (f"adopted, perplexity {math.exp(blend['scaled_nll']):.2f} to {math.exp(blend['nll']):.2f} there "
           "(cross-validated, documents kept whole)" if blend["adopted"] else "**not adopted**: " + blend["reason"]) +
          f". Keys: {keys['chosen']}; cross-validated NLL " +
          ", ".join(f"{t['transform']} {t['nll']:.4f}" for t in keys["trials"]) +
          (f". The former are kept: {keys['reason']}" if keys["reason"] else "") + ".\n")
    for (title, path), documents in zip(list(sets.items())[2:], asked.eval_documents.split(",")):
        judged = json.loads(run(asked.resmem, "lm", "eval", "m.resmem", "--tokens", path, "--documents",
                                documents, *model, "--json"))
        print(f"**{title}**: {judged['rows']:,} tokens of {len(judged['slices'])} documents, by which the intervals are.\n")
        print(answers_table(judged, "perplexity", lambda nll: f"{math.exp(nll):.2f}"))


if __name__ == "__main__":
    main()
