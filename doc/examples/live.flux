#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A live run on several nodes under Flux:    flux batch doc/examples/live.flux [DECK]
#
# Each rank plays one class of roles (placement = role); `tiercel check --clock live --processes N DECK` tells what each
# will play. A minute before the time is up Flux sends SIGUSR2 to every rank: the run then stops, saves trace and
# summary, and ends with status 4, which the last lines tell from a failure. The batch job itself lasts a little longer
# than the run in it, so that it is there to tell.

# flux: --job-name=tiercel-live
# flux: --nodes=3
# flux: --exclusive
# flux: --time-limit=11m

deck=${1:-live-brokered}
output=$PWD/runs/live-$(flux getattr jobid 2>/dev/null || echo $$)
mkdir -p "$(dirname "$output")" || exit 1

flux run --nodes=3 --ntasks=9 --time-limit=10m --signal=USR2@60 -o mpi=openmpi \
    tiercel run "$deck" --clock live --progress 60 -o "$output"
status=$?
case $status in
0) echo "complete: $output" ;;
4) echo "stopped early, what was done is saved: $output" ;;
*) echo "failed with status $status" >&2 ;;
esac
exit $status
