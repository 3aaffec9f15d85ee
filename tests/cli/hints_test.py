"""Every "next: resmem ..." that a command prints is a command that works.

    hints_test.py RESMEM

Each case makes a command print its hint, puts small files of its own for the words in capitals, and
runs the hint as a shell would.  A command with a hint that no case runs is a failure.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import fixtures
import onnx_files

RESMEM = None
SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ["--network", "t5-d32-l1-h1-f32", "--context", "16", "--batch", "4"]
# Hints name files of the user in capitals.
OWN = {"VALIDATION": "validation.npz", "TEST": "test.npz", "TEST.tokens": "test.tokens",
       "TRAIN.tokens": "train.tokens", "MEMORY.resmem": "m.resmem", "MODEL.onnx": "run/last.onnx",
       "TABLE.npy": "keys.npy", "IMAGES": "animals/test"}


class HintsTest(unittest.TestCase):
    tried = set()

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="resmem hints ")
        cls.folder = pathlib.Path(cls.scratch.name)
        fixtures.write(cls.folder)
        for name, seed, count in (("train", 1, 60), ("test", 2, 12), ("valid", 3, 12)):
            random = np.random.default_rng(seed)
            words = ["the", "memory", "of", "a", "model", "adds", "what", "was", "seen", "before"]
            (cls.folder / f"{name}.jsonl").write_text("".join(
                json.dumps({"text": " ".join(random.choice(words, 40))}) + "\n" for _ in range(count)))
        if "CI" not in os.environ and "running a model needs ONNX Runtime" in cls.resmem(
                "model", "prepare", "table.onnx", "-o", "probe.onnx", check=False).stderr:
            print("skipped: ONNX Runtime is not here, ./setup installs it")
            sys.exit(SKIPPED)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def resmem(cls, *words, check=True):
        done = subprocess.run([RESMEM, *words], cwd=cls.folder, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise AssertionError(f"resmem {' '.join(words)}\n{done.stderr}")
        return done

    def hint_of(self, *words):
        """What the command says is next."""
        done = self.resmem(*words)
        hints = re.findall(r"^next: resmem (.*)$", done.stderr, re.M)
        self.assertEqual(len(hints), 1, f"{words}\n{done.stderr}")
        two = " ".join(words[:2])
        self.tried.add(two if self.has_source(two) else words[0])
        return hints[0]

    @staticmethod
    def has_source(name):
        file = name.replace(" ", "_") + ".cc"
        return any((ROOT / folder / file).exists() for folder in ("cli/commands", "lab/commands"))

    def run_hint(self, hint, output, **own):
        """Runs it with own files for words in capitals; `output`: what NEW... becomes."""
        for word, file in {**OWN, **own}.items():
            hint = re.sub(rf"(?<![\w./]){re.escape(word)}(?![\w.])", file, hint)
        hint = re.sub(r"\bNEW\.\w+", output, hint)
        self.assertIsNone(re.search(r"(?<![\w./])[A-Z]{3,}", hint), hint)
        done = subprocess.run(["bash", "-c", f'"{RESMEM}" {hint}'], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"next: resmem {hint}\n{done.stderr}")
        return done

    def test_1_arrays(self):
        self.run_hint(self.hint_of("memorize", "--data", "train.npz", "-o", "m.resmem"), "")
        # The memory has a fingerprint: arrays without --model would be refused.
        tied = self.hint_of("memorize", "--data", "train.npz", "--model", "net.onnx", "--layer", "pool", "-o",
                            "tied.resmem")
        self.assertIn("--model net.onnx --layer pool", tied)
        self.run_hint(tied, "")
        self.resmem("memorize", "--data", "many.npz", "-o", "many.resmem")
        self.run_hint(self.hint_of("index", "many.resmem", "--recall", "0.9"), "")
        self.run_hint(self.hint_of("base", "train", "--inputs", "keys.npy", "--labels", "labels.npy", "--rows", "0:200",
                                   "-o", "m.base"), "base.arrays")
        self.assertEqual(np.load(self.folder / "base.arrays/keys.npy").shape[0], 200)

    def test_2_models(self):
        for graph in ("table.onnx", "image.onnx"):
            prepared = f"prepared_{graph}"
            self.run_hint(self.hint_of("model", "inspect", graph), prepared)
            self.run_hint(self.hint_of("model", "prepare", graph, "-o", f"again_{graph}"), f"{graph}.arrays")
        (self.folder / "ids.onnx").write_bytes(self.language_model())
        self.run_hint(self.hint_of("model", "inspect", "ids.onnx"), "prepared_ids.onnx")
        self.assertEqual(self.hint_of("model", "prepare", "ids.onnx", "-o", "ids2.onnx"),
                         "lm memorize TRAIN.tokens --model ids2.onnx -o NEW.resmem")
        # Several inputs of which none has token ids: prepare refuses them, so nobody is sent there.
        (self.folder / "two.onnx").write_bytes(onnx_files.model(
            onnx_files.node("Add", ["a", "b"], "h"), onnx_files.node("MatMul", ["h", "head"], "y"),
            onnx_files.weights("head", np.eye(4)), onnx_files.value_info(11, "a", ["n", 4]),
            onnx_files.value_info(11, "b", ["n", 4]), onnx_files.value_info(12, "y", ["n", 4])))
        self.assertNotIn("next:", self.resmem("model", "inspect", "two.onnx").stderr)
        self.assertNotEqual(self.resmem("model", "prepare", "two.onnx", "-o", "x.onnx", check=False).returncode, 0)

    @staticmethod
    def language_model():
        onnx = onnx_files
        ids = onnx.message(11, onnx.message(1, "ids"), onnx.message(2, onnx.message(1, onnx.number(1, 7), onnx.message(
            2, onnx.message(1, onnx.message(2, "n")), onnx.message(1, onnx.message(2, "t"))))))
        return onnx.model(onnx.node("Gather", ["table", "ids"], "h"), onnx.node("MatMul", ["h", "head"], "y"),
                          onnx.weights("table", np.eye(4)), onnx.weights("head", np.eye(4)), ids,
                          onnx.value_info(12, "y", ["n", "t", 4]))

    def test_3_embedded_arrays_go_where_their_role_says(self):
        embed = ["embed", "again_image.onnx", "animals"]
        train = self.hint_of(*embed, "--part", "train", "-o", "train.arrays")
        self.assertTrue(train.startswith("memorize "), train)
        self.run_hint(train, "images.resmem")
        test = self.hint_of(*embed, "--part", "test", "-o", "test.arrays")
        self.assertTrue(test.startswith("eval "), test)
        self.run_hint(test, "", **{"MEMORY.resmem": "images.resmem"})
        held_out = self.hint_of(*embed, "--part", "train", "--rows", "0:20", "--role", "validation", "-o", "val.arrays")
        self.assertTrue(held_out.startswith("tune "), held_out)
        self.run_hint(held_out, "", **{"MEMORY.resmem": "images.resmem"})
        self.run_hint(self.hint_of("memorize", "--model", "again_image.onnx", "--images", "animals", "--part", "train",
                                   "-o", "seen.resmem"), "", VALIDATION="animals/test --role validation")
        self.run_hint(self.hint_of("index", "seen.resmem"), "", TEST="animals/test")

    def test_4_text(self):
        hint = self.hint_of("tokenizer", "train", "train.jsonl", "valid.jsonl", "--form", "jsonl", "--pieces", "28", "-o",
                            "t.model")
        self.assertTrue(hint.startswith("lm tokens train.jsonl valid.jsonl --form jsonl "), hint)
        self.run_hint(hint, "both.tokens")
        hints = {part: self.hint_of("lm", "tokens", f"{part}.jsonl", "--tokenizer", "t.model", "-o", f"{part}.tokens")
                 for part in ("train", "valid", "test")}
        # Held-out text is not learned from.
        self.assertRegex(hints["train"], r"^lm train train\.tokens -o NEW\.run$")
        self.assertRegex(hints["valid"], r"^lm train TRAIN\.tokens --validation valid\.tokens -o NEW\.run$")
        self.assertRegex(hints["test"], r"^lm eval MEMORY\.resmem --tokens test\.tokens --model MODEL\.onnx$")
        for part in ("train", "valid"):
            self.run_hint(hints[part] + " " + " ".join(TINY), f"{part}.run")
        # The model's context is short: windows are as long as it can read, and later those of the memory.
        self.run_hint(self.hint_of("lm", "train", "train.tokens", *TINY, "-o", "run"), "text.resmem")
        made = self.hint_of("lm", "memorize", "train.tokens", "--model", "run/last.onnx", "--window", "9", "--top", "8",
                            "-o", "again.resmem")
        self.run_hint(made, "")
        self.run_hint(hints["test"], "", **{"MEMORY.resmem": "text.resmem"})
        self.run_hint(self.hint_of("lm", "index", "again.resmem", "--tokens", "test.tokens", "--model", "run/last.onnx"),
                      "")
        self.run_hint(self.hint_of("index", "again.resmem"), "")

    def test_5_trained_networks(self):
        if "resmem-train" in self.resmem("train", "resnet8", "--images", "animals", "--epochs", "1", "-o", "probe.run",
                                         check=False).stderr and not (self.folder / "probe.run/last.onnx").exists():
            HintsTest.tried.add("train")
            self.skipTest("this build has no resmem-train")
        whole = self.hint_of("train", "resnet8", "--images", "animals", "--epochs", "1", "-o", "whole.run")
        self.run_hint(whole, "whole.resmem")
        held = self.hint_of("train", "resnet8", "--images", "animals", "--epochs", "1", "--validation-rows", "20", "-o",
                            "held.run")
        done = self.run_hint(held, "held.resmem")
        self.assertIn("taking the 40 rows marked train of 60", done.stderr)
        table = self.hint_of("train", "mlp-8", "--inputs", "keys.npy", "--labels", "labels.npy", "--epochs", "1", "-o",
                             "table.run")
        self.assertNotIn("--images", table)
        self.run_hint(table, "table.arrays")
        held = self.hint_of("train", "mlp-8", "--inputs", "keys.npy", "--labels", "labels.npy", "--epochs", "1",
                            "--validation-rows", "40", "-o", "held_table.run")
        done = self.run_hint(held, "held.arrays")
        done = self.run_hint(re.search(r"^next: resmem (.*)$", done.stderr, re.M)[1], "held_table.resmem")
        self.assertIn("taking the 200 rows marked train of 240", done.stderr)

    def test_7_rows_that_were_held_out_stay_out(self):
        np.save(self.folder / "parts.npy", np.array(["train"] * 200 + ["validation"] * 40))
        embed = ["embed", "again_table.onnx", "keys.npy", "--labels", "labels.npy", "--split", "parts.npy"]
        done = self.run_hint(self.hint_of(*embed, "-o", "parts.arrays"), "parts.resmem")
        self.assertIn("taking the 200 rows marked train of 240", done.stderr)
        self.assertEqual(self.rows_of("parts.resmem"), 200)
        held = self.hint_of(*embed, "--rows", "200:", "-o", "parts_held.arrays")
        self.assertTrue(held.startswith("tune "), held)
        self.run_hint(held, "", **{"MEMORY.resmem": "parts.resmem"})

    def command_in(self, before, *words):
        """The command that a message names after `before`."""
        said = self.resmem(*words).stderr
        found = re.search(rf"{re.escape(before)}: resmem (.*?)$", said, re.M)
        self.assertIsNotNone(found, said)
        return found[1]

    def rows_of(self, memory):
        return json.loads(self.resmem("info", memory, "--json").stdout)["memory"]["rows"]

    def test_6_commands_within_messages(self):
        with np.load(self.folder / "train.npz") as train:
            wrong = dict(train)
        wrong["labels"] = np.where(np.arange(240) % 20 == 0, (wrong["labels"] + 1) % 4, wrong["labels"])
        np.savez(self.folder / "wrong.npz", **wrong)
        for number, made in enumerate(([], ["--model", "net.onnx", "--layer", "pool"],
                                       ["--out-of-fold-logits", "logits.npy"])):
            memory, moved = f"memory {number}", f"moved out {number}.npz"
            self.resmem("memorize", "--data", "wrong.npz", *made, "-o", memory)
            back = self.command_in("to bring them back", "audit", memory, "--limit", "3", "--quarantine", moved)
            self.assertEqual(self.rows_of(memory), 237)
            self.run_hint(back, "")
            self.assertEqual(self.rows_of(memory), 240)
        self.run_hint(self.command_in("until you run", "delete", "memory 0", "--ids", "1001"), "")
        grid = ["--method", "resmem", "--grid-sigma", "0.5,1", "--grid-temperature", "1"]
        self.resmem("tune", "memory 0", "--data", "validation.npz", "--grid-k", "3,9", *grid)
        tuned = self.resmem("info", "memory 0").stdout
        back = self.command_in("to bring them back", "tune", "memory 0", "--leave-one-out", "--grid-k", "4,8", *grid)
        self.assertNotEqual(self.resmem("info", "memory 0").stdout, tuned)
        self.run_hint(back, "")
        parameters = [line for line in tuned.splitlines() if line.startswith("parameters")]
        self.assertIn(parameters[0], self.resmem("info", "memory 0").stdout)
        # A memory that carries its model names it where it is.
        self.resmem("memorize", "--data", "table.onnx.arrays", "--labels", "labels.npy", "--model", "again_table.onnx",
                    "-o", "carrying")
        self.resmem("bundle", "carrying")
        doctor = self.hint_of("index", "carrying", "--recall", "0.9")
        self.assertIn("carrying/bundle/model.onnx", doctor)
        self.run_hint(doctor, "", TEST="table.onnx.arrays --labels labels.npy")

    def test_7_no_hint_is_without_a_case(self):
        sources = [*(ROOT / "cli").rglob("*.cc"), *(ROOT / "lab").rglob("*.cc")]
        named = {path.stem.replace("_", " ") for path in sources
                 if "SuggestNext(" in path.read_text() and not path.stem.startswith("next_step")}
        self.assertGreaterEqual(len(named), 12)
        self.assertEqual(named - self.tried, set())
        # There is one way to print a hint.
        for path in sources:
            if not path.stem.startswith("next_step"):
                self.assertNotIn('"next: ', path.read_text(), path)


if __name__ == "__main__":
    RESMEM = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
