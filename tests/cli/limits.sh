#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What limits a run, and the rate without that part: played with that part's costs set to nothing, and compared. The
# bounds are upper ones (sim/rate_limits.h); the tolerances are what is left where work is always queued.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99
inputs=$top_srcdir/inputs

# limit FOLDER INDEX KEY: of an entry of the limits, which are ranked
limit()
{
    grep -o '{ "name": "[^"]*", "share": [^,]*, "rate_if_free": [^ ]* }' "$1/summary.json" | sed -n "$2p" |
        sed -nE "s/.*\"$3\": \"?([^\",}]*)\"?.*/\1/p" | sed 's/ $//'
}

# free FOLDER NAME: rate_if_free of the entry of that name
free()
{
    sed -nE "s/.*\"name\": \"$2\", .*\"rate_if_free\": ([^ ]*) .*/\1/p" "$1/summary.json"
}

rate() # FOLDER
{
    sed -nE 's/.*"run_rate": ([^,]*),.*/\1/p' "$1/summary.json"
}

near() # VALUE EXPECTED LOW HIGH: within so many percent below and above
{
    echo "# predicted $1, played $2"
    awk -v a="$1" -v b="$2" -v low="$3" -v high="$4" \
        'BEGIN { e = (a / b - 1) * 100; exit !(a != "" && b > 0 && e >= -low && e <= high) }'
}

run() # FOLDER DECK OPTION...
{
    local folder=$1 deck=$2
    shift 2
    expect_status 0 alone run "$inputs/$deck.deck" -q -o "$folder" "$@"
}

# ---- a brokered instance: the key-value store's root ----

kvs=$(sed -nE 's/^(kvs-[a-z-]+) = .*/--set costs.\1=0s/p' "$inputs/costs/flux-2020.costs")
check "1024 jobs through brokers" run flux flux-bulksubmit
# shellcheck disable=SC2086
check "and with a store that costs nothing" run flux-free flux-bulksubmit $kvs
check "the store's root limits" test "$(limit flux 1 name)" = kvs-root
check "it is busy all the time" near "$(limit flux 1 share)" 1 2 0.001
check "without its cost the rate is as told, within 10 %" near "$(limit flux 1 rate_if_free)" "$(rate flux-free)" 2 10
check "then something else limits" test "$(limit flux-free 1 name)" = "broker on node 0"

# ---- a dispatcher: threads that wait, then the dispatcher itself ----

falkon=(--set workload.jobs=400000)
check "a service with one notification thread" run one falkon-one-service "${falkon[@]}"
check "the thread limits" test "$(limit one 1 name)" = "notification threads"
check "a service with many" run many falkon-one-service "${falkon[@]}" --set dispatcher.threads=32 \
    --set dispatcher.notify-rate=1000000/s
check "with many the rate is as told, within 5 %" near "$(limit one 1 rate_if_free)" "$(rate many)" 2 5
check "a service that costs nothing" run light falkon-one-service "${falkon[@]}" --set costs.dispatcher-submit=0s \
    --set costs.dispatcher-dispatch=0s --set costs.dispatcher-ack=0s --set costs.dispatcher-result=0s \
    --set dispatcher.notify-rate=1000000/s
check "without its costs the rate is as told, within 10 %" near "$(free one dispatcher)" "$(rate light)" 2 10
check "what does not limit gains nothing" near "$(free many 'notification threads')" "$(rate many)" 5 5

# ---- the same on every number of processes ----

for processes in 1 2 3; do
    check "$processes processes" mpi "$processes" "$TIERCEL" run "$inputs/falkon-one-service.deck" -q \
        --set run.spread=always --set workload.jobs=30000 --set dispatcher.services=3 -o "p$processes"
    sed -n '/"limits"/,/\]/p' "p$processes/summary.json" >"limits-$processes"
done
check "there are limits" grep -q rate_if_free limits-1
check "two processes tell the same" cmp limits-1 limits-2
check "three processes tell the same" cmp limits-1 limits-3

done_testing
