"""Language models of others, as torch exports them: prepared, exported, memorized, spoken.

    foreign_lm_test.py RESMEM

A GPT-2 and a Llama in small, with attention masks and past keys and values; torch itself is the
reference.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np

SKIPPED = 77
try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: torch is not here, ./setup installs it")
    sys.exit(SKIPPED)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))
import byte_tokenizer
from token_set_file import documents

RESMEM = None
VOCABULARY, DIM, HEADS, LAYERS, CONTEXT = 300, 24, 3, 2, 48
WINDOW, STRIDE = 32, 24


class Attention(nn.Module):
    def __init__(self, rotary):
        super().__init__()
        self.rotary = rotary
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

    def turn(self, x, positions):
        half = DIM // HEADS // 2
        angles = positions[:, None, :, None] * (0.3 ** torch.arange(half))
        a, b = x[..., :half], x[..., half:]
        return torch.cat((a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()), -1)

    def forward(self, x, positions, mask, past):
        q, k, v = (part.view(x.shape[0], -1, HEADS, DIM // HEADS).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if self.rotary:
            q, k = self.turn(q, positions), self.turn(k, positions)
        k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        scores = q @ k.transpose(2, 3) / (DIM // HEADS) ** 0.5
        columns = torch.arange(k.shape[2])
        visible = (columns[None, None, None] <= positions[:, None, :, None]) & (mask[:, None, None] > 0)
        scores = torch.where(visible, scores, torch.tensor(-1e4))
        x = (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape)
        return self.out(x), (k, v)


class RootMeanSquare(nn.Module):
    def __init__(self, _):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(DIM) + 0.5)

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Model(nn.Module):
    """`llama`: rotary positions, RMS norms, gates, a head of its own; else GPT-2's ways."""

    def __init__(self, llama, causal=True):
        super().__init__()
        self.llama, self.causal = llama, causal
        norm = RootMeanSquare if llama else nn.LayerNorm
        self.tokens, self.places = nn.Embedding(VOCABULARY, DIM), nn.Embedding(CONTEXT, DIM)
        self.attention = nn.ModuleList(Attention(llama) for _ in range(LAYERS))
        self.norms = nn.ModuleList(norm(DIM) for _ in range(2 * LAYERS + 1))
        self.wide = nn.ModuleList(nn.Linear(DIM, 2 * DIM) for _ in range(2 * LAYERS))
        self.narrow = nn.ModuleList(nn.Linear(2 * DIM, DIM) for _ in range(LAYERS))
        self.head = nn.Linear(DIM, VOCABULARY, bias=False)
        if not llama:
            self.head.weight = self.tokens.weight
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.35)

    def run(self, ids, positions, mask, pasts):
        x = self.tokens(ids)
        if not self.llama:
            x = x + self.places(positions)
        seen = positions if self.causal else positions * 0 + CONTEXT
        presents = []
        for i in range(LAYERS):
            y, present = self.attention[i](self.norms[2 * i](x), seen, mask, pasts[i])
            presents.append(present)
            x = x + y
            y = self.norms[2 * i + 1](x)
            wide = self.wide[2 * i](y)
            wide = nn.functional.silu(wide) * self.wide[2 * i + 1](y) if self.llama else nn.functional.gelu(wide)
            x = x + self.narrow[i](wide)
        x = self.norms[-1](x)
        return x, self.head(x), presents

    def whole(self, ids):
        """Keys and logits of a window, as float32 arrays."""
        ids = torch.tensor(ids)[None]
        empty = torch.zeros(1, HEADS, 0, DIM // HEADS)
        with torch.no_grad():
            keys, logits, _ = self.run(ids, torch.arange(ids.shape[1])[None], torch.ones_like(ids), [(empty, empty)] * LAYERS)
        return keys[0].numpy(), logits[0].numpy()


class WithPast(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask, positions, *pasts):
        _, logits, presents = self.model.run(ids, positions, mask, list(zip(pasts[::2], pasts[1::2])))
        return (logits, *(tensor for present in presents for tensor in present))


class Plain(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        empty = torch.zeros(1, HEADS, 0, DIM // HEADS)
        positions = torch.arange(ids.shape[1])[None]
        return self.model.run(ids, positions, torch.ones_like(ids), [(empty, empty)] * LAYERS)[1]


def export(model, path, past):
    model.eval()
    ids = torch.tensor([[5, 6, 7]])
    sides = {"input_ids": {0: "batch_size", 1: "sequence_length"}, "logits": {0: "batch_size", 1: "sequence_length"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not past:
            torch.onnx.export(Plain(model), (ids,), str(path), input_names=["input_ids"], output_names=["logits"],
                              dynamic_axes=sides, opset_version=14)
            return
        kinds = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
        names = [f"past_key_values.{kind}" for kind in kinds]
        sides |= {"attention_mask": {0: "batch_size", 1: "past_sequence_length + 1"},
                  "position_ids": {0: "batch_size", 1: "sequence_length"}}
        sides |= {name: {0: "batch_size", 2: "past_sequence_length"} for name in names}
        sides |= {f"present.{kind}": {0: "batch_size", 2: "total_sequence_length"} for kind in kinds}
        pasts = [torch.rand(1, HEADS, 2, DIM // HEADS) for _ in names]
        torch.onnx.export(WithPast(model), (ids, torch.ones(1, 5, dtype=torch.int64), torch.tensor([[2, 3, 4]]), *pasts),
                          str(path), input_names=["input_ids", "attention_mask", "position_ids", *names],
                          output_names=["logits", *(f"present.{kind}" for kind in kinds)], dynamic_axes=sides,
                          opset_version=14)


def text_of(data):
    """UTF-8, with U+FFFD for each byte that is none."""
    text = ""
    while data:
        for size in range(1, 5):
            try:
                text += data[:size].decode()
                break
            except UnicodeDecodeError:
                pass
        else:
            text, size = text + "\ufffd", 1
        data = data[size:]
    return text


def rows(model, token_set):
    """Keys, logits, labels of every row, by the definition of windows."""
    keys, logits, labels = [], [], []
    for ids in documents(token_set)[0]:
        covered, begin = 0, 0
        while covered < len(ids) - 1:
            window = ids[begin:min(begin + WINDOW, len(ids) - 1)]
            window_keys, window_logits = model.whole(window.tolist())
            keys.append(window_keys[covered - begin:])
            logits.append(window_logits[covered - begin:])
            labels.append(ids[covered + 1:begin + len(window) + 1])
            covered, begin = begin + len(window), begin + STRIDE
    return np.concatenate(keys), np.concatenate(logits), np.concatenate(labels)


class ForeignModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(3)
        torch.set_num_threads(1)
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        byte_tokenizer.write(cls.folder / "tokenizer.json")
        random = np.random.default_rng(5)
        words = ["the", "memory", "of", "a", "tiny", "café", "\n\n", "adds", "東京"]
        (cls.folder / "text.jsonl").write_text("".join(
            json.dumps({"text": " ".join(random.choice(words, random.integers(3, 25)))}) + "\n" for _ in range(12)))
        cls.run_resmem("lm", "tokens", "text.jsonl", "--tokenizer", "tokenizer.json", "-o", "text.tokens")
        cls.models = {"gpt2": Model(llama=False), "llama": Model(llama=True)}
        for name, model in cls.models.items():
            export(model, cls.folder / f"{name}-raw.onnx", past=True)
        export(cls.models["gpt2"], cls.folder / "plain-raw.onnx", past=False)
        probe = cls.prepare("gpt2", check=False)
        if "CI" not in os.environ and "needs ONNX Runtime" in probe.stderr:
            print("skipped: ONNX Runtime is not here, ./setup installs it")
            sys.exit(SKIPPED)
        for name in ("gpt2", "llama", "plain"):
            cls.prepare(name)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_resmem(cls, *words, check=True):
        done = subprocess.run([RESMEM, *words], cwd=cls.folder, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise AssertionError(done.stderr)
        return done

    @classmethod
    def prepare(cls, name, *options, check=True):
        return cls.run_resmem("model", "prepare", f"{name}-raw.onnx", "-o", f"{name}.onnx", "--context", str(CONTEXT),
                              "--tokenizer", "tokenizer.json", *options, check=check)

    def speak(self, model, text, count):
        """The most likely continuation, by torch and without any past."""
        ids = list(text.encode())
        for _ in range(count):
            logits = model.whole(ids[-CONTEXT:])[1][-1][:261]
            ids.append(int(logits.argmax()))
        return ids

    def test_keys_logits_and_labels_are_those_of_torch(self):
        for name in ("gpt2", "llama", "plain"):
            with self.subTest(name):
                manifest = json.loads((self.folder / f"{name}.json").read_text())
                self.assertEqual((manifest["embedding"]["dim"], manifest["logits"]["classes"]), (DIM, VOCABULARY))
                self.assertEqual(manifest["input"]["context"], CONTEXT)
                told = self.run_resmem("lm", "export", "text.tokens", "--model", f"{name}.onnx", "--window", str(WINDOW),
                                       "--stride", str(STRIDE), "--parts", "keys,logits,labels,documents", "-o",
                                       f"{name}.npz").stdout
                keys, logits, labels = rows(self.models.get(name, self.models["gpt2"]), self.folder / "text.tokens")
                self.assertIn(f"{len(keys):,} tokens", told)
                with np.load(self.folder / f"{name}.npz") as arrays:
                    np.testing.assert_allclose(arrays["keys"], keys, atol=2e-4)
                    np.testing.assert_allclose(arrays["logits"], logits, atol=2e-3)
                    np.testing.assert_array_equal(arrays["labels"], labels)
                    self.assertEqual(np.bincount(arrays["documents"]).tolist(),
                                     [len(d) - 1 for d in documents(self.folder / "text.tokens")[0]])

    def test_speaks_as_torch_does_with_and_without_a_past(self):
        text = "adds of"
        for name in ("gpt2", "llama", "plain"):
            with self.subTest(name):
                self.run_resmem("lm", "memorize", "text.tokens", "--model", f"{name}.onnx", "--window", str(WINDOW), "-o",
                                f"{name}.resmem")
                count = CONTEXT - len(text) - 1  # until the context is full
                done = self.run_resmem("lm", "generate", f"{name}.resmem", "--model", f"{name}.onnx", "--tokenizer",
                                       "tokenizer.json", "--text", text, "--count", str(count))
                spoken = self.speak(self.models.get(name, self.models["gpt2"]), text, count)
                if 260 in spoken:
                    spoken = spoken[:spoken.index(260)]
                inverse = {letter: byte for byte, letter in byte_tokenizer.letters().items()}
                pieces = {i: p for p, i in byte_tokenizer.tokenizer()["model"]["vocab"].items()}
                whole = text_of(b"".join(bytes(inverse[c] for c in pieces[i]) for i in spoken))
                shown = "".join("?" if ord(c) < 32 or ord(c) == 127 else c for c in whole)
                self.assertEqual(done.stdout.splitlines()[0], "base    " + shown)
                self.assertRegex(done.stderr, r"base: \d+ tokens? in .*, [\d.]+ tokens/s without the memory")
                self.assertRegex(done.stderr, r"ResMem: \d+ tokens? in .*, [\d.]+ tokens/s with the memory")
                self.assertEqual("keeps nothing of earlier tokens" in done.stderr, name == "plain")

    def test_goes_on_when_the_context_is_full(self):
        self.run_resmem("lm", "memorize", "text.tokens", "--model", "llama.onnx", "--window", str(WINDOW), "-o", "long.resmem")
        done = self.run_resmem("lm", "generate", "long.resmem", "--model", "llama.onnx", "--tokenizer", "tokenizer.json",
                               "--text", "the memory", "--count", str(2 * CONTEXT), "--sample")
        self.assertRegex(done.stdout, r"(?m)^ResMem +the memory")

    def test_a_memory_of_one_helps_on_its_own_text(self):
        self.run_resmem("lm", "memorize", "text.tokens", "--model", "gpt2.onnx", "--window", str(WINDOW), "--k", "1", "--sigma",
                        "0.01", "-o", "own.resmem")
        result = json.loads(self.run_resmem("lm", "eval", "own.resmem", "--tokens", "text.tokens", "--model", "gpt2.onnx",
                                            "--json").stdout)
        resmem = next(m for m in result["methods"] if m["method"] == "resmem")
        self.assertGreater(resmem["accuracy"]["correct"], 0.9 * result["rows"])

    def test_inspect_names_the_embedding_and_what_comes_next(self):
        done = self.run_resmem("model", "inspect", "gpt2-raw.onnx")
        self.assertIn("past_key_values.1.value: batch_size x 3 x past_sequence_length x 8 float32", done.stdout)
        self.assertRegex(done.stdout, r"logits +logits")
        self.assertIn("next: resmem model prepare gpt2-raw.onnx", done.stderr)

    def test_what_is_no_causal_model_is_refused(self):
        export(Model(llama=True, causal=False), self.folder / "both-raw.onnx", past=False)
        refused = self.prepare("both", check=False)
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("the answer to a token changes with the tokens behind it", refused.stderr)
        self.assertFalse((self.folder / "both.onnx").exists())

    def test_mistakes_are_named(self):
        for options, words in ((["--embedding", "none"], "the graph has no tensor none"),
                               (["--resize", "64"], "takes token ids, to which no mean, std or size applies"),
                               (["--embedding", "present.0.key"], "choose one that holds a vector for each")):
            refused = self.prepare("gpt2", *options, check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(words, refused.stderr)
        long = self.run_resmem("model", "prepare", "gpt2-raw.onnx", "-o", "x.onnx", "--context", "400", check=False)
        self.assertIn("name a shorter one with --context", long.stderr)
        parts = self.run_resmem("lm", "export", "text.tokens", "--model", "gpt2.onnx", "--parts", "all", "-o", "x.npz",
                                check=False)
        self.assertIn("'all' is no part of a text", parts.stderr)
        # Without a number, the longest window that runs, or what the model's own file says.
        self.run_resmem("model", "prepare", "gpt2-raw.onnx", "-o", "found.onnx")
        self.assertEqual(json.loads((self.folder / "found.json").read_text())["input"]["context"], 32)
        (self.folder / "config.json").write_text('{"n_positions": 40}')
        self.run_resmem("model", "prepare", "gpt2-raw.onnx", "-o", "found.onnx")
        self.assertEqual(json.loads((self.folder / "found.json").read_text())["input"]["context"], 40)
        (self.folder / "config.json").unlink()


if __name__ == "__main__":
    RESMEM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
