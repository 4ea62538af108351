#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The benchmarks' programs compute what they should, and our engine what its ceilings do. No times are looked at.

. "$top_srcdir/tests/lib.sh"
bench=$top_builddir/bench

value() # KEY <LINE
{
    awk -v key="$1" '{ for (i = 1; i < NF; i++) if ($i == key) print $(i + 1) }'
}

check "queue and loser tree give the same order" "$bench/bench_queue" 1000 20000

one=$("$bench/bench_phold" 64 4 0.5 0.1 20)
two=$(mpi 2 "$bench/bench_phold" 64 4 0.5 0.1 20)
check "PHOLD has the same digest on 1 and 2 processes" test "$(value digest <<<"$one")" = "$(value digest <<<"$two")"
check "its processes send to one another" test "$(value remote_messages <<<"$two")" -gt 0
one=$("$bench/ceiling_phold" 64 4 0.5 0.1 20)
two=$(mpi 2 "$bench/ceiling_phold" 64 4 0.5 0.1 20)
check "the ceiling's checksum is the same as well" test "$(value sum <<<"$one")" = "$(value sum <<<"$two")"

check "messages that cross come back" mpi 2 "$bench/bench_exchange" 10 50
check "rows of a trace can be measured" "$bench/bench_trace" "$scratch" 1000
check "a scheduling pass can be measured" "$bench/bench_sched" conservative 100 20
check "memory can be measured" "$bench/bench_memory" 1000

# The deck and the program written for it simulate the same: to the last message. The program ends with the arrival of
# the last notice, as the deck's source does.
"$TIERCEL" run "$top_srcdir/inputs/bench/falkon-pattern.deck" -q -o "$scratch/falkon" --set source.jobs=20000
deck_rate=$(sed -n 's/.*"throughput_per_s": \([0-9.]*\).*/\1/p' "$scratch/falkon/summary.json")
ceiling_rate=$("$bench/ceiling_falkon" 20000 | value simulated_rate)
check "falkon-pattern.deck and its ceiling have one rate ($deck_rate, $ceiling_rate)" \
    awk -v a="$deck_rate" -v b="$ceiling_rate" 'BEGIN { exit !(a > 0 && a - b < 0.1 && b - a < 0.1) }'
done_testing
