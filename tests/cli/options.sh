#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every command and option, every exit status that a user can bring about by typing.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

tiny=$top_srcdir/tests/decks/tiny.deck
cd "$scratch" || exit 99

digest() # FOLDER
{
    sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json"
}

same_digest() # FOLDER FOLDER
{
    [ -n "$(digest "$1")" ] && [ "$(digest "$1")" = "$(digest "$2")" ]
}

says() # STATUS TEXT ARGUMENTS...: exit status, and a part of what is said on stderr
{
    local status=$1 text=$2
    shift 2
    expect_status "$status" alone "$@" >out 2>err || return 1
    grep -qF -- "$text" err && return 0
    sed 's/^/# /' err
    return 1
}

good() # ARGUMENTS...: tiercel succeeds
{
    expect_status 0 alone "$@" >out 2>err && return 0
    sed 's/^/# /' err
    return 1
}

once() # TEXT FILE
{
    [ "$(grep -cF -- "$1" "$2")" -eq 1 ]
}

# ---- help and version ----

prints() # HOW TEXT START...: succeeds, prints a line with TEXT once, and says nothing on stderr
{
    local how=$1 text=$2
    shift 2
    check "$how succeeds" expect_status 0 "$@" >printed 2>err
    check "$how prints once" once "$text" printed
    check "$how says nothing else" test ! -s err
}

prints "--help" "Options:" alone --help
prints "run --help" "Options:" alone run --help
prints "check -h" "Options:" alone check -h
prints "--version" "MPI  " alone --version
prints "--help on 3 processes" "Options:" mpi 3 "$TIERCEL" --help
prints "--version on 3 processes" "MPI  " mpi 3 "$TIERCEL" --version

# ---- what is not understood ----

check "no command" says 2 "no command is given"
check "an unknown command" says 2 "unknown command 'rnu'; did you mean run?" rnu "$tiny"
check "an unknown option" says 2 "unknown option '--forse'; did you mean --force?" run "$tiny" --forse
check "a letter that was left out" says 2 "unknown option '--sed'; did you mean --seed?" run "$tiny" --sed 4
mkdir -p inputs && cp "$tiny" inputs/small-one.deck
check "a deck of inputs/ by its name" says 2 "did you mean inputs/small-one.deck?" check small-one
check "a profile with a letter left out" says 2 "did you mean flux-2020?" \
    check "$top_srcdir/inputs/flux-bulksubmit.deck" --set costs.profile=flux-200
check "one of no known name" says 2 "expected one of falkon-2007-ws, " \
    check "$top_srcdir/inputs/flux-bulksubmit.deck" --set costs.profile=mine
check "a deck with a letter wrong" says 2 "did you mean inputs/small-one.deck?" check inputs/small-onne.deck
check "what is no deck at all" says 2 " more problems" check "$top_srcdir/LICENSE"
check "an option of another command" says 2 "unknown option '--processes=3'" run "$tiny" --processes=3
check "a missing value" says 2 "missing argument for --seed" run "$tiny" --seed
check "no deck" says 2 "no deck is given" run
check "two decks" says 2 "is one argument too many" run "$tiny" "$tiny"
check "a bad wall time" says 2 "'90' is not a clock time" run "$tiny" --walltime 90
check "a bad progress time" says 2 "'often' is not a count" run "$tiny" --progress often
check "a bad number of processes" says 2 "'0' is not in its range" check "$tiny" --processes 0
check "a bad seed" says 2 "--seed x: [run] seed: 'x' is not a count" run "$tiny" --seed x
check "a bad clock" says 2 "--clock sundial: [run] clock: 'sundial' is not one of" run "$tiny" --clock sundial
check "a bad trace level" says 2 "--trace all: [trace] level: 'all' is not one of" run "$tiny" --trace all
check "a setting without a value" says 2 "--set cluster.nodes: has no value" run "$tiny" --set cluster.nodes
check "a setting of an unknown key" says 2 "did you mean [cluster] nodes?" run "$tiny" --set cluster.node=1
check "a setting out of range" says 2 "'0' is not in its range" run "$tiny" --set cluster.nodes=0
check "a summary that is a folder" says 2 "'$scratch' is a folder" run "$tiny" --summary "$scratch"
check "a summary in no folder" says 2 "there is no folder 'nowhere'" run "$tiny" --summary nowhere/s.json
check "a deck that is not there" says 2 "nodeck: cannot be read: No such file or directory" run nodeck
check "a mistake on 3 processes" expect_status 2 mpi 3 "$TIERCEL" run "$tiny" --forse 2>err
check "is told by one of them" once "unknown option" err
check "nothing was written" test ! -e runs

