#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Dependencies point one way: which folder may include what, and who may know MPI and HDF5 (doc/design.md, section 4).

. "$top_srcdir/tests/lib.sh"

# wrong_includes ROOT: prints FILE: INCLUDED for every include that points the wrong way in the C files below ROOT/sim
wrong_includes()
{
    (cd "$1" && find sim -name '*.[ch]' | sort | while read -r file; do
        awk -v file="$file" '
            BEGIN {
                allowed["base"] = "base"
                allowed["engine"] = "base engine"
                allowed["kvs"] = "base kvs"
                allowed["sched"] = "base sched"
                allowed["workload"] = "base workload"
                allowed["io"] = "base io"
                allowed["trace"] = "base trace"
                allowed["report"] = "base trace report"
                allowed["lockfs"] = "base lockfs"
                allowed["ranks"] = "base engine kvs sched workload io trace ranks"
                split(file, parts, "/")
                folder = parts[3] == "" ? "" : parts[2]
            }
            # A file of sim/ itself puts the parts together and may include everything.
            function may_include(target) {
                if (folder == "")
                    return 1
                return index(" " allowed[folder] " ", " " target " ") > 0
            }
            # Beside the engine: the back end that writes real files, and the merging of what processes have measured.
            function may_use_mpi() {
                return folder == "" || folder == "engine" || file ~ /^sim\/io\/mpiio[^\/]*$/ ||
                       file ~ /^sim\/trace\/gather\.[ch]$/
            }
            /^[ \t]*#[ \t]*include[ \t]*"/ {
                name = $0
                sub(/^[^"]*"/, "", name)
                sub(/".*/, "", name)
                if (name == "config.h")
                    next
                slash = index(name, "/")
                target = slash ? substr(name, 1, slash - 1) : ""
                if (target == "" && folder != "" || target != "" && !may_include(target))
                    print file ": \"" name "\""
            }
            /^[ \t]*#[ \t]*include[ \t]*<(mpi|mpi-ext)\.h>/ {
                if (!may_use_mpi())
                    print file ": <mpi.h>"
            }
            /^[ \t]*#[ \t]*include[ \t]*<hdf5/ {
                if (folder != "" && folder != "trace")
                    print file ": <hdf5.h>"
            }' "$file"
    done)
}

# The check itself, on a small tree with one mistake of each kind and everything that is allowed beside them.
mkdir -p "$scratch/sim/kvs" "$scratch/sim/ranks" "$scratch/sim/engine" "$scratch/sim/trace" "$scratch/sim/io"
printf '#include "kvs/a.h"\n#include "base/error.h"\n#include <glib.h>\n' >"$scratch/sim/kvs/right.c"
printf '#include "kvs/a.h"\n#include "engine/actor.h"\n#include "trace/trace.h"\n' >"$scratch/sim/ranks/right.c"
printf '#include <mpi.h>\n#include "config.h"\n' >"$scratch/sim/engine/right.c"
printf '#include <mpi.h>\n' >"$scratch/sim/io/mpiio.c"
printf '#include <hdf5.h>\n' >"$scratch/sim/trace/right.c"
printf '#include "ranks/broker.h"\n#include <mpi.h>\n' >"$scratch/sim/right.c"
wrong_includes "$scratch" >"$scratch/found"
check "includes that are allowed are let through" test ! -s "$scratch/found"
printf '#include "engine/actor.h"\n' >"$scratch/sim/kvs/wrong.h"
printf '#  include <mpi.h>\n#include <hdf5.h>\n' >"$scratch/sim/ranks/wrong.c"
printf '#include "ranks/broker.h"\n#include "actor.h"\n' >"$scratch/sim/engine/wrong.c"
printf '#include <mpi.h>\n' >"$scratch/sim/io/wrong.c"
cat >"$scratch/expected" <<'EOF'
sim/engine/wrong.c: "ranks/broker.h"
sim/engine/wrong.c: "actor.h"
sim/io/wrong.c: <mpi.h>
sim/kvs/wrong.h: "engine/actor.h"
sim/ranks/wrong.c: <mpi.h>
sim/ranks/wrong.c: <hdf5.h>
EOF
wrong_includes "$scratch" >"$scratch/found"
check "each include that is not allowed is found" diff "$scratch/expected" "$scratch/found"

wrong_includes "$top_srcdir" >"$scratch/wrong"
sed 's/^/# /' "$scratch/wrong"
check "every include of the sources points the right way" test ! -s "$scratch/wrong"

done_testing
