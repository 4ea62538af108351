#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The man page and --help name the same commands and options, the page of the deck has the keys of the program and an
# example that it accepts, that of the trace its roles and the keys of a summary, and all can be typeset.

. "$top_srcdir/tests/lib.sh"

page="$top_srcdir/doc/tiercel.1"

# help_options [COMMAND]: the long options, and the letters, that --help lists
help_options()
{
    "$TIERCEL" "$@" --help </dev/null |
        sed -nE 's/^ +(-([A-Za-z]), +)?--([a-z-]+).*/--\3 -\2/p' | tr ' ' '\n' | grep -vx -e - | sort -u
}

# page_options COMMAND: those that the page lists for a command; for "" those of the program and of all commands
page_options()
{
    sed 's/\\-/-/g' "$page" | awk -v command="$1" '
        function flush(   i) {
            if (count && (command == "" || tag == "" || index(tag, " " command " ")))
                for (i = 1; i <= count; i++)
                    print "-" names[i]
            count = 0
            tag = ""
        }
        /^\.It / { flush(); for (i = 2; i < NF; i++) if ($i == "Fl") names[++count] = $(i + 1) }
        /^\.Pq Cm / { tag = " "; for (i = 3; i <= NF; i++) if ($i != ",") tag = tag $i " " }
        /^\.El/ { flush() }' | sort -u
}

"$TIERCEL" --help </dev/null >"$scratch/help"
check "there is a help" grep -q 'tiercel run DECK' "$scratch/help"
sed -nE 's/^ +tiercel ([a-z]+) .*/\1/p' "$scratch/help" | sort -u >"$scratch/commands"
sed -nE 's/^\.It Cm ([a-z]+).*/\1/p' "$page" | sort -u >"$scratch/page-commands"
check "the page has the commands of --help" diff "$scratch/commands" "$scratch/page-commands"

{
    help_options
    while read -r command; do
        help_options "$command"
    done <"$scratch/commands"
} | sort -u >"$scratch/options"
page_options "" >"$scratch/page-options"
check "the page has the options of --help" diff "$scratch/options" "$scratch/page-options"

while read -r command; do
    help_options "$command" >"$scratch/options"
    page_options "$command" | grep -vx -e --version >"$scratch/page-options"
    check "the page has the options of $command" diff "$scratch/options" "$scratch/page-options"
done <"$scratch/commands"

lockfs_page="$top_srcdir/doc/tiercel-lockfs.1"
if [ -x "$top_builddir/tiercel-lockfs" ]; then
    TIERCEL="$top_builddir/tiercel-lockfs" help_options >"$scratch/options"
    page="$lockfs_page" page_options "" >"$scratch/page-options"
    check "the page of tiercel-lockfs has its options" diff "$scratch/options" "$scratch/page-options"
fi

deck_page="$top_builddir/doc/tiercel-deck.5"
check "the page of the deck has every kind of entry" \
    test "$(grep -cE '^\.Ss \[(deck|run|workload|trace|expect)\]|^\.It Li (format|seed|dir|level)$' "$deck_page")" -eq 9
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$deck_page" | sed '1d;$d' >"$scratch/example.deck"
check "the example of the page is a deck" "$TIERCEL" check "$scratch/example.deck"

trace_page="$top_builddir/doc/tiercel-trace.5"
sed -nE 's/^    \.name = "([^"]+)",$/.Ss \1/p' "$top_srcdir"/sim/ranks/*.c | sort -u >"$scratch/roles"
check "there are roles to look for" test "$(wc -l <"$scratch/roles")" -gt 20
check "the page of the trace has every role" test -z "$(sort "$trace_page" | comm -23 "$scratch/roles" -)"
# In the groups of the page, in order, the keys of a summary.
sed -n '/^\.Sh SUMMARY/,/^\.Sh TABLE/p' "$trace_page" >"$scratch/summary-page"
"$TIERCEL" run "$top_srcdir/inputs/io-tasks.deck" --test -o "$scratch/run" -q >/dev/null
for group in run jobs client io; do
    sed -n "/^\.Ss $group\$/,/^\.El/s/^\.It Li //p" "$scratch/summary-page" >"$scratch/page-keys"
    sed -n "/^  \"$group\": {/,/^  }/s/^    \"\([a-z0-9_]*\)\":.*/\1/p" "$scratch/run/summary.json" >"$scratch/keys"
    check "the page of the trace has the keys of $group" diff "$scratch/keys" "$scratch/page-keys"
done

for source in "$page" "$deck_page" "$trace_page" "$lockfs_page"; do
    if command -v mandoc >/dev/null 2>&1; then
        check "mandoc has no complaint about $(basename "$source")" mandoc -T lint -W warning "$source"
    elif command -v groff >/dev/null 2>&1; then
        groff -mandoc -ww -z "$source" >"$scratch/groff" 2>&1
        cat "$scratch/groff"
        check "groff has no complaint about $(basename "$source")" test ! -s "$scratch/groff"
    fi
done

done_testing
