"""docs/json.md names every field that is written, and none that is not.

    json_docs_test.py WRITE_SAMPLES RESMEM
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "json.md"
WRITE_SAMPLES = RESMEM = None
SCALARS = {"text": str, "integer": int, "number": (int, float), "boolean": bool}


def read_page():
    """{section: {field: (type, optional)}}"""
    sections, fields = {}, None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"##+ (\S.*)", line)
        if heading:
            fields = sections.setdefault(heading.group(1), {})
        row = re.match(r"\| (`.*?) \| (.*?) \|(.*)\|$", line)
        if row:
            for name in re.findall(r"`([^`]+)`", row.group(1)):
                fields[name] = (row.group(2), "optional" in row.group(3))
    return sections


class JsonDocsTest(unittest.TestCase):
    def setUp(self):
        self.sections = read_page()
        self.seen = set()

    def check(self, value, kind, place):
        link = re.fullmatch(r"\[(\w+)\]\(#(\w+)\)", kind)
        if kind.startswith("list of "):
            self.assertIsInstance(value, list, place)
            for item in value:
                self.check(item, kind[len("list of "):], place)
        elif kind.startswith("map of "):
            for item in value.values():
                self.check(item, kind[len("map of "):], place)
        elif kind == "documents":
            self.check(value, f"[x](#{value['schema']})".replace("x", "document", 1), place)
        elif link or "#resmem." in kind:
            section = re.search(r"#([\w.]+)\)", kind).group(1)
            if value is not None:
                self.check_object(value, section, place)
        else:
            self.assertIn(kind, SCALARS, f"{place}: the page gives it the type '{kind}'")
            if value is not None:
                self.assertIsInstance(value, SCALARS[kind], place)
                self.assertEqual(isinstance(value, bool), kind == "boolean", place)

    def check_object(self, value, section, place):
        self.assertIn(section, self.sections, place)
        fields = self.sections[section]
        for name, item in value.items():
            self.assertIn(name, fields, f"{place}.{name} is not in section '{section}' of json.md")
            self.seen.add((section, name))
            self.check(item, fields[name][0], f"{place}.{name}")
        for name, (_, optional) in fields.items():
            self.assertTrue(optional or name in value, f"{place} lacks {name}, which json.md promises")

    def test_page_and_documents_agree(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WRITE_SAMPLES, folder], check=True)
            documents = [json.loads(path.read_text(encoding="utf-8"))
                         for path in sorted(pathlib.Path(folder).glob("*.json"))]
        for words in (["version"], ["runtime", "info"]):  # written by the program itself
            told = subprocess.run([RESMEM, *words, "--json"], capture_output=True, check=False).stdout
            documents.append(json.loads(told))
        for document in documents:
            self.check_object(document, document["schema"], document["schema"])
        for section, fields in self.sections.items():
            for name in fields:
                self.assertIn((section, name), self.seen,
                              f"json.md describes '{name}' of '{section}', which no sample has")


if __name__ == "__main__":
    WRITE_SAMPLES, RESMEM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
