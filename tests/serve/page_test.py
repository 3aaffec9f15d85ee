"""The page of the service in a real browser: Try and Teach show what the service answers.

    page_test.py RESMEM [IMAGES]
"""
import json
import subprocess
import sys
import time

import numpy as np

import page_browser
import harness
import text_test
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
        self.paste(query_of(33))
        self.wait_until_recent(query_of(33))

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

    def test_a_blends_ledger_says_what_is_exact_and_how_far_the_query_lies(self):
        query = query_of(38)
        self.paste(query)
        ledger = self.explain(query)
        self.check_answer(ledger)
        column = ledger["outputs"].index(ledger["prediction"])
        self.assertIn("by convention", self.browser.text(".why .convention"))
        lines = self.browser.evaluate("""[...document.querySelectorAll('.why tbody tr')].map(
            (row) => [...row.cells].slice(-3).map((cell) => cell.textContent.replace('−', '-')))""")
        for line, shown in zip(ledger["lines"], lines[1:]):
            exact, shared, adds = map(float, shown)
            self.assertAlmostEqual(exact, line["exact"][column], delta=1e-6)
            self.assertAlmostEqual(adds, line["contribution"][column], delta=1e-6)
            self.assertAlmostEqual(exact + shared, adds, delta=2e-6)
        parts = [float(shown[-1]) for shown in lines[-4:]]
        for shown, part in zip(parts, ("base", "labels", "expected", "residual")):
            self.assertAlmostEqual(shown, ledger["parts"][part][column], delta=1e-6)
        self.assertAlmostEqual(sum(parts), ledger["score"][column], delta=4e-6)
        # The distance, and the flag at a rate that is chosen.
        far = {**query, "keys": [value + 100 for value in query["keys"]]}
        for asked, rate in ((query, 0.001), (query, 0.1), (far, 0.1)):
            self.paste(asked)
            self.browser.enter("#unknown-rate", str(rate), "change")
            found = self.explain(asked, unknown_rate=rate)
            shown = "document.getElementById('distance').textContent"
            self.browser.until(f"{shown}.startsWith('Unknown: it lies farther away')" if found["unknown"] else
                               f"{shown}.endsWith('(unknown from {100 - 100 * rate:g} %).')")
        self.assertTrue(found["unknown"])

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
        self.browser.enter("#row-id", "")  # any row may be this one again
        self.browser.click("Any row")
        self.browser.until("document.getElementById('row-id').value !== ''")

    def test_a_recent_query_can_be_asked_again(self):
        query = rows(1, seed=36)
        _, _, headers = self.server.ask("POST", "/v2/models/m/infer", harness.infer_json(query))
        self.browser.click("Recent queries")
        mine = f"[...document.querySelectorAll('.picks li')].find((li) => li.textContent.includes('{headers['X-Request-Id'][:12]}'))"
        self.browser.until(mine)
        self.browser.evaluate(f"{mine}.querySelector('button').click()")
        self.check_answer(self.explain({"keys": query["keys"][0].tolist(), "logits": query["logits"][0].tolist()}))

    def test_copied_commands_give_the_same_answer(self):
        query = query_of(37)
        self.paste(query)
        ledger = self.explain(query)
        self.check_answer(ledger)
        curl, python = self.browser.texts(".code pre")
        done = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout)["ledger"], ledger)
        self.run_python(python, ledger)
        # The buttons; where the browser allows no copying, the text is selected.
        self.browser.evaluate("""Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => {
          if (window.forbidden) throw new Error("forbidden");
          window.copied = text;
        }}})""")
        for name, text in (("curl", curl), ("Python", python)):
            self.browser.click(f"Copy as {name}")
            self.browser.until(f"window.copied === {json.dumps(text)}")
        self.browser.evaluate("window.forbidden = true; document.querySelector('.codes details').open = true")
        self.browser.click("Copy as curl")
        self.browser.until(f"getSelection().toString().trim() === {json.dumps(curl.strip())}")


