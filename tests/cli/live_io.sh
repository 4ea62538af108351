#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Files that are really written on the live clock: what it needs, what comes of it, and every way in which a file system
# may refuse, each with one line, the status of a failure, and nothing left behind.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99
mounted=()
unmount_all()
{
    local status=$?
    [ "${#mounted[@]}" -eq 0 ] || umount "${mounted[@]}" 2>/dev/null
    (exit "$status")
    test_leave
}
trap unmount_all EXIT

deck=$top_srcdir/inputs/live-io.deck

live() # PROCESSES NAME DECK ARGUMENTS...
{
    local processes=$1 name=$2 deck=$3
    shift 3
    mpi "$processes" timeout 60 "$TIERCEL" run --clock live "$deck" -q -o "$name" --summary "$name.json" "$@" \
        >"$name.out" 2>"$name.err"
}

value() # NAME LIST FILE KEY
{
    sed -n "/\"$2\": {/,/^  }/s/.*\"$3\": {.*\"$4\": \([^,}]*[^,} ]\).*/\1/p" "$1.json"
}

mpi_io() # which MPI-IO there is, after the run `four`
{
    sed -n 's/.*"io": "\(.*\)".*/\1/p' four.json
}

says() # NAME TEXT: in the one line of ours
{
    [ "$(grep -c '^tiercel: ' "$1.err")" -eq 1 ] && grep '^tiercel: ' "$1.err" | grep -qF -- "$2" && return 0
    sed 's/^/# /' "$1.err" >&3
    return 1
}

# --- what it needs, and says beforehand ---

alone check "$deck" --clock live --processes 9 >plan
check "check tells how many processes are needed" grep -q "^# the live clock needs at least 4 processes, one for each writer" plan
check "fewer are refused" expect_status 2 live 3 few "$deck"
check "with the number that is needed" grep -q "expected a start by mpirun -n 4" few.err
check "and nothing is written" test ! -e few

refused() # TEXT SETTINGS...: by check, on the live clock
{
    local text=$1 settings=() setting
    shift
    for setting in "$@"; do
        settings+=(--set "$setting")
    done
    complains 2 "$text" check "$deck" --clock live "${settings[@]}"
}

check "hints are pairs" refused "is not a list of hints" io.free.hints=cb_nodes
check "with a key" refused "is not a list of hints" io.free.hints==enable
check "as long as MPI takes them" refused "is not a list of hints" "io.free.hints=$(printf '%070d' 0)=enable"
check "blocks cannot be known" refused "knows a file's end but not its blocks" io.sized.rules=ext4
check "files of single writers have no lock" refused "'each' has nothing to lock" io.serial.files=each
check "time to think is not drawn" refused "expected a constant" "io.free.think=uniform(0s, 1ms)"
check "MPI-IO does not append" refused "expected false" io.free.append=true
check "nor are more writes traced than an act can tell of" \
    refused "expected at most 16000000, or [trace] level = stats" io.free.segments=4000001
check "but without a trace of them they are played" expect_status 0 alone check "$deck" --clock live \
    --set io.free.segments=4000001 --set trace.level=stats >many
check "calls have a length that MPI can count" refused "expected at most 1073741824 on the live clock" \
    io.free.transfer=2GiB

# --- what comes of it ---

small=(--set io.free.segments=8 --set io.serial.segments=8 --set io.growing.segments=8 --set io.sized.segments=8)
check "four processes write four files" expect_status 0 live 4 four "$deck" "${small[@]}"
for file in free serial growing sized; do
    check "$file has its bytes" test "$(value four files $file bytes)" = 8388608
    check "which are read back" test "$(value four live_files $file verified_bytes)" = 8388608
    check "$file is gone" test ! -e "four/$file.data"
done
check "a lock of the file system's own is not counted" test "$(value four files free exclusive_share)" = null
check "waits for locks are those of all files" grep -q '"lock_wait_s": [0-9]' four.json
check "exclusive locks are" test "$(value four files serial exclusive_locks)" = 32
check "and held alone" test "$(value four files serial inflight_max)" = 1
check "within the file all share" test "$(value four files sized shared_locks)" = 32
check "a growing file is grown" test "$(value four files growing extending_writes)" -ge 8
check "the summary says what wrote them" grep -q '"io": "[or]' four.json
check "and which windows locked" grep -q '"windows": "shared"' four.json
check "and whose they were" grep -q '"onesided": "\(sm\|unknown\)"' four.json
check "the trace is whole" expect_status 0 alone verify four/trace.h5 >verify.out 2>&1
check "and has a row for each write" grep -q "/writes has 128 rows" verify.out
check "more processes than writers" expect_status 0 live 3 more "$deck" "${small[@]}" \
    --set io.free.writers=1 --set io.serial.writers=2 --set io.growing.writers=3 --set io.sized.writers=1
