#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Published figures of flux-core that the decks expect: which are met, and which are known to be missed, so that a
# change of either kind is noticed. doc/models/brokered.md tells them one by one. Costs were fitted to the rows marked
# there; all others are predictions. With LONG=1 also those that take minutes.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

simulate() # NAME DECK OPTIONS
{
    local name=$1 deck=$2
    shift 2
    alone run "$top_srcdir/inputs/$deck.deck" -q --trace stats -o "$name" --summary "$name.json" "$@"
}

within() # VALUE PUBLISHED PERCENT
{
    holds "($1) >= ($2) * (1 - $3 / 100) && ($1) <= ($2) * (1 + $3 / 100)"
}

# Runs a deck as it is shipped; then each of its expectations must be met, but for the keys that follow, which must not.
row() # NAME DECK [KEY THAT IS MISSED]...
{
    local name=$1 deck=$2 key verdict seen=" "
    shift 2
    check "$deck runs" expect_status 0 simulate "$name" "$deck"
    while read -r key verdict; do
        seen+="$key "
        if [[ " $* " == *" $key "* ]]; then
            check "$deck is known to miss $key" [ "$verdict" = false ]
        else
            check "$deck meets $key" [ "$verdict" = true ]
        fi
    done < <(sed -n 's/^ *"\([a-z_.]*\)": { "published".*"ok": \([a-z]*\), .*/\1 \2/p' "$name.json")
    check "$deck expects something" [ "$seen" != " " ]
    for key in "$@"; do
        check "$deck expects $key" [ "${seen#* "$key" }" != "$seen" ]
    done
}

# A deck's table of its own figures, a line a scheme: the n-th "RATE jobs/s, FIRST s" of it, as "RATE FIRST".
table_entry() # DECK SCHEME COLUMN
{
    sed -n "s/^# *$2  *\([0-9]\)/\1/p" "$top_srcdir/inputs/$1.deck" | grep -oE '[0-9.]+ jobs/s, [0-9.]+ s' |
        sed -n "$3s/[a-z,/]*//gp"
}

tabled() # NAME DECK SCHEME COLUMN
{
    local rate first
    read -r rate first < <(table_entry "$2" "$3" "$4")
    check "$2 has the rate that its table says: $3, column $4" within "$(of "$1" jobs run_rate)" "$rate" 1.5
    check "$2 has the first job that its table says: $3, column $4" within "$(of "$1" jobs first_done_s)" "$first" 4
}

hypothesis() # DECK SCHEME COLUMN OPTIONS
{
    local deck=$1 scheme=$2 column=$3 name=$1-$2-$3
    shift 3
    check "$deck runs: $scheme, column $column" \
        expect_status 0 simulate "$name" "$deck" --set events.scheme="$scheme" "$@"
    tabled "$name" "$deck" "$scheme" "$column"
}

row burst flux-namespaces
row calls flux-namespaces-v0.16
for count in 100 500 1000 2000; do
    check "$count namespaces are made" expect_status 0 simulate burst-$count flux-namespaces \
        --set workload.namespaces=$count
    check "$count namespaces are made as fast as recorded" within "$(of burst-$count kvs create_rate)" 2950 15.3
done
check "10 namespaces are made" expect_status 0 simulate burst-10 flux-namespaces --set workload.namespaces=10
check "10 namespaces are made as fast as recorded, to which the script's start is fitted" \
    within "$(of burst-10 kvs create_rate)" 2070 5

row before flux-bulksubmit-pr2777
# A sanitizer build plays every deck in other tests, and needs ten times as long.
[ -n "${SMOKE:-}" ] || grep -q 'fsanitize=' "$top_builddir/Makefile" && done_testing

row after flux-bulksubmit jobs.first_done_s
row older flux-bulksubmit-v0.16 jobs.first_done_s
check "the rates rank as recorded" \
    holds "$(of older jobs run_rate) < 0.9 * $(of before jobs run_rate) && \
           $(of older jobs first_done_s) > $(of before jobs first_done_s)"
check "the change is worth as little as recorded" \
    within "$(of after jobs run_rate)" "$(of before jobs run_rate)" 2

row slots flux-h2-slots
tabled slots flux-h2-slots pr2777 1
row cores flux-h3-cores
tabled cores flux-h3-cores pr2777 1
hypothesis flux-h1-saturated pr2777 2 --set cluster.cores-per-node=32
hypothesis flux-h2-slots pr2777 2 --set cluster.cores-per-node=32
if [ -n "${LONG:-}" ]; then
    row saturated flux-h1-saturated
    tabled saturated flux-h1-saturated pr2777 1
    hypothesis flux-h3-cores pr2777 2 --set cluster.cores-per-node=32
    for deck in flux-h1-saturated flux-h2-slots flux-h3-cores; do
        hypothesis $deck v0.16 1
        hypothesis $deck v0.16 2 --set cluster.cores-per-node=32
    done
fi

row four-thousand flux-bulksubmit-4096
check "the run of 4096 jobs before the change" expect_status 0 simulate four-before flux-bulksubmit-4096 \
    --set events.scheme=pr2777
check "4096 jobs before the change run as recorded" within "$(of four-before jobs run_rate)" 65.66 3
check "and the change makes no difference" \
    within "$(of four-thousand jobs run_rate)" "$(of four-before jobs run_rate)" 1

row one flux-outstanding-1
row four flux-outstanding-4 jobs.run_rate
check "four requests outstanding help, by less than recorded" \
    holds "$(of four jobs run_rate) > 1.08 * $(of one jobs run_rate) && \
           $(of four jobs run_rate) < 1.386 * $(of one jobs run_rate)"

row watch flux-watch
row watch-blocking flux-watch-blocking jobs.follow_rate
check "2048 watched jobs gain from asynchronous calls what is recorded by their own times, within 30 %" \
    within "$(of watch jobs run_rate) / $(of watch-blocking jobs run_rate)" 1.336 30
[ -n "${LONG:-}" ] || done_testing

row watch-16k flux-watch-16k
row watch-16k-blocking flux-watch-16k-blocking jobs.follow_rate jobs.run_rate
check "16,384 watched jobs gain from asynchronous calls by their own times, by less than recorded" \
    holds "$(of watch-16k jobs run_rate) > 2 * $(of watch-16k-blocking jobs run_rate) && \
           $(of watch-16k jobs run_rate) < 3.2 * $(of watch-16k-blocking jobs run_rate)"

row fanout flux-fanout
row flat flux-fanout-flat jobs.run_rate
check "the binary tree" expect_status 0 simulate binary flux-fanout --set cluster.fanout=2
check "a tree between flat and binary is as good as binary, and more than three times as good as flat" \
    holds "$(of fanout jobs run_rate) > 0.99 * $(of binary jobs run_rate) && \
           $(of fanout jobs run_rate) > 3 * $(of flat jobs run_rate)"

done_testing
