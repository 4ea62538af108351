#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The live clock: the shipped live decks on real processes, held against the same decks on the virtual clock. What does
# not depend on time is equal; what does lies inside bounds that are stated here.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99
brokered=$top_srcdir/inputs/live-brokered.deck
dispatcher=$top_srcdir/inputs/live-dispatcher.deck

value() # RUN GROUP KEY: of its summary
{
    sed -n "/\"$2\": {/,/}/s/.*\"$3\": \([0-9.a-z]*\),*$/\1/p" "$1.json"
}

own() # RUN: transactions of single jobs
{
    sed -n 's/.*"own_transactions": { "left": \([0-9]*\),.*/\1/p' "$1.json"
}

same() # GROUP KEY A B
{
    [ -n "$(value "$3" "$1" "$2")" ] && [ "$(value "$3" "$1" "$2")" = "$(value "$4" "$1" "$2")" ] && return 0
    echo "# $1.$2 is $(value "$3" "$1" "$2") in $3 and $(value "$4" "$1" "$2") in $4"
    return 1
}

within() # LOW VALUE HIGH
{
    [ "$1" -le "$2" ] && [ "$2" -le "$3" ] && return 0
    echo "# $2 is not in $1..$3"
    return 1
}

live() # PROCESSES RUN DECK ARGUMENTS...
{
    local processes=$1 name=$2 deck=$3
    shift 3
    mpi "$processes" "$TIERCEL" run --clock live "$deck" -q -o "$name" --summary "$name.json" "$@" 2>"$name.err"
}

# --- what it needs, and says beforehand ---

alone check "$brokered" --clock live --processes 9 >plan
check "check tells how many processes are needed" grep -q "^# the live clock needs at least 3 processes" plan
check "process 0 plays what there is one of" \
    grep -q "^# process 0 plays: kvs-root 1, job-manager 1, scheduler 1, job-exec 1, client 1$" plan
check "a process of brokers plays nothing else" grep -q "^# process 1 plays: broker 2$" plan
check "nor does one of executors" grep -q "^# process 8 plays: executor 8$" plan
check "fewer are refused" expect_status 2 live 2 few "$brokered"
check "with the number that is needed" grep -q "needs at least 3 processes here" few.err
check "and nothing is written" test ! -e few
check "a model without roles that live is refused" expect_status 2 \
    live 3 queue "$top_srcdir/inputs/theory/mm1.deck"
check "with the reason" grep -q "'live' cannot play this deck" queue.err
check "the dispatcher needs 3 as well" expect_status 2 live 2 few "$dispatcher"

# --- the same deck on both clocks: 32 jobs that all run at once, job i on node i modulo 4 ---

period_ms=100   # of the deck's heartbeats
schemes="pr2792 pr2777 v0.16"
[ -z "${SMOKE:-}" ] || schemes=pr2792
for scheme in $schemes; do
    v=virtual-$scheme
    l=live-$scheme
    check "$scheme runs on the virtual clock" expect_status 0 alone run "$brokered" -q -o "$v" --summary "$v.json" \
        --set "events.scheme=$scheme"
    check "$scheme runs live on 9 processes" expect_status 0 live 9 "$l" "$brokered" --set "events.scheme=$scheme"
    check "all its jobs complete" test "$(value "$l" jobs completed)" = 32
    check "its jobs make the same transactions of their own ($scheme)" test "$(own "$v")" = "$(own "$l")"
    check "14 each" test "$(own "$l")" = $((14 * 32))
    check "its jobs make as many namespaces ($scheme)" same kvs namespaces_created "$v" "$l"
    check "and remove as many" same kvs namespaces_removed "$v" "$l"
    check "for as many subscription calls ($scheme)" same subscribe namespace_calls "$v" "$l"
    check "that leave as many entries" same subscribe entries_left "$v" "$l"
    check "nothing is merged" test "$(value "$l" kvs merged)" = 0

    # Of one job at most: its batch of ingest, and one batch for each of its 9 events.
    shared=$(($(value "$l" kvs transactions) - $(own "$l")))
    check "shared commits are at least one of ingest and two of the job manager, at most all alone ($scheme)" \
        within 3 "$shared" $((32 * 10))
    # The rest of the events: the job manager's, one a batch at most, and heartbeats.
    rest=$(($(value "$l" event published) - $(value "$l" kvs commits) - 2 * 32))
    beats=$(awk -v s="$(value "$l" run sim_end_s)" -v p=$period_ms 'BEGIN { print int(s * 1000 / p) + 1 }')
    check "events besides the store's are the job manager's and heartbeats ($scheme)" \
        within 2 "$rest" $((shared + beats))
    # A node has five modules, and a shell or client that subscribes to nothing.
    check "an event is delivered to at most every module of every node ($scheme)" \
        within "$(value "$l" kvs commits)" "$(value "$l" event delivered)" $((5 * 4 * $(value "$l" event published)))
    check "and discarded by at most those that got it ($scheme)" \
        within 0 "$(value "$l" event discarded)" "$(value "$l" event delivered)"
    # The balance has it exactly but for heartbeats, of which the last may still be on its way.
    check "each event goes to every other node ($scheme)" \
        within $((3 * $(value "$l" event published) - 3)) "$(value "$l" event overlay_messages)" \
        $((3 * $(value "$l" event published)))
