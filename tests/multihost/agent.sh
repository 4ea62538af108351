#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# agent.sh ADDRESS COMMAND...: what ssh would do, for hosts that are network namespaces. The namespace is named after
# the last number of the address, behind $MULTIHOST_PREFIX; its host name is the same.

address=$1
shift
host=$MULTIHOST_PREFIX${address##*.}
# As ssh: the words are one line for the host's shell.
# shellcheck disable=SC2016
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$1"; shift; exec bash -c "$*"' agent "$host" "$@"
