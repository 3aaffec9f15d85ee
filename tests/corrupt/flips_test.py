"""One bit of one file of a memory is flipped; every command that reads it then ends with exit 3 and
the file's name, or answers as before: never with another answer.  A command that changes the memory
may do so where it does not read the byte, but verify finds the flip as it did before: no broken byte
gets a new checksum.  Memories of arrays, with an index, that carry a model, and of tokens.

    flips_test.py RESMEM [FLIPS]

FLIPS (default 12) of each memory, drawn by a seed: SEED=N in the environment takes others.
"""
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "cli"))
import fixtures  # noqa: E402
import token_memory  # noqa: E402

RESMEM = os.path.abspath(sys.argv[1])
FLIPS = int(sys.argv[2]) if len(sys.argv) > 2 else 12
SKIPPED = 77
TIMES = re.compile(rb"[\d.,]+ (us|ms|s|min)\b|[\d.,]+ [MG]B/s")
WHOLE = ("verify", "scrub")  # read every byte: nothing may escape them
SERVES = (pathlib.Path(RESMEM).parent / "resmem-serve").exists()


def run(folder, words):
    return subprocess.run([RESMEM, *words], cwd=folder, capture_output=True, timeout=120)


def must(folder, *words):
    done = run(folder, words)
    assert done.returncode == 0, f"{words}: {done.stderr.decode()}"


def answer(folder, words):
    """Exit code, what was said and written, the error."""
    output = folder / "output.npz"
    output.unlink(missing_ok=True)
    done = run(folder, words)
    said = TIMES.sub(b"", done.stdout)
    if output.exists():
        with np.load(output) as arrays:
            said += b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays.files))
    return done.returncode, said, done.stderr.decode(errors="replace")


def write_arrays(folder):
    fifth = dict(np.load(folder / "validation.npz"))
    fifth["labels"] = np.where(np.arange(120) < 40, 4, fifth["labels"])
    np.savez(folder / "fifth.npz", **fifth)
    must(folder, "memorize", "--data", "train.npz", "-o", "tuned")
    must(folder, "append", "tuned", "--data", "more.npz")
    must(folder, "delete", "tuned", "--ids", "1003,5001")
    must(folder, "tune", "tuned", "--data", "validation.npz", "--grid-k", "3,9", "--grid-sigma", "0.5,1",
         "--grid-temperature", "1,2")
    must(folder, "memorize", "--data", "many.npz", "-o", "indexed")
    must(folder, "index", "indexed", "--recall", "0.9")
    must(folder, "memorize", "--data", "train.npz", "-o", "versions")
    must(folder, "snapshot", "take", "versions", "monday")
    must(folder, "append", "versions", "--data", "more.npz")
    must(folder, "delete", "versions", "--ids", "1003")
    must(folder, "shard", "plan", "sharded", "--shards", "2", "--data", "train.npz", "--queries", "test.npz", "--k", "5")
    for shard in ("1/2", "2/2"):
        for step in ("memorize", "search"):
            must(folder, "shard", step, "sharded", shard)
    must(folder, "shard", "merge", "sharded", "-o", "merged.npz")


def write_pets(folder):
    """False where ONNX Runtime is not here."""
    prepare = ["model", "prepare", "image.onnx", "-o", "p.onnx", "--classes", "animals.txt", "--input-std", ".25"]
    if "CI" not in os.environ and b"needs ONNX Runtime" in run(folder, prepare).stderr:
        return False
    must(folder, *prepare)
    must(folder, "memorize", "--model", "p.onnx", "--images", "animals", "--part", "train", "-o", "pets", "--bundle")
    return True


def commands_of(memory):
    if memory == "versions":
        return [["diff", memory, "monday"], ["snapshot", "list", memory], ["snapshot", "list", memory, "--ids", "1003"],
                ["predict", f"{memory}/snapshots/monday", "--data", "test.npz"], ["predict", memory, "--data", "test.npz"],
                ["export", f"{memory}/snapshots/monday", "-o", "output.npz"], ["verify", memory], ["scrub", memory, "--rate", "0"]]
    if memory == "sharded":
        return [["shard", "memorize", memory, "1/2"], ["shard", "eval", memory],  # a search makes broken answers again
                ["shard", "merge", memory, "-o", "output.npz"]]
    if memory == "tokens":
        model, tokenizer, text = ["--model", "lm.onnx"], ["--tokenizer", "t.model"], ["--tokens", "test.tokens"]
        return [["lm", "eval", memory, *text, *model],
                ["lm", "explain", memory, *model, *tokenizer, "--text", "the memory", "--last", "2"],
                ["lm", "generate", memory, *model, *tokenizer, "--text", "the", "--count", "5"],
                ["lm", "examples", memory, *text, *model, *tokenizer],
                ["lm", "neighbors", memory, *text, *model, "-o", "output.npz"],
                ["export", memory, "-o", "output.npz"], ["info", memory], ["verify", memory], ["scrub", memory, "--rate", "0"]]
    if memory == "pets":
        images = ["--images", "animals", "--part", "test"]
        return [["predict", memory, *images], ["eval", memory, *images], ["explain", memory, "photo.png"],
                ["bundle", memory], ["info", memory], ["verify", memory], ["scrub", memory, "--rate", "0"]]
    data = ["--data", "test.npz"]
    serve = [["serve", memory, "--check-config"]] if SERVES else []
    return [["predict", memory, *data], ["eval", memory, *data], ["explain", memory, *data, "--row", "3"],
            ["examples", memory, *data], ["neighbors", memory, *data, "-o", "output.npz"],
            ["export", memory, "-o", "output.npz"], ["info", memory], ["verify", memory], ["doctor", memory, *data],
            ["compare", memory, *data], ["audit", memory, *data, "--most", "100"], ["scrub", memory, "--rate", "0"], *serve]


