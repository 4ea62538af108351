# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# Which files the hygiene tests look at. Read after tests/lib.sh.

# tracked_files: every file that git tracks, relative to the top of the sources; fails outside a git work tree, as in
# an unpacked archive
tracked_files()
{
    command -v git >/dev/null 2>&1 || return 1
    [ "$(git -C "$top_srcdir" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$top_srcdir" && pwd -P)" ] || return 1
    git -C "$top_srcdir" ls-files
}

# source_files NAME-PATTERN...: the sources whose names match one of the patterns, relative to the top, sorted.
# From git where there is one, else whatever lies in the folders of the project.
source_files()
{
    local patterns=() pattern
    if tracked_files >"$scratch/tracked" 2>/dev/null; then
        for pattern in "$@"; do
            patterns+=("$pattern" "*/$pattern")
        done
        git -C "$top_srcdir" ls-files -- "${patterns[@]}" | sort -u
        return
    fi
    for pattern in "$@"; do
        patterns+=(-o -name "$pattern")
    done
    (cd "$top_srcdir" && find sim tests bench analysis inputs doc m4 -type f \( "${patterns[@]:1}" \) | sort -u)
}
