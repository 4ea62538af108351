#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Batch scheduling through the program itself: known schedules, the order at equal times, and what becomes of everything
# odd in a log. Starts are read from the exported log.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

printf '%s\n' '[deck]' 'format = 1' '[system]' 'kind = batch' '[workload]' 'source = swf' 'file = log.swf' >log.deck

jobs() # PROCESSORS JOB...: a log; a job is submit,processors,request,run
{
    local n=0 submit width limit run
    printf '; MaxProcs: %s\n' "$1"
    shift
    for job; do
        n=$((n + 1))
        IFS=, read -r submit width limit run <<<"$job"
        echo "$n $submit -1 $run $width -1 -1 $width $limit -1 1 -1 -1 -1 -1 -1 -1 -1"
    done
}

simulate() # OPTIONS: plays log.swf; what it says in said, its results in run and out.json
{
    alone run log.deck -o run --force --summary out.json "$@" >said 2>errors
}

value() # GROUP KEY
{
    sed -n "/\"$1\": {/,/}/s/.*\"$2\": \([0-9.e+-]*\),*$/\1/p" out.json
}

starts() # by job number
{
    alone export run/trace.h5 --format swf | grep -v '^;' | sort -n |
        awk -v CONVFMT=%.15g '{ printf "%s%s", (NR == 1 ? "" : " "), ($3 < 0 ? "-" : $2 + $3) }'
}

is() # EXPECTED ACTUAL
{
    [ "$1" = "$2" ] && return 0
    echo "# expected $1, got $2"
    return 1
}

near() # EXPECTED ACTUAL: to a millionth
{
    awk "BEGIN { d = $2 - ($1); exit !(d * d <= 1e-12 * (1 + ($1) * ($1))) }" && return 0
    echo "# expected $1, got $2"
    return 1
}

schedule() # POLICY "STARTS" MEAN_WAIT MAKESPAN OPTIONS...
{
    local policy=$1 starts=$2 wait=$3 makespan=$4
    shift 4
    check "$name: $policy $* runs" expect_status 0 simulate --set scheduler.policy="$policy" "$@"
    check "$name: $policy $* starts jobs at $starts" is "$starts" "$(starts)"
    check "$name: $policy $* has a mean wait of $wait" near "$wait" "$(value jobs mean_wait_s)"
    check "$name: $policy $* has a makespan of $makespan" near "$makespan" "$(value jobs makespan_s)"
}

# ---- known schedules ----

machines="--set scheduler.by=machines"
jobs 4 0,3,10,10 1,3,10,10 2,4,10,10 3,1,25,25 4,1,16,16 >log.swf
name="three policies"
schedule fcfs "0 10 20 30 30" 16 55
check "its utilisation is 141 of 220" near "141 / 220" "$(value jobs utilisation)"
schedule easy "0 10 28 3 38" 13.8 54
check "its utilisation is 141 of 216" near "141 / 216" "$(value jobs utilisation)"
# shellcheck disable=SC2086
schedule easy "0 10 28 3 38" 13.8 54 $machines
schedule easy "0 10 20 30 4" 10.8 55 --set scheduler.depth=2
schedule conservative "0 10 20 30 4" 10.8 55
check "its utilisation is 141 of 220" near "141 / 220" "$(value jobs utilisation)"
# shellcheck disable=SC2086
schedule conservative "0 10 20 30 4" 10.8 55 $machines

jobs 4 0,3,10,6 1,3,10,10 2,4,10,10 3,1,25,25 4,1,16,16 >log.swf
name="an early end"
schedule fcfs "0 6 16 26 26" 12.8 51
schedule easy "0 6 28 3 38" 13 54
schedule conservative "0 6 20 30 4" 10 55
# shellcheck disable=SC2086
schedule conservative "0 6 20 30 4" 10 55 $machines