done
check "a live summary tells the clock" grep -q '"clock": "live"' live-pr2792.json
check "how its processes waited" grep -q '"waiting": "yield"' live-pr2792.json
check "and how long handlings took" grep -q '"broker/event": {' live-pr2792.json
check "a simulated one has nothing of it" test "$(grep -c '"services"\|"waiting"' virtual-pr2792.json)" -eq 0
check "the trace of a live run is whole" expect_status 0 alone verify live-pr2792/trace.h5 >verify.out 2>&1
check "a live run of every event, on blocks of nodes" expect_status 0 live 4 events "$brokered" --trace events \
    --set run.placement=node --test
check "has a trace that is whole" expect_status 0 alone verify events/trace.h5 >verify.out 2>&1
check "executors wait out the jobs" expect_status 0 live 3 long "$brokered" --test --set workload.duration=700ms
check "really" within 700 "$(awk -v s="$(value long jobs first_done_s)" 'BEGIN { print int(s * 1000) }')" 60000
check "one process plays all nodes" expect_status 0 live 1 one "$brokered" --test --set run.placement=node

check "tasks are simulated" expect_status 0 alone run "$dispatcher" -q -o tasks --summary tasks.json
check "and played on 4 processes" expect_status 0 live 4 tasks4 "$dispatcher"
for key in submitted completed failed lost rejected unfinished; do
    check "tasks that are $key are as many" same jobs "$key" tasks tasks4
done
check "executors wait out the tasks" expect_status 0 live 3 slow "$dispatcher" --set workload.jobs=32 \
    --set workload.duration=300ms
check "one after the other" within 600 "$(awk -v s="$(value slow jobs makespan_s)" 'BEGIN { print int(s * 1000) }')" 60000
check "spinning can be asked for" expect_status 0 live 1 spin "$dispatcher" --test --set run.placement=node \
    --set run.waiting=spin
check "and is told" grep -q '"waiting": "spin"' spin.json

quick_part_ends

# --- a profile of this machine, and what it may predict ---

rate=$top_srcdir/inputs/live-rate.deck
cp "$top_srcdir"/inputs/live-*.deck .
check "one process cannot be calibrated" expect_status 2 alone calibrate "$rate" 2>one.err
check "and is told why" grep -q "expected at least 2" one.err
check "two are" expect_status 0 mpi 2 "$TIERCEL" calibrate "$rate" --set workload.jobs=16 --set run.waiting=yield \
    --profile here.costs
check "the profile tells when" grep -q "^# Measured on 20..-..-.. ..:.. UTC by tiercel" here.costs
check "how its processes waited" grep -q "^waiting = yield$" here.costs
check "what a message takes" grep -q "^hop-latency = [1-9][0-9]*ns$" here.costs
check "and what handlings take, of how many" grep -A1 "^# [1-9][0-9]* spans, mean" here.costs >spans
check "such as a transaction's" grep -q "^kvs-apply = [0-9][0-9]*ns" spans
check "another profile of that name is not replaced" expect_status 2 mpi 2 "$TIERCEL" calibrate "$rate" \
    --profile here.costs 2>force.err
check "the profile predicts a run that waits in the same way" expect_status 0 alone run live-rate.deck --test -q \
    -o predicted --set costs.profile=here --set run.waiting=yield --set cluster.cpus=1
check "one that waits in another is refused" expect_status 2 alone run live-rate.deck --test -q -o other \
    --set costs.profile=here --set run.waiting=spin 2>other.err
check "with what is expected" grep -q "that wait by yield; expected run.waiting = yield" other.err
check "and one that does not say how" expect_status 2 alone run live-rate.deck --test -q -o unsaid \
    --set costs.profile=here 2>other.err
