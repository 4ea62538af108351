#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# lockfs_rates.sh FOLDER [measure|predict|table]: what the kernel's lock on a file costs 4, 8 and 16 writers on this
# machine, measured under tiercel-lockfs with a service of 1 ms, beside what the virtual clock makes of it. Three parts,
# all of them unless one is named; `measure` wants the machine for itself, for a minute.
#
#     measure    plays every row ROUNDS times (default 5), each round in an order of its own. The writers are processes
#                that call pwrite
#     predict    takes the service time from the lone writer's rate, and nothing else, and plays the rows' deck
#     table      prints what came out, for doc/validation.md
#
# BUILD (default: build/), ROUNDS and WRITES (a writer, default 100) may be set. Needs what tiercel-lockfs needs to
# mount. No figure is dropped: a cell is the median over the rounds, with the extremes.

set -u
folder=${1:?usage: lockfs_rates.sh FOLDER [measure|predict|table]}
part=${2:-all}
here=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$here/build}
ROUNDS=${ROUNDS:-5}
WRITES=${WRITES:-100}
request_ns=1000000

# name writers flag where: `lone` must be there
rows()
{
    local n
    echo "lone 1 - -"
    for n in 4 8 16; do
        echo "serial-$n $n - -"
        echo "serial-within-$n $n - within"
        echo "extending-$n $n --parallel -"
        echo "within-$n $n --parallel within"
    done
}

value() # FILE KEY
{
    sed -n "s/^$2 //p" "$1" | tail -n 1
}

measure()
{
    local i name n flag where options
    mkdir -p "$folder/mount"
    for ((i = 1; i <= ROUNDS; i++)); do
        echo "# round $i, load $(cut -d ' ' -f 1-2 /proc/loadavg)" >&2
        while read -r name n flag where; do
            options=(--request "${request_ns}ns" --statistics "$folder/$name-$i.stat")
            [ "$flag" = - ] || options+=("$flag")
            "$BUILD/tiercel-lockfs" "${options[@]}" "$folder/mount" "$BUILD/tests/lockfs/write_file" \
                "$folder/mount/shared" "$n" "$WRITES" 64KiB "$where" verify >"$folder/$name-$i.wall" </dev/null ||
                echo "# $name: round $i failed"
        done < <(rows | shuf --random-source=<(yes "$i"))
    done
}

# Where the kernel does not tell, it is what Debian's have.
kernel_hz()
{
    { zcat /proc/config.gz 2>/dev/null || cat "/boot/config-$(uname -r)" 2>/dev/null; echo CONFIG_HZ=250; } |
        sed -n 's/^CONFIG_HZ=//p' | head -n 1
}

# deck REQUEST_NS: the rows, for the virtual clock
deck()
{
    local name n flag where
    printf '[deck]\nformat = 1\n[system]\nkind = io\n[network]\nhop-latency = 10us\nlocal-latency = 1us\n'
    printf '[lock]\nhz = %s\n[server]\nrequest = %sns\n' "$(kernel_hz)" "$1"
    while read -r name n flag where; do
        printf '[io.%s]\nwriters = %s\ntransfer = 64KiB\nsegments = %s\n' "$name" "$n" "$WRITES"
        [ "$flag" != - ] || echo "lock = exclusive"
        [ "$where" = - ] || echo "pre-extend = set-size"
    done < <(rows)
}

# predicted NAME KEY
predicted()
{
    sed -n "s/^ *\"$1\": {.*\"$2\": \([0-9.e+-]*\).*/\1/p" "$folder/virtual.json" | head -n 1
}

play() # REQUEST_NS
{
    deck "$1" >"$folder/rows.deck"
    "$BUILD/tiercel" run "$folder/rows.deck" -q -o "$folder/virtual" --force --summary "$folder/virtual.json" </dev/null
}

# measured NAME KEY: median, least and most over the rounds
measured()
{
    local i
    for ((i = 1; i <= ROUNDS; i++)); do
        case $2 in
        wall_*) value "$folder/$1-$i.wall" "$2" ;;
        share_*) awk -v a="$(value "$folder/$1-$i.stat" "${2#share_}")" -v b="$(value "$folder/$1-$i.stat" writes)" \
            'BEGIN { if (b > 0) print a / b }' ;;
        *) value "$folder/$1-$i.stat" "$2" ;;
        esac
    done | sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

predict()
{
    local lone
    play $request_ns || return 1
    # The model adds its own ways and returns to the request; what is left of the measured interval is the request.
    lone=$(predicted lone writes_per_s)
    play "$(awk -v m="$(measured lone wall_writes_per_s)" -v p="$lone" -v r=$request_ns \
        'BEGIN { split(m, v, " "); printf "%.0f", 1e9 / v[1] - (1e9 / p - r) }')"
}

table()
{
    local name n flag where
    echo "# $(uname -sr), CONFIG_HZ=$(kernel_hz), $(nproc) cores, $ROUNDS rounds," \
        "$(sed -n 's/^request = //p' "$folder/rows.deck") a request in the model"
    echo "| row | writers | measured, writes/s [least, most] | predicted | error | alone, measured | predicted |" \
        "extending, measured | predicted |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    while read -r name n flag where; do
        echo "$(measured "$name" wall_writes_per_s) $(predicted "$name" writes_per_s)" \
            "$(measured "$name" share_lone_writes) $(predicted "$name" lone_writes) $(predicted "$name" writes)" \
            "$(measured "$name" share_extending_writes) $(predicted "$name" extending_share)" |
            awk -v name="${name%-"$n"}" -v n="$n" \
                'NF != 13 { printf "| %s | %d | incomplete: %s\n", name, n, $0; next }
                 { printf "| %s | %d | %.0f [%.0f, %.0f] | %.0f | %+.0f %% ", name, n, $1, $2, $3, $4,
                   ($4 / $1 - 1) * 100
                   printf "| %.3f | %.3f | %.3f | %.3f |\n", $5, $8 / $9, $10, $13 }'
    done < <(rows)
}

mkdir -p "$folder" || exit 1
for step in measure predict table; do
    if [ "$part" = all ] || [ "$part" = $step ]; then
        $step || exit 1
    fi
done
