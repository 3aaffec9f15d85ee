"""The page of the service in a real browser: Try and Teach show what the service answers.

    page_test.py RESMEM [IMAGES]
"""
import json
import subprocess
import sys

import numpy as np

import page_browser
import harness
from door_test import KEYS, write_keys
from harness import rows
from page_browser import PageTest, query_of


class Try(PageTest):
    def test_a_pasted_row_is_answered_as_the_service_answers_it(self):
        for seed in (31, 32):
            query = query_of(seed)
            self.paste(query)
            self.check_answer(self.explain(query))
        numbers = ", ".join(map(str, query["keys"] + query["logits"]))
        self.browser.enter("#row-text", numbers)
        self.check_answer(self.explain(query))
        # Once it stands for a moment it is counted, as a client's query is.
        before = self.server.metric("resmem_rows_total")
        self.paste(query_of(33))
        self.wait_for_metric("resmem_rows_total", before + 1)

    def test_what_is_wrong_with_a_row_is_told(self):
        for text, words in (("1 2 3", "12 numbers are wanted"), ('{"keys": [1]}', '"keys" must be 8 numbers'),
                            ("{", "not"), ("1 x", "Value 2 is not a number")):
            self.browser.enter("#row-text", text)
            self.assertIn(words, self.browser.text(".bad"))

    def test_sliders_answer_and_the_last_one_wins(self):
        query = query_of(34)
        self.paste(query)
        self.browser.enter("#method", "resmem", "change")
        for place in (200, 10, 150, 0):
            self.browser.enter("#slider-k", str(place))
        self.browser.until("document.querySelectorAll('.neighbors li').length === 1")
        self.check_answer(self.explain(query, method="resmem", k=1))
        self.browser.enter("#slider-sigma", "150")
        self.browser.enter("#slider-k", "100")
        self.browser.enter("#slider-t", "150")
        shown = [float(self.browser.evaluate(f"document.getElementById('slider-{which}').getAttribute('aria-valuetext')"))
                 for which in ("k", "sigma", "t")]
        k, sigma, temperature = int(shown[0]), shown[1], shown[2]
        self.browser.until(f"document.querySelectorAll('.neighbors li').length === {min(12, k)}")
        self.check_answer(self.explain(query, method="resmem", k=k, sigma=sigma, temperature=temperature))
        # The share: nothing of the memory is the base alone.
        self.browser.enter("#slider-share", "0")
        powers = np.exp(np.array(query["logits"]) - max(query["logits"]))
        self.assertEqual(self.browser.text("#answer"), self.name(int(np.argmax(powers))))
        base = powers / powers.sum()
        shown = dict(zip(self.browser.texts(".bars .name"), self.browser.texts(".bars .corrected-text")))
        self.assertEqual(shown, {self.name(c): f"corrected {100 * value:.1f} %" for c, value in enumerate(base)})

    def test_the_ledger_adds_up(self):
        query = query_of(35)
        self.paste(query)
        self.browser.enter("#method", "resmem", "change")
        ledger = self.explain(query, method="resmem")
        self.browser.until(f"document.querySelectorAll('.why tbody tr').length === {len(ledger['lines']) + 3}")
        column = ledger["outputs"].index(ledger["prediction"])
        shown = [float(text.replace("−", "-")) for text in self.browser.texts(".why tbody td:last-child")]
        self.assertAlmostEqual(sum(shown[:-1]), shown[-1], delta=1e-6 * len(shown))
        self.assertAlmostEqual(shown[-1], ledger["score"][column], delta=1e-6)

    def test_a_stored_row_is_left_out_of_its_own_answer(self):
        self.browser.enter("#row-id", "1007")
        self.browser.click("Ask it")
        stored = self.ask("GET", "rows?ids=1007")["rows"][0]
        query = {"keys": stored["key"], "logits": stored["logits"]}
        ledger = self.explain(query, leave_out=1007)
        self.assertNotIn(1007, [line["id"] for line in ledger["lines"]])
        self.assertIn(1007, [line["id"] for line in self.explain(query)["lines"]])
        self.check_answer(ledger)
        self.assertIn(f"Its label is class {stored['label']}", self.browser.text(".answer"))
        self.browser.click("Any row")
        self.browser.until("document.getElementById('row-id').value !== '1007'")

    def test_a_recent_query_can_be_asked_again(self):
        query = rows(1, seed=36)
        _, _, headers = self.server.ask("POST", "/v2/models/m/infer", harness.infer_json(query))
        self.browser.click("Recent queries")
        self.browser.until(f"[...document.querySelectorAll('.picks li')].some((li) => li.textContent.includes('{headers['X-Request-Id'][:12]}'))")
        self.browser.evaluate("document.querySelector('.picks button').click()")
        self.check_answer(self.explain({"keys": query["keys"][0].tolist(), "logits": query["logits"][0].tolist()}))

    def test_copied_commands_give_the_same_answer(self):
        query = query_of(37)
        self.paste(query)
        ledger = self.explain(query)
        self.check_answer(ledger)
        curl, python = self.browser.texts(".code pre")
        done = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout)["ledger"], ledger)
        done = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), [str(ledger["base_prediction"]), "->", str(ledger["prediction"])])