jobs 5 0,1,1,1 0,2,20,20 0,2,10,10 2,2,10,10 3,1,15,15 >log.swf
name="counting or naming"
schedule easy "0 0 0 10 3" 1.6 20
schedule conservative "0 0 0 10 3" 1.6 20
# shellcheck disable=SC2086
schedule easy "0 0 0 10 10" 3 25 $machines
# shellcheck disable=SC2086
schedule conservative "0 0 0 10 10" 3 25 $machines
alone export run/trace.h5 --format batsim | cut -d, -f1,15 >machines
printf '%s\n' job_id,allocated_resources 1,0 2,1-2 3,3-4 '4,0 3' 5,4 >expected
check "the lowest machines are given first, and named in jobs.csv" diff expected machines

jobs 100 0,70,100,100 1,80,100,100 2,90,100,100 50,20,250,250 >log.swf
name="a reservation behind the head's"
schedule fcfs "0 100 200 300" 136.75 550
schedule conservative "0 100 200 300" 136.75 550
schedule easy "0 100 300 50" 99.25 400

jobs 2 0,1,10,10 0,2,5,5 0,1,9,9 0,1,2,2 0,1,7,7 >log.swf
name="shortest first"
schedule easy "0 10 0 15 15" 8 22
schedule easy-sjf "0 10 15 0 2" 5.4 24
schedule sjf "14 2 7 0 7" 6 24

# ---- the order at equal times ----

jobs 1 0,1,10,10 0,1,2,2 >log.swf
name="two at once"
schedule sjf "2 0" 1 12
schedule sjf "0 10" 5 12 --set scheduler.ties=one-at-a-time
jobs 4 0,4,10,10 10,4,10,10 >log.swf
name="an end and a submission at once"
for ties in together one-at-a-time; do
    for policy in fcfs easy conservative; do
        schedule $policy "0 10" 0 20 --set scheduler.ties=$ties
    done
done

# ---- a scheduler that takes time ----

jobs 1 0,1,10,10 0,1,10,10 >log.swf
name="a pass of one second"
schedule fcfs "1 12" 6.5 22 --set costs.batch-pass=1s
check "it was busy for as long" grep -q '^batch .* 13.0% ' said

quick_part_ends

# ---- what is odd in logs ----

counted() # NAME COUNT: a line of the cleaning
{
    grep -q "^workload: $1  *$2  " said && return 0
    grep "^workload:" said | sed 's/^/# /'
    return 1
}

field() # N: of each line of the exported log
{
    alone export run/trace.h5 --format swf | grep -v '^;' | cut -d' ' -f"$1" | tr '\n' ' '
}

played() # SENTENCE "STARTS" OPTIONS...
{
    local sentence=$1 starts=$2
    shift 2
    check "$sentence: it runs" expect_status 0 simulate "$@"
    check "$sentence" is "$starts" "$(starts)"
}

jobs 2 0,2,-1,10 0,2,-1,5 >log.swf
played "unknown requested times are the run times" "0 10" --set scheduler.policy=easy
check "they are counted" counted limit_missing 2
check "they are the limits" is "10 5 " "$(field 9)"
played "or there is no limit" "0 10" --set workload.missing-limit=none --set scheduler.policy=easy
check "there is none" is "-1 -1 " "$(field 9)"
check "or the jobs are dropped" expect_status 0 simulate --set workload.missing-limit=drop
check "none is left" near 0 "$(value jobs submitted)"
check "they are counted as dropped" counted dropped_limit 2

jobs 1 0,1,5,9 0,1,5,5 >log.swf
played "a run time above the request is clipped" "0 5" --set scheduler.policy=easy
check "it is counted" counted overruns 1
check "it completes" near 2 "$(value jobs completed)"
played "or the job is killed at its request" "0 5" --set workload.overrun=kill
check "it is counted as killed" near 1 "$(value jobs killed)"
for policy in fcfs easy easy-sjf conservative; do
    for by in processors machines; do
        [ $policy = fcfs ] && by=processors
        options="--set scheduler.policy=$policy"
        [ $policy = fcfs ] || options="$options --set scheduler.by=$by"
        # shellcheck disable=SC2086
        played "or it runs on, and $policy by $by plans around it" "0 9" --set workload.overrun=kill \
            --set scheduler.at-limit=continue $options
    done
