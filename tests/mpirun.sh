#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# mpirun.sh PROGRAM: runs a test program on 1, 2, 3 and 4 processes (or on those that PROCESSES lists).
# It fails when one of the runs does, and is skipped when one of them asks for it. The quick way (SMOKE) is 3 alone.

set -u
all="1 2 3 4"
[ -z "${SMOKE:-}" ] || all=3
for processes in ${PROCESSES:-$all}; do
    echo "# on $processes processes"
    "$MPIRUN" -n "$processes" "$@" </dev/null
    status=$?
    if [ "$status" -ne 0 ]; then
        echo "# exit status $status on $processes processes"
        exit "$status"
    fi
done
