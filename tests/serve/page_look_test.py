"""The page of the service in a real browser: Look and Watch, how it looks, and where it comes from.

    page_look_test.py RESMEM [IMAGES]
"""
import json
import time

import numpy as np

import page_browser
import harness
from harness import rows
from page_browser import IMAGES, PageTest, query_of

PARTS = ("try", "teach", "look", "watch")


class Look(PageTest):
    count = 600

    @classmethod
    def prepare(cls):
        """Beside ordinary rows: two that are the same, and one of a wrong label."""
        arrays = rows(cls.count)
        arrays["ids"] = np.arange(1000, 1000 + cls.count)
        arrays["keys"][20] = arrays["keys"][10]
        arrays["logits"][30] = 6 * np.eye(harness.CLASSES)[arrays["labels"][30]]
        arrays["labels"][30] = (arrays["labels"][30] + 2) % harness.CLASSES
        np.savez(cls.folder / "train.npz", **arrays)
        harness.resmem("memorize", "--data", cls.folder / "train.npz", "-o", cls.folder / "m.resmem", "--quiet")

    def test_the_map_a_row_and_its_neighbors(self):
        self.browser.go("look")
        self.browser.until("[...document.querySelectorAll('#view-look .quiet')].some((p) => p.textContent.startsWith('600 rows'))")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "title-look")
        painted = """(() => {
          const canvas = document.querySelector('.map');
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
          copy.drawImage(canvas, 0, 0);
          return new Set(new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
        })()"""
        self.browser.until(f"{painted} === {harness.CLASSES + 1}")  # the classes' colors and nothing
        for by, colors in (("error", 3), ("class", harness.CLASSES + 1)):
            self.browser.enter("#color-by", by, "change")
            self.browser.until(f"{painted} === {colors}")
        self.browser.enter("#color-by", "residual", "change")  # shades, as many as there are sizes of it
        self.browser.until(f"{painted} > {harness.CLASSES + 5}")
        self.browser.enter("#find-id", "1010")
        self.browser.click("Find")
        self.browser.until("document.querySelector('.row-panel h3')?.textContent === 'Row 1010'")
        row = self.ask("GET", "rows?ids=1010")["rows"][0]
        near = self.ask("POST", "neighbors", {"keys": row["key"], "logits": row["logits"], "k": 13})["neighbors"][0]
        wanted = [f"row {each['id']}" for each in near if each["id"] != 1010][:12]
        self.assertEqual(self.browser.texts(".row-panel tbody th"), wanted)
        self.assertEqual(wanted[0], "row 1020")  # the same key
        # By the keyboard alone, and by the pointer.
        self.browser.evaluate("document.querySelector('.map').focus()")
        self.browser.press("Enter", 13)
        self.browser.until("document.querySelector('.row-panel h3').textContent !== 'Row 1010'")
        for key, code in (("+", 187), ("ArrowLeft", 37), ("0", 48)):
            self.browser.press(key, code)

    def test_every_point_is_where_the_service_says_and_is_found_there(self):
        status, body, headers = self.server.ask("GET", "/v1/memories/m/map")
        self.assertEqual(status, 200)
        length = int(headers["Inference-Header-Content-Length"])
        head, at, arrays = json.loads(body[:length]), length, {}
        for each in head["outputs"]:
            size = each["parameters"]["binary_data_size"]
            kind = {"FP32": "<f4", "INT32": "<i4", "UINT64": "<u8"}[each["datatype"]]
            arrays[each["name"]] = np.frombuffer(body[at:at + size], kind)
            at += size
        with np.load(self.folder / "train.npz") as train:
            keys = train["keys"].astype(np.float64)
            np.testing.assert_array_equal(arrays["id"], train["ids"])
            np.testing.assert_array_equal(arrays["label"], train["labels"])
            np.testing.assert_array_equal(arrays["base"], train["logits"].argmax(1))
        centered = keys - keys.mean(0)
        _, sizes, directions = np.linalg.svd(centered, full_matrices=False)
        first = centered @ directions[0]
        self.assertLess(min(abs(first - arrays["x"]).max(), abs(first + arrays["x"]).max()), 1e-2 * abs(first).max())
        shown = np.stack([arrays["x"], arrays["y"]], 1).astype(np.float64)
        self.assertGreater((shown ** 2).sum(), 0.999 * (sizes[:2] ** 2).sum())  # no plane shows more
        self.assertLess((shown ** 2).sum(), 1.0001 * (sizes[:2] ** 2).sum())
        # The pointer on a lonely point finds that row.
        places = np.stack([arrays["x"], arrays["y"]], 1)
        lonely = max(range(len(places)), key=lambda i: np.partition(((places - places[i]) ** 2).sum(1), 1)[1])
        self.browser.go("look")
        self.browser.until("document.querySelector('.map').width > 300 && document.querySelectorAll('.legend-item').length")
        low, high = places.min(0), places.max(0)
        half = (high - low).max() / 2
        x, y = (places[lonely] - (low + high) / 2) / half
        place = self.point_at(x, y, f"row {arrays['id'][lonely]},")
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        self.browser.until(f"document.querySelector('.row-panel h3')?.textContent === 'Row {arrays['id'][lonely]}'")
        self.browser.call("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-200, **place)

    def point_at(self, x, y, words):
        """Moves the pointer until it is on this point of the map, which may still be growing to its place on the page."""
        end = time.time() + page_browser.PATIENCE
        while True:
            left, top, width, height = self.browser.evaluate(
                "(({left, top, width, height}) => [left, top, width, height])"
                "(document.querySelector('.map').getBoundingClientRect())")
            scale = min(width, height) / 2 / 1.05
            place = {"x": left + width / 2 + x * scale, "y": top + height / 2 - y * scale}
            for where in ({"x": left + 1, "y": top + 1}, place):
                self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", **where)
            told = self.browser.text(".tip")
            if told.startswith(words):
                return place
            self.assertLess(time.time(), end, f"the map says {told!r}, not {words!r}")

    def test_rows_that_deserve_a_look(self):
        self.browser.go("look")
        self.browser.click("Find rows that deserve a look")
        self.browser.until("document.querySelectorAll('.review-part').length === 3")
        review = self.ask("GET", "review")
        self.assertEqual(review["label_errors"][0]["id"], 1030)
        self.assertEqual([(pair["id"], pair["other"], pair["distance"]) for pair in review["duplicates"]], [(1010, 1020, 0)])
        parts = [self.browser.texts(f".review-part:nth-child({i}) tbody th") for i in (1, 2, 3)]
        self.assertEqual(parts[0], [f"row {each['id']}" for each in review["label_errors"]])
        self.assertEqual(parts[1], ["row 1010"])
        self.assertEqual(sum(each["rows"] for each in review["classes"]), review["checked"])
        self.assertEqual(len(parts[2]), sum(each["fixed"] + each["harmed"] > 0 for each in review["classes"]))
        self.relabel_1030(review["label_errors"][0])
        self.browser.evaluate("document.querySelector('.review-part').remove()")  # to see that it comes again
        self.browser.go("look")
        self.browser.until("document.querySelectorAll('.review-part').length === 3")
        self.browser.click("Keep row 1030")
        self.assertNotIn("row 1030", self.browser.texts(".review-part:nth-child(1) tbody th"))
        self.browser.click("Forget row 1020")
        self.browser.until("document.getElementById('forget-id')?.value === '1020'")
        self.browser.go("look")
        self.browser.click("Ask row 1020")
        self.browser.until("document.getElementById('answer')")

    def relabel_1030(self, suspect):
        """Relabeled as its neighbors say, and back."""
        before = self.ask("GET", "rows?ids=1030")["rows"][0]
        self.browser.click("Relabel row 1030")
        panel = "#view-teach .panel:nth-child(2)"
        self.browser.until("document.getElementById('relabel')?.value")
        self.browser.click("What would change?", panel)
        self.browser.until(f"document.querySelector('{panel} .preview p')")
        self.browser.click("Relabel it")
        self.browser.until(f"document.querySelector('{panel} .done button')")
        after = self.ask("GET", "rows?ids=1030")["rows"][0]
        self.assertEqual(after["label"], suspect["suggested"])
        self.assertEqual((after["key"], after["logits"]), (before["key"], before["logits"]))
        self.browser.click("Undo", panel)
        self.browser.until(f"document.querySelector('{panel} .done').textContent.includes('was undone')")
        self.assertEqual(self.ask("GET", "rows?ids=1030")["rows"][0], before)


class Watch(PageTest):
    def test_figures_are_those_of_the_metrics(self):
        test = rows(150, seed=9)
        self.server.ask("POST", "/v2/models/m/infer", harness.infer_json(test, 0, 150))
        wrong = {**query_of(40), "label": 1}
        self.ask("POST", "correct", wrong)
        self.browser.go("watch")
        self.browser.until("document.querySelectorAll('.chart').length === 6")
        tiles = dict(zip(self.browser.texts(".tile dt"), self.browser.texts(".tile strong")))
        self.assertEqual(tiles["Rows answered"], f"{self.server.metric('resmem_rows_total'):,.0f}")
        self.assertEqual(tiles["Memory"], f"{self.server.metric('resmem_memory_rows'):,.0f} rows")
        self.assertEqual(tiles["Drift"], f"{self.server.metric('resmem_drift'):.2f}")
        unknown = self.server.metric("resmem_unknown_rows_total") / self.server.metric("resmem_measured_rows_total")
        self.assertEqual(tiles["Unknown"], f"{100 * unknown:.1f} %")
        self.assertIn("1 correction:", self.browser.text(".tiles"))
        # Read again by itself: what is asked meanwhile moves the charts.
        self.server.ask("POST", "/v2/models/m/infer", harness.infer_json(test, 0, 150))
        self.browser.until(f"document.querySelector('.tile strong').textContent === '{self.server.metric('resmem_rows_total'):,.0f}'")
        self.assertIn("rows ", self.browser.text(".chart"))


class Looks(PageTest):
    """How it looks: widths, light and dark, names for screen readers."""

    @classmethod
    def prepare(cls):
        (cls.folder / "names.txt").write_text("\n".join(["T-shirt or top", "Trouser", "<b>Pullover</b>", "A name that is long " * 4]) + "\n")
        np.savez(cls.folder / "train.npz", ids=np.arange(1000, 1300), **rows(300))
        np.savez(cls.folder / "validation.npz", **rows(150, seed=2))
        harness.resmem("memorize", "--data", cls.folder / "train.npz", "--classes", cls.folder / "names.txt", "-o",
                       cls.folder / "m.resmem", "--quiet")
        harness.resmem("tune", cls.folder / "m.resmem", "--data", cls.folder / "validation.npz", "--quiet")

    def test_no_part_is_wider_than_the_window_and_all_controls_have_names(self):
        self.browser.enter("#row-text", json.dumps(query_of(50)))
        self.browser.until("document.getElementById('answer')")
        for part in PARTS:
            self.browser.go(part)
            if part == "look":
                self.browser.enter("#find-id", "1010")
                self.browser.click("Find")
                self.browser.until("document.querySelector('.row-panel h3')")
                self.browser.click("Find rows that deserve a look")
                self.browser.until("document.querySelectorAll('.review-part').length === 3")
            self.assertEqual(self.browser.unnamed(), [], part)
            self.assertNotRegex(self.browser.text("main"), r"null|undefined|NaN|\[object", part)
            for width in (360, 1280):
                for scheme in ("light", "dark"):
                    self.browser.resize(width)
                    self.browser.media(scheme=scheme)
                    self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width, part)
                    self.assertEqual(self.browser.sticking_out(), [], part)
                    if IMAGES:
                        time.sleep(0.2)
                    self.browser.image(f"{part}-{width}-{scheme}")

    def test_nothing_comes_from_elsewhere_and_nothing_is_inline(self):
        for event in self.browser.events:
            if event.get("method") == "Network.requestWillBeSent":
                address = event["params"]["request"]["url"]
                self.assertTrue(address.startswith(f"http://127.0.0.1:{self.server.port}/"), address)
        folder = harness.HERE.parents[1] / "server/page"
        for path in folder.iterdir():
            text = path.read_text()
            self.assertNotIn("innerHTML", text, path)
            self.assertNotRegex(text, r"\bon\w+=\"|style=\"", path)
        headers = self.server.ask("GET", "/")[2]
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])


if __name__ == "__main__":
    page_browser.main()
