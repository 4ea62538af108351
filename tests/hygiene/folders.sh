#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every folder says what belongs into it.

. "$top_srcdir/tests/lib.sh"

cd "$top_srcdir" || exit 99
for folder in sim sim/*/ inputs tests tests/*/ analysis bench doc packaging; do
    folder=${folder%/}
    [ -n "$(find "$folder" -maxdepth 1 -type f ! -name Makefile.am ! -name '*.log' ! -name '*.trs' \
        ! -name '*.o' ! -name .dirstamp)" ] || continue
    check "$folder/README.md tells what the folder is for" grep -q '[a-z]' "$folder/README.md" 2>/dev/null
done

done_testing
