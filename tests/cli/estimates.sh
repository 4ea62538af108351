#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What tiercel check says that a run will need, against runs of the shipped decks in their [test] forms: events within
# 20 %, memory of a process within a factor of 2. The trace within 10 % at level events and a factor of 2 at level jobs,
# but for 0.9 MB: runs as short as these do not fill their curves and histograms, which are most of such a trace.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

# The address sanitizer takes memory of its own.
sanitized=$(grep -l 'fsanitize=address' "$top_builddir/config.status")

cd "$scratch" || exit 99

size_of() # LEVEL: what the line "trace:" of "needs" says, in bytes
{
    sed -n "s/^# trace:.* \([0-9.e+]* [MG]B\) at level $1.*/\1/p" needs | awk '{ print $1 * ($2 == "GB" ? 1e9 : 1e6) }'
}

number() # NAME: of summary.json
{
    sed -n "s/^ *\"$1\": \([0-9.]*\),*$/\1/p" out/summary.json | head -n 1
}

near() # WHAT ESTIMATED MEASURED FACTOR [REST]
{
    echo "# $deck: $1: estimated $2, measured $3" >&3
    awk -v a="$2" -v b="$3" -v factor="$4" -v rest="${5:-0}" 'BEGIN {
        if (a == "" || b == "")
            exit 1
        low = a < b ? a : b
        high = a < b ? b : a
        exit !(high <= low * factor + rest)
    }'
}

# estimated OPTION...: checks and runs $deck
estimated()
{
    alone check "$path" "$@" >needs || return 1
    if grep -q '^# events: not known beforehand$' needs; then
        echo "# $deck: not known beforehand" >&3
        return
    fi
    if grep -qx 'clock = live' needs; then
        echo "# $deck: depends on the machine" >&3
        return
    fi
    alone run "$path" "$@" -q --trace jobs -o out --force >/dev/null || return 1
    check "$deck: events within 20 %" near events "$(sed -n 's/^# events: //p' needs)" "$(number events)" 1.25
    [ -n "$sanitized" ] || check "$deck: memory within a factor of 2" near memory \
        "$(sed -n 's/^# memory: \([0-9.]*\) \([MG]B\).*/\1 \2/p' needs | awk '{ print $1 * ($2 == "GB" ? 1e9 : 1e6) }')" \
        "$(number peak_rss_bytes)" 2
    check "$deck: trace of level jobs" near "trace, jobs" "$(size_of jobs)" "$(stat -c %s out/trace.h5)" 2 900000
    [ -z "$events" ] && return
    alone run "$path" "$@" -q --trace events -o out --force >/dev/null || return 1
    check "$deck: trace of level events" near "trace, events" "$(size_of events)" "$(stat -c %s out/trace.h5)" 1.1 900000
}

shipped=(bench/phold bench/falkon-pattern bench/falkon-s4u falkon-1b falkon-ws falkon-stealing falkon-late-binding
    theory/mmc theory/jackson theory/central-server theory/repairman flux-bulksubmit flux-bulksubmit-v0.16
    flux-outstanding-1 flux-counts flux-fanout flux-namespaces flux-namespaces-v0.16 flux-watch io-collective io-fuse
    io-tasks io-checkpoint)
[ -z "$SMOKE" ] || shipped=(bench/phold falkon-1b theory/jackson flux-bulksubmit)
if [ -n "$LONG" ]; then
    mapfile -t shipped < <(cd "$top_srcdir/inputs" && find . -name '*.deck' | sed 's|^\./||; s|\.deck$||' | sort)
fi
for deck in "${shipped[@]}"; do
    path=$top_srcdir/inputs/$deck.deck
    events=
    case $deck in bench/phold | flux-bulksubmit) events=yes ;; esac
    estimated --test
done
# Larger than their tests: many nodes, closed networks whose traffic follows from probabilities.
deck=flux-bulksubmit path=$top_srcdir/inputs/flux-bulksubmit.deck events=
estimated --set workload.repeat=4 --set cluster.nodes=32
deck=theory/central-server path=$top_srcdir/inputs/theory/central-server.deck
estimated --set source.jobs=20000
# Jobs that come over time: an instance's heartbeats last as long as its log.
brokered=('[deck]' 'format = 1' '[system]' 'kind = brokered' '[cluster]' 'nodes = 16' 'cores-per-node = 4' '[job-info]'
    'nodes = first' '[workload]')
printf '%s\n' "${brokered[@]}" 'source = poisson' 'jobs = 40' 'interval = exponential(5s)' 'duration = 1s' >poisson.deck
deck=poisson path=poisson.deck
estimated
awk 'BEGIN {
    for (i = 0; i < 40; i++)
        printf "%d %d -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n", i + 1, 100 + i * 5
}' >log.swf
printf '%s\n' "${brokered[@]}" 'source = swf' 'file = log.swf' 'shift-start = true' >log.deck
deck=log path=log.deck
estimated
if [ -n "$LONG" ]; then
    deck=flux-bulksubmit path=$top_srcdir/inputs/flux-bulksubmit.deck
    estimated
    deck=bench/phold path=$top_srcdir/inputs/bench/phold.deck events=yes
    estimated --set run.stop-after=10s
fi

alone check "$top_srcdir/inputs/bench/phold.deck" --processes 4 >needs
check "the plan tells the actors of each process" grep -q '^# 16384 actors on 4 processes: 4096 4096 4096 4096$' needs
check "and the work in a window" grep -q '^# work in a window of 100000000 ns: about 6.55e+03 events a process' needs
alone check "$top_srcdir/inputs/bench/sparse.deck" --processes 4 >needs
check "too little work for so many processes is said" grep -q 'run.spread = auto goes on with fewer$' needs

done_testing
