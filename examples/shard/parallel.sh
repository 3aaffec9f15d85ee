#!/usr/bin/env bash
# All steps of a shard plan with GNU parallel, on this machine or others:
#
#   resmem shard plan work --shards 8 --data train.npz --queries test.npz
#   examples/shard/parallel.sh work 8 --jobs 2
#   examples/shard/parallel.sh work 8 --sshlogin host1,host2 --workdir .
#
# What follows the number of shards goes to parallel.  FOLDER, the inputs and resmem (or what the
# variable RESMEM names) must be there on all machines.  A step that fails is tried three times; run
# the command again and it goes on where it was.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: parallel.sh FOLDER SHARDS [PARALLEL OPTION...]" >&2; exit 2; }
folder=$(realpath "$1") shards=$2
shift 2
resmem=${RESMEM:-resmem}

for step in memorize index search; do
  seq "$shards" | parallel --retries 3 --halt soon,fail=1 "$@" \
    "$resmem shard $step $(printf %q "$folder") {}/$shards --quiet"
done
"$resmem" shard merge "$folder" --quiet
"$resmem" shard eval "$folder" --save "$folder/evaluation.json"
