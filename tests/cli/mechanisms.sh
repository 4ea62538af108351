#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What each switch of a brokered instance must do to the counts and costs of a small run, whatever the costs are.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

simulate() # NAME DECK OPTIONS
{
    local name=$1 deck=$2
    shift 2
    alone run "$top_srcdir/inputs/$deck.deck" --test -q -o "$name" --summary "$name.json" "$@"
}

digest() # NAME
{
    sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$1.json"
}

check "the base runs" expect_status 0 simulate base flux-counts
check "asynchronous calls run" expect_status 0 simulate async flux-counts --set events.async-subscribe=all
check "as many calls are made" [ "$(of async subscribe namespace_calls)" = "$(of base subscribe namespace_calls)" ]
check "nobody is blocked in them" holds "$(of async subscribe blocked_s) == 0 && $(of base subscribe blocked_s) > 0"

check "job-info on the first node runs" expect_status 0 simulate first flux-counts --set job-info.nodes=first
check "jobs are looked up once, not on every node" holds "$(of first kvs lookups) < $(of base kvs lookups)"

check "simulated execution runs" expect_status 0 simulate simulated flux-counts --set job-exec.execution=simulated
check "it saves the shells' five transactions" \
    holds "$(of base kvs transactions) - $(of simulated kvs transactions) >= 5 * $(of base jobs completed) - 8"
check "all jobs end" [ "$(of simulated jobs completed)" = "$(of base jobs completed)" ]

check "a ready list runs" expect_status 0 simulate ready flux-namespaces --set kvs.ready-list=true
check "all roots walked runs" expect_status 0 simulate walked flux-namespaces
check "a ready list makes creation faster" holds "$(of ready kvs create_rate) > $(of walked kvs create_rate)"

check "blocking calls run" expect_status 0 simulate blocking flux-namespaces-v0.16
check "free moves run" expect_status 0 simulate moves flux-namespaces-v0.16 --set costs.call-move=0us
check "blocking calls slow creation down" holds "$(of blocking kvs create_rate) < $(of walked kvs create_rate) / 2"
check "setting messages aside is part of it" holds "$(of blocking kvs create_rate) < $(of moves kvs create_rate)"

check "leaked entries run" expect_status 0 simulate leaks flux-counts --set events.scheme=pr2777 --set workload.jobs=64
check "no leaked entries run" expect_status 0 simulate tidy flux-counts --set workload.jobs=64
check "leaked entries lengthen the walks" holds "$(of leaks event match_s) > $(of tidy event match_s)"

check "requests that bring all along run" expect_status 0 simulate passes flux-counts --set job-manager.passes=all
check "they save four lookups a job" \
    holds "$(of base kvs lookups) - $(of passes kvs lookups) == 4 * $(of base jobs completed)"
check "a log that is collected runs" expect_status 0 simulate collected flux-counts --set job-exec.batch=10ms
check "it saves transactions, and all jobs end" \
    holds "$(of base kvs transactions) - $(of collected kvs transactions) >= 2 * $(of base jobs completed) && \
           $(of collected jobs completed) == $(of base jobs completed)"
check "a journal runs" expect_status 0 simulate journal flux-counts --set job-info.follows=journal
check "it saves a lookup a job and node" \
    holds "$(of base kvs lookups) - $(of journal kvs lookups) == 4 * $(of base jobs completed)"
check "no news run" expect_status 0 simulate silent flux-counts --set job-info.follows=nothing
check "they save three lookups a job and node, and events" \
    holds "$(of base kvs lookups) - $(of silent kvs lookups) == 12 * $(of base jobs completed) && \
           $(of silent event published) < $(of base event published)"
check "watched event logs run" expect_status 0 simulate logs flux-counts --set workload.watch=eventlog
check "the client follows all of them to their ends" holds "$(of logs jobs follow_rate) > 0"
check "blobs served by a module run" expect_status 0 simulate module flux-counts --set kvs.content=module
# Not equally many: times stand in what is stored, so which of it is alike differs.
check "they are as many within a hundredth" \
    holds "($(of module kvs blobs) / $(of base kvs blobs) - 1) ^ 2 <= 0.01 ^ 2"

check "fences run" expect_status 0 simulate fences flux-fence
check "a fence of four is one transaction, with one root" \
    holds "$(of fences kvs fences) == 20 && $(of fences kvs transactions) == 20 && \
           $(of fences kvs commits) == 20 && $(of fences kvs syncs) == 20"
check "the instance's owner may write, too" expect_status 0 simulate instance flux-fence --set workload.user=instance
check "nobody is refused" holds "$(of instance kvs fences) == 20 && $(of instance kvs refused) == 0"
check "another user runs" expect_status 0 simulate stranger flux-fence --set workload.user=other
check "every part and wait of another user is refused" \
    holds "$(of stranger kvs refused) == 100 && $(of stranger kvs transactions) == 0"

check "another seed runs" expect_status 0 simulate seed flux-counts --seed 2
check "another seed is another measurement" [ "$(digest seed)" != "$(digest base)" ]
check "a seed without jitter runs" expect_status 0 simulate still flux-counts --set costs.jitter=0%
check "another seed without jitter runs" expect_status 0 simulate again flux-counts --set costs.jitter=0% --seed 2
check "without jitter a seed changes nothing" [ "$(digest again)" = "$(digest still)" ]

check "watched jobs run" expect_status 0 simulate watch flux-watch
check "the client follows all of them" holds "$(of watch jobs follow_rate) > 0"

check "shared cores run" expect_status 0 simulate shared flux-h3-cores --set cluster.cpus=1
check "own cores run" expect_status 0 simulate own flux-h1-saturated
check "sharing one core costs time" holds "$(of shared jobs run_rate) < $(of own jobs run_rate)"

done_testing
