#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel fit on tables of measurements made with known costs: seven factors drawn between a half and two, six values
# simulated with them under other seeds (means of eight), each with a measurement error of 1 % (normal). The rule: in at
# least 19 of 20 tables every cost that is called identified lies within three times its stated uncertainty; over all
# tables the deviations in units of that uncertainty have a mean square near 1; and a cost that no row depends on is
# always named. For make check-long; by hand two tables, or 20 with LONG=1. tests/cli/fit.sh has a small table for make
# check.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

tables=2
[ -z "${LONG:-}" ] || tables=20
inputs=$top_srcdir/inputs
cd "$scratch" || exit 99

# The free costs: name, key, value beforehand.
costs="namespace:kvs-namespace:190:us request:kvs-request:85:us:2:ns/B turn:kvs-turn:2000:ns:35:ns/queued
       move:call-move:4600:ns subscribe:broker-subscribe:128:us:70:ns/queued store:kvs-store:31800:ns:5300:ps/B
       beat:content-heartbeat:7:us"
# The rows: name, deck, overrides, key.
rows="few:flux-namespaces:workload.namespaces=100:kvs.create_rate
      many:flux-namespaces:workload.namespaces=800:kvs.create_rate
      removed:flux-namespaces:workload.namespaces=200:kvs.remove_rate
      blocking:flux-namespaces-v0.16:workload.namespaces=60:kvs.create_rate
      backlog:flux-namespaces-v0.16:workload.namespaces=200:kvs.create_rate
      jobs:flux-counts:workload.jobs=64,cluster.nodes=2:jobs.first_done_s"

draw() # SEED: a factor for each cost, then a normal number for each row
{
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        for (i = 0; i < 7; i++) printf "%.4f\n", exp((2 * rand() - 1) * log(2))
        for (i = 0; i < 6; i++) { for (s = k = 0; k < 12; k++) s += rand(); printf "%.4f\n", s - 6 } }'
}

scaled() # FACTOR VALUE UNIT [VALUE UNIT]
{
    awk -v factor="$1" -v a="$2" -v b="${4:-0}" -v unit="$3" -v other="${5:-}" 'BEGIN {
        if (unit == "us") { a *= 1000; unit = "ns" }
        if (other == "ns/B") { b *= 1000; other = "ps/B" }
        printf "%d%s", a * factor + 0.5, unit
        if (other != "") printf " + %d%s", b * factor + 0.5, other }'
}

measure() # DECK OVERRIDES KEY ERROR: the mean of eight runs, in the summary's unit, with that error in percent
{
    local deck=$1 overrides=$2 key=$3 error=$4 unit=/s seed
    [ "${key%_s}" = "$key" ] || unit=s
    for seed in $(seq 101 108); do
        # shellcheck disable=SC2046 # one option an override
        alone run "$inputs/$deck.deck" -q --seed "$seed" --trace stats -o measured --force --summary measured.json \
            $(tr , '\n' <<<"$overrides" | sed 's/^/--set=/') "${truth[@]}" >&2
        sed -n "s/.*\"${key#*.}\": \([0-9.e-]*\),*\$/\1/p" measured.json
    done | awk -v error="$error" -v unit="$unit" '{ s += $1 / 8 } END { printf "%.6f%s", s * exp(error / 100), unit }'
}

make_table() # TABLE: writes table.fit and truth.txt
{
    local table=$1 drawn i=0 name key value unit more other deck overrides
    truth=()
    mapfile -t drawn < <(draw "$table")
    : >truth.txt
    {
        printf '[fit]\nformat = 1\nprofile = flux-2020\nseeds = 4\n\n[free]\n'
        for cost in $costs; do
            IFS=: read -r name key value unit more other <<<"$cost"
            echo "$name = 0.25..4 costs.$key"
            truth+=("--set=costs.$key=$(scaled "${drawn[i]}" "$value" "$unit" "${more:-}" "${other:-}")")
            echo "$name ${drawn[i]}" >>truth.txt
            i=$((i + 1))
        done
        for row in $rows; do
            IFS=: read -r name deck overrides key <<<"$row"
            printf '\n[row.%s]\ndeck = %s\nset = %s\nkey = %s\nvalue = %s\nuncertainty = 1%%\n' "$name" \
                "$inputs/$deck.deck" "${overrides//,/;}" "$key" "$(measure "$deck" "$overrides" "$key" "${drawn[i]}")"
            i=$((i + 1))
        done
    } >table.fit
}

# Name, identified, deviation in units of the uncertainty, for each cost of fit.tsv.
judge()
{
    awk -F '\t' '
        NR == FNR { split($0, part, " "); truth[part[1]] = part[2]; next }
        $1 == "costs" && $3 == "cost" { name = $5 }
        $1 == "costs" && $3 == "factor" { factor[name] = $5 }
        $1 == "costs" && $3 == "uncertainty_percent" { sigma[name] = $5 / 100 }
        $1 == "costs" && $3 == "identified" {
            printf "%s %s %.3f %.4f\n", name, $5, log(factor[name] / truth[name]) / sigma[name], sigma[name] }' \
        truth.txt fit.tsv
}

: >all
for table in $(seq "$tables"); do
    make_table "$table"
    check "table $table is fitted" expect_status 0 alone fit table.fit --format tsv >fit.tsv 2>fit.err
    judge | sed "s/^/$table /" >judged
    cat judged >>all
    sed 's/^/# table, cost, identified, deviation, uncertainty: /' judged >&3
    check "table $table: what no row depends on is named" grep -q '^[0-9]* beat no' judged
done

awk '$3 == "yes" && ($4 > 3 || $4 < -3) { bad[$1] = 1 } END { n = 0; for (t in bad) n++; print n }' all >outside
awk '$3 == "yes" { n++; s += $4 * $4 } END { printf "%d %.3f\n", n, s / n }' all >square
echo "# tables with an identified cost outside of three uncertainties: $(cat outside) of $tables" >&3
echo "# identified costs, mean square of their deviations: $(cat square)" >&3
check "identified costs lie within three uncertainties" test "$(cat outside)" -le $((tables / 20))
check "some are identified in each table" test "$(awk '$3 == "yes" { t[$1] = 1 } END { for (i in t) n++; print n + 0 }' all)" \
    -eq "$tables"
most=5
[ "$tables" -lt 20 ] || most=2
square=$(cut -d ' ' -f 2 square)
check "their uncertainties are neither too small nor too large" \
    awk -v square="$square" -v most="$most" 'BEGIN { exit !(square < most && square > 0.1) }'

done_testing
