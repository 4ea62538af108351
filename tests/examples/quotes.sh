#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What CONTRIBUTING.md quotes of a file stands there, line by line, and every example is quoted.
#
# A quote is a block of code behind a line  <!-- from FILE -->  .

. "$top_srcdir/tests/lib.sh"

page=$top_srcdir/CONTRIBUTING.md

# quotes: each quoted file's name, and in $scratch/quote.N what is quoted of it
quotes()
{
    awk -v base="$scratch/quote." '
        /^<!-- from [^ ]+ -->$/ { file = $3; next }
        file != "" && /^```/ && !inside { inside = 1; print file; number++; next }
        inside && /^```/ { close(base number); inside = 0; file = ""; next }
        inside { print >(base number) }' "$page"
}

# stands_in FILE QUOTE: whether all lines of the one are there in the other, one after the other
stands_in()
{
    awk 'NR == FNR { quote[++count] = $0; next }
        { line[++lines] = $0 }
        END {
            for (first = 0; first + count <= lines; first++) {
                for (i = 1; i <= count && line[first + i] == quote[i]; i++)
                    ;
                if (i > count)
                    exit 0
            }
            exit 1
        }' "$2" "$1"
}

quotes >"$scratch/files"
printf 'not a line of it\n' >"$scratch/wrong"
check "what is not in a file is found out" expect_status 1 stands_in "$page" "$scratch/wrong"
number=0
while read -r file; do
    number=$((number + 1))
    check "the quote of $file is what stands there" stands_in "$top_srcdir/$file" "$scratch/quote.$number"
done <"$scratch/files"

for file in "$top_srcdir"/tests/examples/*_*.c; do
    case $file in */test_*) continue ;; esac
    check "$(basename "$file") is quoted" grep -qxF "tests/examples/$(basename "$file")" "$scratch/files"
done

done_testing
