"""What claims.py makes of results that are not there yet, and of a stand-in's."""
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
SPEC = importlib.util.spec_from_file_location("claims", HERE / "claims.py")
CLAIMS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CLAIMS)
RESULTS = CLAIMS.RESULTS


def gain(low, high):
    return {"value": (low + high) / 2, "low": low, "high": high}


def record(result):
    return {"result": result, "made": {"started": "2026-11-19T00:00:00Z"}}


class ClaimsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="resmem_claims_")
        CLAIMS.RESULTS = pathlib.Path(self.folder.name)
        for name in ["cifar100", "lm"]:
            shutil.copy(RESULTS / f"{name}.json", CLAIMS.RESULTS)
        for name in ["cifar100", "lm", "theory"]:
            shutil.copy(RESULTS / f"{name}.md", CLAIMS.RESULTS)

    def tearDown(self):
        self.folder.cleanup()

    def row(self, claim):
        rows = [row for row in CLAIMS.claims() if row[0] == claim]
        self.assertEqual(len(rows), 1, claim)
        return rows[0]

    def add_step(self, page, step, result):
        path = CLAIMS.RESULTS / f"{page}.json"
        document = json.loads(path.read_text()) if path.exists() else {"steps": {}}
        document["steps"][step] = record(result)
        path.write_text(json.dumps(document))
        (CLAIMS.RESULTS / f"{page}.md").touch()

    def test_what_was_not_run_is_open_and_has_a_command(self):
        row = self.row("ImageNet, MobileNet-V2 1.3")
        self.assertEqual(row[2:5], ("not run", "open", "reproduce imagenet --steps table-1.3"))

    def test_a_stand_in_is_never_counted_as_the_papers_figure(self):
        for low, high, verdict in [(0.01, 0.03, "stand-in: gains"), (-0.03, -0.01, "stand-in: **loses**"),
                                   (-0.01, 0.01, "stand-in: not shown")]:
            pairs = [{"left": name, "accuracy": gain(low, high)} for name in ["ResMem, the paper's values", "blend"]]
            self.add_step("imagenet", "table-0.5", {"reductions": [{"reduction": "nearest", "pairs": []},
                                                                   {"reduction": "none", "pairs": pairs}]})
            row = self.row("ImageNet, MobileNet-V2 0.5")
            self.assertEqual(row[3], verdict)
            self.assertEqual(CLAIMS.group_of(row[3]), "stand-ins on other photos")
        self.assertIn("-1.00 to +1.00", row[2])

    def test_a_loss_does_not_hold(self):
        self.add_step("cifar100", "coarse-pooled", {"runs": ["a", "b"], "at": {"paper": {
            "difference": -0.03, "interval": {"low": -0.05, "high": -0.01}}}})
        row = self.row("fixed errors were coarsely right, seeds pooled")
        self.assertEqual(row[2], "-3.00 (-5.00 to -1.00), 2 seeds")
        self.assertEqual(CLAIMS.group_of(row[3]), "does not hold")

    def test_every_verdict_belongs_to_one_group_and_an_unknown_one_is_refused(self):
        for row in CLAIMS.claims():
            CLAIMS.group_of(row[3])
        with self.assertRaises(SystemExit):
            CLAIMS.group_of("splendid")


if __name__ == "__main__":
    unittest.main()
