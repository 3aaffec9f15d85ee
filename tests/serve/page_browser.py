"""The service's page in a real browser, asked and used by what stands on it."""
import base64
import json
import pathlib
import subprocess
import sys
import time

IMAGES = pathlib.Path(sys.argv.pop(2)) if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).is_dir() else None

import numpy as np  # noqa: E402

import harness  # noqa: E402
from harness import rows  # noqa: E402

PATIENCE = 60  # seconds until a step is taken for one that never ends

sys.path.insert(0, str(harness.HERE.parent / "report"))
from chromium import Chromium  # noqa: E402


class Browser(Chromium):
    """One page; IMAGES is a folder for screenshots, to be looked at."""

    def __init__(self):
        super().__init__()
        self.call("Accessibility.enable")

    def load(self, address):
        self.call("Page.navigate", url="about:blank")
        self.events = []
        self.call("Page.navigate", url=address)
        self.until("document.documentElement.dataset.ready === 'true'")

    def until(self, expression):
        end = time.time() + PATIENCE
        while True:
            try:
                if self.evaluate(f"!!({expression})"):
                    return
            except RuntimeError:  # a page that is only being loaded
                pass
            if time.time() > end:
                raise AssertionError(f"never: {expression}; the page says {self.text('#problem')!r}, {self.complaints()}")
            time.sleep(0.02)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def texts(self, selector):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)")

    def enter(self, selector, value, event="input"):
        self.evaluate(f"""(() => {{
          const field = document.querySelector({json.dumps(selector)});
          field.value = {json.dumps(value)};
          field.dispatchEvent(new Event({json.dumps(event)}, {{bubbles: true}}));
        }})()""")

    def click(self, text, within="body"):
        """The button or link of this text, or of this accessible name."""
        found = self.evaluate(f"""(() => {{
          const all = [...document.querySelectorAll({json.dumps(within)} + " :is(button, a, summary)")];
          const one = all.find((each) => !each.closest("[hidden]") &&
              (each.getAttribute("aria-label") ?? each.textContent).trim() === {json.dumps(text)});
          one?.click();
          return !!one;
        }})()""")
        if not found:
            raise AssertionError(f"no button {text!r} in {within}")

    def go(self, part):
        self.evaluate(f"location.hash = '#{part}'")
        self.until(f"!document.getElementById('view-{part}').hidden")

    def complaints(self):
        """What the page or the browser about it complained of."""
        self.evaluate("1")  # what was said before this has arrived
        found = []
        for event in self.events:
            if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(json.dumps(event["params"])[:400])
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning"):
                found.append(json.dumps(event["params"]["args"])[:400])
        return found

    def unnamed(self):
        """Controls that a screen reader could not name."""
        wanted = {"button", "link", "textbox", "combobox", "slider", "checkbox", "searchbox"}
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node.get("role", {}).get("value") for node in nodes if not node.get("ignored")
                and node.get("role", {}).get("value") in wanted and not node.get("name", {}).get("value")]

    def sticking_out(self):
        """Controls that reach beyond the panel they are in."""
        return self.evaluate("""[...document.querySelectorAll('.panel :is(input, textarea, select, button, .drop)')]
            .filter((each) => each.getBoundingClientRect().right > each.closest('.panel').getBoundingClientRect().right)
            .map((each) => each.id || each.textContent)""")

    def image(self, name):
        if IMAGES:
            data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            (IMAGES / f"{name}.png").write_bytes(base64.b64decode(data))


class PageTest(harness.ServerTest):
    # On a busy machine a request may wait long for a processor, which is no reason to refuse it here.
    words = ("--edit-rest", "0", "--queue-seconds", "3600")
    silent = True  # no complaint of the browser

    browser = None

    @classmethod
    def setUpClass(cls):
        PageTest.browser = PageTest.browser or Browser()  # one for all classes
        super().setUpClass()

    def setUp(self):
        self.browser.resize(1280)
        self.browser.media()
        self.browser.load(f"http://127.0.0.1:{self.server.port}/")

    def tearDown(self):
        if self.silent:
            self.assertEqual(self.browser.complaints(), [])
            self.assertEqual(self.browser.text("#problem"), "")

    def ask(self, method, what, body=None):
        status, answer, _ = self.server.ask(method, f"/v1/memories/m/{what}", body)
        self.assertEqual(status, 200, answer)
        return answer

    def explain(self, query, **more):
        return self.ask("POST", "explain", {**query, **more})["ledger"]

    def run_python(self, code, ledger):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), [str(ledger["base_prediction"]), "->", str(ledger["prediction"])])

    def name(self, number):
        return f"class {number}"

    def paste(self, query):
        self.browser.enter("#row-text", json.dumps(query))
        self.browser.until("document.getElementById('answer')")

    def check_answer(self, ledger):
        """The page comes to show this ledger: the answer, the bars, the neighbors."""
        values = ledger.get("probability", ledger["score"])
        bars = {self.name(c): f"corrected {100 * values[i]:.1f} %" for i, c in enumerate(ledger["outputs"])}
        shares = [f"{100 * line['weight']:.1f} % of the weight" for line in ledger["lines"][:12]]
        end = time.time() + PATIENCE
        while True:
            shown = dict(zip(self.browser.texts(".bars .name"), self.browser.texts(".bars .corrected-text")))
            shown_shares = self.browser.texts(".neighbors .share")
            answer = self.browser.text("#answer")
            if (shown, shown_shares, answer) == (bars, shares, self.name(ledger["prediction"])) or time.time() > end:
                break
            time.sleep(0.02)
        self.assertEqual((shown, shown_shares, answer), (bars, shares, self.name(ledger["prediction"])))

    def wait_until_recent(self, query):
        """The page counts a query once it stands for a moment; then it is among the recent ones.  Another of a page
        that is gone may arrive meanwhile, so that no counter tells."""
        end = time.time() + PATIENCE
        wanted = np.float32(query["keys"]).tolist()
        while time.time() < end:
            for each in self.ask("GET", "queries?limit=20")["queries"]:
                kept = self.ask("GET", f"queries/{each['request']}")["queries"]
                if any(np.float32(row["key"]).tolist() == wanted for row in kept):
                    return
            time.sleep(0.05)
        self.fail("the query does not become a recent one")


def query_of(seed):
    one = rows(1, seed=seed)
    return {"keys": one["keys"][0].tolist(), "logits": one["logits"][0].tolist()}


def main():
    try:
        harness.main()
    finally:
        if PageTest.browser:
            PageTest.browser.close()
