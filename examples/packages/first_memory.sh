#!/usr/bin/env bash
# From a data set to a tuned and judged memory with the installed packages alone, in about a minute.
#   apt-get install dataset-fashion-mnist ./resmem_*.deb ./resmem-lab_*.deb
#   ./first_memory.sh [FOLDER]         default: first-memory
set -euo pipefail
data=/usr/share/datasets/fashion-mnist
train=(--inputs "$data/train-images-idx3-ubyte.gz" --labels "$data/train-labels-idx1-ubyte.gz")
test=(--inputs "$data/t10k-images-idx3-ubyte.gz" --labels "$data/t10k-labels-idx1-ubyte.gz")
[ -r "${train[1]}" ] || { echo "first_memory.sh: apt-get install dataset-fashion-mnist" >&2; exit 1; }
mkdir -p "${1:-first-memory}"
cd "${1:-first-memory}"

# A base model: one hidden layer on 50,000 images; the other 10,000 are for tuning.
resmem base train "${train[@]}" --rows 0:50000 --hidden 32 --epochs 2 -o my.base
resmem base run my.base "${train[@]}" --rows 0:50000 --role train -o train
resmem base run my.base "${train[@]}" --rows 50000:60000 --role validation -o validation
resmem base run my.base "${test[@]}" --role test -o test

# Its memory, tuned on images that it has not seen, judged on others.
model=(--model my.base --layer hidden)  # arrays of another model are refused
resmem memorize --data train "${model[@]}" --overwrite -o fashion.resmem
resmem tune fashion.resmem --data validation "${model[@]}"
resmem eval fashion.resmem --data test "${model[@]}" --save evaluation.json
resmem report evaluation.json --title "My first memory" -o report.html
