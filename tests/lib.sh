# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Helpers of the shell tests. A test reads this file first:
#
#     . "$top_srcdir/tests/lib.sh"
#     mpi 3 "$TIERCEL" run "$top_srcdir/inputs/x.deck" -o "$scratch/out" >"$scratch/stdout"
#     check "three processes give one digest" test "$a" = "$b"
#     done_testing
#
# check runs a command and prints "ok - sentence" or "not ok - sentence"; each such line counts as one test. The test
# fails when one of them did, or when it ends without done_testing. What is printed goes to the test's log, even where
# the output of the command is redirected:
#
#     check "it says so" "$TIERCEL" --version >"$scratch/said"

set -u
exec 3>&1

# A folder of this test alone, inside the build folder, gone when the test passes and kept when it fails.
scratch=$(mktemp -d "${TMPDIR_TESTS:-$top_builddir}/scratch-$(basename "$0" .sh)-XXXXXX") || exit 99
checks_passed=0
checks_failed=0
finished=

test_leave()
{
    local status=$?
    if [ -z "$finished" ] && [ "$status" -eq 0 ]; then
        echo "not ok - the script ran to its end (done_testing was not reached)"
        status=1
    fi
    # A test's own way of leaving may have lost the status.
    if [ "$status" -eq 0 ] && [ "$checks_failed" -ne 0 ]; then
        status=1
    fi
    if [ "$status" -eq 0 ] || [ "$status" -eq 77 ]; then
        rm -rf "$scratch"
    else
        echo "# what it wrote is in $scratch"
    fi
    exit "$status"
}
trap test_leave EXIT

# check SENTENCE COMMAND...
check()
{
    local sentence=$1
    shift
    if "$@"; then
        echo "ok - $sentence" >&3
        checks_passed=$((checks_passed + 1))
    else
        echo "not ok - $sentence (failed: $*)" >&3
        checks_failed=$((checks_failed + 1))
    fi
}

# skip REASON: ends the test as skipped
skip()
{
    echo "# skipped: $*"
    finished=1
    exit 77
}

# quick_part_ends: the test ends here where only its quick part is wanted
quick_part_ends()
{
    [ -z "$SMOKE" ] || done_testing
}

# expect_status STATUS COMMAND...: true when the command ends with exactly this status
expect_status()
{
    local expected=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" -eq "$expected" ] && return 0
    echo "# exit status $status instead of $expected: $*" >&3
    return 1
}

# holds EXPRESSION: true when awk finds it so
holds()
{
    awk "BEGIN { exit !($1) }" && return 0
    echo "# does not hold: $1" >&3
    return 1
}

# mpi N COMMAND...: runs a command on N processes, without standard input
mpi()
{
    local processes=$1
    shift
    "$MPIRUN" -n "$processes" "$@" </dev/null
}

done_testing()
{
    finished=1
    if [ "$checks_failed" -ne 0 ] || [ "$checks_passed" -eq 0 ]; then
        echo "# $checks_passed passed, $checks_failed failed"
        exit 1
    fi
    exit 0
}
