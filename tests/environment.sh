# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# What every test finds in its environment, whoever runs it and on however few cores. Read by make check.
#
#     top_srcdir, top_builddir   absolute; the first may be read-only, so write only below the second
#     TIERCEL                    the program that was built
#     MPIRUN, PYTHON, CC         as configure found them; PYTHON is "no" when there is none that can read a trace
#     SMOKE                      not empty: only the quick part of a long test is wanted
#     LONG                       not empty: all of a long test is wanted (make check-long)

: "${top_srcdir:?}" "${top_builddir:?}"
TIERCEL=$top_builddir/tiercel
SMOKE=${SMOKE:-}
LONG=${LONG:-}
export TIERCEL SMOKE LONG

# Open MPI: run as root if need be, with more processes than cores, on this machine alone. Other launchers ignore these.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_hwloc_base_binding_policy=none
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_btl=self,vader
OMPI_MCA_btl_vader_single_copy_mechanism=none
OMPI_MCA_oob_tcp_if_include=lo
# One-sided: the others need what is switched off above, or a network.
OMPI_MCA_osc=sm,pt2pt
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
    OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_mpi_yield_when_idle OMPI_MCA_btl \
    OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_oob_tcp_if_include OMPI_MCA_osc

# A sanitizer build stops at the first finding (tests/mpi/leaks.c adapts leak detection to MPI). For whole stacks
# in a report set ASAN_EXTRA=fast_unwind_on_malloc=0.
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1${ASAN_EXTRA:+:$ASAN_EXTRA}
LSAN_OPTIONS=suppressions=$top_srcdir/tests/leaks.supp:print_suppressions=0
UBSAN_OPTIONS=print_stacktrace=1
G_SLICE=always-malloc
G_DEBUG=fatal-criticals
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS G_SLICE G_DEBUG

LC_ALL=C
TZ=UTC
MPLBACKEND=Agg
PYTHONDONTWRITEBYTECODE=1
export LC_ALL TZ MPLBACKEND PYTHONDONTWRITEBYTECODE