class Teach(PageTest):
    def test_correct_preview_accept_undo(self):
        query = query_of(41)
        asked = self.server.metric("resmem_rows_total")
        self.paste(query)
        before = self.explain(query)
        wanted = (before["prediction"] + 1) % harness.CLASSES
        self.wait_for_metric("resmem_rows_total", asked + 1)  # it is among the recent queries
        self.browser.click("Correct this answer")
        self.browser.until("document.getElementById('taught-answer')")
        self.assertEqual(self.browser.text("#taught-answer"), self.name(before["prediction"]))
        self.browser.enter("#label", self.name(wanted))
        self.browser.click("What would change?")
        self.browser.until("document.querySelector('.preview p')")
        lesson = {**query, "label": wanted}
        preview = self.ask("POST", "preview", {"learn": lesson})
        self.assertIn(f"Of the last {preview['queries']} quer", self.browser.text(".preview p"))
        self.assertEqual(len(self.browser.texts(".changes li")), len(preview["changed"]))
        self.browser.click("Learn this")
        self.browser.until("document.querySelector('.done p')")
        edit = self.ask("GET", "history")["edits"][0]
        self.assertEqual((edit["kind"], edit["who"]), ("learn", "local"))
        after = self.explain(query)
        self.browser.until(f"document.getElementById('taught-answer').textContent === '{self.name(after['prediction'])}'")
        self.assertNotEqual(after["probability"][wanted], before["probability"][wanted])
        self.browser.until("document.querySelector('#history tbody tr')")
        self.assertIn("learn row", self.browser.text("#history tbody tr"))
        self.assertIn("local", self.browser.text("#history tbody tr"))
        self.browser.click("Undo", ".done")
        self.browser.until("document.querySelector('.done p').textContent.includes('was undone')")
        self.assertEqual(self.explain(query)["probability"], before["probability"])
        self.browser.until(f"document.querySelector('#history').textContent.includes('undoes {edit['edit']}')")

    def test_forget_and_take_it_back_from_the_history(self):
        count = self.server.metric("resmem_memory_rows")
        self.browser.go("teach")
        self.browser.enter("#forget-id", "1011")
        self.browser.click("What would change?", "#view-teach .panel:nth-child(2)")
        self.browser.until("document.querySelector('#view-teach .panel:nth-child(2) .preview p')")
        self.browser.click("Forget it")
        self.browser.until("document.querySelector('#view-teach .panel:nth-child(2) .done p')")
        self.assertEqual(self.server.metric("resmem_memory_rows"), count - 1)
        self.assertEqual(self.server.ask("GET", "/v1/memories/m/rows?ids=1011")[0], 404)
        edit = self.ask("GET", "history")["edits"][0]["edit"]
        self.browser.until(f"document.querySelector('[aria-label=\"Undo edit {edit}\"]')")
        self.browser.click(f"Undo edit {edit}")
        self.browser.until(f"!document.querySelector('[aria-label=\"Undo edit {edit}\"]')")
        self.assertIn("undone by", self.browser.texts("#history tbody tr")[1])
        self.assertEqual(self.server.metric("resmem_memory_rows"), count)
        self.assertEqual(self.ask("GET", "rows?ids=1011")["rows"][0]["id"], 1011)


class WithKeys(PageTest):
    words = ("--keys", "keys.txt", "--edit-rest", "0")
    silent = False  # a browser reports every 401

    @classmethod
    def prepare(cls):
        super().prepare()
        write_keys(cls.folder / "keys.txt", KEYS)

    def give(self, name):
        self.browser.evaluate("document.getElementById('key').open = true")
        self.browser.enter("#key-text", KEYS[name][1])
        self.browser.click("Use it")
        self.browser.until("document.getElementById('about').textContent.includes('rows') && document.getElementById('problem').hidden")

    def test_a_key_is_asked_for_and_kept_for_the_tab_only(self):
        self.browser.evaluate("sessionStorage.clear()")
        self.browser.load(f"http://127.0.0.1:{self.server.port}/")
        self.assertIn("wants a key", self.browser.text("#problem"))
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "key-text")
        self.give("phone")
        self.paste(query_of(60))
        self.assertEqual(self.browser.evaluate("[localStorage.length, document.cookie, sessionStorage.length]"), [0, "", 1])
        curl = self.browser.texts(".code pre")[0]
        self.assertIn("$RESMEM_KEY", curl)
        self.assertNotIn(KEYS["phone"][1], self.browser.evaluate("document.documentElement.outerHTML"))
        # What the key may not do is said in words.
        self.browser.go("teach")
        self.browser.until("!document.getElementById('problem').hidden")
        self.assertIn("has the role predict; this needs teach", self.browser.text("#problem"))
        self.give("labels")
        self.browser.until("document.querySelector('#history tbody tr')")


class Images(PageTest):
    """A memory with its model: an image from a file."""

    @classmethod
    def prepare(cls):
        import protocol_test
        protocol_test.Images.folder = cls.folder
        protocol_test.Images.prepare()

    def test_an_image_is_answered(self):
        shape = self.server.ask("GET", "/v2/models/m")[1]["inputs"][2]["shape"][1:]
        pixels = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
        path = self.folder / "photo.png"
        path.write_bytes(png(pixels))
        self.browser.call("DOM.enable")
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=root, selector="#image-file")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])
        self.browser.until("document.getElementById('answer')")
        body, headers = harness.triton_request({"image": pixels[None]}, ["prediction"])
        _, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        prediction = harness.triton_arrays(data, answer)[1]["prediction"][0]
        names = self.server.ask("GET", "/v2/models/m")[1]["parameters"]["class_names"]
        self.assertEqual(self.browser.text("#answer"), names[prediction])
        query = json.loads(self.browser.evaluate("document.getElementById('row-text').value"))
        kept = self.ask("GET", f"queries/{answer['X-Request-Id']}")["queries"][0]
        self.assertEqual((query["keys"], query["logits"]), (kept["key"], kept["logits"]))


def png(pixels):
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, channels = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


if __name__ == "__main__":
    page_browser.main()
