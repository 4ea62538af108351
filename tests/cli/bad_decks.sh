#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Decks that must be refused: exit 2, exactly the expected messages (file, line, key, value, what was expected; all
# problems of a deck at once), nothing on stdout, nothing left behind.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

mkdir "$scratch/said"
cp -R "$top_srcdir/tests/decks/bad" "$scratch/bad"
chmod -R u+w "$scratch/bad"
cd "$scratch/bad" || exit 99

# ---- what cannot be kept as a text file ----

expected() # NAME TEXT: expects this line about NAME.deck
{
    printf '%s\n' "$2" "tiercel: $1.deck: 1 problem; nothing was run" >"$1.expected"
}
wanted="expected the path of a deck, or the name of an installed one"

: >empty.deck
expected empty "empty.deck: is empty; expected a deck that begins with [deck] and format = 1"

printf '\357\273\277[deck]\nformat = 1\n' >bom.deck
expected bom "bom.deck:1: the file begins with a byte order mark; expected UTF-8 without one"

printf '[deck]\r\nformat = 1\r\n[system]\r\nkind = brokered\r\n' >crlf.deck
expected crlf "crlf.deck:1: the line ends in CR LF; expected LF alone (dos2unix converts a file)"

printf '[deck]\nformat = 1\0\n' >nul.deck
expected nul "nul.deck:2: byte 11 of the line is the control character \\x00; expected a deck in plain text"

printf '\177ELF\002\001\001\000\000' >binary.deck
expected binary "binary.deck:1: byte 1 of the line is the control character \\x7f; expected a deck in plain text"

printf '[deck]\nformat = 1\ntitle = G\374nther\n' >latin1.deck
expected latin1 "latin1.deck:3: byte 10 of the line, \\xfc, is not UTF-8; expected a deck in plain text"

printf '[deck]\nformat = 1\ntitle = a\300\257b\n' >overlong.deck
expected overlong "overlong.deck:3: byte 10 of the line, \xc0, is not UTF-8; expected a deck in plain text"

printf '[deck]\nformat = 1\ntitle = \355\240\200\n' >surrogate.deck
expected surrogate "surrogate.deck:3: byte 9 of the line, \xed, is not UTF-8; expected a deck in plain text"

printf '[deck]\nformat = 1\ntitle = caf\303\n' >utf8-cut.deck
expected utf8-cut "utf8-cut.deck:3: byte 12 of the line, \xc3, is not UTF-8; expected a deck in plain text"

printf '\377\376[\0d\0e\0c\0k\0]\0\n\0' >utf16.deck
expected utf16 "utf16.deck:1: byte 4 of the line is the control character \x00; expected a deck in plain text"

printf '[deck]\nformat = 1\n\033[31mtitle = red\n' >escape.deck
expected escape "escape.deck:3: byte 1 of the line is the control character \x1b; expected a deck in plain text"

printf '[deck]\nformat =\0131\n' >vertical-tab.deck
expected vertical-tab "vertical-tab.deck:2: byte 9 of the line is the control character \x0b; expected a deck in plain text"

printf '\211HDF\r\n\032\n' >base-binary.bin
mkdir profile-directory.costs

{
    printf '[deck]\nformat = 1\ntitle = '
    head -c 100000000 /dev/zero | tr '\0' x
} >long-line.deck
expected long-line "long-line.deck:3: the line is longer than 4096 bytes; expected a deck of short lines"

{
    printf '[deck]\nformat = 1\n'
    yes '# a comment line of a deck that never ends' | head -n 100000
} >large.deck
expected large "large.deck: is larger than 4194304 bytes; expected a deck"

mkdir directory.deck
expected directory "directory.deck: is a directory; $wanted"

mkfifo pipe.deck
expected pipe "pipe.deck: is a pipe or a device; $wanted"

expected absent "absent.deck: cannot be read: No such file or directory, and no deck in @INPUTS@ has this name; $wanted"

if [ "$(id -u)" -ne 0 ]; then
    printf '[deck]\nformat = 1\n' >unreadable.deck
    chmod 0 unreadable.deck
    expected unreadable "unreadable.deck: cannot be read: Permission denied; $wanted"
fi

# ---- all of them ----

ls >"$scratch/before"

# same NAME: what was said of NAME.deck is what was expected, and nothing else happened
same()
{
    local said=$scratch/said/$1

    [ "$(cat "$said.status")" -eq 2 ] || { echo "# exit status $(cat "$said.status")"; return 1; }
    [ ! -s "$said.out" ] || { echo "# it wrote to stdout"; return 1; }
    sed 's|[^ ]*/tiercel/inputs|@INPUTS@|g' "$said.err" | diff -u "$1.expected" -
}

for name in *.expected; do
    echo "${name%.expected}"
done >"$scratch/names"
# shellcheck disable=SC2016 # the variables are the inner shell's
env "${alone_environment[@]}" xargs -P 4 -n 1 sh -c \
    '"$TIERCEL" check "$1.deck" >"$0/said/$1.out" 2>"$0/said/$1.err" </dev/null; echo $? >"$0/said/$1.status"' \
    "$scratch" <"$scratch/names"

while read -r name; do
    check "$name is refused with its messages" same "$name"
done <"$scratch/names"
check "at least 150 decks were tried" test "$(wc -l <"$scratch/names")" -ge 150

# ---- run refuses as check does, on several processes once ----

said_once() # NAME FILE: each expected line stands in FILE, once
{
    local line
    while read -r line; do
        [ "$(grep -cxF -- "$line" "$2")" -eq 1 ] || { echo "# not once: $line"; return 1; }
    done <"$1.expected"
}

for name in everything-at-once jobspec-malformed binary; do
    check "run refuses $name" expect_status 2 alone run "$name.deck" 2>"$scratch/err"
    check "run says why $name is refused" said_once "$name" "$scratch/err"
    check "run refuses $name on 3 processes" expect_status 2 mpi 3 "$TIERCEL" run "$name.deck" 2>"$scratch/err"
    check "one of 3 processes says why $name is refused" said_once "$name" "$scratch/err"
done

ls >"$scratch/after"
check "nothing is left behind" diff "$scratch/before" "$scratch/after"

chmod -R u+rw "$scratch/bad"
done_testing
