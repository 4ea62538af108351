#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs that are told to end early, or to flush: signals, wall limit, progress lines.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

# Long enough for every machine: it is always stopped.
cat >long.deck <<END
[deck]
format = 1
[system]
kind = brokered
[cluster]
nodes = 8
cores-per-node = 4
[workload]
source = bulk
jobs = 1000000
submit-window = 64
stop-queue = false
[trace]
flush-every = 24h
END

completed() # FOLDER VALUE
{
    grep -q "\"completed\": $2," "$1/summary.json"
}

# begin FOLDER COMMAND...: starts a run in the background and waits until it plays
begin()
{
    local folder=$1 i
    shift
    "$@" >"$folder.out" 2>"$folder.err" </dev/null &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ -f "$folder/trace.h5" ] && break
        sleep 0.1
    done
    sleep 0.5
}

ended_with() # STATUS
{
    local status=0
    wait "$pid" || status=$?
    [ "$status" -eq "$1" ] && return 0
    echo "# exit status $status instead of $1"
    return 1
}

for signal in USR2 TERM; do
    begin "alone-$signal" env "${alone_environment[@]}" "$TIERCEL" run long.deck -o "alone-$signal"
    kill "-$signal" "$pid"
    check "SIG$signal ends a run with status 4" ended_with 4
    check "what was done is saved (SIG$signal)" completed "alone-$signal" false
    check "its trace is whole (SIG$signal)" says_in 0 out "complete, of a run that was stopped early" verify \
        "alone-$signal"
    check "it says so (SIG$signal)" grep -q "stopped early by SIG$signal" "alone-$signal.err"
    check "jobs are left unfinished (SIG$signal)" grep -q "^left [0-9]* jobs unfinished" "alone-$signal.out"
    check "the balances hold (SIG$signal)" grep -q "^balance jobs: .* = " "alone-$signal.out"
done

begin together "$MPIRUN" -n 2 "$TIERCEL" run long.deck -o together --set run.spread=always
kill -USR2 "$pid"
check "SIGUSR2 to the launcher ends all processes with status 4" ended_with 4
check "what was done is saved on 2 processes" completed together false

quick_part_ends

begin flushed env "${alone_environment[@]}" "$TIERCEL" run long.deck -o flushed
before=$(stat -c %Y.%s flushed/trace.h5)
sleep 1.1
unchanged=$(stat -c %Y.%s flushed/trace.h5)
kill -USR1 "$pid"
for ((i = 0; i < 100; i++)); do
    after=$(stat -c %Y.%s flushed/trace.h5)
    [ "$after" != "$unchanged" ] && break
    sleep 0.1
done
check "without a signal nothing is flushed" test "$before" = "$unchanged"
check "SIGUSR1 flushes" test "$after" != "$unchanged"
check "and the run goes on" kill -0 "$pid"
kill -USR2 "$pid"
check "until it is ended" ended_with 4

check "the wall limit ends a run with status 4" expect_status 4 \
    alone run long.deck -o wall --walltime 00:00:08 --progress 1 >wall.out 2>wall.err
check "which is saved" completed wall false
check "and said" grep -q "stopped early by --walltime" wall.err
line="^t = [0-9.]* s: [0-9]* events, [0-9]*/s, [0-9]* of 1000000 jobs done, after [0-9]* s$"
check "progress lines come every second, the first after two" test "$(grep -c "$line" wall.err)" -ge 2
check "and never on stdout" test "$(grep -c "^t = " wall.out)" -eq 0
check "the wall limit ends 2 processes" expect_status 4 mpi 2 \
    "$TIERCEL" run long.deck -o wall2 --walltime 00:00:01 --set run.spread=always --progress 0 >wall2.out 2>wall2.err
check "without progress lines when they are not wanted" test "$(grep -c "^t = " wall2.err)" -eq 0
check "stop-after ends a run like another" expect_status 0 \
    alone run long.deck -o stop --set run.stop-after=3s >stop.out 2>stop.err
check "it is complete" completed stop true
check "with jobs left" grep -q "^left [0-9]* jobs unfinished" stop.out

# ---- the folder goes while the run goes on ----

begin removed env "${alone_environment[@]}" "$TIERCEL" run long.deck -o removed --set trace.flush-every=500ms
rm -rf removed
check "a run whose folder was removed ends with status 1" ended_with 1
check "and says so" grep -q "removed/trace.h5: is gone: it was removed while its run went on" removed.err

done_testing