def changes_of(memory):
    if memory == "tokens":
        return [["lm", "tune", memory, "--method", "resmem", "--tokens", "test.tokens", "--model", "lm.onnx"],
                ["lm", "index", memory, "--tokens", "test.tokens", "--model", "lm.onnx", "--recall", "0.8"], ["compact", memory]]
    if memory == "versions":
        return [["rollback", memory, "monday"], ["rollback", memory, "monday", "--save", "now"],
                ["snapshot", "take", memory, "now"], ["append", memory, "--data", "validation.npz"], ["compact", memory]]
    if memory == "sharded":
        return []
    if memory == "pets":
        return [["delete", memory, "--ids", "3"], ["compact", memory]]
    return [["append", memory, "--data", "validation.npz"], ["append", memory, "--data", "fifth.npz", "--new-classes"],
            ["delete", memory, "--ids", "1004" if memory == "tuned" else "4"], ["compact", memory],
            ["compact", memory, "--freeze"], ["index", memory, "--recall", "0.8"], ["index", memory, "--remove"],
            ["tune", memory, "--data", "validation.npz", "--key-transform", "unit", "--grid-k", "3", "--grid-sigma", "0.5",
             "--grid-temperature", "1"],
            ["audit", memory, "--most", "100", "--of", "twins", "--quarantine", "output.npz"]]


class Changed:
    """A memory as it is after a change."""

    def __init__(self, folder, memory, words):
        self.kept, self.folder, self.memory = folder / "kept", folder, memory
        shutil.copytree(folder / memory, self.kept)
        self.code, _, self.error = answer(folder, words)
        if self.code == 0:
            self.whole = run(folder, ["verify", memory]).returncode == 0
            self.holds = answer(folder, ["export", memory, "-o", "output.npz"])[:2] if self.whole else None
        shutil.rmtree(folder / memory)
        self.kept.rename(folder / memory)


def main():
    draw = random.Random(int(os.environ.get("SEED", "1")))
    tally, problems = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="resmem_flips_", dir=fixtures.FAST) as name:
        folder = pathlib.Path(name)
        fixtures.write(folder)
        write_arrays(folder)
        complete = write_pets(folder)
        if complete:
            token_memory.write(folder, must)
        for memory in ("tuned", "indexed", "versions", "sharded", *(("pets", "tokens") if complete else ())):
            sound, changed = [], []
            for words in changes_of(memory):
                after = Changed(folder, memory, words)
                assert after.code == 0 and after.whole, f"{words}: {after.error}"
                changed.append((words, after.holds))
            for words in commands_of(memory):
                code, said, error = answer(folder, words)
                assert code in (0, 5), f"{words}: {error}"
                sound.append((words, code, said))
            for _ in range(FLIPS):
                files = [p for p in sorted((folder / memory).rglob("*")) if p.is_file() and p.stat().st_size > 0]
                file = draw.choice(files)
                good = file.read_bytes()
                place, bit = draw.randrange(len(good)), draw.randrange(8)
                file.write_bytes(good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1:])
                for words, holds in changed:
                    after = Changed(folder, memory, words)
                    refused = after.code == 3 and file.name in after.error
                    kept = after.code == 0 and (not after.whole or after.holds == holds)
                    tally["change refused" if refused else "changed" if kept else "wrong"] += 1
                    if not refused and not kept:
                        problems += 1
                        print(f"{memory}/{file.name}, byte {place}, bit {bit}: {' '.join(words)}: exit {after.code}, "
                              f"{after.error[-300:]}")
                for words, sound_code, sound_said in sound:
                    code, said, error = answer(folder, words)
                    refused = code == 3 and file.name in error and "error: " in error
                    same = (code, said) == (sound_code, sound_said) and words[0] not in WHOLE
                    tally["refused" if refused else "as before" if same else "wrong"] += 1
                    if refused or same:
                        continue
                    problems += 1
                    print(f"{memory}/{file.name}, byte {place}, bit {bit}: {' '.join(words)}: exit {code}, {error[-300:]}")
                file.write_bytes(good)
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())))
    assert tally["refused"] > 0
    if problems:
        return 1
    return 0 if complete else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
