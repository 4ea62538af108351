# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Starting tiercel without a launcher, many times and at the same time. Read after tests/lib.sh.
#
# Open MPI 4.1 starts a daemon for a process that is alone, unless told that it stays so; it then makes a folder that
# all such processes share, and two that make it at once fail, unless told that none is needed.

alone_environment=(OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_orte_create_session_dirs=0)

alone() # ARGUMENTS...
{
    env "${alone_environment[@]}" "$TIERCEL" "$@" </dev/null
}
