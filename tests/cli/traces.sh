#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel verify and tiercel diff: what they say of the same run on several processes, of another run, of a killed one,
# and of files that are not traces.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

deck=$top_srcdir/inputs/flux-bulksubmit.deck
cd "$scratch" || exit 99

run() # FOLDER PROCESSES OPTION...
{
    local folder=$1 processes=$2
    shift 2
    mpi "$processes" "$TIERCEL" run "$deck" --test --trace events -q -o "$folder" --set run.spread=always "$@"
}

check "a run on one process" run one 1
check "the same run on three processes" run three 3
check "another seed" run seed 1 --seed 2
check "no difference between process counts" expect_status 0 alone diff one/trace.h5 three/trace.h5
check "verify finds the trace whole" says_in 0 out "complete" verify three/trace.h5
check "another seed differs" says_in 1 out "seed" diff one/trace.h5 seed/trace.h5
check "merging a whole trace is refused" says_in 1 err "trace.h5" verify --merge one/trace.h5

# ---- a process that is alone and handles all in order keeps its part: it becomes the trace ----

deck=$top_srcdir/inputs/bench/phold.deck
check "a run in order on one process" run phold1 1
check "the same run on three processes" run phold3 3
check "no difference between a part that was kept and joined ones" expect_status 0 alone diff phold1/trace.h5 \
    phold3/trace.h5
check "verify finds the kept part whole" says_in 0 out "complete" verify phold1/trace.h5
check "nothing but the trace is left" test "$(echo phold1/*.h5)" = phold1/trace.h5
deck=$top_srcdir/inputs/flux-bulksubmit.deck

# ---- not traces ----

: >empty
head -c 4096 one/trace.h5 >short
printf 'a text, not a trace\n' >text
{ cat one/trace.h5; printf x; } >long
for bad in empty short text long missing; do
    check "verify refuses: $bad" says_in 1 err "$bad" verify "$bad"
    check "diff refuses: $bad" says_in 1 err "$bad" diff one/trace.h5 "$bad"
done

# ---- a killed run ----

"$TIERCEL" run "$deck" --trace events -q -o killed --set trace.flush-every=100ms >/dev/null 2>&1 &
victim=$!
for _ in $(seq 100); do
    [ -e killed/trace.h5 ] && break
    sleep 0.1
done
sleep 1
kill -9 "$victim"
wait "$victim" 2>/dev/null
check "verify tells a killed run" expect_status 4 alone verify killed/trace.h5
check "its parts can be joined" expect_status 0 alone verify --merge killed/trace.h5
check "the joined trace is right as far as it goes" expect_status 4 alone verify killed/trace.h5

done_testing
