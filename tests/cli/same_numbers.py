"""Whether an explanation (standard input) has the numbers of a row that predict printed: same_numbers.py LINES.jsonl ROW."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as lines:
    line = [json.loads(each) for each in lines][int(sys.argv[2])]
ledger = json.load(sys.stdin)["ledger"]
# Predict prints the shortest text of a float32.
near = (abs(ledger["probability"][line["prediction"]] - line["probability"]) < 1e-7,
        abs(ledger["base_probability"][line["base"]] - line["base_probability"]) < 1e-7,
        abs(ledger["distance_percentile"] - line["distance_percentile"]) < 1e-5)
same = (ledger["prediction"], ledger["base_prediction"], ledger["unknown"]) == (
    line["prediction"], line["base"], line["unknown"])
print("same numbers" if same and all(near) else f"different: {line} {ledger}")
