#!/usr/bin/env bash
# From images to a tuned, judged and explained residual memory, with the commands that a user
# would type.  They run inside one folder, where everything is written.
#
#   examples/fashion_mnist/run.sh [FOLDER]      default: demo-output
#
# RESMEM: the program, default build/release/cli/resmem.  FASHION_MNIST: the folder of the data.
# EPOCHS: of the base's training, default 4.
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
epochs=${EPOCHS:-4}
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

step "A small base network: ResNet-8, $epochs epochs on 50,000 images, the other 10,000 held out"
resmem train resnet8 --images data --epochs "$epochs" --crop-padding 2 --validation-rows 10000 -o base
done_step "train the base"

learned=(--images data --part train --split base/split.npy)
step "A memory of where the base was wrong on the images that it learned from"
resmem memorize --model base/last.onnx "${learned[@]}" --only train --classes classes.txt \
  --overwrite -o fashion.resmem
done_step "memorize"

step "Its answer, and the rivals, tuned on the held-out images"
resmem tune fashion.resmem "${learned[@]}" --save tuning.json
done_step "tune"

step "Does it help?  10,000 test images that nothing above has seen"
resmem eval fashion.resmem --images data --part test --per-class --save evaluation.json
done_step "evaluate"

step "The test images whose answer changed most, for better and for worse, beside their neighbors"
resmem examples fashion.resmem --images data --part test --count 4 --save examples.json | tee examples.txt
done_step "examples"

step "Why?  The first of them, as a sum"
row=$(awk '$2 == "fixed" { gsub(",", "", $1); print $1; exit }' examples.txt)
resmem explain fashion.resmem --images data --part test --row "$row" --lines 5
done_step "explain"

step "All of it as one page for a browser"
resmem report evaluation.json --with examples.json,tuning.json \
  --title Fashion-MNIST -o report.html
done_step "report"

printf '\n%sTime%s\n' "$bold" "$plain"
printf '%s\n' "${times[@]}"
printf '%s  in all\n' "$(seconds_since "$began")"
printf '\n%sWritten to %s%s\n' "$bold" "$out" "$plain"
printf '  %-16s %s\n' fashion.resmem "the memory, to deploy beside the model" \
  base/last.onnx "the base model, with base/last.json" \
  report.html "gain, examples and tuning as one page for a browser"
