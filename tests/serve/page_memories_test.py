"""The page of the service in a real browser: several memories, a regression's, and feedback of days ago.

    page_memories_test.py RESMEM [IMAGES]
"""
import datetime
import json
import re

import numpy as np

import harness
import page_browser
from harness import rows
from page_browser import PageTest, query_of


def number(value):
    """As the page writes it, with at most 4 significant digits."""
    return float(f"{value:.4g}")


class Switching(PageTest):
    words = (*PageTest.words, "wide=wide.resmem")

    @classmethod
    def prepare(cls):
        super().prepare()
        random = np.random.default_rng(4)
        np.savez(cls.folder / "wide.npz", keys=random.standard_normal((200, 3)).astype(np.float32),
                 logits=random.standard_normal((200, 2)).astype(np.float32), labels=random.integers(0, 2, 200))
        harness.resmem("memorize", "--data", cls.folder / "wide.npz", "-o", cls.folder / "wide.resmem", "--quiet")

    def test_the_other_memory_answers_and_the_first_one_again(self):
        self.assertEqual(self.browser.texts("#memory option"), ["m", "wide"])
        query = query_of(81)
        self.paste(query)
        self.check_answer(self.explain(query))
        self.browser.enter("#memory", "wide", "change")
        self.browser.until("document.getElementById('about').textContent.startsWith('200 rows')")
        self.assertEqual(self.browser.text("#answer"), "")  # the question was not one for this memory
        self.browser.enter("#row-text", json.dumps(query))
        self.assertIn('"keys" must be 3 numbers', self.browser.text(".bad"))
        other = {"keys": [0.1, 0.2, 0.3], "logits": [0.4, 0.5]}
        self.paste(other)
        ledger = self.server.ask("POST", "/v1/memories/wide/explain", other)[1]["ledger"]
        self.check_answer(ledger)
        self.assertIn("/v1/memories/wide/explain", self.browser.texts(".code pre")[0])
        self.browser.enter("#memory", "m", "change")
        self.browser.until("document.getElementById('about').textContent.startsWith('300 rows')")
        self.paste(query)
        self.check_answer(self.explain(query))


class Feedback(PageTest):
    """Corrections of days ago, by the history of edits."""

    @classmethod
    def prepare(cls):
        super().prepare()
        folder = cls.folder / "m.resmem.edits"
        folder.mkdir()
        lines = []
        for number, answer in enumerate(("fixed", "fixed", "harmed", "fixed", "both_wrong"), 1):
            when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=6 - number)
            counts = {name: int(name == answer) for name in ("both_right", "both_wrong", "fixed", "harmed")}
            lines += [{"edit": number, "kind": "learn", "time": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                       "who": "a", "request": "", "feedback": counts, "ids": [5000 + number]}, {"edit": number, "done": True}]
        (folder / "journal.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    def test_the_gain_is_drawn_from_the_first_correction_on(self):
        self.browser.go("watch")
        self.browser.until("document.querySelectorAll('.chart').length === 6")
        tiles = dict(zip(self.browser.texts(".tile dt"), self.browser.texts(".tile strong")))
        self.assertEqual(tiles["Gain on feedback"], "+40.0 points")
        chart = ".chart:last-child"
        self.assertIn("+40.0", self.browser.text(f"{chart} figcaption"))
        self.assertIn("5 days ago", self.browser.texts(f"{chart} .tick"))
        path = self.browser.evaluate(f"document.querySelector('{chart} path').getAttribute('d')")
        places = [tuple(map(float, place.split())) for place in re.split("[ML]", path)[1:]]
        heights = [place[1] for place in places]
        gains = [1, 1, 1 / 3, 1 / 2, 2 / 5]
        self.assertGreaterEqual(len(places), 6)
        self.assertEqual(sorted(range(5), key=lambda i: (heights[i], i)), sorted(range(5), key=lambda i: (-gains[i], i)))
        steps = np.diff([place[0] for place in places[:5]])
        np.testing.assert_allclose(steps, steps.mean(), atol=0.2)  # a day each


class Regression(PageTest):
    @classmethod
    def prepare(cls):
        keys = np.random.default_rng(5).standard_normal((300, 2)).astype(np.float32)
        np.savez(cls.folder / "train.npz", keys=keys, targets=np.sin(2 * keys), predictions=0.5 * keys,
                 ids=np.arange(1000, 1300))
        harness.resmem("memorize", "--data", cls.folder / "train.npz", "-o", cls.folder / "m.resmem", "--task", "regression",
                       "--k", 5, "--quiet")

    def shown(self):
        return [float(text.replace("−", "-").removeprefix("corrected ").replace(",", ""))
                for text in self.browser.texts(".bars .corrected-text")]

    def until_shown(self, ledger):
        wanted = [number(value) for value in ledger["score"]]
        self.browser.until(f"JSON.stringify([...document.querySelectorAll('.bars .corrected-text')].map((each) => "
                           f"Number(each.textContent.replace('corrected ', '').replace('−', '-').replace(',', '')))) "
                           f"=== {json.dumps(json.dumps(wanted, separators=(',', ':')))}")

    def test_values_are_answered_taught_and_taken_back(self):
        query = {"keys": [0.5, -0.25], "logits": [0.25, -0.125]}
        self.browser.enter("#row-text", json.dumps(query))
        before = self.explain(query)
        self.until_shown(before)
        self.assertEqual(self.browser.texts(".bars .name"), ["value 0", "value 1"])
        self.browser.enter("#slider-k", "0")
        self.until_shown(self.explain(query, k=1))
        self.browser.click("Correct this answer")
        self.browser.until("document.getElementById('taught-answer')")
        self.browser.enter("#label", "9")
        self.browser.click("Learn this")
        self.browser.until("!document.getElementById('problem').hidden")
        self.assertIn("Enter 2 numbers", self.browser.text("#problem"))
        self.browser.evaluate("document.getElementById('problem').textContent = ''")  # it was to be expected
        self.browser.enter("#label", "9, 8")
        self.browser.click("What would change?")
        self.browser.until("document.querySelector('.preview p')")
        self.browser.click("Learn this")
        self.browser.until("document.querySelector('.done p')")
        self.assertNotEqual(self.explain(query)["score"], before["score"])
        self.browser.click("Undo", ".done")
        self.browser.until("document.querySelector('.done p').textContent.includes('was undone')")
        self.assertEqual(self.explain(query)["score"], before["score"])
        # Its map has no classes; what is far from the base stands out.
        self.browser.go("look")
        self.browser.until("document.querySelector('#color-by option')")
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('#color-by option')].map((each) => each.value)"),
                         ["residual"])
        for part in ("try", "teach", "look", "watch"):
            self.browser.go(part)
            self.assertNotRegex(self.browser.text("main"), r"null|undefined|NaN|\[object", part)


if __name__ == "__main__":
    page_browser.main()
