#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel sweep: one table whatever the number of processes and however often it is interrupted, by signals, kill -9 and
# a full disk; points that fail, sweeps that meet in one folder, the list and the job array. In make check-long also how
# busy two processes are kept by 300 points of one second.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

export OMPI_MCA_orte_abort_print_stack=0
inputs=$top_srcdir/inputs
cd "$scratch" || exit 99

# deck NAME BASE LINE...: a deck of one's own on another, with what the lines say
deck()
{
    local name=$1 base=$2
    shift 2
    { printf '[deck]\nformat = 1\nbase = %s\n' "$base"; printf '%s\n' "$@"; } >"$name.deck"
}

same() # A B: two sweeps came to the same
{
    local file
    for file in results.tsv results.h5 manifest.json; do
        cmp "$1/$file" "$2/$file" || return 1
    done
}

column() # FOLDER NAME POINT
{
    awk -F '\t' -v name="$2" -v point="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR > 1 && $1 == point { print $column }' "$1/results.tsv"
}

alone_sweep() # ARGUMENTS...: quietly
{
    alone sweep "$@" -q >out 2>err
}

# ---- one table ----

deck small "$top_srcdir/tests/decks/tiny.deck" '[sweep]' 'cluster.nodes = 1; 2; 4' 'workload.duration = 1s; 2s' \
    'workload.jobs = 4; 8' 'zip = workload.duration, workload.jobs' 'repeats = 2'
check "a sweep on one process" says_in 0 out "12 points: 12 done, 0 failed, 0 open" sweep small.deck -o one
check "on three" expect_status 0 mpi 3 "$TIERCEL" sweep small.deck -o three -q >out 2>err
check "gives the same table" same one three
check "the default folder" expect_status 0 alone_sweep small.deck
check "is runs/DECKNAME-sweep" same one runs/small-sweep
check "the table has a row a point" test "$(wc -l <one/results.tsv)" -eq 13
check "with its parameters" test "$(column one cluster.nodes 6) $(column one workload.duration 4)" = "2 2"
check "its seed" test "$(column one seed 12) $(column one run.seed 12)" = "2 2"
check "and its results" test "$(column one jobs.completed 1) $(column one jobs.completed 12)" = "4 8"
check "a finished sweep is not played again" says_in 0 out "12 points: 12 done" sweep small.deck -o one
check "at all" test "$(grep -c 'played here' out)" -eq 0
check "a point is a run" expect_status 0 alone run small.deck --point 7 -q -o seven
digest=$(sed -n 's/.*"digest": "\(.*\)",/\1/p' seven/summary.json)
check "with the same digest" test "$(column one run.digest 7)" = "$digest"
check "and so is its effective deck" expect_status 0 alone run one/points/00007/effective.deck -q -o again
check "with the same digest again" grep -q "$digest" again/summary.json
check "its trace is whole" expect_status 0 alone verify one/points/00007/trace.h5 >out

cp -r one damaged
echo '{' >damaged/points/00003/summary.json
check "a damaged point is named" complains 1 "point 3 is damaged: damaged/points/00003/summary.json: " sweep small.deck \
    -o damaged
check "the old table stays" same one damaged
rm -r damaged/points/00003
check "and it can be played again" says_in 0 out "1 played here" sweep small.deck -o damaged
check "to the same table" same one damaged

# ---- what is not played ----

check "the points are listed" says_in 0 out "12 points, about" sweep small.deck --dry-run
check "as JSON too" says_in 0 out '"parameters": "cluster.nodes=1 workload.duration=1s workload.jobs=4, repeat 1"' \
    sweep small.deck --dry-run --format json
check "with seeds to their last digit" says_in 0 out '"seed": 9007199254740993,' sweep small.deck --dry-run --format json \
    --seed 9007199254740993
check "a deck is checked with its points" says_in 0 out "# 12 points in [sweep]" check small.deck
check "and one of them" says_in 0 out "nodes = 4" check small.deck --point 9
check "a job array" expect_status 0 alone sweep small.deck -o array --array >array.sh 2>err
check "is a script" bash -n array.sh
check "nothing was made" test ! -e array
for task in 3 1 2 12 11 10 9 8 7 6 5; do
    PATH=$top_builddir:$PATH env "${alone_environment[@]}" bash array.sh "$task" 2>>err || echo "# task $task failed" >&3
done
check "which leaves the table to the last task" test ! -e array/results.tsv
check "under Slurm" expect_status 0 env PATH="$top_builddir:$PATH" SLURM_ARRAY_TASK_ID=4 "${alone_environment[@]}" \
    bash array.sh
check "and comes to the same" same one array