done
jobs 4 0,3,10,10.5 1,3,10,10 2,4,10,10 3,1,25,25 4,1,16,16 >log.swf
played "who was promised the place of a job that runs on comes next, not last" "0 10.5 20.5 30.5 4" \
    --set workload.overrun=kill --set scheduler.at-limit=continue --set scheduler.policy=conservative
jobs 1 0,1,5,9 0,1,5,5 >log.swf
played "or its request becomes its run time" "0 9" --set workload.overrun=extend
played "or it is dropped" "0" --set workload.overrun=drop
check "which is counted" counted dropped_overrun 1

jobs 2 0,2,1,0 0,2,1,0 0,2,10,10 1,2,1,0 1,1,5,0 1,2,3,3 >log.swf
for policy in fcfs easy easy-sjf conservative; do
    played "jobs of no length take processors and give them back in their instant: $policy" "0 0 0 10 10 10" \
        --set scheduler.policy=$policy
done
check "they are counted" counted zero_run 4
played "or they are dropped" "0 10" --set workload.zero-run=drop

{
    echo '; MaxProcs: 4'
    echo '1 0 -1 10 2 -1 -1 4 10 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '2 0 -1 10 2 -1 -1 3 10 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '3 0 -1 10 2 -1 -1 -1 10 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '4 0 -1 10 -1 -1 -1 0 10 -1 1 -1 -1 -1 -1 -1 -1 -1'
} >log.swf
played "requested processors count" "0 10 20"
check "differences are counted" counted processors_differ 2
check "an unknown number is taken from the other" counted other_processors 1
check "without any the job is dropped and counted" counted dropped_processors 1
played "or allocated processors count" "0 0 10" --set workload.processors=allocated

jobs 4 0,8,10,10 1,4,10,10 >log.swf
for policy in fcfs sjf easy easy-sjf conservative; do
    played "a job wider than the machine blocks nothing: $policy" "- 1" --set scheduler.policy=$policy
done
check "it is rejected" near 1 "$(value jobs rejected)"
check "and counted when the log is read" counted too_wide 1

jobs 1 0.5,1,10.25,10.25 0.75,1,1.5,0.001 >log.swf
played "times may have decimals" "0.5 10.75"
check "they come out as they went in" is "10.25 0.001 " "$(field 4)"

{
    echo '; MaxProcs: 1'
    printf '40 7 -1 1 1 -1 -1 1 1 -1 1 -1 -1 -1 -1 -1 -1 -1\r\n'
    printf ' 7\t5 -1   1\t1 -1 -1 1 1 -1 1 -1 -1 -1 -1 -1 -1 -1\r\n'
    printf '\n; a comment between\n'
    printf '12 5 -1 1 1 -1 -1 1 1 -1 1 -1 -1 -1 -1 -1 -1 -1\n'
} >log.swf
played "unsorted, gaps in the numbers, tabs, Windows line ends, a comment: in order of submission" "5 6 7"
check "of one time in the order of the file" is "7 12 40 " "$(field 1)"
check "what was out of order is counted" counted out_of_order 1
played "the first submission may become 0" "0 1 2" --set workload.shift-start=true

{
    printf '; MaxNodes: 2\n; MaxProcs: 4\n'
    jobs 4 0,4,1,1 | grep -v '^;'
} >log.swf
played "MaxProcs is the size, not MaxNodes" "0"
jobs 4 0,3,1,1 0,2,1,1 | grep -v '^;' >log.swf
played "without a header the widest job is" "0 1"
check "and that is said" grep -q '^machine: 3 processors, of its widest job' said
played "unless the deck says" "0 0" --set cluster.processors=8