check "the same deck is simulated" expect_status 0 alone run "$deck" -q -o virtual --summary virtual.json "${small[@]}"
check "and counts the same bytes" test "$(value virtual files serial bytes)" = 8388608

cat >one.deck <<'END'
[deck]
format = 1
[run]
clock = live
[system]
kind = io
[io.one]
writers = 3
transfer = 128KiB
segments = 160
END
check "a file is kept where that is asked for" expect_status 0 live 3 kept one.deck --set io.one.keep=true \
    --set io.one.segments=4
check "with its length" test "$(stat -c %s kept/one.data)" -eq $((3 * 4 * 131072))
check "each writer may have its own" expect_status 0 live 3 each one.deck --set io.one.files=each \
    --set io.one.lock=none --set io.one.segments=4
if [ -z "$SMOKE" ]; then
    check "windows may be of messages" expect_status 0 live 3 messages one.deck --set io.one.windows=messages \
        --set io.one.segments=4
    check "which is told" grep -q '"windows": "messages"' messages.json
    check "and whose these were" grep -q '"onesided": "\(pt2pt\|rdma\|ucx\|unknown\)"' messages.json
fi

# Both clocks write as much.
for name in live-io-collective live-io-jobs; do
    path=$top_srcdir/inputs/$name.deck
    file=out
    settings=()
    [ "$name" = live-io-jobs ] || { file=exclusive; settings=(--set "io.unlocked.collective=$(mpi_io)"); }
    check "$name is played live" expect_status 0 live 4 "$name" "$path" --test "${settings[@]}"
    check "and simulated" expect_status 0 alone run "$path" -q --test -o "$name-v" --summary "$name-v.json"
    check "with as many bytes" test "$(value "$name" files $file bytes)" = "$(value "$name-v" files $file bytes)"
    check "in as many writes" test "$(value "$name" files $file writes)" = "$(value "$name-v" files $file writes)"
done

library=$(mpi_io)
other=romio
[ "$library" = ompio ] || other=ompio
check "collective calls of another library are refused" expect_status 1 live 3 other one.deck \
    --set io.one.lock=none --set io.one.collective=$other
check "with what is expected" says other "expected collective = $library"

quick_part_ends

# --- jobs that write ---

# jobs_deck NAME BASE: one whose jobs write four blocks each
jobs_deck()
{
    printf '[deck]\nformat = 1\nbase = %s\n[workload]\nio = out\n[io.out]\ntransfer = 16KiB\nsegments = 4\n' \
        "$top_srcdir/inputs/$2.deck" >"$1.deck"
}

jobs_deck brokered live-brokered
jobs_deck tasks live-dispatcher
check "jobs of a brokered instance write a file" expect_status 0 live 4 jobs brokered.deck
check "32 of them four blocks each" test "$(value jobs files out bytes)" = $((32 * 4 * 16384))
check "which are read back" test "$(value jobs live_files out verified_bytes)" = $((32 * 4 * 16384))
check "under the lock" test $(($(value jobs files out exclusive_locks) + $(value jobs files out shared_locks))) -eq 128
if [ -z "$SMOKE" ]; then
    check "tasks of a dispatcher as well, without a lock of ours" expect_status 0 live 4 tasks tasks.deck \
        --set io.out.lock=none --set workload.jobs=100 --set io.out.keep=true
    check "all of them" test "$(value tasks files out writes)" = 400
    check "into a file that is kept" test -s tasks/out.data
    check "windows of messages need a process that is awake" expect_status 0 live 4 awake brokered.deck \
        --set io.out.windows=messages
fi
check "jobs that write are not calibrated" expect_status 2 mpi 4 "$TIERCEL" calibrate brokered.deck 2>calibrate.err
check "with what is expected" grep -q "expected none here, and a deck of kind io" calibrate.err
check "each job's own file is not played" complains 2 "expected one" check brokered.deck --clock live \
    --set io.out.files=each
check "files of jobs are" expect_status 0 alone check brokered.deck --clock live --processes 4 >jobs.plan

# --- what it takes here ---

check "files are calibrated" expect_status 0 mpi 2 "$TIERCEL" calibrate one.deck --set io.one.writers=2 \
    --set io.one.transfer=4KiB --profile here.costs 2>calibrate.err
check "under each lock" test "$(grep -c '^# \(exclusive\|shared, \|no lock of ours, \).*writes/s' here.costs)" -eq 5
check "with all that the virtual clock asks for" \
    test "$(grep -c '^\(queue\|return\|wake\|request\|jitter\) = ' here.costs)" -eq 5
