#!/usr/bin/env bash
#SBATCH --requeue
#SBATCH --open-mode=append
# One step of a shard plan as a Slurm job; slurm.sh submits it:
#
#   step.sh STEP FOLDER SHARDS       of an array the task's shard, else a step of the whole plan
#
# A lost node is Slurm's to notice: it starts the job again elsewhere (--requeue).  A process that was
# killed, or that the system refused something, is started again here, and if that does not help, on
# another node.  Every step goes on where it was.  A wrong command or input (exit codes 2, 3) is final.
set -uo pipefail
step=$1 folder=$2 shards=$3
part=()
[ -z "${SLURM_ARRAY_TASK_ID:-}" ] || part=("$SLURM_ARRAY_TASK_ID/$shards")
[ "$step" != eval ] || part=(--save "$folder/evaluation.json")

for attempt in 1 2 3; do
  "${RESMEM:-resmem}" shard "$step" "$folder" "${part[@]}" --quiet
  code=$?
  case $code in 0 | 2 | 3) exit $code ;; esac
  echo "attempt $attempt ended with exit code $code" >&2
  sleep 1
done
if [ "${SLURM_RESTART_COUNT:-0}" -lt 2 ]; then
  job=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}
  scontrol requeue "$job${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}" && sleep 300  # until it is taken away
fi
exit $code
