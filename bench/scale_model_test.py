"""The model of scale.py on costs that are known, and its tables on the points that docs/scale.md was written from."""
import json
import pathlib
import unittest

import scale_model

HERE = pathlib.Path(__file__).resolve().parent


def points():
    for rows in (10_000, 100_000, 1_000_000):
        for dim in (16, 64, 256):
            for k in (10, 50):
                yield {"rows": rows, "dim": dim, "k": k, "classes": 10}


class ScaleModel(unittest.TestCase):
    def test_a_sum_of_multiples_is_found_again(self):
        model = scale_model.Model(list(points()), lambda point: 5 + 3e-4 * point["rows"] + 2e-5 * point["rows"] * point["dim"],
                                  "1", "rows", "rows x columns", "k")
        self.assertLess(model.worst, 1e-6)
        larger = {"rows": 10 ** 7, "dim": 128, "k": 20, "classes": 10}
        self.assertAlmostEqual(model.of(larger), 5 + 3e3 + 2e2 * 128, delta=1)
        self.assertNotIn("x k", model.text())

    def test_nothing_gets_cheaper_with_more(self):
        model = scale_model.Model(list(points()), lambda point: 100 - 0.5 * point["k"], "1", "rows", "k")
        self.assertTrue((model.found >= 0).all())
        self.assertGreater(model.worst, 0.05)

    def test_the_page_has_the_tables_of_the_stored_points(self):
        stored = json.loads((HERE.parent / "docs/measurements/scale.json").read_text())
        tables = scale_model.report(stored, [6_000_000, 10_000_000], (512, 8, 10))
        page = (HERE.parent / "docs/scale.md").read_text()
        for line in tables.splitlines():
            if line.startswith("|"):
                self.assertIn(line, page)


if __name__ == "__main__":
    unittest.main()
