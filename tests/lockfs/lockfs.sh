#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel-lockfs: the kernel's lock with and without the flag, the bytes, and mounts that go away however the server
# ends.

# Who is not root mounts in a user namespace of his own, where there may be such. The MPI library keeps its files under
# a name that it takes for root's there, so it gets another place for them.
if [ "$(id -u)" -ne 0 ] && unshare --map-root-user --mount true 2>/dev/null; then
    own=$(mktemp -d) || exit 99
    TMPDIR=$own unshare --map-root-user --mount bash "$0"
    status=$?
    rm -rf "$own"
    exit "$status"
fi

. "$top_srcdir/tests/lib.sh"

lockfs=$top_builddir/tiercel-lockfs
writers=$top_builddir/tests/lockfs/write_file
mount=$scratch/mount
mkdir "$mount"

mounted()
{
    grep -q "^lockfs:[0-9]* $mount " /proc/self/mounts
}

# comes_true COMMAND...: within ten seconds
comes_true()
{
    local i
    for ((i = 0; i < 100; i++)); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

not()
{
    ! "$@"
}

# Whatever goes wrong here, nothing stays mounted.
leave()
{
    local status=$?
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null
    mounted && umount -l "$mount"
    (exit "$status")
    test_leave
}
trap leave EXIT
trap 'exit 99' INT TERM HUP

"$lockfs" "$mount" true >"$scratch/first" 2>"$scratch/first.err"
status=$?
[ "$status" -eq 0 ] || ! grep -q 'mounted' "$scratch/first.err" ||
    skip "no file system can be mounted here: $(tail -n 1 "$scratch/first.err")"
check "it mounts, runs a command and unmounts" test "$status" -eq 0
check "nothing is mounted afterwards" not mounted
check "a run without writes has counted none" grep -qx 'writes 0' "$scratch/first"
check "the status is that of the command" expect_status 7 "$lockfs" "$mount" sh -c 'exit 7' >/dev/null
check "a command that is not there is an error" expect_status 1 "$lockfs" "$mount" "$scratch/no-such" 2>"$scratch/err"
check "a folder that is not there is refused" expect_status 2 "$lockfs" "$scratch/nowhere" true 2>"$scratch/err"
check "a file is refused" expect_status 2 "$lockfs" "$scratch/first" true 2>"$scratch/err"
check "it is said which" grep -q "$scratch/first is not a folder" "$scratch/err"
check "a wrong option is refused" expect_status 2 "$lockfs" --paralel "$mount" true 2>"$scratch/err"
check "so is a place for bytes that takes no nameless files" expect_status 2 "$lockfs" --store /proc "$mount" true \
    2>"$scratch/err"
check "it is said why" grep -q "/proc, takes no nameless files" "$scratch/err"
check "so is a folder without a name" expect_status 2 "$lockfs" "" true 2>"$scratch/err"
check "and a command without one" expect_status 2 "$lockfs" "$mount" "" 2>"$scratch/err"
check "statistics that cannot be written are an error" expect_status 1 "$lockfs" --statistics /dev/full "$mount" true \
    2>"$scratch/err"

# --- files ---

echo mine >"$mount/mine"
check "what is in the folder is hidden meanwhile" expect_status 1 "$lockfs" "$mount" test -e "$mount/mine" >/dev/null
check "and there again afterwards" test "$(cat "$mount/mine")" = mine
rm "$mount/mine"

in_mount() # SCRIPT: a shell script in the mounted folder
{
    "$lockfs" --request 0s --statistics "$scratch/stat" "$mount" sh -euc "cd '$mount'; $1"
}

# The shell that in_mount starts expands it.
# shellcheck disable=SC2016
check "files can be made, listed, changed and removed" in_mount '
    echo hello >a; echo other >b; echo more >>a
    test "$(cat a b)" = "$(printf "hello\nmore\nother")"
    test "$(ls)" = "$(printf "a\nb")"
    chmod 600 a; test "$(stat -c "%a %s" a)" = "600 11"
    touch -d @1000 b; test "$(stat -c %Y b)" = 1000
    truncate -s 5 a; test "$(cat a)" = hello
    rm a; test "$(ls)" = b
    ! cat a 2>/dev/null || exit 1; ! mkdir folder 2>/dev/null || exit 1; ! cd b 2>/dev/null'
# shellcheck disable=SC2016
check "an open file that was removed is still read" in_mount '
    echo kept >a; exec 3<a; rm a; test "$(cat <&3)" = kept'
check "bytes can be kept on a disk" \
    "$lockfs" --request 0s --store "$scratch" "$mount" "$writers" "$mount/a" 3 5 256KiB verify >/dev/null
check "long writes are cut, and whole when they are read" \
    "$lockfs" --request 0s --max-write 8KiB "$mount" "$writers" "$mount/a" 2 2 64KiB verify >"$scratch/stat"
check "each piece is a write" grep -qx 'writes 32' "$scratch/stat"
check "a full disk is an error of the writer" expect_status 1 \
    "$lockfs" --request 0s --capacity 100KiB "$mount" "$writers" "$mount/a" 1 2 64KiB >"$scratch/stat" 2>"$scratch/err"
check "the reason arrives" grep -q 'No space left' "$scratch/err"
check "it is counted" grep -qx 'failed_writes 1' "$scratch/stat"

# --- ends ---

start() # OPTIONS: in the background
{
    rm -f "$scratch/out"
    "$lockfs" "$@" "$mount" >"$scratch/out" 2>"$scratch/err" &
    server=$!
    comes_true grep -qs '^mounted ' "$scratch/out"
}

ended() # STATUS: how the server ended
{
    local status=0
    wait "$server" 2>/dev/null || status=$?
    server=
    [ "$status" -eq "$1" ] && return 0
    echo "# the server ended with $status" >&3
    return 1
}

start --request 0s
echo one >"$mount/a"
kill -USR1 "$server"
check "SIGUSR1 prints what was counted" comes_true grep -qx 'writes 1' "$scratch/out"
echo two >"$mount/b"
kill -USR2 "$server"
check "SIGUSR2 does so, too" comes_true grep -qx 'writes 2' "$scratch/out"
kill -USR1 "$server"
check "and begins anew" comes_true grep -qx 'writes 0' "$scratch/out"
for signal in TERM INT HUP; do
    [ -n "$server" ] || start
    kill -"$signal" "$server"
    check "SIG$signal ends it well" ended 0
    check "nothing is mounted after SIG$signal" not mounted
done

start
umount "$mount"
check "an umount ends it well" ended 0

# With a writer that waits for a reply which does not come.
for signal in TERM KILL SEGV; do
    start --request 1min
    dd if=/dev/zero of="$mount/a" bs=4k count=1 2>"$scratch/dd" &
    writer=$!
    comes_true test -e "$mount/a"
    sleep 0.2
    kill -"$signal" "$server"
    check "nothing stays mounted after SIG$signal in mid-write" comes_true not mounted
    check "the writer learns of SIG$signal" not wait "$writer"
    wait "$server" 2>/dev/null
    server=
done

rm -f "$scratch/out"
bash -c "'$lockfs' '$mount' >'$scratch/out' & until grep -qs mounted '$scratch/out'; do sleep 0.05; done; kill -9 \$\$" \
    2>/dev/null
check "it was mounted when its starter was killed" grep -q '^mounted' "$scratch/out"
check "nothing stays mounted when the starter is killed" comes_true not mounted

"$lockfs" "$mount" sleep 100 >/dev/null 2>&1 &
server=$!
comes_true mounted
kill "$server"
check "a signal ends it and its command" ended 4
check "and nothing stays mounted" not mounted

# Its own table of mounts is hidden then; in a namespace where nobody else looks for it.
# shellcheck disable=SC2016
check "what was mounted on /proc is unmounted" timeout -k 1 20 unshare --mount sh -c '
    "$0" /proc true >"$1" && ! grep -q "^lockfs:[0-9]* /proc " /proc/self/mounts' "$lockfs" "$scratch/out"

start
bottom=$server
for _ in 1 2 3; do
    start
done
kill "$bottom"
wait "$bottom"
check "all that is on top of a mount goes with it" comes_true not mounted
wait
server=

# --- the lock ---

value() # FILE KEY
{
    sed -n "s/^$2 //p" "$1" | tail -n 1
}

lone()
{
    holds "$(value "$1" lone_writes) == $(value "$1" writes) && $(value "$1" writes) == $2 &&
           $(value "$1" inflight_max) == 1"
}

# Where that is allowed, at a priority at which other programs of the machine do not measure themselves.
priority=()
chrt -r 1 true 2>/dev/null && priority=(chrt -r 1)

measure() # NAME WRITERS WRITES [--parallel] [within|append]
{
    local name=$1 n=$2 each=$3 flag=()
    shift 3
    [ "${1:-}" != --parallel ] || { flag=(--parallel); shift; }
    ${priority[@]+"${priority[@]}"} "$lockfs" --request 1ms ${flag[@]+"${flag[@]}"} \
        --statistics "$scratch/$name.stat" "$mount" \
        "$writers" "$mount/shared" "$n" "$each" 64KiB verify "$@" >"$scratch/$name.wall" || return 1
}

check "appending is written" measure append 4 10 --parallel append
check "appending writes are alone, whatever the flag" lone "$scratch/append.stat" 40

# --- through MPI-IO, by tiercel itself ---

live() # NAME FLAG PRE-EXTEND: four processes, ten writes each, read back
{
    printf '[deck]\nformat = 1\n[system]\nkind = io\n[io.file]\nwriters = 4\nsegments = 10\ntransfer = 64KiB\n' \
        >"$scratch/live.deck"
    printf 'lock = none\npre-extend = %s\n' "$3" >>"$scratch/live.deck"
    "$lockfs" --request 1ms ${2:+"$2"} --statistics "$scratch/$1.stat" "$mount" "$MPIRUN" -n 4 "$TIERCEL" run \
        --clock live "$scratch/live.deck" --set "server.folder=$mount" -q -o "$scratch/live" --force \
        --summary "$scratch/live.json" </dev/null && grep -q '"verified_bytes": 2621440' "$scratch/live.json"
}

if [ -z "$SMOKE" ]; then
    check "a live run writes by MPI-IO, and reads what it wrote" live live-serial "" none
    check "without the flag each of its writes is alone" lone "$scratch/live-serial.stat" 40
    check "so it does with the flag" live live-within --parallel set-size
    check "and then its writes are served together" holds "$(value "$scratch/live-within.stat" inflight_max) >= 2"
fi

# --- rates ---

each=60
rounds=3
[ -z "$SMOKE" ] || each=10 rounds=1
play_round() # NUMBER
{
    measure "serial-$1" 8 $each && measure "serial-within-$1" 8 $each within &&
        measure "extending-$1" 8 $each --parallel && measure "within-$1" 8 $each --parallel within
}
rate()
{
    value "$scratch/$1.wall" wall_writes_per_s
}
ratio() # NAME: the median over the rounds, to the serial run of the same round
{
    local i
    for ((i = 1; i <= rounds; i++)); do
        awk -v a="$(rate "$1-$i")" -v b="$(rate "serial-$i")" 'BEGIN { print a / b }'
    done | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
play_rounds()
{
    local i
    for ((i = 1; i <= rounds; i++)); do
        play_round "$i" || return 1
    done
    serial_within=$(ratio serial-within) extending=$(ratio extending) within=$(ratio within)
    echo "# 8 writers of 1 ms, over no flag: no flag within $serial_within, flag extending $extending, within $within" >&3
}
in_bands()
{
    awk "BEGIN { exit !($serial_within >= 0.9 && $serial_within <= 1.1 && $extending >= 1.1 && $extending <= 3.3 &&
                 $within >= 6) }"
}

