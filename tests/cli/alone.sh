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

# says_in STATUS FILE TEXT ARGUMENTS...: exit status, and a part of what stands in FILE (out or err)
says_in()
{
    local status=$1 file=$2 text=$3
    shift 3
    expect_status "$status" alone "$@" >out 2>err || { sed 's/^/# /' out err >&3; return 1; }
    grep -qF -- "$text" "$file" && return 0
    sed 's/^/# /' "$file" >&3
    return 1
}

# complains STATUS TEXT ARGUMENTS...: exit status, and what one line of the errors says
complains()
{
    local status=$1 text=$2
    shift 2
    expect_status "$status" alone "$@" >out 2>err || { sed 's/^/# /' err >&3; return 1; }
    [ "$(grep -cF -- "$text" err)" -eq 1 ] && return 0
    sed 's/^/# /' err >&3
    return 1
}

# of NAME GROUP KEY: a number of the summary NAME.json
of()
{
    sed -n "/\"$2\": {/,/}/s/.*\"$3\": \([0-9.e+-]*\),*$/\1/p" "$1.json"
}
