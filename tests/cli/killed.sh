#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A run that is ended by kill -9 at a random moment, on 1 and 3 processes, at the trace levels jobs and events: the
# trace opens and is not complete, every row up to the last flush is that of the undisturbed run, and the parts can be
# joined. All processes are killed at once, or one of them (the launcher then ends the others). Twenty moments each in
# make check-long, two in make check; they are drawn from a fixed seed, and are shares of the undisturbed run's time.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

moments=2
[ -z "$LONG" ] || moments=20
[ -z "$SMOKE" ] || moments=1
RANDOM=2003
export OMPI_MCA_orte_abort_print_stack=0

deck=$top_srcdir/inputs/flux-bulksubmit.deck
options=(-q --set workload.repeat=8 --set run.spread=always --set trace.flush-every=100ms)
cd "$scratch" || exit 99

children() # PID: of a process, one a line
{
    local stat pid parent rest
    for stat in /proc/[0-9]*/stat; do
        read -r pid rest 2>/dev/null <"$stat" || continue
        read -r _ parent _ <<<"${rest##*) }"
        [ "$parent" != "$1" ] || echo "$pid"
    done
}

written() # FILE: its first line stands, so that it is a trace already
{
    [ "$(head -c 7 "$1" 2>/dev/null | tr -d '\0')" = tiercel ]
}

# begin LEVEL PROCESSES: starts a run in "killed" and waits until its files are there
begin()
{
    local i last=trace.h5
    rm -rf killed
    if [ "$2" -eq 1 ]; then
        env "${alone_environment[@]}" "$TIERCEL" run "$deck" "${options[@]}" --trace "$1" -o killed >said 2>&1 </dev/null &
    else
        "$MPIRUN" -n "$2" "$TIERCEL" run "$deck" "${options[@]}" --trace "$1" -o killed >said 2>&1 </dev/null &
    fi
    launched=$!
    [ "$1" = jobs ] || last=$(printf 'trace.part-%04d.h5' $(($2 - 1)))
    for ((i = 0; i < 600; i++)); do
        ! written "killed/$last" || return 0
        sleep 0.05
    done
    echo "# no trace within 30 s"
    return 1
}

finish_off() # PROCESSES ALL: kill -9 to all of them, or to one
{
    local -a victims=("$launched")
    [ "$1" -eq 1 ] || mapfile -t victims < <(children "$launched")
    [ "$2" = all ] || [ "${#victims[@]}" -eq 0 ] || victims=("${victims[RANDOM % ${#victims[@]}]}")
    [ "${#victims[@]}" -eq 0 ] || kill -9 "${victims[@]}" 2>/dev/null
    wait "$launched" 2>/dev/null
}

# The trace is that of a killed run, and what it holds is right.
is_right() # LEVEL WHOLE
{
    expect_status 4 alone verify killed/trace.h5 >verified 2>&1 || { sed 's/^/# /' verified >&3; return 1; }
    if [ "$1" = events ]; then
        expect_status 0 alone verify --merge killed/trace.h5 >verified 2>&1 || { sed 's/^/# /' verified >&3; return 1; }
        expect_status 4 alone verify killed/trace.h5 >verified 2>&1 || { sed 's/^/# /' verified >&3; return 1; }
        [ "$(echo killed/*.part-*)" = 'killed/*.part-*' ] || { echo "# parts are left" >&3; return 1; }
    fi
    "$top_builddir/tests/cli/compare_rows" killed/trace.h5 "$2/trace.h5" >rows 2>&1 || { sed 's/^/# /' rows >&3; return 1; }
    sed 's/^/# /' rows >&3
    cat rows >>all_rows
}

wall_of() # FOLDER: how long a run that ended took, s
{
    sed -n 's/.*"wall_s": \([0-9.]*\),/\1/p' "$1/summary.json"
}

# strike LEVEL PROCESSES WHOLE: one moment. A run that was faster and ended tells how long one takes now.
strike()
{
    local try share seconds who=all
    ((RANDOM % 2)) && [ "$2" -gt 1 ] && who=one
    share=$((RANDOM % 900))
    for try in 1 2 3 4 5 6; do
        seconds=$(awk -v wall="$wall" -v share="$share" 'BEGIN { printf "%.3f", wall * share / 1000 }')
        begin "$1" "$2" || return 1
        sleep "$seconds"
        finish_off "$2" "$who"
        echo "# killed ($who) after $seconds s, attempt $try" >&3
        # The trace is complete a moment before the summary is there.
        if alone verify killed/trace.h5 >verified 2>&1; then
            [ ! -e killed/summary.json ] || wall=$(wall_of killed)
        else
            is_right "$1" "$3"
            return
        fi
        share=$((share * 8 / 10))
    done
    echo "# the run ended before it was killed" >&3
    return 1
}

for processes in 1 3; do
    check "an undisturbed run on $processes" mpi "$processes" "$TIERCEL" run "$deck" "${options[@]}" --trace events \
        -o "whole$processes"
done
check "1 and 3 processes give the same trace" expect_status 0 alone diff whole1/trace.h5 whole3/trace.h5

for processes in 1 3; do
    wall=$(wall_of "whole$processes")
    for level in events jobs; do
        for ((moment = 1; moment <= moments; moment++)); do
            check "killed at moment $moment of level $level on $processes processes" strike "$level" "$processes" whole1
        done
    done
done
check "killed runs had written rows" grep -qE '^/(jobs|events) [1-9]' all_rows

done_testing