{
    echo '; MaxProcs: 8'
    echo '1 0 -1 30 1 -1 -1 1 99 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '1 0 -1 10 1 -1 -1 1 99 -1 2 -1 -1 -1 -1 -1 -1 -1'
    echo '1 20 -1 20 1 -1 -1 1 99 -1 3 -1 -1 -1 -1 -1 -1 -1'
    echo '2 1 -1 -1 1 -1 -1 1 99 -1 5 -1 -1 -1 -1 -1 -1 -1'
    echo '3 2 -1 7 1 -1 -1 1 99 -1 0 -1 -1 -1 -1 -1 -1 -1'
} >log.swf
played "a checkpointed job counts whole; a failed one ran" "0 2"
check "its pieces are counted" counted dropped_pieces 2
check "so is what was cancelled before it ran" counted dropped_cancelled 1
played "or the pieces count" "0 20 2" --set workload.checkpointed=pieces

# ---- dependencies ----

{
    echo '; MaxProcs: 4'
    echo '1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 3 2'
    echo '2 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 9 2'
    echo '3 1 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '4 1 -1 5 9 -1 -1 9 5 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '5 1 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 4 -1'
    echo '6 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 1 0'
} >log.swf
played "jobs follow others, of later lines too, after their think time" "8 0 1 - 1 13"
check "dependencies are counted" counted dependent 4
check "so are those on what is not there" counted lost_dependencies 1
played "or they are ignored" "0 0 1 - 5 0" --set workload.dependencies=ignore

# ---- long logs ----

{
    echo '; MaxProcs: 16777216'
    for year in 0 25 50 75 100; do
        echo "$((year + 1)) $((year * 31557600)) -1 157788000 16777216 -1 -1 16777216 157788000 -1 1 -1 -1 -1 -1 -1 -1 -1"
    done
} >log.swf
played "a century does not overflow: 16 million processors for 5 years each" \
    "0 788940000 1577880000 2366820000 3155760000" --set scheduler.policy=easy
check "its utilisation is 25 of 105" near "25 / 105" "$(value jobs utilisation)"
check "it ends after 105 years" near "105 * 31557600" "$(value jobs makespan_s)"

# ---- what is refused, with file and line ----

refused() # SENTENCE TEXT-OF-THE-ERROR
{
    check "$1 is refused" expect_status 2 simulate
    check "$1 is named with its line" grep -qF "$2" errors
    check "nothing was written of $1" test ! -e run
}
rm -rf run
good='1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1'
printf '%s\n' 'Version: 2.2' "$good" >log.swf
refused "a header without semicolon" "log.swf:1: "
printf '%s\n' "$good" "${good// /;}" >log.swf
refused "a semicolon as separator" "log.swf:2: "
printf '%s\n' "$good" "${good% -1}" >log.swf
refused "a line of 17 fields" "log.swf:2: "
printf '%s\n' "$good" "$good -1" >log.swf
refused "a line of 19 fields" "log.swf:2: "
printf '%s\n' "$good" "${good/ 5 / five }" >log.swf
refused "text in a number" "log.swf:2: "
printf '%s\n' "$good" "${good/ 5 / 100000000000000000000 }" >log.swf
refused "a time of 10^20 seconds" "log.swf:2: "
printf '%s\n' '1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 2 0' '2 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 1 0' >log.swf
refused "a cycle of dependencies" "log.swf:"
: >log.swf
refused "an empty file" "log.swf: "
sed -i 's/swf/json/; s/source = json/source = batsim/' log.deck
printf '{ "nb_res": 4, "jobs": [ { "id": "1", "subtime": 0, "res": 1, "profile": "a" } ], "profiles": { "a"' >log.json
refused "JSON that breaks off" "log.json:1:"
printf '{"nb_res": 4,\n"jobs": [{"id": "1", "subtime": 1e20, "res": 1, "profile": "a"}],\n"profiles": {"a": {"type": "delay", "delay": 1}}}' >log.json
refused "JSON with 10^20 seconds" "log.json:2:"

