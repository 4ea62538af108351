#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel compare: pairs of runs with the same seeds. Equal decks do not differ at all, a known change is found, the
# number of processes makes no difference, and what is wrong is said once.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

deck=$top_srcdir/inputs/flux-counts.deck
old=$top_srcdir/inputs/flux-namespaces-v0.16.deck
new=$top_srcdir/inputs/flux-namespaces.deck
cd "$scratch" || exit 99

compare() # NAME ARGUMENT...
{
    local name=$1
    shift
    alone compare "$@" --format tsv >"$name" 2>"$name.err"
}

value() # NAME SECTION KEY COLUMN: of the row of that key
{
    awk -F '\t' -v section="$2" -v key="$3" -v column="$4" '
        $1 == section && $3 == "key" { row = $5 == key ? $2 : 0 }
        $1 == section && $3 == column && row && $2 == row { print $5 }' "$1"
}

check "a deck against itself" expect_status 0 compare same "$deck" "$deck" --test --seeds 3
check "no difference" test "$(value same results jobs.makespan_s difference)" = 0
check "nothing has changed" test "$(grep -cP '^(others|stages)_changed\t\d+\tkey' same)" -eq 0

check "the text says how many results it leaves out" says_in 0 out "results and stages did not change (--format tsv" \
    compare "$deck" "$deck" --test --seeds 2
check "another scheme" expect_status 0 compare scheme "$deck" "$deck" --test --seeds 4 --set-b events.scheme=v0.16
check "more calls are seen" holds "$(value scheme others_changed subscribe.namespace_calls difference) > 0"
check "and how many runs it rests on" grep -q 'means of 4 runs each, seeds 1 to 4' scheme

check "two decks" expect_status 0 compare decks "$old" "$new" --test --seeds 4 --seed 7
a=$(value decks results kvs.create_rate a)
b=$(value decks results kvs.create_rate b)
check "calls slow creation down" holds "$a < $b"
difference=$(value decks results kvs.create_rate difference)
check "the difference is that of the means" holds "($b - $a - $difference)^2 < 1e-12"
check "and beyond its interval" test "$(value decks results kvs.create_rate changed)" = yes
half_width=$(value decks results kvs.create_rate half_width)
check "its interval is narrower than the difference" holds "$half_width < $b - $a && $half_width > 0"

# The mean over single runs of those seeds, and Student's interval by hand (3.182 for 4 pairs).
single() # DECK SEED
{
    alone run "$1" --test --seed "$2" --trace stats -q -o single --force --summary single.json >/dev/null 2>&1
    sed -n 's/.*"create_rate": \([0-9.]*\),*$/\1/p' single.json
}
for seed in 7 8 9 10; do
    echo "$(single "$old" $seed) $(single "$new" $seed)"
done >singles
by_hand=$(awk '{ d[NR] = $2 - $1; m += d[NR] / 4 }
               END { for (i = 1; i <= 4; i++) s += (d[i] - m)^2 / 3; printf "%.6f", 3.182446 * sqrt(s / 4) }' singles)
check "runs by themselves give the same interval" \
    holds "($by_hand - $half_width)^2 < ($by_hand * 1e-4)^2"

check "decks without anything random" \
    expect_status 0 compare still "$deck" "$deck" --test --seeds 2 --set costs.jitter=0%
check "are said to be such" grep -q 'all seeds give the same run' still
check "others are not" test "$(grep -c 'all seeds give the same run' decks)" -eq 0

check "three processes" mpi 3 "$TIERCEL" compare "$old" "$new" --test --seeds 4 --seed 7 --format tsv >three 2>/dev/null
check "give the same" cmp decks three
check "json" expect_status 0 alone compare "$old" "$new" --test --seeds 2 --format json >as-json
check "is json" grep -q '"stages_changed"' as-json
check "nothing was written" test ! -e runs

check "one seed is too few" complains 2 "--seeds: 1 is too few" compare "$old" "$new" --seeds 1
check "a missing deck" complains 2 "missing.deck: cannot be read" compare "$old" missing.deck
check "a wrong setting of B" complains 2 "--set-b a.b=1: a.b: unknown group" compare "$old" "$new" --set-b a.b=1
check "an unknown form" complains 2 "--format: 'xml' is not a form of output" compare "$old" "$new" --format xml
check "one deck" complains 2 "1 of 2 arguments are given" compare "$old"
{ cat "$top_srcdir/tests/decks/tiny.deck"; printf '[sweep]\ncluster.nodes = 1; 2\n'; } >sweep.deck
check "the live clock" complains 2 "'live' plays a deck once" compare "$old" "$new" --set run.clock=live
check "a deck with a sweep" complains 2 "[sweep]: asks for many runs" compare sweep.deck "$new"

done_testing
