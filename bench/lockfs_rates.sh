#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# lockfs_rates.sh FOLDER [measure|predict|table]: what the kernel's lock on a shared file costs its writers on this
# machine, measured under tiercel-lockfs with a service of 1 ms for 64 KiB, beside what the virtual clock makes of it.
# Three parts, all of them unless one is named; `measure` wants the machine for itself, for some minutes.
#
#     measure    plays every row ROUNDS times (default 5), each round in an order of its own. Writers are processes that
#                call pwrite, or live runs of tiercel, through either MPI-IO of Open MPI. Then calibrates, for each
#                number of collective writers
#     predict    plays the same rows on the virtual clock. Of independent writes the service is that of lone writers of
#                64 and 256 KiB; of collective ones service and meetings are the calibration's (`tiercel calibrate`).
#                Nothing else is from here
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

# name by writers flag where collective: by is pwrite, ompio or romio; the lone rows give the service time, those that
# end in -long with blocks four times as long
rows()
{
    local n by
    {
        for by in pwrite ompio romio; do
            echo "$by-lone $by 1 - - none"
            echo "$by-lone-long $by 1 - - none"
            for n in 4 8 16; do
                echo "$by-serial-$n $by $n - - none"
                echo "$by-serial-within-$n $by $n - within none"
                echo "$by-extending-$n $by $n --parallel - none"
                echo "$by-within-$n $by $n --parallel within none"
            done
        done
        for by in ompio romio; do
            for n in 4 8 16; do
                echo "$by-all-serial-$n $by $n - - $by"
                echo "$by-all-serial-within-$n $by $n - within $by"
                echo "$by-all-extending-$n $by $n --parallel - $by"
                echo "$by-all-within-$n $by $n --parallel within $by"
            done
        done
        for n in 2 4 8; do
            echo "ompio-all-within-8-aggregators-$n ompio 8 --parallel within ompio"
        done
    } | awk -v names="$ROWS" '$1 ~ names'
}

block_of() # NAME: bytes of a write
{
    case $1 in
    *-long) echo $((4 * transfer)) ;;
    *) echo $transfer ;;
    esac
}

