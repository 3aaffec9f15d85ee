"""How quick the page is in a real browser: a slider's answer, and the map of 200,000 rows while it is zoomed.

    page_times.py RESMEM [--rows 50000] [--map-rows 200000]
"""
import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

ARGUMENTS, sys.argv = sys.argv[2:], sys.argv[:2]
import numpy as np  # noqa: E402

import harness  # noqa: E402
from page_browser import Browser  # noqa: E402

DIM, CLASSES, MOVES, FRAMES = 64, 100, 30, 60

# From a slider's event until the answer on the page is another, one movement after the other.
SLIDE = """(() => {
  window.slides = [];
  const slider = document.getElementById("slider-k"), answer = document.querySelector(".answer");
  const move = () => {
    const began = performance.now();
    const seen = new MutationObserver(() => {
      seen.disconnect();
      slides.push(performance.now() - began);
      if (slides.length < %d) setTimeout(move, 50);
    });
    seen.observe(answer, {childList: true});
    slider.value = 100 + slides.length %% 2 * 50;
    slider.dispatchEvent(new Event("input"));
  };
  move();
})()""" % MOVES

# From frame to frame while every frame asks for another picture.
ZOOM = """(() => {
  window.pictures = [];
  const map = document.querySelector(".map"), box = map.getBoundingClientRect();
  let last = 0;
  const frame = (now) => {
    if (last) pictures.push(now - last);
    last = now;
    if (pictures.length === %d) return;
    map.dispatchEvent(new WheelEvent("wheel", {clientX: box.left + 200, clientY: box.top + 200, cancelable: true,
                                               deltaY: pictures.length %% 2 ? 40 : -40}));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()""" % FRAMES


def make_memory(folder, rows):
    random = np.random.default_rng(1)
    labels = random.integers(0, CLASSES, rows).astype(np.int32)
    centers = random.standard_normal((CLASSES, DIM)).astype(np.float32)
    logits = random.standard_normal((rows, CLASSES), dtype=np.float32)
    keys = centers[labels] + 0.8 * random.standard_normal((rows, DIM), dtype=np.float32)
    np.savez(folder / "train.npz", keys=keys, logits=logits, labels=labels)
    harness.resmem("memorize", "--data", folder / "train.npz", "-o", folder / "m.resmem", "--quiet")
    return {"keys": keys[0].tolist(), "logits": logits[0].tolist()}


def measure(rows, use):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="resmem_page_"))
    try:
        query = make_memory(folder, rows)
        server, browser = harness.Server(folder), Browser()
        try:
            browser.resize(1280)
            browser.load(f"http://127.0.0.1:{server.port}/")
            return use(browser, query)
        finally:
            browser.close()
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spread(times):
    ordered = sorted(times)
    return {"median_ms": round(statistics.median(times), 1), "p90_ms": round(ordered[len(times) * 9 // 10], 1),
            "most_ms": round(ordered[-1], 1)}


def slide(browser, query):
    browser.enter("#row-text", json.dumps(query))
    browser.until("document.getElementById('answer')")
    browser.evaluate(SLIDE)
    browser.until(f"window.slides.length === {MOVES}")
    return browser.evaluate("slides")


def zoom(browser, _):
    browser.go("look")
    browser.until("document.querySelectorAll('.legend-item').length")
    browser.evaluate(ZOOM)
    browser.until(f"window.pictures.length === {FRAMES}")
    return browser.evaluate("pictures")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--map-rows", type=int, default=200_000)
    arguments = parser.parse_args(ARGUMENTS)
    print(json.dumps({"slider": {"rows": arguments.rows, **spread(measure(arguments.rows, slide))},
                      "map_frames": {"rows": arguments.map_rows, **spread(measure(arguments.map_rows, zoom))}}))


if __name__ == "__main__":
    main()
