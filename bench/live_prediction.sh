#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# live_prediction.sh FOLDER [measure|predict|table]: how well the virtual clock predicts live runs of tiercel on this
# machine. Three parts, all of them unless one is named; `measure` wants the machine for itself, for a minute.
#
#     measure    calibrates, and plays the live decks on 2, 4 and 8 processes, each three times (or as RUNS says)
#     predict    runs the same decks on the virtual clock, with the profiles measured
#     table      prints what came out, for doc/validation.md
#
# TIERCEL, MPIRUN and INPUTS may be set, and RUNS, the numbers of the runs, an odd many. No figure is dropped: a cell is
# the median of the runs, with the extremes.

set -u
folder=${1:?usage: live_prediction.sh FOLDER [measure|predict|table]}
part=${2:-all}
here=$(cd "$(dirname "$0")/.." && pwd)
TIERCEL=${TIERCEL:-$here/build/tiercel}
MPIRUN=${MPIRUN:-mpirun}
INPUTS=${INPUTS:-$here/inputs}
RUNS=${RUNS:-1 2 3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# name processes deck key settings...; a profile is measured for each deck and number of processes, at the first row.
rows()
{
    local scheme n
    for scheme in v0.16 pr2777 pr2792; do
        echo "rate-$scheme 2 live-rate jobs.run_rate events.scheme=$scheme"
    done
    for scheme in v0.16 pr2777 pr2792; do
        echo "subscribe-$scheme 2 live-subscribe kvs.create_rate events.scheme=$scheme"
    done
    echo "dispatcher 2 live-dispatcher jobs.run_rate run.placement=node"
    for n in 4 8; do
        echo "rate-$n $n live-rate jobs.run_rate cluster.nodes=$n"
        echo "dispatcher-$n $n live-dispatcher jobs.run_rate run.placement=node dispatcher.services=$n"
    done
}

waiting() # PROCESSES
{
    [ "$1" -le "$(nproc)" ] && echo spin || echo yield
}

settings() # KEY=VALUE...: as options, one a line
{
    local s
    for s in "$@"; do
        printf -- '--set\n%s\n' "$s"
    done
}

measure()
{
    local name n deck key more i known="" options
    for i in $RUNS; do
        while read -r name n deck key more; do
            # shellcheck disable=SC2086
            mapfile -t options < <(settings run.waiting="$(waiting "$n")" $more)
            case " $known " in
            *" $deck-$n "*) ;;
            *)
                "$MPIRUN" --oversubscribe -n "$n" "$TIERCEL" calibrate "$INPUTS/$deck.deck" "${options[@]}" --force \
                    --profile "$folder/$deck-$n.costs" </dev/null || echo "# $name could not be calibrated"
                known="$known $deck-$n"
                ;;
            esac
            "$MPIRUN" --oversubscribe -n "$n" "$TIERCEL" run --clock live "$INPUTS/$deck.deck" "${options[@]}" -q \
                --trace stats -o "$folder/live-$name-$i" --force --summary "$folder/live-$name-$i.json" </dev/null ||
                echo "# $name: run $i failed"
        done < <(rows)
    done
}

predict()
{
    local name n deck key more options machines
    cp "$INPUTS"/live-*.deck "$folder"
    while read -r name n deck key more; do
        machines=
        [ "$deck" = live-dispatcher ] && machines=cluster.machines=$n
        # shellcheck disable=SC2086
        mapfile -t options < <(settings run.waiting="$(waiting "$n")" cluster.cpus=1 costs.profile="$deck-$n" \
            $machines $more)
        "$TIERCEL" run "$folder/$deck.deck" "${options[@]}" -q --trace stats -o "$folder/virtual-$name" --force \
            --summary "$folder/virtual-$name.json" </dev/null || echo "# $name could not be predicted"
    done < <(rows)
}

value() # FILE GROUP.KEY
{
    sed -n "/\"${2%%.*}\": {/,/}/s/.*\"${2#*.}\": \([0-9.e+]*\),*$/\1/p" "$1"
}

table()
{
    local name n deck key more i
    echo "| run | processes | figure | live: median [least, most] | predicted | error |"
    echo "| --- | --- | --- | --- | --- | --- |"
    while read -r name n deck key more; do
        for i in $RUNS; do
            [ -f "$folder/live-$name-$i.json" ] && value "$folder/live-$name-$i.json" "$key"
        done | sort -g | tr '\n' ' ' | awk -v name="$name" -v n="$n" -v key="$key" \
            -v p="$(value "$folder/virtual-$name.json" "$key")" -v runs="$(wc -w <<<"$RUNS")" \
            'NF != runs || p == "" { printf "| %s | %d | %s | incomplete | | |\n", name, n, key; next }
             { printf "| %s | %d | %s | %.0f [%.0f, %.0f] | %.0f | %+.0f %% |\n", name, n, key, $((NF + 1) / 2),
               $1, $NF, p, (p / $((NF + 1) / 2) - 1) * 100 }'
    done < <(rows)
}

mkdir -p "$folder" || exit 1
for step in measure predict table; do
    if [ "$part" = all ] || [ "$part" = $step ]; then
        $step
    fi
done
