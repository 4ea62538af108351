#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A live deck on three hosts that only TCP joins; what crossed it is read from the links' own counters.

. "$top_srcdir/tests/lib.sh"

[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
command -v ip >/dev/null 2>&1 || skip "ip (iproute2) is not installed"
command -v unshare >/dev/null 2>&1 || skip "unshare (util-linux) is not installed"
"$MPIRUN" --version 2>/dev/null | grep -q "Open MPI" || skip "the launch agent is Open MPI's"

# Names of this run alone; those of interfaces have 15 letters at most.
MULTIHOST_PREFIX=tl$$h
export MULTIHOST_PREFIX
bridge=${MULTIHOST_PREFIX}b
network=10.213.77

take_down()
{
    local space p
    for space in "$MULTIHOST_PREFIX"{1,2,3} "$bridge"; do
        ip netns list 2>/dev/null | grep -q "^$space\b" || continue
        for p in $(ip netns pids "$space"); do
            kill -9 "$p" 2>/dev/null
        done
        ip netns del "$space"
    done
}

leave()
{
    local status=$?
    take_down
    (exit "$status")
    test_leave
}
trap leave EXIT
trap 'exit 99' INT TERM HUP

make_host() # NUMBER
{
    local host=$MULTIHOST_PREFIX$1
    ip netns add "$host" &&
        ip link add "${host}v" netns "$bridge" type veth peer name eth0 netns "$host" &&
        ip -n "$bridge" link set "${host}v" master bridge0 up &&
        ip -n "$host" address add "$network.$1/24" dev eth0 &&
        ip -n "$host" link set lo up &&
        ip -n "$host" link set eth0 up
}

make_network()
{
    local i
    ip netns add "$bridge" && ip -n "$bridge" link add bridge0 type bridge && ip -n "$bridge" link set bridge0 up ||
        return 1
    for i in 1 2 3; do
        make_host "$i" || return 1
    done
}

make_network 2>"$scratch/network.err" || skip "network namespaces cannot be made here: $(tail -1 "$scratch/network.err")"
for ((i = 0; i < 50; i++)); do
    ip netns exec "${MULTIHOST_PREFIX}1" bash -c "exec 3<>/dev/tcp/$network.3/9" 2>&1 | grep -q "refused" && break
    sleep 0.1
done
[ "$i" -lt 50 ] || skip "the bridge does not pass packets between namespaces here"

sent() # HOST: bytes that its link has sent
{
    ip netns exec "$MULTIHOST_PREFIX$1" cat /sys/class/net/eth0/statistics/tx_bytes
}

value() # KEY: of the summary
{
    sed -n "s/.*\"$1\": \([0-9.a-z]*\),*$/\1/p" "$scratch/summary.json" | head -1
}

above() # LIMIT NUMBER
{
    [ "$2" -gt "$1" ] && return 0
    echo "# $2 is not above $1"
    return 1
}

printf '%s slots=1\n' "$network.1" "$network.2" "$network.3" >"$scratch/hosts"

on_hosts() # ARGUMENTS...: tiercel on the three hosts, a process each
{
    timeout -k 10 240 "$top_srcdir/tests/multihost/agent.sh" "$network.1" "$MPIRUN" -n 3 \
        --hostfile "$scratch/hosts" --map-by node \
        --mca plm_rsh_agent "$top_srcdir/tests/multihost/agent.sh" --mca plm_rsh_no_tree_spawn 1 \
        --mca btl self,tcp --mca btl_tcp_if_include "$network.0/24" \
        --mca oob_tcp_if_include "$network.0/24" --mca orte_keep_fqdn_hostnames 1 \
        "$TIERCEL" "$@" </dev/null
}

before=("$(sent 1)" "$(sent 2)" "$(sent 3)")
check "a brokered deck runs live on three hosts" expect_status 0 on_hosts run --clock live \
    "$top_srcdir/inputs/live-brokered.deck" -q -o "$scratch/out" --summary "$scratch/summary.json"
check "the summary counts three machines" test "$(value machines)" = 3
check "all jobs complete" grep -q '"completed": 32,' "$scratch/summary.json"
check "the balances hold" test "$(grep -c '"ok": false' "$scratch/summary.json")" -eq 0
remote=$(value remote_messages)
check "processes sent each other messages" above 1000 "${remote:-0}"
all=0
for i in 1 2 3; do
    bytes=$(($(sent "$i") - before[i - 1]))
    echo "# host $i sent $bytes bytes"
    check "host $i sent some of them over its link" above 50000 "$bytes"
    all=$((all + bytes))
done
# A message is a record of 32 bytes at least.
check "all of them crossed the links" above $((32 * ${remote:-0})) "$all"
take_down
check "nothing is left of the hosts" test "$(ip netns list | grep -c "^$MULTIHOST_PREFIX")" -eq 0

done_testing