# ---- check ----

check "check succeeds" good check "$tiny" --set cluster.nodes=3 --seed 7 --processes 2
check "check says nothing on stderr" test ! -s err
check "check shows what was set" grep -qx "nodes = 3" out
check "check shows by which option" grep -qx "# --set cluster.nodes=3" out
check "check shows the seed's option" grep -qx "# --seed 7" out
check "check shows lines of the deck" grep -qx "# .*/tiny.deck:12" out
check "check shows defaults" grep -qx "# default" out
check "check plans the processes" grep -q " actors on 2 processes: " out
check "check applies [test]" good check "$tiny" --test
check "as it shows" grep -qx "jobs = 2" out
check "check on 3 processes" expect_status 0 mpi 3 "$TIERCEL" check "$tiny" >printed
check "prints once" once "[cluster]" printed
check "check writes nothing" test ! -e runs

quick_part_ends

# ---- run: the folder, the files, the terminal ----

check "run succeeds" good run "$tiny"
check "the folder has a number" test -f runs/tiny-001/trace.h5
check "it holds a summary" test -f runs/tiny-001/summary.json
check "and the effective deck" test -f runs/tiny-001/effective.deck
check "it reads like the benchmark: submission" grep -Eq "^submitted 4 jobs in [0-9.]+ s: [0-9.]+ jobs/s$" out
check "it reads like the benchmark: first job" grep -Eq "^first job finished in [0-9.]+ s$" out
check "it reads like the benchmark: all jobs" grep -Eq "^ran 4 jobs in [0-9.]+ s: [0-9.]+ jobs/s$" out
check "it prints roles" grep -Eq "^kvs-root +1 " out
check "it prints balances" grep -q "^balance jobs: submitted 4 = ended in one state 4$" out
check "it prints expectations" grep -q "^expected jobs.completed = 4 within 0% (all of them): 4, +0.00%: met$" out
check "it says where the results are" grep -q "results are in runs/tiny-001" err
check "a second run" good run "$tiny" -q
check "has the next number" test -f runs/tiny-002/summary.json
check "quiet prints nothing" test ! -s out
check "quiet says nothing" test ! -s err
check "both runs are the same" same_digest runs/tiny-001 runs/tiny-002
check "a run with another seed" good run "$tiny" -q -o seed --seed 2
check "is another one" test "$(digest runs/tiny-001)" != "$(digest seed)"
check "a verbose run" good run "$tiny" -v -o verbose --progress 0
check "prints stages" grep -q "^stage  " out
check "and the engine's figures" grep -q "^engine: " out

check "the effective deck runs" good run runs/tiny-001/effective.deck -q -o again
check "to the same digest" same_digest runs/tiny-001 again
check "a changed run" good run "$tiny" -q -o changed --set cluster.nodes=3
check "has an effective deck that runs" good run changed/effective.deck -q -o changed-again
check "to its digest" same_digest changed changed-again
check "its expectations are not comparable" grep -q '"comparable": false' changed/summary.json
check "nor are those of its effective deck" grep -q '"comparable": false' changed-again/summary.json

for level in stats jobs events; do
    check "a trace of level $level" good run "$tiny" -q -o "$level" --trace "$level" --clock virtual
    check "changes no digest ($level)" same_digest runs/tiny-001 "$level"
done
check "explicit inboxes" good run "$tiny" -q -o inbox --set run.inbox=explicit
check "change no digest" same_digest runs/tiny-001 inbox

