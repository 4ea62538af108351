#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The count at the end of ./quickstart check is right.

. "$top_srcdir/tests/lib.sh"

count="$top_srcdir/tests/count"

# result NAME RESULT: adds a test that ended so; what it wrote comes from standard input
result()
{
    cat >"$scratch/$1.log"
    printf ':test-result: %s\n:global-test-result: %s\n:recheck: no\n' "$2" "$2" >"$scratch/$1.trs"
}

counted() # TEXT
{
    "$count" "$scratch" | grep -qx "$1"
}

check "nothing ran, nothing is counted" counted "0 passed, 0 failed, 0 skipped"
result plain PASS </dev/null
check "a test that says nothing is one" counted "1 passed, 0 failed, 0 skipped"
result cunit PASS <<'EOF'
  Test: a prefix matches ...passed

Run Summary:    Type  Total    Ran Passed Failed Inactive
              suites      1      1    n/a      0        0
               tests      3      3      3      0        0
             asserts     17     17     17      0      n/a
EOF
check "a CUnit program counts by its tests" counted "4 passed, 0 failed, 0 skipped"
printf 'ok - one\nok - two\n' | result shell PASS
check "a shell test counts by its lines" counted "6 passed, 0 failed, 0 skipped"
summary='               tests      3      3      3      0        0'
printf '# on 1 processes\n%s\n# on 2 processes\n' "$summary" | result many PASS
check "a program for several processes counts by its runs" counted "8 passed, 0 failed, 0 skipped"
printf '# skipped: no python\n' | result skipped SKIP
check "a skipped test is one" counted "8 passed, 0 failed, 1 skipped"
printf '# on 1 processes\n# on 2 processes\n# exit status 1 on 2 processes\n' | result many FAIL
check "a run that failed on some number of processes is one failed" counted "7 passed, 1 failed, 1 skipped"
sed 's/3      3      3      0 /3      3      1      2 /' "$scratch/cunit.log" | result cunit2 FAIL
check "failed CUnit tests are counted" counted "8 passed, 3 failed, 1 skipped"
printf 'ok - one\n' | result crash FAIL
check "a crash is one failed" counted "9 passed, 4 failed, 1 skipped"
printf 'ok - one\nnot ok - two\nnot ok - three\n' | result bad FAIL
check "failed lines are counted" counted "10 passed, 6 failed, 1 skipped"
result hard ERROR </dev/null
check "an error is one failed" counted "10 passed, 7 failed, 1 skipped"
"$count" --failures "$scratch" >"$scratch/failures"
check "five failed tests are shown" test "$(grep -c '^==== ' "$scratch/failures")" -eq 5
check "a folder that is not there is refused" expect_status 2 "$count" "$scratch/nowhere"

done_testing