class Teach(PageTest):
    words = (*PageTest.words, "--validation", "m=validation.npz")

    def test_correct_preview_accept_undo(self):
        query = query_of(41)
        self.paste(query)
        before = self.explain(query)
        wanted = (before["prediction"] + 1) % harness.CLASSES
        self.wait_until_recent(query)
        self.browser.click("Correct this answer")
        self.browser.until("document.getElementById('taught-answer')")
        self.assertEqual(self.browser.text("#taught-answer"), self.name(before["prediction"]))
        self.browser.enter("#label", self.name(wanted))
        preview = self.check_preview({**query, "label": wanted})
        told = preview["validation"]
        self.assertEqual(len(self.browser.texts(".changes li")),
                         min(20, len(preview["changed"])) + min(20, told["changed"]))
        words = (f"{told['changed']} would be answered differently: {told['fixed']} fixed, {told['harmed']} harmed"
                 if told["changed"] else "none changes its answer")
        self.assertEqual(self.browser.text(".validation"), f"Of {told['rows']} validation rows, {words}.")
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

    def check_preview(self, lesson):
        """The page shows the service's preview.  The query of a page that is gone may be counted only now, so it is
        asked until nothing changed between two answers."""
        while True:
            first = self.ask("POST", "preview", {"learn": lesson})
            self.browser.evaluate("document.querySelector('.preview').replaceChildren()")
            self.browser.click("What would change?")
            self.browser.until("document.querySelector('.preview p')")
            if self.ask("POST", "preview", {"learn": lesson}) == first:
                break
        self.assertIn(f"Of the last {first['queries']} quer", self.browser.text(".preview p"))
        return first

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
        self.assertFalse(self.browser.evaluate("document.getElementById('problem').hidden"))
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
        time.sleep(0.6)  # the pasted row is counted meanwhile, which is no reason to take the message away
        self.assertFalse(self.browser.evaluate("document.getElementById('problem').hidden"))
        self.give("labels")
        self.browser.until("document.querySelector('#history tbody tr')")


class Images(PageTest):
    """A memory with its model and its images: an image from a file, beside those of its neighbors."""
    # Nothing is looked up among the latest queries: there are none.
    words = (*PageTest.words, "--images", "m=photos.npy", "--recent-queries", "0")

    @classmethod
    def prepare(cls):
        import protocol_test
        protocol_test.Images.folder = cls.folder
        protocol_test.Images.prepare()

    def test_an_image_that_is_dropped_is_answered_as_one_that_is_chosen(self):
        shape = self.server.ask("GET", "/v2/models/m")[1]["inputs"][2]["shape"][1:]
        pixels = np.random.default_rng(2).integers(0, 256, shape, np.uint8)
        bytes_of_it = list(harness.png(pixels))
        self.browser.evaluate(f"""(() => {{
          const dropped = new DataTransfer();
          dropped.items.add(new File([new Uint8Array({bytes_of_it})], "photo.png", {{type: "image/png"}}));
          const field = document.querySelector(".drop");
          const over = new DragEvent("dragover", {{dataTransfer: dropped, bubbles: true, cancelable: true}});
          field.dispatchEvent(over);
          window.allowed = over.defaultPrevented;
          field.dispatchEvent(new DragEvent("drop", {{dataTransfer: dropped, bubbles: true, cancelable: true}}));
        }})()""")
        self.assertTrue(self.browser.evaluate("window.allowed"))
        self.browser.until("document.getElementById('answer')")
        body, headers = harness.triton_request({"image": pixels[None]}, ["prediction"])
        _, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        names = self.server.ask("GET", "/v2/models/m")[1]["parameters"]["class_names"]
        self.assertEqual(self.browser.text("#answer"), names[harness.triton_arrays(data, answer)[1]["prediction"][0]])

    def test_an_image_is_answered(self):
        shape = self.server.ask("GET", "/v2/models/m")[1]["inputs"][2]["shape"][1:]
        pixels = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
        path = self.folder / "photo.png"
        path.write_bytes(harness.png(pixels))
        self.browser.call("DOM.enable")
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=root, selector="#image-file")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])
        self.browser.until("document.getElementById('answer')")
        body, headers = harness.triton_request({"image": pixels[None]}, ["prediction", "keys", "logits"])
        _, data, answer = self.server.ask("POST", "/v2/models/m/infer", body, headers)
        arrays = harness.triton_arrays(data, answer)[1]
        prediction = arrays["prediction"][0]
        names = self.server.ask("GET", "/v2/models/m")[1]["parameters"]["class_names"]
        self.assertEqual(self.browser.text("#answer"), names[prediction])
        query = json.loads(self.browser.evaluate("document.getElementById('row-text').value"))
        for name in ("keys", "logits"):
            np.testing.assert_array_equal(np.float32(query[name]), arrays[name][0])
        for width in (360, 1280):
            self.browser.resize(width)
            self.assertEqual(self.browser.sticking_out(), [])
        self.check_neighbor_images(self.explain(query))

    def check_neighbor_images(self, ledger):
        photos = np.load(self.folder / "photos.npy")
        nearest = [line["id"] for line in ledger["lines"][:12]]
        self.browser.until(f"document.querySelectorAll('.neighbors canvas:not([hidden])').length === {len(nearest)}")
        shown = self.browser.evaluate("""[...document.querySelectorAll('.neighbors canvas')].map((canvas) => [
            canvas.getAttribute('aria-label'),
            [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]])""")
        self.assertEqual([label for label, _ in shown], [f"The image of row {row}" for row in nearest])
        for (_, pixels), row in zip(shown, nearest):
            wanted = np.broadcast_to(photos[row].reshape(*photos[row].shape[:2], -1), (*photos[row].shape[:2], 3))
            np.testing.assert_array_equal(np.reshape(pixels, (*wanted.shape[:2], 4))[..., :3], wanted)
        self.browser.image("images")


