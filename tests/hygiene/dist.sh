#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The archive that make dist writes holds everything that git tracks.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/hygiene/files.sh"

tracked_files >"$scratch/tracked" || skip "this is not a git work tree"

unset MAKEFLAGS MFLAGS MAKELEVEL
make -s -C "$top_builddir" distdir distdir="$scratch/dist" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    check "make distdir succeeds" false
    done_testing
}
(cd "$scratch/dist" && find . -type f | sed 's|^\./||' | sort) >"$scratch/distributed"
grep -vE '(^|/)\.git(ignore|attributes)$' "$scratch/tracked" | sort >"$scratch/wanted"
comm -23 "$scratch/wanted" "$scratch/distributed" >"$scratch/missing"
sed 's/^/#   /' "$scratch/missing"
check "no tracked file is missing from the archive" test ! -s "$scratch/missing"
check "the archive can be configured" test -x "$scratch/dist/configure"

done_testing
