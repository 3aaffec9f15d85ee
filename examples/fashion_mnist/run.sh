#!/usr/bin/env bash
# From pictures to a tuned, judged and explained residual memory, with the commands that a user
# would type.  They run inside one folder, where everything is written.
#
#   examples/fashion_mnist/run.sh [FOLDER]      default: demo-output
#
# RESMEM: the program, default build/release/cli/resmem.  FASHION_MNIST: the folder of the data.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-demo-output}
program=$(realpath -m "${RESMEM:-$here/../../build/release/cli/resmem}")
data=$(realpath -m "${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}")
for file in "$program" "$data"/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz; do
  [ -r "$file" ] && continue
  echo "run.sh: $file is missing; ./setup installs the data, ./demo builds the program" >&2
  exit 1
done
mkdir -p "$out"
cd "$out"
ln -sfn "$data" data
cp "$here/classes.txt" .

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else bold='' dim='' plain=''; fi
export LC_ALL=C  # numbers with a point

began=$EPOCHREALTIME
step_began=$began
times=()
seconds_since() { awk "BEGIN { printf \"%6.1f s\", $EPOCHREALTIME - $1 }"; }
step() {
  printf '\n%s%d. %s%s\n' "$bold" $((${#times[@]} + 1)) "$1" "$plain"
}
done_step() {  # under which name its time is kept
  times+=("$(seconds_since "$step_began")  $1")
  step_began=$EPOCHREALTIME
}
show() {  # a command as one would type it, long ones in several lines
  printf '$ resmem %s\n' "$*" | fold -s -w 96 | sed -e '$!s/ *$/ \\/' -e '2,$s/^/    /' |
    sed -e "s/^/$dim/" -e "s/\$/$plain/"
}
resmem() {
  show "$@"
  "$program" "$@" --quiet
}

printf 'report, when all is done: %s/report.html\n' "$out"

step "A small base model: linear, trained on 50,000 of the 60,000 training pictures"
resmem base train --inputs data/train-images-idx3-ubyte.gz --labels data/train-labels-idx1-ubyte.gz \
  --rows 0:50000 --hidden 0 -o fashion.base
done_step "train the base"

step "Its keys and logits as NumPy arrays; the last 10,000 training pictures are for validation"
resmem base run fashion.base --inputs data/train-images-idx3-ubyte.gz \
  --labels data/train-labels-idx1-ubyte.gz --rows 0:50000 --role train -o arrays/train
resmem base run fashion.base --inputs data/train-images-idx3-ubyte.gz \
  --labels data/train-labels-idx1-ubyte.gz --rows 50000:60000 --role validation -o arrays/validation
resmem base run fashion.base --inputs data/t10k-images-idx3-ubyte.gz \
  --labels data/t10k-labels-idx1-ubyte.gz --role test -o arrays/test
done_step "run it over all pictures"

model=(--model fashion.base --layer input)
step "A memory of where the base was wrong"
resmem memorize --data arrays/train --classes classes.txt "${model[@]}" --overwrite \
  -o fashion.resmem
done_step "memorize"

step "k, sigma and T, chosen on the validation rows"
resmem tune fashion.resmem --data arrays/validation "${model[@]}" --save tuning.json
done_step "tune"

step "kNN-LM mixing, the rival, gets its lambda from the same rows"
rival=(compare fashion.resmem --data arrays/validation --only validation "${model[@]}")
show "${rival[@]}" ">" rival.txt
# Its warning, that the memory is tuned on these rows, is what we want here: the rival too.
"$program" "${rival[@]}" >rival.txt 2>rival.log || { cat rival.log >&2; exit 1; }
lambda=$(awk '/^kNN-LM, lambda/ && $4 > best { best = $4; lambda = $3 } END { print lambda }' rival.txt)
[ -n "$lambda" ] || { echo "run.sh: rival.txt holds no kNN-LM line" >&2; exit 1; }
echo "best lambda on the validation rows: $lambda (all of them: rival.txt)"
done_step "tune the rival"

step "Does it help?  10,000 test pictures that nothing above has seen"
resmem eval fashion.resmem --data arrays/test --lambdas "$lambda" --per-class "${model[@]}" \
  --save evaluation.json
done_step "evaluate"

step "Why?  One test picture that the memory sets right, as a sum"
resmem explain fashion.resmem --data arrays/test --row 23 --lines 5 "${model[@]}"
done_step "explain"

step "The test pictures whose answer changed most, for better and for worse, beside their neighbors"
resmem examples fashion.resmem --data arrays/test --count 4 "${model[@]}" \
  --images data/t10k-images-idx3-ubyte.gz --memory-images data/train-images-idx3-ubyte.gz \
  --save examples.json
done_step "examples"

step "All of it as one page for a browser"
resmem report evaluation.json --with examples.json,tuning.json \
  --title Fashion-MNIST -o report.html
done_step "report"

printf '\n%sTime%s\n' "$bold" "$plain"
printf '%s\n' "${times[@]}"
printf '%s  in all\n' "$(seconds_since "$began")"
printf '\n%sWritten to %s%s\n' "$bold" "$out" "$plain"
printf '  %-16s %s\n' fashion.resmem "the memory, to deploy beside the model" \
  fashion.base "the base model" arrays/ "keys, logits and labels" \
  report.html "gain, examples and tuning as one page for a browser"