check "tasks are calibrated" expect_status 0 mpi 2 "$TIERCEL" calibrate "$dispatcher" --set workload.jobs=500 \
    --set run.placement=node --set run.waiting=yield --profile tasks.costs
digest() # RUN
{
    sed -n 's/.*"digest": "\([0-9a-f]\{32\}\)".*/\1/p' "$1.json"
}

for processes in 1 2 3; do
    mpi "$processes" "$TIERCEL" run live-dispatcher.deck --test -q -o "shared-$processes" --set run.spread=always \
        --summary "shared-$processes.json" --set costs.profile=tasks --set run.waiting=yield --set cluster.cpus=1 \
        --set cluster.machines=2 2>/dev/null
    check "machines with cpus give one digest on $processes processes" test "$(digest "shared-$processes")" = "$(digest shared-1)"
done

# --- processes that wait use little of their cores ---

begin() # RUN PROCESSES DECK ARGUMENTS...: in the background, until it plays
{
    local name=$1 processes=$2 deck=$3 i
    shift 3
    "$MPIRUN" -n "$processes" "$TIERCEL" run --clock live "$deck" -q -o "$name" --summary "$name.json" "$@" \
        </dev/null >"$name.out" 2>"$name.err" &
    pid=$!
    for ((i = 0; i < 300; i++)); do
        [ -f "$name/trace.h5" ] && break
        sleep 0.1
    done
    sleep 0.5
    mapfile -t children < <(pgrep -P "$pid")
}

ticks() # of processor time that the processes of the run have used
{
    local p all=0
    for p in "${children[@]}"; do
        all=$((all + $(awk '{ print $14 + $15 }' "/proc/$p/stat")))
    done
    echo "$all"
}

gone() # PROCESS: it has ended, though nobody may have asked how
{
    local state
    state=$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null)
    [ -z "$state" ] || [ "$state" = Z ]
}

ended_within() # SECONDS STATUS: the launcher and all processes
{
    local status=0 i p
    for ((i = 0; i < $1 * 10; i++)); do
        for p in "$pid" "${children[@]}"; do
            gone "$p" || break
        done
        gone "$p" && break
        sleep 0.1
    done
    if ! gone "$p"; then
        echo "# process $p is still there"
        kill -9 "$pid" "${children[@]}" 2>/dev/null
        return 1
    fi
    wait "$pid" || status=$?
    [ "$status" -eq "$2" ] && return 0
    echo "# exit status $status instead of $2"
    return 1
}

begin idle 9 "$brokered" --set workload.jobs=8 --set workload.duration=1h --set trace.flush-every=100ms
sleep 1
before=$(ticks)
sleep 3
used=$(($(ticks) - before))
echo "# nine waiting processes used $used ticks of 3 s"
check "nine processes that wait leave two cores mostly idle" within 0 "$used" $((3 * 2 * $(getconf CLK_TCK) * 2 / 5))

# --- and a run can be ended, or lose a process, at any time ---

kill -USR2 "$pid"
check "SIGUSR2 ends all within 60 s, status 4" ended_within 60 4
check "SIGUSR2 is told" grep -q "stopped early by SIGUSR2" idle.err
check "what was done is saved" test "$(value idle run completed)" = false
check "with jobs unfinished" test "$(value idle jobs unfinished)" = 8
check "and the trace is whole" expect_status 0 alone verify idle/trace.h5 >verify.out 2>&1

begin lost 9 "$brokered" --set workload.jobs=8 --set workload.duration=1h --set trace.flush-every=100ms
sleep 3
kill -9 "${children[4]}"
check "all are gone within 60 s of a process's death; the launcher's status tells the signal" ended_within 60 137
check "it is told which" grep -q "process rank 4 .*signal 9" lost.err
check "what had been flushed can be read" expect_status 4 alone verify lost/trace.h5 >verify.out 2>&1
check "and is told to be incomplete" grep -q "its run did not end" verify.out
check "it holds what happened until then" grep -q "/watches has [1-8] rows" verify.out

begin ended 4 "$brokered" --set workload.jobs=8 --set workload.duration=1h --set trace.flush-every=100ms
sleep 2
kill -TERM "$pid"
check "SIGTERM to the launcher ends all within 60 s" ended_within 60 1
alone verify ended/trace.h5 >verify.out 2>&1
check "the trace can be read (SIGTERM)" grep -q "/watches has [1-8] rows" verify.out

done_testing