class Text(PageTest):
    """A memory of tokens: a text, token by token."""

    @classmethod
    def prepare(cls):
        cls.words = (*PageTest.words, *text_test.prepare(cls.folder), "--recent-queries", "0")

    def answered(self, text, **more):
        return self.ask("POST", "explain", {"text": text, **more})["ledger"]

    def test_a_text_is_read_token_by_token(self):
        read = self.ask("POST", "tokens", {"text": text_test.TEXT, "last": 24})
        self.browser.enter("#text-box", text_test.TEXT)
        wanted = [each["text"].strip() or "␣" for each in read["tokens"]]
        self.browser.until(f"[...document.querySelectorAll('.tokens button')].length === {len(wanted)}")
        self.assertEqual(self.browser.texts(".tokens button"), wanted)
        for before, token, kind in zip(read["tokens"], read["tokens"][1:], self.kinds()[1:]):
            gain = before["next_memory"] - before["next_base"]
            self.assertEqual(kind, "" if abs(gain) < 0.01 else "better" if gain > 0 else "worse", token)
        # The last token is the query.
        names = self.ask_names()
        name = lambda ledger: f"“{names[ledger['prediction']]}”"
        whole = self.answered(text_test.TEXT)
        self.browser.until(f"document.getElementById('answer')?.textContent === {json.dumps(name(whole))}")
        self.assertIn(whole["lines"][0]["source"], self.browser.text(".neighbors li"))
        # Another token of it.
        prefix = read["head"] + "".join(each["text"] for each in read["tokens"][:4])
        earlier = self.answered(prefix)
        self.browser.evaluate("document.querySelectorAll('.tokens button')[3].click()")
        shares = [f"{100 * line['weight']:.1f} % of the weight" for line in earlier["lines"][:12]]
        self.browser.until(f"JSON.stringify([...document.querySelectorAll('.neighbors .share')].map((each) => each.textContent)) === {json.dumps(json.dumps(shares, separators=(',', ':')))}")
        self.assertEqual(self.browser.text("#answer"), name(earlier))
        curl, python = self.browser.texts(".code pre")
        done = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout)["ledger"], earlier)
        self.assertIn('"text": ', python)
        self.run_python(python, earlier)
        # What may come next is added.
        best = read["tokens"][-1]["memory"][0]
        self.browser.evaluate("document.querySelector('.next-tokens button').click()")
        self.assertEqual(self.browser.evaluate("document.getElementById('text-box').value"), text_test.TEXT + best["text"])
        for width in (360, 1280):
            self.browser.resize(width)
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
            self.browser.image(f"text-{width}")
        self.assertEqual(self.browser.unnamed(), [])

    def test_a_slider_does_not_run_the_language_model_again(self):
        self.browser.enter("#text-box", text_test.TEXT)
        self.browser.until("document.querySelectorAll('.neighbors li').length > 1")
        self.browser.evaluate("""(() => {
          const ask = window.fetch;
          window.asked = [];
          window.fetch = (path, options) => {
            window.asked.push([path, options?.body ?? ""]);
            return ask(path, options);
          };
        })()""")
        self.browser.enter("#method", "resmem", "change")
        self.browser.enter("#slider-k", "0")
        self.browser.until("document.querySelectorAll('.neighbors li').length === 1")
        asked = self.browser.evaluate("window.asked")
        self.assertEqual({path for path, _ in asked}, {"/v1/memories/m/explain"})
        for _, body in asked:
            self.assertEqual({"keys", "logits"} - set(json.loads(body)), set())
            self.assertNotIn("text", json.loads(body))

    def kinds(self):
        return self.browser.evaluate("[...document.querySelectorAll('.tokens button')].map((each) => each.className.replace('token', '').trim())")

    def ask_names(self):
        return self.server.ask("GET", "/v2/models/m?class_names=all")[1]["parameters"]["class_names"]

    def test_a_next_token_is_corrected(self):
        text = "was seen before what the"
        self.browser.enter("#text-box", text)
        before = self.answered(text)
        names = self.ask_names()
        self.browser.until("document.getElementById('answer')")
        wanted = next(i for i, each in enumerate(names) if each.startswith(" ") and each.strip() and i != before["prediction"])
        self.browser.click("Correct this answer")
        self.browser.until("document.getElementById('taught-answer')")
        self.browser.enter("#label", names[wanted].strip())
        self.browser.click("Learn this")
        self.browser.until("document.querySelector('.done p')")
        self.assertEqual(self.answered(text)["lines"][0]["label"], wanted)
        self.browser.click("Undo", ".done")
        self.browser.until("document.querySelector('.done p').textContent.includes('was undone')")
        self.assertEqual(self.answered(text)["lines"], before["lines"])


if __name__ == "__main__":
    page_browser.main()
