#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# For make check-long: what a change was worth, over 20 seeds, and that the fit of a shipped profile gives the profile.
#
# flux-core pull request 2792 against 2777: the record has +0.24 % (two means of five runs) and +1.9 % (one earlier
# comparison), and a first job earlier by 0.4 s (one run each); the mean difference must lie from -0.2 % to +2 %. The
# first job's gain is missed: the model has none that can be told.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

inputs=$top_srcdir/inputs
cd "$scratch" || exit 99

value() # FILE SECTION NAME COLUMN: of the row whose first column is NAME
{
    awk -F '\t' -v section="$2" -v name="$3" -v column="$4" '
        $1 == section && $2 != row { row = $2; mine = $5 == name }
        $1 == section && mine && $3 == column { print $5 }' "$1"
}

check "pr2777 and pr2792 are compared" expect_status 0 alone compare "$inputs/flux-bulksubmit-pr2777.deck" \
    "$inputs/flux-bulksubmit.deck" --seeds 20 --format tsv >change 2>change.err
percent=$(value change results jobs.run_rate percent)
first=$(value change results jobs.first_done_s difference)
echo "# rate $percent +- $(value change results jobs.run_rate percent_half_width) %" >&3
echo "# first job $first +- $(value change results jobs.first_done_s half_width) s" >&3
check "the rate changes by -0.2 to +2 %" holds "$percent >= -0.2 && $percent <= 2"
check "the first job is known not to be earlier by much: less than 20 ms either way" holds "($first)^2 < 0.02^2"

check "the profile of 2020 is fitted anew" \
    expect_status 0 alone fit "$inputs/fits/flux-2020.fit" --format tsv >fit.tsv 2>fit.err
for cost in commit:1.06 move:0.76667 start:1.5; do
    name=${cost%:*}
    factor=$(value fit.tsv costs "$name" factor)
    sigma=$(value fit.tsv costs "$name" uncertainty_percent)
    echo "# $name: factor $factor +- $sigma %, in the profile ${cost#*:}" >&3
    check "$name is identified" test "$(value fit.tsv costs "$name" identified)" = yes
    check "$name agrees with the profile within two of its uncertainties" \
        holds "($factor / ${cost#*:} - 1)^2 <= (2 * $sigma / 100)^2"
done

done_testing
