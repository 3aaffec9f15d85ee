#!/usr/bin/env bash
# All steps of a shard plan on Slurm, each as soon as what it needs is there:
#
#   resmem shard plan work --shards 16 --tokens train.tokens --queries test.tokens --model run/last.onnx
#   examples/shard/slurm.sh work 16 --mem 8G --time 4:00:00
#
# What follows the number of shards goes to every sbatch.  FOLDER, the inputs and resmem (or what the
# variable RESMEM names) must be there on all nodes.  Safe to run again: what is done is not done
# again.  Prints the job that ends it all; the evaluation is in FOLDER/evaluation.json.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: slurm.sh FOLDER SHARDS [SBATCH OPTION...]" >&2; exit 2; }
folder=$(realpath "$1") shards=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/log"

# name, dependency, further words of sbatch -- name of the step
submit() {
  local step=$1 after=$2
  shift 2
  sbatch --parsable --job-name="shard-$step" ${after:+--dependency="$after"} --kill-on-invalid-dep=yes \
    --output="$folder/log/$step-%A-%a.log" "$@" "$here/step.sh" "$step" "$folder" "$shards"
}

memorized=$(submit memorize "" --array="1-$shards" "$@")
# aftercorr: shard 3 is indexed as soon as shard 3 is memorized.
indexed=$(submit index "aftercorr:$memorized" --array="1-$shards" "$@")
searched=$(submit search "aftercorr:$indexed" --array="1-$shards" "$@")
merged=$(submit merge "afterok:$searched" "$@")
submit eval "afterok:$merged" "$@"