# group NAME WRITERS LOCK WHERE COLLECTIVE: of a deck
group()
{
    printf '[io.%s]\nwriters = %s\ntransfer = %sB\nsegments = %s\nlock = %s\n' "$1" "$2" "$(block_of "$1")" \
        "$WRITES" "$3"
    [ "$4" = - ] || echo "pre-extend = set-size"
    [ "$5" = none ] || printf 'collective = %s\n' "$5"
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
        run=("$BUILD/tests/lockfs/write_file" "$folder/mount/shared" "$4" "$WRITES" "$(block_of "$2")B" "$6" verify)
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

# combinations: by and writers of the collective rows
combinations()
{
    rows | awk '$6 != "none" { print $2, $3 }' | sort -u
}

calibrate_all()
{
    local by n
    while read -r by n; do
        { head_of_deck; group calibrate "$n" none - none; } >"$folder/calibrate.deck"
        rm -f "$folder/$by-$n.costs"
        # shellcheck disable=SC2086
        $AS "$BUILD/tiercel-lockfs" --request "${fixed_ns}ns + ${per_byte_ns}ns/B" --parallel --statistics /dev/null \
            "$folder/mount" "$MPIRUN" --mca io "$(io_component "$by")" -n "$n" "$BUILD/tiercel" calibrate \
            "$folder/calibrate.deck" --set "server.folder=$folder/mount" --profile "$folder/$by-$n.costs" </dev/null ||
            echo "# $by-$n: no calibration"
    done < <(combinations)
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
    calibrate_all
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
            awk -v b="$(figure "$out.json" "$2" bytes)" -v s="$(figure "$out.json" "$2" write_s)" \
                -v t="$(block_of "$2")" 'BEGIN { if (s > 0) print b / t / s }'
        fi
    done | sort -g | awk -v n="$ROUNDS" '{ v[NR] = $1 } END { if (NR == n) print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

predicted() # NAME DECK
{
    awk -v b="$(figure "$folder/$2.json" "$1" bytes)" -v e="$(figure "$folder/$2.json" "$1" ended_s)" \
        -v t="$(block_of "$1")" -v p="$(figure "$folder/$2.json" "$1" prepared_s)" \
        'BEGIN { if (e > p) print b / t / (e - p) }'
}

# deck_of BY WRITERS COLLECTIVE: which deck predicts a row
deck_of()
{
    if [ "$3" = none ]; then
        echo "$1"
    else
        echo "$1-$2"
    fi
}

# play_virtually DECK KEYS: the rows that it predicts, with these lines for its costs
play_virtually()
{
    local name by n flag where collective
    {
        head_of_deck
        # The kernel's lock is the model's, whatever a profile says of an emulated one.
        printf '[lock]\nhz = %s\nqueue = kernel\nwake = uniform(10us, 30us)\nreturn = uniform(7500ns, 22500ns)\n' \
            "$(kernel_hz)"
        printf '[server]\nmax-write = 1MiB\n%s\n' "$2"
        while read -r name by n flag where collective; do
            [ "$(deck_of "$by" "$n" "$collective")" = "$1" ] || continue
            group "$name" "$n" "$([ "$flag" = - ] && echo exclusive || echo shared)" "$where" "$collective"
        done < <(rows)
    } >"$folder/$1.deck"
    "$BUILD/tiercel" run "$folder/$1.deck" -q -o "$folder/virtual" --force --summary "$folder/$1.json" </dev/null
}

# byte_ps LONE LONG: of the service, from the rates of lone writers
byte_ps()
{
    awk -v a="${1%% *}" -v b="${2%% *}" -v t=$transfer -v c=$per_byte_ns \
        'BEGIN { printf "%.0f", (a > 0 && b > 0 ? (1e9 / b - 1e9 / a) / (3 * t) : c) * 1000 }'
}

predict()
{
    local by n lone byte
    for by in $(rows | awk '{ print $2 }' | sort -u); do
        lone=$(measured rate "$by-lone" "$by")
        byte=$(byte_ps "$lone" "$(measured rate "$by-lone-long" "$by")")
        play_virtually "$by" "request = ${fixed_ns}ns + ${byte}ps/B" || return 1
        # The model adds its own ways and returns, and the part per byte; what is left of the interval is the rest.
        play_virtually "$by" "request = $(awk -v m="${lone%% *}" -v p="$(predicted "$by-lone" "$by")" -v r=$fixed_ns \
            'BEGIN { f = 1e9 / m - (1e9 / p - r); printf "%.0f", (f > 1 ? f : 1) }')ns + ${byte}ps/B" || return 1
    done
    while read -r by n; do
        play_virtually "$by-$n" "[costs]
profile = $by-$n" || return 1
    done < <(combinations)
}

table()
{
    local name by n flag where collective deck
    echo "# $(uname -sr), CONFIG_HZ=$(kernel_hz), $(nproc) cores, $ROUNDS rounds of $WRITES writes a writer${AS:+, $AS}"
    for by in $(rows | awk '{ print $2 }' | sort -u); do
        echo "# $by: a request of $(sed -n 's/^request = //p' "$folder/$by.deck") in the model"
    done
    while read -r by n; do
        echo "# $by, $n collective writers: $(sed -n '/^\(request\|exchange\|operation\|share\|cores\) = /p' \
            "$folder/$by-$n.costs" | paste -s -d ,)"
    done < <(combinations)
    echo "| row | writers | measured, writes/s [least, most] | predicted | error | alone, measured | predicted |" \
        "extending, measured | predicted |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    while read -r name by n flag where collective; do
        deck=$folder/$(deck_of "$by" "$n" "$collective").json
        echo "$(measured rate "$name" "$by") $(predicted "$name" "$(basename "$deck" .json)")" \
            "$(measured lone_writes "$name" "$by") $(figure "$deck" "$name" lone_writes)" \
            "$(measured extending_writes "$name" "$by") $(figure "$deck" "$name" extending_writes)" \
            "$(figure "$deck" "$name" exclusive_locks) $(figure "$deck" "$name" shared_locks)" |
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
