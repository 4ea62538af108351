#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What every source file has in common: a licence line, no tabs or trailing blanks, at most 120 columns, a length that
# can be read, and nothing left to do.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/hygiene/files.sh"

cd "$top_srcdir" || exit 99

source_files '*.c' '*.h' '*.sh' '*.py' '*.m4' '*.ac' 'Makefile.am' '*.supp' '*.1' '*.5' >"$scratch/sources"
source_files '*.c' '*.h' '*.sh' '*.py' >"$scratch/code"
printf '%s\n' quickstart .ci/run tests/count >>"$scratch/code"
cat "$scratch/code" >>"$scratch/sources"
sort -u -o "$scratch/sources" "$scratch/sources"
check "there are sources to look at" test "$(wc -l <"$scratch/sources")" -gt 20

# none COMMAND...: runs a command that prints what is wrong; true when it prints nothing
none()
{
    "$@" >"$scratch/none" 2>&1
    sed 's/^/#   /' "$scratch/none"
    [ ! -s "$scratch/none" ]
}

without_licence()
{
    while read -r file; do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$file"
    done <"$scratch/sources"
}

# Written so that this file does not contain the words.
left_to_do="TO""DO|FIX""ME|XX""X|HA""CK"

in_sources() # GREP-ARGUMENTS...
{
    xargs grep -nE "$@" <"$scratch/sources"
}

in_code()
{
    xargs grep -nE "$@" <"$scratch/code"
}

too_wide()
{
    in_code '^.{121,}$' | grep -vE '^tests/.*".{30,}"'
}

too_long()
{
    while read -r file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 1000 ] || echo "$file: $lines lines"
        [ "$lines" -le 800 ] || [ "$lines" -gt 1000 ] || echo "# long: $file, $lines lines" >&3
    done <"$scratch/code"
}

exec 3>&1
tab=$(printf '\t')

mkdir -p "$scratch/self"
printf 'int x; /* %s: later */\n' "TO""DO" >"$scratch/self/word.c"
check "a word for something left to do would be found" grep -qwE "$left_to_do" "$scratch/self/word.c"

check "each source names its licence in its first lines" none without_licence
check "nothing is left to do" none in_sources -w -- "$left_to_do"
check "no line of code is longer than 120 columns, but for long strings in tests" none too_wide
check "code has no tabs" none in_code "$tab"
check "no source has blanks at the end of a line" none in_sources '[[:blank:]]$'
check "no file of code is longer than 1000 lines" none too_long

done_testing