# ---- points that fail ----

deck mixed "$top_srcdir/tests/decks/tiny.deck" '[sweep]' 'workload.cores = 1; 2; 3; 4' 'cluster.nodes = 1; 2'
check "points with values that do not go together" says_in 2 out "4 of them will fail" sweep mixed.deck --dry-run
check "do not stop the others" says_in 1 out "8 points: 4 done, 4 failed, 0 open" sweep mixed.deck -o mixed
check "are told" test "$(grep -c 'tiercel: point [5-8] (workload.cores=. cluster.nodes=.) failed: ' err)" -eq 4
check "and are in the table" test "$(column mixed status 5) $(column mixed jobs.completed 5)" = "failed "
check "with the reason" grep -q 'workload' <<<"$(column mixed reason 5)"
check "they are not played again" says_in 1 out "8 points: 4 done, 4 failed" sweep mixed.deck -o mixed
check "at all" test "$(grep -c 'played here' out)" -eq 0
check "unless asked for" says_in 1 out "4 played here" sweep mixed.deck -o mixed --retry
sed 's/cores = 1; 2; 3; 4/cores = 1; none/' mixed.deck >bad.deck
check "a value that is none is refused at once" complains 2 "bad.deck:5: [sweep] workload.cores: 'none'" \
    sweep bad.deck -o bad
check "before anything is made" test ! -e bad

# ---- what is refused ----

check "a deck without [sweep]" complains 2 "has no [sweep]" sweep "$inputs/flux-counts.deck"
check "a key twice" complains 2 "--set cluster.nodes=3: [sweep] has values for this key" sweep small.deck \
    --set cluster.nodes=3
check "a point that is none" complains 2 "--point: there is no point 13; expected one in 1..12" sweep small.deck \
    --point 13
check "a point of a deck without [sweep]" complains 2 "has no [sweep]" run "$inputs/flux-counts.deck" --point 1
check "a folder of another sweep" complains 2 "is of another sweep" sweep mixed.deck -o one
check "which stays as it was" same one three
check "and of another seed" complains 2 "[run] seed is '1' there and '5' here" sweep small.deck --seed 5 \
    -o three
cp "$inputs/workloads/three-policies.swf" mine.swf
deck logs "$inputs/batch-three-policies.deck" '[workload]' "file = $PWD/mine.swf" '[sweep]' 'scheduler.policy = fcfs; easy'
check "a sweep over a log" expect_status 0 alone_sweep logs.deck -o logs
check "goes on" expect_status 0 alone_sweep logs.deck -o logs
sed -i '$d' mine.swf
check "but not with another log of that name" complains 2 "the files of its workload have other contents" \
    sweep logs.deck -o logs
cp "$inputs/costs/flux-2020.costs" plain.costs
deck speeds "$inputs/flux-namespaces.deck" '[workload]' 'namespaces = 4' '[sweep]' 'costs.profile = plain; faster'
printf '[deck]\nformat = 1\nbase = plain.costs\nscale = 50%%\n' >faster.costs
check "a sweep over cost profiles" expect_status 0 alone_sweep speeds.deck -o speeds
check "a point of it on two processes" expect_status 0 mpi 2 "$TIERCEL" run speeds.deck --point 2 -q -o faster
sed -i 's/50%/60%/' faster.costs
check "it does not go on with other costs in one of them" complains 2 "[costs] call-move is '2.3us' there and '2.76us' here" \
    sweep speeds.deck -o speeds
check "one point by force" complains 2 "--force removes all points" sweep small.deck --point 1 --force -o live
check "a script and a list" complains 2 "--array only prints" sweep small.deck --array --dry-run
check "a deck of the live clock" complains 2 "expected [run] clock = virtual" sweep small.deck --set run.clock=live -o live
check "leaves nothing" test ! -e live
check "a folder of a run" complains 2 "which is not of a sweep" sweep small.deck -o seven
check "another sweep by force" expect_status 1 alone_sweep mixed.deck -o three --force
check "replaces the first" same mixed three

# ---- kill -9, and two at once ----

deck slow "$inputs/falkon-one-service.deck" '[workload]' 'jobs = 100000' '[sweep]' 'dispatcher.services = 1..4' \
    'dispatcher.executors-per-service = 16; 32; 48' 'repeats = 2'
mpi 2 "$TIERCEL" sweep slow.deck -o whole -q >out 2>err
check "an undisturbed sweep" test "$(grep -c "^[0-9]*.done" whole/results.tsv)" -eq 24

settled() # FOLDER
{
    find "$1/points" -mindepth 1 -maxdepth 1 -name '[0-9][0-9][0-9][0-9][0-9]' 2>/dev/null | wc -l
}

