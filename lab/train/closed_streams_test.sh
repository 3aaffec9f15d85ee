#!/usr/bin/env bash
# closed_streams_test.sh RESMEM RESMEM_TRAIN: resmem-train, started directly and without standard
# streams, writes nothing of what it says into a file of the run, which then goes on as if it had
# not been there.
set -euo pipefail
resmem=$1 train=$2 folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
/usr/bin/python3 -c "
import numpy as np
draw = np.random.default_rng(1)
np.save('keys.npy', draw.standard_normal((200, 8), dtype=np.float32))
np.save('labels.npy', draw.integers(0, 4, 200))"
"$resmem" train mlp-8 --inputs keys.npy --labels labels.npy --epochs 2 -o whole --quiet > words
mkdir run && cp whole/recipe.json run
code=0
"$train" run <&- >&- 2>&- || code=$?
[ "$code" = 1 ] || { echo "exit $code instead of 1: nobody heard what it said"; exit 1; }
if grep -rlE '"(note|step|epoch)":' --exclude=recipe.json run; then
  echo "what it said is in that file"
  exit 1
fi
"$train" run > words
cmp run/last.onnx whole/last.onnx
