#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Each header compiles alone, and twice.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/hygiene/files.sh"

[ -z "$SMOKE" ] || skip "the sources were compiled with these headers"

# compiles HEADER: as the only thing in a file, included twice
compiles()
{
    printf '#include "%s"\n#include "%s"\n' "$1" "$1" >"$scratch/alone.c"
    # The compiler and its flags are lists of words.
    # shellcheck disable=SC2086
    $CC $HEADER_CPPFLAGS -fsyntax-only "$scratch/alone.c"
}

echo 'size_t broken(gsize a);' >"$scratch/broken.h"
if compiles "$scratch/broken.h" 2>/dev/null; then
    check "a header that needs another one first is found" false
fi

source_files '*.h' >"$scratch/headers"
check "there are headers to look at" test -s "$scratch/headers"
while read -r header; do
    check "$header compiles alone" compiles "$top_srcdir/$header"
done <"$scratch/headers"

done_testing
