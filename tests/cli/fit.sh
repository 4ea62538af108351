#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel fit: measured values made with known costs give these costs back, within their stated uncertainty; a cost that
# no row depends on, and two that the rows cannot tell apart, are named; a fit file that is wrong is refused.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

inputs=$top_srcdir/inputs
cd "$scratch" || exit 99

value() # SECTION NAME COLUMN: of the row of the last fit whose first column is NAME
{
    awk -F '\t' -v section="$1" -v name="$2" -v column="$3" '
        $1 == section && $2 != row { row = $2; mine = $5 == name }
        $1 == section && mine && $3 == column { print $5 }' fit.tsv
}

measure() # KEY DECK SETTING...: what a run with other costs and another seed gives
{
    local key=$1 deck=$2
    shift 2
    alone run "$deck" -q --seed 77 --trace stats -o measured --force --summary measured.json \
        "${@/#/--set=}" --set costs.kvs-namespace=250us --set costs.call-move=3us >&2
    sed -n "s/.*\"$key\": \([0-9.]*\),*\$/\1/p" measured.json | awk '{ printf "%.3f", $1 }'
}

small=$inputs/flux-namespaces.deck
blocking=$inputs/flux-namespaces-v0.16.deck
cat >known.fit <<E
[fit]
format = 1
title = known costs
seeds = 3

[free]
namespace = 0.25..4 costs.kvs-namespace
move = 0.1..10 costs.call-move
exit = 0.25..4 costs.executor-exit

[row.created]
deck = $small
set = workload.namespaces=100
key = kvs.create_rate
value = $(measure create_rate "$small" workload.namespaces=100)/s
uncertainty = 0.5%

[row.blocking]
deck = $blocking
set = workload.namespaces=200
key = kvs.create_rate
value = $(measure create_rate "$blocking" workload.namespaces=200)/s
uncertainty = 0.5%
source = a run with other costs
E

check "a fit" expect_status 0 alone fit known.fit --profile fitted.costs --format tsv >fit.tsv 2>fit.err
for cost in namespace:250:190 move:3:4.6; do
    IFS=: read -r name truth before <<<"$cost"
    factor=$(value costs "$name" factor)
    percent=$(value costs "$name" uncertainty_percent)
    check "$name is identified" test "$(value costs "$name" identified)" = yes
    check "$name is found within three times its uncertainty" \
        holds "($factor * $before / $truth - 1)^2 < (3 * $percent / 100)^2"
    check "and that is small" holds "$percent > 0 && $percent < 5"
done
check "the cost of a shell's end is not told" test "$(value costs exit identified)" = no
check "and named" grep -q 'the rows do not tell exit' fit.tsv
check "it stays where it was" holds "($(value costs exit factor) - 1)^2 < 1e-12"

check "three processes" mpi 3 "$TIERCEL" fit known.fit --format tsv >three.tsv 2>three.err
check "give the same" cmp fit.tsv three.tsv

sed 's/^profile = .*/profile = fitted/; /^\[expect\]/,/^$/d' "$small" >own.deck
check "a deck that names the profile" expect_status 0 alone check own.deck >checked
check "has the fitted cost" grep -qx "kvs-namespace = $(value costs namespace value)" checked
check "and all others" grep -qx 'kvs-turn = 2us + 35ns/queued' checked
check "the profile tells its rows" grep -q '^# blocking: kvs.create_rate .* a run with other costs$' fitted.costs
check "a profile is not written over" complains 2 "'fitted.costs' exists" fit known.fit --profile fitted.costs

sed 's/^exit = .*/again = 0.25..4 costs.kvs-request/; /^move/d; /^\[row.blocking\]/,$d' known.fit >pair.fit
check "two costs and one row" expect_status 0 alone fit pair.fit --format tsv >fit.tsv 2>/dev/null
check "are not told apart" grep -q 'the rows hardly tell namespace and again apart: .* their product' fit.tsv

check "sensitivities" expect_status 0 alone fit known.fit --sensitivity --format tsv >fit.tsv 2>/dev/null
check "a cost slows down" holds "$(value sensitivities created namespace) < -0.1"
check "or does nothing" test "$(value sensitivities created exit)" = 0
check "nothing is fitted" test -z "$(value costs namespace factor)"

# ---- what is wrong ----

wrong() # SENTENCE SED-SCRIPT TEXT
{
    sed "$2" known.fit >wrong.fit
    check "$1" complains 2 "$3" fit wrong.fit
}
wrong "an unknown group" 's/^\[free\]/[fre]/' 'wrong.fit:6: [fre]: unknown group'
wrong "an unknown key" 's/^seeds/seed/' 'wrong.fit:4: [fit] seed: unknown key'
wrong "a range without 1" 's/0.25..4 costs.kvs-n/2..4 costs.kvs-n/' 'has a range without 1'
wrong "no range" 's/0.25..4 costs.kvs-n/costs.kvs-n/' '[free] namespace: has no range'
wrong "a cost that is none" 's/costs.kvs-namespace/kvs.merge/' 'kvs.merge has no duration'
wrong "an unknown cost" 's/costs.kvs-namespace/costs.kvs-namespac/' 'did you mean [costs] kvs-namespace?'
wrong "a cost twice" 's/costs.executor-exit/costs.call-move/' 'costs.call-move is free twice'
wrong "a key that is none" '0,/^key = kvs.create_rate/s//key = kvs.rate/' 'wrong.fit:14: [row.created] key: is not'
wrong "a value without its unit" '0,/^value/{/^value/s,/s$,,}' 'wrong.fit:15: [row.created] value: '
wrong "no uncertainty" '0,/^uncertainty/{/^uncertainty/d}' 'wrong.fit:11: [row.created]: is not complete'
wrong "an uncertainty of nothing" '0,/^uncertainty/s/^uncertainty = .*/uncertainty = 0%/' \
    'wrong.fit:16: [row.created] uncertainty: '
wrong "a missing deck" '0,/^deck/s,^deck.*,deck = missing.deck,' 'missing.deck: cannot be read'
wrong "a wrong override" '0,/^set/s/^set = w/set = v/' 'wrong.fit:13: vorkload.namespaces: unknown group'
wrong "the live clock" '0,/^set/s/^set = /set = run.clock=live;/' "'live' plays a deck once"
wrong "different costs" '0,/^set/s/^set = /set = costs.call-move=1us;/' 'costs.call-move is 4.6us'
wrong "a form to come" 's/^format = 1/format = 2/' 'wrong.fit:2: [fit] format: '
check "no file" complains 2 "none.fit: cannot be read" fit none.fit
check "a folder that is not there" complains 2 "there is no folder 'nowhere'" fit known.fit --profile nowhere/x.costs
mkdir folder
check "a folder in its place" complains 2 "'folder' is a folder" fit known.fit --profile folder --force
check "both" complains 2 "are given both" fit known.fit --profile x.costs --sensitivity
check "nothing else was written" test ! -e runs

done_testing
