"""Every sample page in a real browser: what it shows, what it asks for, what it says.

    browser_test.py WRITE_SAMPLES [IMAGES]

IMAGES: a folder for screenshots and the printed page, to be looked at.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from chromium import Chromium, Missing  # noqa: E402

WRITE_SAMPLES, IMAGES = None, None
HOSTILE = "<script>alert(1)</script>\"'&"


def resolve(document, pointer):
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def number_of(text):
    """The number in a shown text, its decimals and whether it is per cent; None for other units."""
    match = re.fullmatch(r"([+\u2212]?)([\d,]+)(?:\.(\d+))?(\u202f%)?", text)
    if match is None:
        return None
    sign, whole, decimals, percent = match.groups()
    value = float(whole.replace(",", "") + "." + (decimals or "0"))
    return (-value if sign == "\u2212" else value), len(decimals or ""), percent is not None


def luminance(color):
    parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="resmem_report_")
        subprocess.run([WRITE_SAMPLES, cls.folder.name], check=True)
        cls.names = sorted(f[:-5] for f in os.listdir(cls.folder.name) if f.endswith(".html"))
        cls.browser = Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.resize(1200)
        self.browser.media()

    def open(self, name):
        self.browser.open(os.path.join(self.folder.name, name + ".html"))
        with open(os.path.join(self.folder.name, name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def image(self, name):
        if IMAGES:
            image = self.browser.call("Page.captureScreenshot", captureBeyondViewport=True)
            with open(os.path.join(IMAGES, name + ".png"), "wb") as file:
                file.write(base64.b64decode(image["data"]))

    def test_pages_are_silent_and_ask_nothing_of_the_network(self):
        for name in self.names:
            self.open(name)
            self.browser.evaluate("1")  # what was said before this has arrived
            for event in self.browser.events:
                method = event.get("method", "")
                self.assertNotIn(method, ("Runtime.exceptionThrown", "Runtime.consoleAPICalled",
                                          "Log.entryAdded"), (name, event))
                if method == "Network.requestWillBeSent":
                    url = event["params"]["request"]["url"]
                    own = url.startswith("file://") and url.endswith(f"/{name}.html")
                    self.assertTrue(own or url.startswith("data:image/png;"), (name, url))

    def test_every_number_shown_is_the_documents(self):
        for name in self.names:
            document = self.open(name)
            shown = self.browser.evaluate(
                "[...document.querySelectorAll('data')].map("
                "e => [e.dataset.path, e.getAttribute('value'), e.textContent])")
            self.assertGreater(len(shown), 5, name)
            for path, value, text in shown:
                expected = resolve(document, path)
                self.assertEqual(json.loads(value), expected, (name, path))
                number = number_of(text)
                if number is None:
                    continue  # bytes, seconds, "< 1e\u22126": words rather than the number
                read, decimals, percent = number
                allowed = [expected * 100] if percent else [expected, expected * 100]
                if path.endswith("_percentile"):
                    allowed = [expected]  # of 100 already
                tolerance = 0.51 * 10 ** -decimals
                self.assertTrue(any(abs(read - a) <= tolerance + 1e-9 * abs(a) for a in allowed),
                                (name, path, text, expected))

    def test_headline_speaks_the_documents_numbers(self):
        gain = self.open("evaluation")["gain"]
        headline = self.browser.evaluate("document.querySelector('.headline').textContent")
        if "is better than the memory's answer" in headline:  # a better rival is named first
            return
        self.assertEqual(headline, f"The memory gets {gain['fixed']:,} of {gain['total']:,} "
                         "rows right that the base model got wrong, and harms "
                         f"{gain['harmed']:,} that it got right.")

    def test_ledgers_add_up_to_the_score_shown(self):
        document = self.open("combined")
        for part in document["parts"]:
            for example in part.get("examples", []):
                ledger = example["ledger"]
                for i, score in enumerate(ledger["score"]):
                    total = ledger["base"][i] + ledger["rounding"][i]
                    total += sum(line["contribution"][i] for line in ledger["lines"])
                    self.assertAlmostEqual(total, score, delta=1e-12)
        # In each table: the cells above the sum add up to it, within their rounding.
        tables = self.browser.evaluate(
            "[...document.querySelectorAll('.example > details > .scroll table')].map("
            "t => [...t.tBodies[0].rows].slice(0, 1 + t.querySelector('.sum').sectionRowIndex).map("
            "r => [...r.cells].slice(-2).map(c => c.textContent)))")
        self.assertEqual(len(tables), 4)
        for table in tables:
            for column in range(2):
                cells = [number_of(row[column])[0] for row in table]
                self.assertAlmostEqual(sum(cells[:-1]), cells[-1], delta=0.00051)

    def test_hostile_names_are_shown_and_not_run(self):
        for name in ("combined", "evaluation", "texts", "explanation"):
            self.open(name)
            self.assertIn(HOSTILE, self.browser.evaluate("document.body.textContent"))
            self.assertEqual(self.browser.evaluate("document.scripts.length"), 0)
            self.assertEqual(self.browser.evaluate(
                "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some("
                "a => a.name.startsWith('on') || a.name == 'style')).length"), 0)

    def test_content_policy_lets_the_style_in_and_scripts_not(self):
        self.open("evaluation")
        self.assertNotEqual(
            self.browser.evaluate("getComputedStyle(document.body).maxWidth"), "none")
        self.browser.evaluate(
            "{const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            "document.body.append(s)}")
        self.assertIsNone(self.browser.evaluate("window.ran"))

    def test_nothing_reaches_beyond_the_screen(self):
        for name in self.names:
            for width in (400, 800, 1200):
                self.browser.resize(width)
                self.open(name)
                self.assertLessEqual(
                    self.browser.evaluate("document.documentElement.scrollWidth"), width, name)
                if width == 400:
                    self.image(name + "_narrow")

    def test_a_phone_shows_whole_tables(self):
        self.browser.resize(420)
        self.open("evaluation")
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('main > section > .scroll')].filter("
            "s => s.scrollWidth > s.clientWidth).map(s => s.getAttribute('aria-label'))"),
            ["Probabilities and answers of every method"])  # eight columns: scrolls sideways

    def test_a_bin_of_one_answer_is_drawn_hollow_and_without_a_verdict(self):
        calibration = self.open("evaluation")["calibration"]
        few = [sum(0 < b["count"] < 10 for b in calibration[m]["bins"]) for m in ("base", "resmem")]
        self.assertEqual(few, [1, 1])
        drawn = self.browser.evaluate(
            "[...document.querySelectorAll('svg.plot')].filter(s => s.querySelector('.bar')).map("
            "s => ['.bar.few', '.bar:not(.few)', '.over, .under'].map("
            "c => s.querySelectorAll(c).length))")
        self.assertEqual(drawn, [[1, 12, 12], [1, 12, 12]])
        self.assertEqual(self.browser.evaluate(
            "getComputedStyle(document.querySelector('.bar.few')).fillOpacity"), "0")

    def test_confusions_are_counted_and_drawn_as_a_matrix(self):
        document = self.open("evaluation")
        first = document["confusions"][0]
        rows = self.browser.evaluate(
            "[...document.querySelectorAll('[aria-label=\"Most frequent confusions\"] tbody tr')]"
            ".map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual(len(rows), len(document["confusions"]))
        self.assertEqual(rows[0], [f"{first['label']} \u2192 {first['answer']}", str(first["base"]),
                                   str(first["resmem"]), "\u221249"])
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('.matrix .diagonal')].map(c => c.textContent)"),
            [f"{c['resmem_correct']:,}" for c in document["classes"]])

    def test_no_path_from_the_root_is_shown(self):
        document = self.open("evaluation")
        self.assertIn("/home/somebody/test.npz", document["run"]["command"])
        text = self.browser.evaluate("document.body.textContent")
        self.assertNotIn("/home/somebody", text)
        self.assertIn("--data \u2026/test.npz", text)

    def test_both_color_schemes_can_be_read(self):
        backgrounds = []
        for scheme in ("light", "dark"):
            self.browser.media(scheme=scheme)
            self.open("combined")
            self.image("combined_" + scheme)
            background = self.browser.evaluate("getComputedStyle(document.body).backgroundColor")
            backgrounds.append(background)
            for selector, least in (("body", 7), (".lede", 7), (".quiet", 4.5), ("h3", 4.5),
                                    (".is-harmed h3", 4.5), ("thead th", 4.5)):
                color = self.browser.evaluate(
                    f"getComputedStyle(document.querySelector('{selector}')).color")
                light, dark = sorted((luminance(color), luminance(background)), reverse=True)
                self.assertGreater((light + 0.05) / (dark + 0.05), least, (scheme, selector))
        self.assertNotEqual(*backgrounds)

    def test_keyboard_reaches_and_opens_everything(self):
        self.open("combined")
        self.browser.press("Tab", 9)
        self.assertEqual(self.browser.evaluate("document.activeElement.className"), "skip")
        self.browser.evaluate("document.querySelector('summary').focus()")
        self.browser.press("Enter", 13)
        self.assertTrue(self.browser.evaluate("document.querySelector('details').open"))
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('nav a')].filter("
            "a => !document.querySelector(a.getAttribute('href'))).length"), 0)
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('svg')].filter(s => s.getAttribute('aria-hidden') != "
            "'true' && !s.getAttribute('aria-label')).length"), 0)

    def test_thumbnails_are_images(self):
        self.open("combined")
        sizes = self.browser.evaluate(
            "[...document.images].map(i => [i.complete, i.naturalWidth, i.alt.length > 0])")
        self.assertGreater(len(sizes), 20)
        self.assertEqual(set(map(tuple, sizes)), {(True, 28, True)})

    def test_charts_hold_only_finite_places(self):
        for name in self.names:
            self.open(name)
            bad = self.browser.evaluate(
                "[...document.querySelectorAll('svg *')].flatMap(e => [...e.attributes])"
                ".filter(a => /nan|inf/i.test(a.value) && a.name != 'class').length")
            self.assertEqual(bad, 0, name)

    def test_page_prints(self):
        self.browser.media(kind="print", scheme="dark")
        self.open("combined")
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.body).color"),
                         "rgb(0, 0, 0)")
        self.browser.media(kind="", scheme="light")
        pdf = base64.b64decode(self.browser.call("Page.printToPDF", printBackground=True,
                                                 preferCSSPageSize=True)["data"])
        self.assertTrue(pdf.startswith(b"%PDF-"))
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        self.assertTrue(4 <= pages <= 25, pages)
        if IMAGES:
            with open(os.path.join(IMAGES, "combined.pdf"), "wb") as file:
                file.write(pdf)


if __name__ == "__main__":
    WRITE_SAMPLES = sys.argv[1]
    IMAGES = sys.argv[2] if len(sys.argv) > 2 else None
    try:
        Chromium().close()
    except Missing as missing:
        sys.exit(f"error: {missing}")
    unittest.main(argv=sys.argv[:1])
