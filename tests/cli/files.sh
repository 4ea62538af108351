#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Shared files: the decks' published figures, the invariants of the lock, and jobs that write.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

play() # NAME DECK OPTIONS
{
    local name=$1 deck=$2
    shift 2
    alone run "$deck" -q -o "$name" --summary "$name.json" "$@"
}

shipped() # DECK OPTIONS: as NAME = DECK
{
    local deck=$1
    shift
    play "$deck" "$top_srcdir/inputs/$deck.deck" "$@"
}

value() # NAME FILE KEY: of the file's figures; FILE io: of all
{
    sed -n "/\"$2\": {/,/}/p" "$1.json" | sed -n "s/.*\"$3\": \([0-9.e-]*\).*/\1/p" | head -n 1
}

for deck in io-ior io-fuse io-collective io-preextend; do
    check "$deck meets all that it expects" expect_status 0 shipped "$deck" --strict
done
if [ -z "$SMOKE" ]; then
    check "io-mpiio meets all that it expects" expect_status 0 shipped io-mpiio --strict
fi

cat >small.deck <<'END'
[deck]
format = 1
[system]
kind = io
[network]
local-latency = 1us
[server]
request = 100us
[io.flag]
transfer = 64KiB
segments = 50
[io.no-flag]
transfer = 64KiB
segments = 50
lock = exclusive
[io.append]
transfer = 64KiB
segments = 50
append = true
[io.cached]
transfer = 64KiB
segments = 50
rules = fuse-6.9
cached-users = 1
pre-extend = fill
[io.last]
transfer = 64KiB
segments = 50
pattern = last-first
[io.contiguous]
transfer = 64KiB
segments = 50
pattern = contiguous
[io.each]
transfer = 64KiB
segments = 50
files = each
[io.nodes]
transfer = 64KiB
segments = 50
writers-per-node = 4
lock = exclusive
[io.channels]
transfer = 64KiB
segments = 50
pre-extend = fill
[io.requests]
transfer = 4MiB
segments = 13
pre-extend = fill
END
check "a small deck runs" expect_status 0 play small small.deck
for file in no-flag append cached; do
    check "$file: one write at a time, and every lock exclusive" \
        holds "$(value small $file inflight_max) == 1 && $(value small $file exclusive_share) == 1 &&
               $(value small $file lone_writes) == 800"
done
check "the flag lets writes within the file share the lock" \
    holds "$(value small flag inflight_max) > 4 && $(value small flag exclusive_share) < 0.5"
check "between 1 and H_N of N writes extend a file that grows evenly" \
    holds "$(value small flag extending_share) > 1 / 16 && $(value small flag extending_share) < 0.2113"
check "few writes extend once the last segment is written" holds "$(value small last extending_share) < 0.021"
check "writers with regions of their own: those behind pull the end along" \
    holds "$(value small contiguous extending_share) < 0.2"
check "a file for each writer shares no lock" \
    holds "$(value small each inflight_max) == 16 && $(value small each lock_wait_s) == 0"
check "a file for each writer always extends" holds "$(value small each extending_share) == 1"
check "each node has a lock of its own" \
    holds "$(value small nodes inflight_max) == 4 && $(value small nodes exclusive_share) == 1"
check "channels are the limit where there are few" expect_status 0 play channels small.deck --set server.channels=8
check "eight requests are served at a time" holds "$(value channels channels inflight_max) == 8"
check "a ceiling of bandwidth is one" expect_status 0 play ceiling small.deck --set server.bandwidth=500MiB/s
check "it is reached and not passed" \
    holds "$(value ceiling requests mib_per_s) > 450 && $(value ceiling requests mib_per_s) < 501"

check "a fair lock runs" expect_status 0 play fifo small.deck --set io.flag.queue=fifo
check "it gains nothing" holds "$(value fifo flag inflight_max) == 1 && $(value fifo flag exclusive_share) > 0.9"

for deck in io-checkpoint io-checkpoint-shared io-checkpoint-extended; do
    check "$deck runs" expect_status 0 shipped "$deck" --set io.checkpoint.segments=256
done
check "every job wrote its part" [ "$(value io-checkpoint io bytes)" = 34359738368 ]
makespan() # NAME
{
    sed -n 's/.*"makespan_s": \([0-9.e-]*\),*$/\1/p' "$1.json"
}
check "jobs end sooner under a shared lock, and soonest in a file of its full size" \
    holds "$(makespan io-checkpoint) > $(makespan io-checkpoint-shared) &&
           $(makespan io-checkpoint-shared) > $(makespan io-checkpoint-extended)"
check "jobs with a file each wait for no lock" expect_status 0 play each "$top_srcdir/inputs/io-checkpoint.deck" \
    --set io.checkpoint.segments=64 --set io.checkpoint.files=each
check "they do not" holds "$(value each io lock_wait_s) == 0"

check "jobs that are killed while they write leave a whole account" expect_status 0 shipped io-checkpoint --test \
    --set workload.limit=200ms --set io.checkpoint.segments=400 --force
check "some were" holds "$(sed -n 's/.*"killed": \([0-9]*\),*$/\1/p' io-checkpoint.json) > 0"

check "tasks of a dispatcher write" expect_status 0 shipped io-tasks --set workload.jobs=300
check "each its part" [ "$(value io-tasks io bytes)" = 80530636800 ]

for what in "io-checkpoint workload.io=nothing" "io-checkpoint io.checkpoint.pre-extend=preallocate" \
    "io-checkpoint job-exec.execution=simulated" "io-tasks dispatcher.protocol=plain" \
    "io-tasks faults.lost-result=1%" "io-tasks faults.notify-attempts=2"; do
    check "$what is refused" expect_status 2 alone check "$top_srcdir/inputs/${what% *}.deck" --set "${what#* }"
done
check "jobs that write more than 2^63 bytes each are refused" expect_status 2 alone check \
    "$top_srcdir/inputs/io-checkpoint.deck" --set io.checkpoint.segments=1000000000 --set io.checkpoint.transfer=1TiB \
    --set io.checkpoint.block=1TiB

done_testing