check "and of collective writes" test "$(grep -c '^\(exchange\|operation\|share\|cores\) = [0-9]' here.costs)" -eq 4
check "and nothing is left" test ! -e calibrate.data
sed '/^clock = live$/d' one.deck >virtual.deck
check "which predicts" expect_status 0 alone run virtual.deck -q -o predicted --set costs.profile=here

# --- what a file system may say ---

fails() # NAME TEXT SETTINGS...: exit 1 with that one line, and nothing in the folder
{
    local name=$1 text=$2 settings=() setting
    shift 2
    for setting in "$@"; do
        settings+=(--set "$setting")
    done
    expect_status 1 live 3 "$name" one.deck "${settings[@]}" && says "$name" "$text"
}

mkdir there
echo mine >there/one.data
check "a file that exists is refused" fails exists-already "there/one.data exists; expected a path that is free" \
    server.folder=there
check "and not touched" test "$(cat there/one.data)" = mine
check "a folder that does not exist" fails no-folder "cannot make nowhere/one.data: No such file" server.folder=nowhere

# What fails on one process only must end on all.
check "calibrating there ends as well" expect_status 1 mpi 2 timeout 30 "$TIERCEL" calibrate one.deck \
    --set io.one.writers=2 --set server.folder=nowhere 2>calibrate.err
check "with the reason" grep -q "cannot make nowhere/calibrate.data: No such file" calibrate.err
mkdir -p has/f lacks
apart() # a run of two processes whose present folders differ
{
    local run=("$TIERCEL" run --clock live "$scratch/one.deck" -q -o "$scratch/apart" --set io.one.writers=2
        --set server.folder=f)
    timeout 30 "$MPIRUN" --oversubscribe -n 1 --wdir has "${run[@]}" : -n 1 --wdir lacks "${run[@]}" >apart.out \
        2>apart.err </dev/null
}
check "a folder that one process does not have" expect_status 1 apart
check "is named" says apart "cannot open f/one.data: No such file"
check "and has nothing left in it" test -z "$(ls has/f)"

# --- a run that is told to end ---

# signalled NAME SIGNAL STATUS: writers that would take a minute end before, and leave no file
signalled()
{
    local name=$1 signal=$2 wanted=$3 pid i status=0
    "$MPIRUN" -n 3 "$TIERCEL" run --clock live one.deck -q -o "$name" --set io.one.lock=none --set io.one.think=20ms \
        --set io.one.transfer=4KiB --set io.one.segments=3000 </dev/null >"$name.out" 2>"$name.err" &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ ! -s "$name/one.data" ] || break
        sleep 0.1
    done
    [ -s "$name/one.data" ] || echo "# $name: nothing was written" >&3
    kill "-$signal" "$pid" || return 1
    wait "$pid" || status=$?
    [ ! -e "$name/one.data" ] && [ "$status" -eq "$wanted" ] && return 0
    echo "# exit status $status instead of $wanted; $(ls "$name")" >&3
    return 1
}

check "SIGUSR2 ends writers, and their file" signalled usr2 USR2 4
check "it is told" grep -q "stopped early by SIGUSR2" usr2.err
check "SIGTERM removes the file as well" signalled term TERM 1

mkdir sealed full
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w sealed
    check "a folder that may not be written" fails no-leave "cannot make sealed/one.data: Permission denied" \
        server.folder=sealed
    chmod u+w sealed
elif mount -t tmpfs -o ro,size=1m none sealed 2>/dev/null; then
    mounted+=(sealed)
    check "a folder that may not be written" fails no-leave "cannot make sealed/one.data: Read-only file system" \
        server.folder=sealed
else
    echo "# skipped: a folder that may not be written: nothing can be mounted here"
fi

if mount -t tmpfs -o size=10m none full 2>/dev/null; then
    mounted+=(full)
    space="No space left on device"
    ways=("none lock=none" "exclusive lock=exclusive" "collective lock=none collective=$library"
        "interleaved lock=none collective=$library pieces=4" "exchange lock=shared collective=ompio"
        "shared lock=shared pre-extend=set-size" "zeros lock=none pre-extend=preallocate" "filled pre-extend=fill")
    [ -n "$LONG" ] || ways=("${ways[@]:1:4}")
    [ -z "$SMOKE" ] || ways=("${ways[@]:0:1}")
    for way in "${ways[@]}"; do
        read -r -a words <<<"$way"
        settings=("${words[@]:1}")
        check "a disk that gets full: ${words[0]}" fails "${words[0]}" "$space" server.folder=full \
            "${settings[@]/#/io.one.}"
        check "leaves nothing behind" test -z "$(ls full)"
    done
else
    echo "# skipped: a disk that gets full: nothing can be mounted here"
fi

done_testing
