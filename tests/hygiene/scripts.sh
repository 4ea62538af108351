#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# No script gives shellcheck anything to say.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/hygiene/files.sh"

command -v shellcheck >/dev/null 2>&1 || skip "shellcheck is not installed"
cd "$top_srcdir" || exit 99

{
    source_files '*.sh'
    printf '%s\n' quickstart .ci/run tests/count doc/examples/live.slurm doc/examples/live.flux
} >"$scratch/scripts"
while read -r script; do
    # What a test reads (lib.sh) is checked by itself, so it is not followed; top_srcdir comes from make check.
    check "$script is clean" shellcheck -e SC1091,SC2154 "$script"
done <"$scratch/scripts"

done_testing
