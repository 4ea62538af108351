#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The theory decks against their formulas, 20 seeds each (test_theory.c says how).

. "$top_srcdir/tests/lib.sh"

check "the theory decks agree with their formulas" mpi 2 "$top_builddir/tests/theory/test_theory" "$scratch"
done_testing
