#!/usr/bin/env bash
# What memories of Fashion-MNIST give away (docs/privacy.md): one of rows that the base was trained on, one of rows
# that it has never seen; the base is one hidden layer of 64 units.
#   tests/privacy/fashion.sh RESMEM FOLDER [IMAGES]
set -euo pipefail
resmem=$(realpath "$1")
mkdir -p "$2"
images=$(realpath "${3:-/usr/share/datasets/fashion-mnist}")
cd "$2"
train=$images/train-images-idx3-ubyte.gz labels=$images/train-labels-idx1-ubyte.gz
test=$images/t10k-images-idx3-ubyte.gz test_labels=$images/t10k-labels-idx1-ubyte.gz

"$resmem" base train --inputs "$train" --labels "$labels" --rows 0:20000 --epochs 30 -o base.base --quiet
run() { "$resmem" base run base.base --inputs "$1" --labels "$2" "${@:4}" -o "$3" --quiet; }
run "$train" "$labels" seen --rows 0:20000
run "$train" "$labels" unseen --rows 20000:40000
run "$train" "$labels" validation --rows 50000:60000
run "$test" "$test_labels" test
for rows in seen unseen; do
  "$resmem" memorize --data $rows -o $rows.resmem --overwrite --quiet
  "$resmem" tune $rows.resmem --data validation --quiet >/dev/null
  printf '\n==== %s\n' "$rows"
  "$resmem" privacy $rows.resmem --data test --quiet | tee "$rows.txt"
done
