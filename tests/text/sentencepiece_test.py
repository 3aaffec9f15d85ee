"""Our tokenizer against SentencePiece's own programs, on models trained here.

    sentencepiece_test.py RESMEM
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from token_set_file import documents

RESMEM = None
WORDS = """the memory of a model holds what it has seen and adds it to what is new while nothing in a
word is lost when pieces meet again naïve café Größe 東京 ﬁne ½ Ａ １２ e\u0301 \u00a0 \u200b … don't
http://example.org/x?y=1 3.14159 1,024 (see) "quoted" well-known rock'n'roll""".split()
ODD = ["", "   ", "\ttab\tand  blanks ", "\u2581 underscore", "😀😀 emoji", "a" * 300, "x\u0000y".replace("\0", " "),
       "ﷺ long ligature", "\u3000ideographic blank", "e\u0301\u0301", "mixed\u00adhyphen", "<s> </s> <unk> <pad>"]


def lines(count, seed):
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        words = [draw.choice(WORDS) for _ in range(draw.randint(1, 30))]
        if draw.random() < .3:
            words.insert(0, "".join(draw.choice("abcdefgh ijk") for _ in range(20)))
        made.append(draw.choice([" ", " ", "  "]).join(words))
    return made + ODD


class SentencePieceTest(unittest.TestCase):
    def compare(self, options):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "train.txt").write_text("\n".join(lines(1500, 1)), encoding="utf-8")
            subprocess.run(["spm_train", "--input=train.txt", "--model_prefix=m", "--vocab_size=220",
                            "--hard_vocab_limit=false", "--pad_id=0", "--eos_id=1", "--unk_id=2", "--bos_id=-1",
                            "--minloglevel=1", *options], cwd=folder, check=True)
            texts = lines(400, 2)
            expected = subprocess.run(["spm_encode", "--model=m.model", "--output_format=id"], cwd=folder,
                                      input="\n".join(texts) + "\n", check=True, capture_output=True,
                                      encoding="utf-8").stdout.split("\n")[:len(texts)]
            expected = [[int(i) for i in line.split()] for line in expected]
            # Each line as a document, and all of them as one.
            (folder / "x.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
            (folder / "x.txt").write_text("\n".join(texts), encoding="utf-8")
            for file in ("x.jsonl", "x.txt"):
                subprocess.run([RESMEM, "lm", "tokens", file, "--tokenizer", "m.model", "-o", "x.tokens", "--quiet"],
                               cwd=folder, check=True, capture_output=True)
                ids, description = documents(folder / "x.tokens")
                self.assertTrue(all(d[-1] == description["end_id"] == 1 for d in ids))
                ids = [d[:-1].tolist() for d in ids]
                if file == "x.txt":
                    self.assertEqual(ids, [[i for line in expected for i in line]])
                    continue
                self.assertEqual(ids, [e for t, e in zip(texts, expected) if e and t.strip(" \t")])
            # And back.
            decoded = subprocess.run(["spm_decode", "--model=m.model", "--input_format=id"], cwd=folder,
                                     input="\n".join(" ".join(map(str, e)) for e in expected[:12]) + "\n",
                                     check=True, capture_output=True, encoding="utf-8").stdout.split("\n")
            for text, theirs in zip(texts[:12], decoded):
                ours = subprocess.run([RESMEM, "tokenizer", "inspect", "m.model", "--text", text], cwd=folder,
                                      check=True, capture_output=True, encoding="utf-8").stdout
                self.assertIn("decoded " + " " * 5 + theirs.rstrip(), ours)

    def test_unigram(self):
        self.compare(["--model_type=unigram"])

    def test_bpe(self):
        self.compare(["--model_type=bpe"])

    def test_byte_fallback(self):
        self.compare(["--model_type=unigram", "--byte_fallback", "--character_coverage=0.98", "--vocab_size=420"])

    def test_user_defined_pieces_and_plain_normalization(self):
        self.compare(["--model_type=bpe", "--user_defined_symbols=word,'n',://", "--normalization_rule_name=identity",
                      "--remove_extra_whitespaces=false"])


if __name__ == "__main__":
    RESMEM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
