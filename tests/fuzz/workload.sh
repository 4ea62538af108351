#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Damaged logs and JSON workloads: refused, or played; never anything else.

. "$top_srcdir/tests/lib.sh"

fuzz=$top_builddir/tests/fuzz/fuzz_workload
check "damaged workloads are refused or played" "$fuzz" 2 1 "$top_srcdir/tests/fuzz/corpus" >"$scratch/said" 2>&1
sed 's/^/# /' "$scratch/said"

done_testing