# Kills a sweep when so many points are done: all of its processes.
killed_at() # POINTS FOLDER
{
    local i processes
    "$MPIRUN" -n 2 "$TIERCEL" sweep slow.deck -o "$2" -q >out 2>err </dev/null &
    launched=$!
    for ((i = 0; i < 600 && $(settled "$2") < $1; i++)); do
        sleep 0.05
    done
    mapfile -t processes < <(grep -l "^PPid:.$launched\$" /proc/[0-9]*/status 2>/dev/null | cut -d / -f 3)
    kill -9 "$launched" "${processes[@]}" 2>/dev/null
    wait "$launched" 2>/dev/null
    i=$(settled "$2")
    [ "$i" -ge "$1" ] && [ "$i" -lt 24 ]
}

check "killed early" killed_at 3 killed
check "killed again" killed_at 10 killed
before=$(stat -c '%n %Y %i' killed/points/*[0-9])
check "it goes on" expect_status 0 mpi 2 "$TIERCEL" sweep slow.deck -o killed >out 2>err
check "with what was not done" grep -q "^$((24 - $(wc -l <<<"$before"))) played here" out
check "and no point twice" test "$(grep -cxFf <(echo "$before") <(stat -c '%n %Y %i' killed/points/*))" -eq \
    "$(wc -l <<<"$before")"
check "to the same table" same whole killed
check "nothing is left of what was interrupted" test -z "$(find killed -name '*.part*' -o -name '*.claim')"

# Sends the signal to a sweep by itself when so many points are done; it must end with status 4.
signalled() # SIGNAL POINTS FOLDER
{
    local i pid status=0
    env "${alone_environment[@]}" "$TIERCEL" sweep slow.deck -o "$3" >out 2>err </dev/null &
    pid=$!
    for ((i = 0; i < 600 && $(settled "$3") < $2; i++)); do
        sleep 0.05
    done
    kill "-$1" "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 4 ] && grep -q "stopped early by SIG$1; the same command goes on" err
}

check "SIGTERM ends a sweep" signalled TERM 2 told
before=$(stat -c '%n %Y %i' told/points/*[0-9])
check "SIGINT too" signalled INT 5 told
check "what was done stays" test "$(grep -cxFf <(echo "$before") <(stat -c '%n %Y %i' told/points/*))" -eq \
    "$(wc -l <<<"$before")"
check "and of what was begun nothing" test -z "$(find told/points -maxdepth 1 -name '*.*')"
check "then it goes on" expect_status 0 mpi 2 "$TIERCEL" sweep slow.deck -o told -q >out 2>err
check "to the same table as well" same whole told

(alone sweep slow.deck -o both >first 2>first.err; echo $? >first.status) &
alone sweep slow.deck -o both >second 2>second.err
wait
check "of two sweeps in one folder the last to end has all" grep -q '24 points: 24 done' first second
check "the same table" same whole both
check "and none was played twice" test "$(sed -n 's/^\([0-9]*\) played here.*/\1/p' first second |
    awk '{ n += $1 } END { print n }')" -eq 24

# ---- a full disk ----

check "a disk that is full stops the sweep" expect_status 1 bash -c 'ulimit -f 20; "$@"' - \
    env "${alone_environment[@]}" "$TIERCEL" sweep small.deck -o full -q >out 2>err
check "with one line" test "$(wc -l <err)" -eq 1
check "that tells what to do" grep -q "point 1: .* expected room for what it leaves: it is still open" err
check "nothing has failed" test -z "$(find full -name '*.failed*' -o -name '*.claim')"
check "with room it goes on" expect_status 0 alone_sweep small.deck -o full
check "to the same table" same one full
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 555 locked
    check "a folder that cannot be made" complains 1 "cannot be made: Permission denied" sweep small.deck -o locked/x
fi

# ---- how busy processes are kept ----

busy() # POINTS TASKS
{
    deck busy "$inputs/falkon-one-service.deck" '[workload]' "jobs = $2" '[sweep]' "run.seed = 1..$1"
    mpi 2 "$TIERCEL" sweep busy.deck -o busy >out 2>err
    sed 's/^/# /' out >&3
    rm -rf busy
    awk '/ busy$/ { busy = $(NF - 2) } END { exit !(busy >= 90) }' out
}
if [ -n "$LONG" ]; then
    check "300 points of one second keep two processes at least 90 % busy" busy 300 4000000
elif [ -z "$SMOKE" ]; then
    check "forty points keep two processes at least 90 % busy" busy 40 100000
fi

done_testing
