#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every plot of analysis/, on small runs of each kind of system and on a made-up sweep.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

[ "$PYTHON" != no ] || skip "configure found no python3 with h5py, pandas and matplotlib"

export MPLCONFIGDIR="$scratch/matplotlib"
mkdir -p "$MPLCONFIGDIR"

play() # NAME DECK OPTIONS...
{
    local name=$1 deck=$2
    shift 2
    alone run "$top_srcdir/inputs/$deck.deck" -q -o "$scratch/$name" --trace jobs "$@"
}

check "a brokered run" play flux flux-bulksubmit --test
check "one with another seed" play flux-2 flux-bulksubmit --test --seed 2
check "a client that collects its heap" play falkon falkon-1b --set heap.leak-per-million=40960000B \
    --set workload.jobs=1000000
check "shared files" play io io-fuse --test
check "a batch scheduler" play batch batch-three-policies --test

check "everything is plotted" "$PYTHON" "$top_srcdir/tests/python/test_plots.py" "$scratch"

done_testing
