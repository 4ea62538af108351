#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# lockfs_rates.sh FOLDER [measure|predict|table]: what the kernel's lock on a shared file costs its writers on this
# machine, measured under tiercel-lockfs with a service of 1 ms for 64 KiB, beside what the virtual clock makes of it.
# Three parts, all of them unless one is named; `measure` wants the machine for itself, for some minutes.
#
#     measure    plays every row ROUNDS times (default 5), each round in an order of its own. Writers are processes that
#                call pwrite, or live runs of tiercel, through either MPI-IO of Open MPI
#     predict    takes the fixed part of the service from the lone writers' rates, and `exchange` from
#                doc/models/file.md (60 us a process), and nothing else from here, and plays the same rows
#     table      prints what came out, for doc/validation.md
#
# May be set: BUILD (default: build/), MPIRUN, ROUNDS, WRITES (a writer, default 100), ROWS (an extended regular
# expression for their names), AS (a command before each run, such as "chrt -r 1" where others use the machine).
# Needs what tiercel-lockfs needs to mount. No figure is dropped: a cell is the median over the rounds, with the
# extremes.

set -u
folder=${1:?usage: lockfs_rates.sh FOLDER [measure|predict|table]}
part=${2:-all}
here=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$here/build}
MPIRUN=${MPIRUN:-mpirun}
ROUNDS=${ROUNDS:-5}
WRITES=${WRITES:-100}
ROWS=${ROWS:-.}
AS=${AS:-}
fixed_ns=82496
per_byte_ns=14
transfer=65536
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# name by writers flag where collective: by is pwrite, ompio or romio; the lone rows give the service time
rows()
{
    local n by
    {
        for by in pwrite ompio romio; do
            echo "$by-lone $by 1 - - none"
            for n in 4 8 16; do
                [ $by = pwrite ] || [ $n = 8 ] || continue
                echo "$by-serial-$n $by $n - - none"
                echo "$by-serial-within-$n $by $n - within none"
                echo "$by-extending-$n $by $n --parallel - none"
                echo "$by-within-$n $by $n --parallel within none"
            done
        done
        for by in ompio romio; do
            echo "$by-all-serial-8 $by 8 - - $by"
            echo "$by-all-serial-within-8 $by 8 - within $by"
            echo "$by-all-extending-8 $by 8 --parallel - $by"
            echo "$by-all-within-8 $by 8 --parallel within $by"
        done
        for n in 2 4 8; do
            echo "ompio-all-within-8-aggregators-$n ompio 8 --parallel within ompio"
        done
    } | awk -v names="$ROWS" '$1 ~ names'
}

# group NAME WRITERS LOCK WHERE COLLECTIVE: of a deck
group()
{
    printf '[io.%s]\nwriters = %s\ntransfer = %sB\nsegments = %s\nlock = %s\n' "$1" "$2" $transfer "$WRITES" "$3"
    [ "$4" = - ] || echo "pre-extend = set-size"
    [ "$5" = none ] || printf 'collective = %s\nexchange = %sus\n' "$5" $((60 * $2))
    case $1 in
    *-aggregators-*) echo "aggregators = ${1##*-}" ;;
    esac
}

head_of_deck()
{
    printf '[deck]\nformat = 1\n[system]\nkind = io\n[network]\nhop-latency = 10us\nlocal-latency = 1us\n'
}

# io_component ompio|romio: as mpirun has to be told
io_component()
{
    if [ "$1" = ompio ]; then
        echo ompio
    else
        ompi_info | sed -n 's/.*MCA io: \(romio[0-9]*\).*/\1/p'
    fi
}

play_row() # ROUND NAME BY WRITERS FLAG WHERE COLLECTIVE
{
    local out=$folder/$2-$1 options run
    rm -f "$out".*
    options=(--request "${fixed_ns}ns + ${per_byte_ns}ns/B" --statistics "$out.stat")
    [ "$5" = - ] || options+=("$5")
    if [ "$3" = pwrite ]; then
        run=("$BUILD/tests/lockfs/write_file" "$folder/mount/shared" "$4" "$WRITES" "${transfer}B" "$6" verify)
    else
        { head_of_deck; group "$2" "$4" none "$6" "$7"; } >"$out.deck"
        run=("$MPIRUN" --mca io "$(io_component "$3")" -n "$4" "$BUILD/tiercel" run --clock live "$out.deck" -q
            --set "server.folder=$folder/mount" -o "$folder/live" --force --summary "$out.json")
    fi
    # AS is a list of words.
    # shellcheck disable=SC2086
    $AS "$BUILD/tiercel-lockfs" "${options[@]}" "$folder/mount" "${run[@]}" >"$out.out" </dev/null ||
        echo "# $2: round $1 failed"
}

measure()
{
    local i row
    mkdir -p "$folder/mount"
    for ((i = 1; i <= ROUNDS; i++)); do
        echo "# round $i, load $(cut -d ' ' -f 1-2 /proc/loadavg)" >&2
        while read -r -a row; do
            play_row "$i" "${row[@]}"
        done < <(rows | shuf --random-source=<(yes "$i"))
    done
}

