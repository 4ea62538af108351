#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# flux-counts.deck: subscription calls as counted by hand, for every scheme, small and as it is shipped. On 4 nodes
# with fan-out 2 a namespace of node 0, 1, 2, 3 is used on 0, 1, 1, 2 nodes below the root; two jobs on each node make
# 8 such uses for 8 jobs.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

value() # SCHEME GROUP KEY: of its summary
{
    sed -n "/\"$2\": {/,/}/s/.*\"$3\": \([0-9]*\),*$/\1/p" "$1.json"
}

is() # SCHEME GROUP KEY NUMBER
{
    [ "$(value "$1" "$2" "$3")" -eq "$4" ] && return 0
    echo "# $2.$3 is $(value "$1" "$2" "$3") instead of $4"
    return 1
}

# Calls a namespace: of node 0's kvs, of each other kvs that uses it, of its watcher; and the entries that node 0's kvs
# and each other kvs leave in its broker's list.
for row in "v0.16 5 5 6 1 1" "pr2777 0 6 6 0 2" "pr2792 0 2 2 0 0"; do
    read -r scheme root follower watcher root_leak follower_leak <<<"$row"
    check "$scheme runs" expect_status 0 alone run "$top_srcdir/inputs/flux-counts.deck" --test -q -o "$scheme" \
        --summary "$scheme.json" --set "events.scheme=$scheme"
    check "$scheme makes the calls" is "$scheme" subscribe namespace_calls $((8 * root + 8 * follower + 8 * watcher))
    check "$scheme leaves its entries" is "$scheme" subscribe entries_left $((8 * root_leak + 8 * follower_leak))
    check "$scheme makes a namespace a job" is "$scheme" kvs namespaces_created 8
    check "$scheme removes them" is "$scheme" kvs namespaces_removed 8
    check "$scheme merges nothing" is "$scheme" kvs merged 0
    check "$scheme applies every transaction" is "$scheme" kvs commits "$(value "$scheme" kvs transactions)"
    check "$scheme sends each event to every node" \
        is "$scheme" event overlay_messages $((3 * $(value "$scheme" event published)))
done

# A preset, as check prints it, is the same scheme.
digest() # SUMMARY
{
    sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$1"
}

for scheme in v0.16 pr2777 pr2792; do
    {
        printf '[deck]\nformat = 1\nbase = %s\n' "$top_srcdir/inputs/flux-counts.deck"
        alone check "$top_srcdir/inputs/flux-counts.deck" --set "events.scheme=$scheme" |
            sed -n '/^# The scheme /,$s/^# \([[a-z].*\)/\1/p'
    } >"custom-$scheme.deck"
    check "$scheme as lines of a deck runs" expect_status 0 alone run "custom-$scheme.deck" --test -q \
        -o "custom-$scheme" --summary custom.json
    check "$scheme as lines of a deck is $scheme" [ "$(digest custom.json)" = "$(digest "$scheme.json")" ]
done

# As shipped: 64 jobs on each of 16 nodes. A namespace is used on 38/16 nodes below the root on average, so 1024 of them
# make 1024 x (5 + 2.375 x 5 + 6), 1024 x (0 + 2.375 x 6 + 6) and 1024 x (0 + 2.375 x 2 + 2) calls.
if [ -z "${SMOKE:-}" ]; then
    for row in "v0.16 23424" "pr2777 20736" "pr2792 6912"; do
        read -r scheme calls <<<"$row"
        check "$scheme runs in full" expect_status 0 alone run "$top_srcdir/inputs/flux-counts.deck" -q \
            -o "full-$scheme" --summary "full-$scheme.json" --set "events.scheme=$scheme"
        check "$scheme makes $calls calls for 1024 jobs" is "full-$scheme" subscribe namespace_calls "$calls"
        check "$scheme completes them" is "full-$scheme" jobs completed 1024
        check "$scheme sends each event to 15 other nodes" \
            is "full-$scheme" event overlay_messages $((15 * $(value "full-$scheme" event published)))
    done
fi

done_testing
