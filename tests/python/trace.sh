#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The Python readers of traces, with h5py: on a made-up trace, on damaged ones, and on a run of the program.

. "$top_srcdir/tests/lib.sh"

[ "$PYTHON" != no ] || skip "configure found no python3 with h5py, pandas and matplotlib"

mkdir -p "$scratch/written"
test_trace="$top_srcdir/tests/python/test_trace.py"
write_trace="$top_builddir/tests/python/write_trace"

check "what was written is read" "$PYTHON" "$test_trace" written "$scratch/written" "$write_trace"
[ -z "$SMOKE" ] || done_testing
check "damaged traces are refused" "$PYTHON" "$test_trace" damaged "$scratch" "$write_trace"
check "incomplete ones too" "$PYTHON" "$test_trace" incomplete "$scratch" "$write_trace"

# tool PROGRAM OPTION SENTENCE: a check where the program is installed; where it is not, that is said
tool()
{
    if command -v "$1" >/dev/null; then
        check "$3" "$1" "$2" "$scratch/written/trace.h5" >"$scratch/$1.out"
        check "$1 finds what was written" grep -q jobs "$scratch/$1.out"
    else
        echo "# skipped, $1 is not installed: $3"
    fi
}
tool h5ls -r "h5ls lists a trace"
tool h5dump -H "h5dump dumps its headers"

check "the program runs a small deck" "$TIERCEL" run "$top_srcdir/inputs/flux-bulksubmit.deck" -o "$scratch/run" -q \
    --set workload.repeat=4 --set cluster.nodes=4 --trace events
check "its trace has the numbers of its summary" "$PYTHON" "$test_trace" run "$scratch/run"
check "the manual page tells what is in it" "$PYTHON" "$top_srcdir/tests/python/test_layout.py" \
    "$scratch/run/trace.h5" "$top_builddir/doc/tiercel-trace.5"

done_testing