# Where the kernel does not tell, it is what Debian's have.
kernel_hz()
{
    { zcat /proc/config.gz 2>/dev/null || cat "/boot/config-$(uname -r)" 2>/dev/null; echo CONFIG_HZ=250; } |
        sed -n 's/^CONFIG_HZ=//p' | head -n 1
}

figure() # FILE NAME KEY: of the files' figures in a summary
{
    sed -n "s/^ *\"$2\": {.*\"$3\": \([0-9.e+-]*\).*/\1/p" "$1" | head -n 1
}

value() # FILE KEY: of lines "key value"
{
    sed -n "s/^$2 //p" "$1" | tail -n 1
}

# measured KEY NAME BY: median, least and most over the rounds. rate: blocks a second; another key: its share of the
# writes that the server saw
measured()
{
    local i out
    for ((i = 1; i <= ROUNDS; i++)); do
        out=$folder/$2-$i
        if [ "$1" != rate ]; then
            awk -v a="$(value "$out.stat" "$1")" -v b="$(value "$out.stat" writes)" 'BEGIN { if (b > 0) print a / b }'
        elif [ "$3" = pwrite ]; then
            value "$out.out" wall_writes_per_s
        else
            awk -v b="$(figure "$out.json" "$2" bytes)" -v s="$(figure "$out.json" "$2" write_s)" -v t=$transfer \
                'BEGIN { if (s > 0) print b / t / s }'
        fi
    done | sort -g | awk -v n="$ROUNDS" '{ v[NR] = $1 } END { if (NR == n) print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

predicted() # NAME BY
{
    awk -v b="$(figure "$folder/$2.json" "$1" bytes)" -v e="$(figure "$folder/$2.json" "$1" ended_s)" -v t=$transfer \
        -v p="$(figure "$folder/$2.json" "$1" prepared_s)" 'BEGIN { if (e > p) print b / t / (e - p) }'
}

play_virtually() # BY FIXED_NS
{
    local name by n flag where collective
    {
        head_of_deck
        printf '[lock]\nhz = %s\n[server]\nrequest = %sns + %sns/B\n' "$(kernel_hz)" "$2" $per_byte_ns
        while read -r name by n flag where collective; do
            [ "$by" = "$1" ] || continue
            group "$name" "$n" "$([ "$flag" = - ] && echo exclusive || echo shared)" "$where" "$collective"
        done < <(rows)
    } >"$folder/$1.deck"
    "$BUILD/tiercel" run "$folder/$1.deck" -q -o "$folder/virtual" --force --summary "$folder/$1.json" </dev/null
}

predict()
{
    local by lone
    for by in $(rows | awk '{ print $2 }' | sort -u); do
        play_virtually "$by" $fixed_ns || return 1
        # The model adds its own ways and returns, and the part per byte; what is left of the interval is the rest.
        lone=$(measured rate "$by-lone" "$by")
        play_virtually "$by" "$(awk -v m="${lone%% *}" -v p="$(predicted "$by-lone" "$by")" -v r=$fixed_ns \
            'BEGIN { printf "%.0f", 1e9 / m - (1e9 / p - r) }')" || return 1
    done
}

table()
{
    local name by n flag where collective
    echo "# $(uname -sr), CONFIG_HZ=$(kernel_hz), $(nproc) cores, $ROUNDS rounds of $WRITES writes a writer${AS:+, $AS}"
    for by in $(rows | awk '{ print $2 }' | sort -u); do
        echo "# $by: a request of $(sed -n 's/^request = //p' "$folder/$by.deck") in the model"
    done
    echo "| row | writers | measured, writes/s [least, most] | predicted | error | alone, measured | predicted |" \
        "extending, measured | predicted |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    while read -r name by n flag where collective; do
        echo "$(measured rate "$name" "$by") $(predicted "$name" "$by")" \
            "$(measured lone_writes "$name" "$by") $(figure "$folder/$by.json" "$name" lone_writes)" \
            "$(measured extending_writes "$name" "$by") $(figure "$folder/$by.json" "$name" extending_writes)" \
            "$(figure "$folder/$by.json" "$name" exclusive_locks) $(figure "$folder/$by.json" "$name" shared_locks)" |
            awk -v name="$name" -v n="$n" \
                'NF != 14 { printf "| %s | %d | incomplete: %s\n", name, n, $0; next }
                 { printf "| %s | %d | %.0f [%.0f, %.0f] | %.0f | %+.0f %% ", name, n, $1, $2, $3, $4,
                   ($4 / $1 - 1) * 100
                   printf "| %.2f | %.2f | %.2f | %.2f |\n", $5, $8 / ($13 + $14), $9, $12 / ($13 + $14) }'
    done < <(rows)
}

mkdir -p "$folder" || exit 1
for step in measure predict table; do
    if [ "$part" = all ] || [ "$part" = $step ]; then
        $step || exit 1
    fi
done