# ---- Batsim's JSON ----

cat >log.json <<'END'
{ "nb_res": 4,
  "jobs": [ { "id": "w0!a", "subtime": 0, "walltime": 5, "res": 4, "profile": "a long name of a profile, with a comma" },
            { "id": 2, "subtime": 1, "res": 2, "profile": "short" } ],
  "profiles": { "a long name of a profile, with a comma": { "type": "delay", "delay": 30.5 },
                "short": { "type": "delay", "delay": 2 } } }
END
check "Batsim's JSON is played" expect_status 0 simulate --set scheduler.policy=easy
alone export run/trace.h5 --format batsim | tail -n +2 >rows
killed='w0!a,w0,"a long name of a profile, with a comma",0.000000,4,5.000000,0,COMPLETED_WALLTIME_REACHED,0.000000,'
unlimited='2,w0,short,1.000000,2,-1.000000,1,COMPLETED_SUCCESSFULLY,5.000000,2.000000,7.000000,4.000000,6.000000,'
printf '%s\n' "$killed"'5.000000,5.000000,0.000000,5.000000,1.000000,0-3,0,""' "$unlimited"'3.000000,0-1,0,""' >expected
check "names, profiles, kills at the limit and jobs without a limit come out" diff expected rows

# ---- the same log and policies under a job system, whose messages take milliseconds ----

jobs 4 0,3,10,10 1,3,10,10 2,4,10,10 3,1,25,25 4,1,16,16 >log.swf
printf '%s\n' '[deck]' 'format = 1' '[system]' 'kind = brokered' '[cluster]' 'nodes = 1' 'cores-per-node = 4' \
    '[workload]' 'source = swf' 'file = log.swf' '[scheduler]' 'mode = unlimited' >log.deck
for expected in "fcfs 0 10 20 30 30" "easy 0 10 28 3 38" "conservative 0 10 20 30 4"; do
    policy=${expected%% *}
    check "a brokered instance plays the log: $policy" expect_status 0 simulate --set scheduler.policy="$policy"
    whole=$(alone export run/trace.h5 --format swf | grep -v '^;' | sort -k2n |
        awk '{ printf "%s%d", (NR == 1 ? "" : " "), $2 + $3 }')
    check "its jobs start in the same seconds: $policy" is "${expected#* }" "$whole"
done
printf '%s\n' '[deck]' 'format = 1' '[system]' 'kind = batch' '[workload]' 'source = swf' 'file = log.json' >log.deck

# ---- a sorted log is streamed ----

stream() # JOBS: many short jobs on a machine that is busy; prints the peak of memory in KiB
{
    awk -v n="$1" 'BEGIN {
        print "; MaxProcs: 64"
        for (i = 0; i < n; i++)
            printf "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 1 1 1 -1 -1\n", i + 1, i * 30, 60 + i * 7919 % 1000,
                   1 + i * 31 % 4, 1 + i * 31 % 4, 90 + i * 7919 % 1000 + i * 17 % 600
    }' >log.swf
    # The address sanitizer keeps what was freed.
    ASAN_OPTIONS=$ASAN_OPTIONS:quarantine_size_mb=1 simulate --set scheduler.policy="$2" --trace stats || return
    echo $(($(value run peak_rss_bytes) / 1024))
}
sed -i 's/json/swf/' log.deck
if [ -z "$SMOKE" ]; then
    for policy in easy conservative; do
        few=$(stream 10000 $policy)
        many=$(stream 200000 $policy)
        check "$policy plays twenty times the jobs in no more memory" holds "$many < $few + 2048"
        echo "# $few KiB for 10,000 jobs, $many KiB for 200,000"
    done
fi

done_testing
