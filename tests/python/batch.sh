#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# jobs.csv read by pandas, and an exported log played again.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

[ "$PYTHON" != no ] || skip "configure found no python3 with h5py, pandas and matplotlib"

export "${alone_environment[@]}"
"$PYTHON" "$top_srcdir/tests/python/test_batch.py" "$(readlink -f "$TIERCEL")" "$scratch"
check "jobs.csv has what Batsim's has, and an exported log gives the same schedule" test $? -eq 0

done_testing
