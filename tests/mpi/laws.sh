#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Law 1 on 500 random models (test_laws.c; make check tries a twentieth of them): one digest alone and on 1, 2, 3 and 4
# processes, each with several placements and both inboxes; the same again in a build that checks causality and the
# order law at every step.

. "$top_srcdir/tests/lib.sh"

[ -n "$LONG" ] || skip "only make check-long tries all models"
count=500

models() # BUILD PROCESSES
{
    mpi "$2" "$1/tests/mpi/test_laws.mpi" 1 "$count" >"$scratch/said" || { cat "$scratch/said"; return 1; }
    sed 's/^/# /' "$scratch/said" >&3
    sed -n 's/.*, \(digests [0-9a-f]*\): 0 differences$/\1/p' "$scratch/said" >>"$scratch/digests"
}

build_with_checks()
{
    mkdir "$scratch/build" &&
        (cd "$scratch/build" && "$top_srcdir/configure" -q --enable-checks && make tests/mpi/test_laws.mpi) \
            >"$scratch/build.log" 2>&1 && return 0
    tail -n 20 "$scratch/build.log"
    return 1
}

for processes in 1 2 3 4; do
    check "$count random models on $processes processes" models "$top_builddir" "$processes"
done
check "a build with the engine's own checks" build_with_checks
for processes in 1 2 3 4; do
    check "$count random models on $processes processes, checked" models "$scratch/build" "$processes"
done
check "all eight give the same digests" test "$(sort "$scratch/digests" | uniq -c | awk '{ print $1 }')" = 8

done_testing