check "eight processes write the bytes that they should" play_rounds
check "without the flag every write is alone" lone "$scratch/serial-1.stat" $((8 * each))
check "also within the file" lone "$scratch/serial-within-1.stat" $((8 * each))
check "within the file no write extends" holds "$(value "$scratch/within-1.stat" extending_writes) == 0"
check "with the flag writes within the file are served together" \
    holds "$(value "$scratch/within-1.stat" inflight_max) >= 6"
# At ordinary priority rates tell something only where nobody else is at work.
quiet()
{
    [ "${#priority[@]}" -gt 0 ] || awk -v cores="$(nproc)" '{ exit !($1 < cores) }' /proc/loadavg
}
if [ -z "$SMOKE" ] && quiet; then
    # Another program may have had the cores: once more, with more rounds, decides.
    in_bands || { rounds=5 && play_rounds; }
    check "without the flag it does not matter where a write ends" holds "$serial_within >= 0.9 && $serial_within <= 1.1"
    # Single rounds gave 1.10 to 2.22 at ordinary priority (doc/models/file.md) and 1.3 to 3.1 at this one.
    check "with the flag extending writers gain a little" holds "$extending >= 1.10 && $extending <= 3.3"
    check "with the flag writers within the file gain six times at least" holds "$within >= 6 && $within <= 9.6"
fi

done_testing
