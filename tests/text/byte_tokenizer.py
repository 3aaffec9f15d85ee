"""A small tokenizer.json of bytes, as GPT-2's: 256 pieces for bytes, a few merges, an end."""
import json


def letters():
    """Byte -> the letter that stands for it in the file."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return {byte: chr(byte) if byte in plain else chr(next(spare)) for byte in range(256)}


def tokenizer(begin=False):
    letter = letters()
    blank = letter[32]
    vocabulary = {letter[byte]: byte for byte in range(256)}
    merges = [("h", "e"), (blank, "t"), (blank + "t", "he"), (blank, "a")]
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    end = len(vocabulary)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    made = {"version": "1.0", "normalizer": None, "pre_tokenizer": byte_level, "decoder": byte_level,
            "added_tokens": [{"id": end, "content": "<|endoftext|>", "single_word": False, "lstrip": False,
                              "rstrip": False, "normalized": False, "special": True}],
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": vocabulary,
                      "merges": [" ".join(pair) for pair in merges]}}
    if begin:
        made["post_processor"] = {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [end], "tokens": ["<|endoftext|>"]}}}
    return made


def write(path, **options):
    path.write_text(json.dumps(tokenizer(**options), ensure_ascii=False), encoding="utf-8")
