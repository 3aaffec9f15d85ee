"""Reads an explanation as JSON: base + contributions + rounding must be the score, and the score
that of the given row of the score file."""
import json
import sys

import numpy as np

explanation = json.load(sys.stdin)["ledger"]
total = np.array(explanation["base"]) + np.array(explanation["rounding"])
for line in explanation["lines"]:
    total += np.array(line["contribution"])
score = np.load(sys.argv[1])[int(sys.argv[2])]
weights = sum(line["weight"] for line in explanation["lines"])
same = np.array_equal(np.array(explanation["score"], np.float32), score)
print("adds up" if same and np.abs(total - score).max() < 1e-9 and abs(weights - 1) < 1e-9
      else f"{total} is not {score}; weights sum to {weights}")