check "a run of the deck's [test]" good run "$tiny" --test -o tested
check "is a smaller one" grep -q "^ran 2 jobs" out
check "a summary elsewhere" good run "$tiny" -q -o elsewhere --summary s.json
check "is the same" diff s.json elsewhere/summary.json
mkfifo pipe
timeout 60 cat pipe >piped.json &
check "a summary into a pipe" good run "$tiny" -q -o piped --summary pipe
wait
check "is the same as well" diff piped.json piped/summary.json
check "and the pipe is still one" test -p pipe
check "a name with an umlaut" good run "$tiny" -q -o "$(printf 'k\303\274bel')"
check "is one" test -f "$(printf 'k\303\274bel')/summary.json"

# ---- an existing folder ----

check "an existing folder is refused" says 2 "exists already" run "$tiny" -o seed
check "and stays" test -f seed/summary.json
check "force replaces it" good run "$tiny" -q -o seed --force
check "by the new run" same_digest seed runs/tiny-001
echo precious >seed/thesis.tex
check "not when something else is in it" says 2 "holds 'thesis.tex', which is not of an earlier run" \
    run "$tiny" -o seed --force
check "which stays" grep -q precious seed/thesis.tex
check "as does the earlier run" test -f seed/trace.h5
check "a file is no folder" says 2 "is a file" run "$tiny" -o s.json --force
check "folders above are made" good run "$tiny" -q -o a/b/c
check "all of them" test -f a/b/c/summary.json
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 555 locked
    check "a folder that cannot be made" says 1 "cannot be made: Permission denied" run "$tiny" -o locked/run
fi

# ---- expectations and sweeps ----

sed 's/jobs.completed = 4 0%/jobs.completed = 5 0%/' "$tiny" >missed.deck
check "a missed expectation is no failure" good run missed.deck -o missed
check "it is printed" grep -q "^expected jobs.completed = 5 .*: 4, -20.00%: missed$" out
check "with --strict it is one" says 3 "expected jobs.completed = 5" run missed.deck -o strict --strict
check "not when it cannot be compared" good run missed.deck -q -o incomparable --strict --set workload.jobs=3
check "strict is content otherwise" good run "$tiny" -q -o content --strict
check "all of 2 processes return 3" expect_status 3 mpi 2 "$TIERCEL" run missed.deck -q -o strict2 --strict 2>err

{
    cat "$tiny"
    printf '\n[sweep]\ncluster.nodes = 1; 2; 4\n'
} >sweep.deck
check "a deck with a sweep can be checked" good check sweep.deck
check "but not run" says 2 "sweep.deck:29: [sweep]: asks for many runs" run sweep.deck -o swept
check "nothing of it is left" test ! -e swept

# ---- nowhere to write ----

limited() # BLOCKS COMMAND...: with files of at most so many blocks (of 1 KiB), as on a disk that is full
{
    (ulimit -f "$1" && shift && "$@")
}

for level in stats jobs events; do
    check "a trace of level $level that the disk does not take fails" expect_status 1 \
        limited 20 env "${alone_environment[@]}" "$TIERCEL" run "$tiny" -q -o "full-$level" --trace "$level" 2>err
    check "with one line ($level)" test "$(wc -l <err)" -eq 1
    check "that names the file ($level)" grep -q "^tiercel: full-$level/trace.* cannot be " err
done
if [ -c /dev/full ]; then
    check "results that cannot be printed are a failure" expect_status 1 alone run "$tiny" -o unprinted 2>err >/dev/full
    check "which is said" grep -q "the results cannot be printed: No space left on device" err
    check "but saved" grep -q '"completed": true' unprinted/summary.json
    check "so is an effective deck" expect_status 1 alone check "$tiny" 2>err >/dev/full
fi
check "so is a closed stdout" expect_status 1 alone run "$tiny" -o closed 2>err >&-
check "unless nothing is to be printed" expect_status 0 alone run "$tiny" -q -o silent 2>err >&-

# ---- a launcher of another MPI ----

OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 "$TIERCEL" check "$tiny" </dev/null >out 2>err
check "a launcher that does not match is warned of" grep -q "the launcher started 3 processes" err
OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1 "$TIERCEL" check "$tiny" </dev/null >out 2>err
check "by one process" test ! -s err

done_testing
