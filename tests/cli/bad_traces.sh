#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Broken traces, for every command that reads traces: cut at many places, with flipped bytes, of another program, no
# trace at all. Each is refused with status 1 and one line that names the file, nothing on stdout. What carries no
# checksum (the file of a killed run) may be damaged where nobody can tell: then it must not crash.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

mkdir "$scratch/said" "$scratch/bad" "$scratch/maybe"
cd "$scratch/bad" || exit 99

check "a small run" alone run "$top_srcdir/tests/decks/tiny.deck" --trace events -q -o ../good
good=$scratch/good/trace.h5
size=$(stat -c %s "$good")

# ---- a whole trace, damaged ----

for at in 1 30 64 100 511 512 513 600 2048 4096 $((size / 3)) $((size / 2)) $((size - 100)) $((size - 1)); do
    head -c "$at" "$good" >"cut-$at.h5"
done
{ cat "$good"; printf x; } >longer.h5
{ cat "$good" "$good"; } >twice.h5

flip() # FILE BYTE...: turns the bytes at these places over
{
    local file=$1 at byte
    shift
    for at; do
        byte=$(od -An -tu1 -j "$at" -N 1 "$file")
        # shellcheck disable=SC2059 # the format is the byte
        printf "\\x$(printf %x $((byte ^ 255)))" | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null
    done
}

for at in 0 10 70 90 300 512 520 560 1000 $((size / 3)) $((size / 2)) $((size - 9)); do
    cp "$good" "flip-$at.h5"
    flip "flip-$at.h5" "$at"
done

# ---- something else ----

: >empty.h5
printf '\n' >newline.h5
head -c 5000 /dev/zero >zeros.h5
seq 1 2000 >numbers.h5
tail -c +513 "$good" >without-seal.h5
printf '\211HDF\r\n\032\n' >signature.h5
{ printf '\211HDF\r\n\032\n'; head -c 3000 /dev/zero; } >hdf5.h5
gzip -c "$good" >packed.h5
cp "$scratch/good/summary.json" summary.h5
cp "$scratch/good/effective.deck" deck.h5
{ head -c 512 "$good"; seq 1 20000 | head -c $((size - 512)); } >sealed-text.h5
mkdir folder.h5
mkfifo pipe.h5
ln -s nowhere.h5 link.h5

# ---- the file of a killed run: the same without its checksum ----

unsealed() # FROM TO
{
    {
        printf 'tiercel trace, format 1; an HDF5 file that begins at byte 512\nstate open\n'
        head -c 512 /dev/zero
    } | head -c 512 >"$2"
    tail -c +513 "$1" >>"$2"
}

unsealed "$good" "$scratch/maybe/open.h5"
for at in 512 513 600 1500 $((size / 2)) $((size - 1)); do
    head -c "$at" "$scratch/maybe/open.h5" >"open-cut-$at.h5"
done
cp "$scratch/maybe/open.h5" open-superblock.h5
flip open-superblock.h5 512 513 514
cp "$scratch/maybe/open.h5" open-version.h5
flip open-version.h5 520
RANDOM=4004
for i in $(seq 12); do
    cp "$scratch/maybe/open.h5" "$scratch/maybe/open-flip-$i.h5"
    flip "$scratch/maybe/open-flip-$i.h5" $((512 + RANDOM % 3000)) $((512 + RANDOM % (size - 512)))
done

# ---- every command that reads a trace ----

# Lines "NAME COMMAND...", where @ stands for the broken file.
cat >"$scratch/commands" <<END
verify verify @
merge verify --merge @
diff-a diff @ $good
diff-b diff $good @
report report @
export-swf export @ --format swf
END
if [ -n "$LONG" ]; then
    cat >>"$scratch/commands" <<END
report-json report @ --format json
export-batsim export @ --format batsim
report-html report @ --format html
export-chrome export @ --format chrome
END
fi
# For sanitizers this test is what it is all about.
[ -z "$SMOKE" ] || grep -q 'fsanitize=' "$top_builddir/Makefile" || sed -i 2,5d "$scratch/commands"

for folder in bad maybe; do
    for file in "../$folder"/*.h5; do
        while read -r name rest; do
            echo "$folder-$(basename "$file" .h5)-$name ${rest//@/$file}"
        done <"$scratch/commands"
    done
done >"$scratch/runs"
# shellcheck disable=SC2016 # the variables are the inner shell's
env "${alone_environment[@]}" xargs -P 2 -L 1 sh -c \
    'name=$1; shift; timeout 120 "$TIERCEL" "$@" >"$0/said/$name.out" 2>"$0/said/$name.err" </dev/null
     echo $? >"$0/said/$name.status"' "$scratch" <"$scratch/runs"

# refused FILE: by every command, with one line that names it
refused()
{
    local name rest said good=0
    while read -r name rest; do
        said=$scratch/said/bad-$(basename "$1" .h5)-$name
        if [ "$(cat "$said.status")" -ne 1 ] || [ -s "$said.out" ] || [ "$(wc -l <"$said.err")" -ne 1 ] ||
            ! grep -q "^tiercel: .*$(basename "$1")" "$said.err"; then
            echo "# $name: status $(cat "$said.status"), $(wc -c <"$said.out") bytes on stdout, on stderr:"
            sed 's/^/# /' "$said.err"
            good=1
        fi
    done <"$scratch/commands"
    return $good
}

# survived FILE: no command crashed or hung, or spoke of its own failing
survived()
{
    local name rest said
    while read -r name rest; do
        said=$scratch/said/maybe-$(basename "$1" .h5)-$name
        case $(cat "$said.status") in
        0 | 1 | 4) [ "$(wc -l <"$said.err")" -le 1 ] && continue ;;
        esac
        echo "# $name: status $(cat "$said.status")"
        sed 's/^/# /' "$said.err"
        return 1
    done <"$scratch/commands"
}

for file in *.h5; do
    check "$(basename "$file" .h5) is refused" refused "$file"
done
for file in ../maybe/*.h5; do
    check "$(basename "$file" .h5) does no harm" survived "$file"
done
check "at least 45 files were refused" test "$(find . -name '*.h5' | wc -l)" -ge 45
check "the good trace is still whole" alone verify "$good" >/dev/null

done_testing
