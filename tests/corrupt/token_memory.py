"""A memory of tokens for the tests of this folder: lm.onnx, t.model, train.tokens, test.tokens, tokens."""
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "text"), str(TESTS / "numpy")]
import lm_test  # noqa: E402


def write(folder, must):
    """must(folder, *words) runs a command."""
    for name, seed, count in (("train", 1, 60), ("test", 2, 6)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n"
                                                      for text in lm_test.text(seed, count)))
    must(folder, "tokenizer", "train", "train.jsonl", "--pieces", "28", "-o", "t.model")
    for name in ("train", "test"):
        must(folder, "lm", "tokens", f"{name}.jsonl", "--tokenizer", "t.model", "-o", f"{name}.tokens")
    (folder / "lm.onnx").write_bytes(lm_test.model_file())
    (folder / "lm.json").write_text(lm_test.manifest(lm_test.documents(folder / "train.tokens")[1]["tokenizer"]))
    must(folder, "lm", "memorize", "train.tokens", "--model", "lm.onnx", "--window", "24", "--stride", "16", "--top", "7",
         "--k", "9", "--sigma", "0.8", "-o", "tokens")
