# SPDX-License-Identifier: BSD-3-Clause
"""A recipe for Spack. Put it into a repository of your own, beside the archive that `make dist` makes:

    spack repo create $HOME/spack-tiercel tiercel
    mkdir $HOME/spack-tiercel/packages/tiercel
    cp packaging/spack/package.py $HOME/spack-tiercel/packages/tiercel/
    spack repo add $HOME/spack-tiercel
    cd FOLDER-OF-THE-ARCHIVE && spack install --no-checksum tiercel
"""

import os

from spack.package import *     # pylint: disable=import-error,wildcard-import,unused-wildcard-import


class Tiercel(AutotoolsPackage):
    """Simulator of distributed job systems: brokers, key-value stores, schedulers, dispatchers and shared files, on a
    virtual or a live clock, parallel over MPI."""

    url = f"file://{os.getcwd()}/tiercel-0.1.0.tar.xz"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("sanitizers", default=False, description="Build with address and undefined-behaviour sanitizers")
    variant("analysis", default=True, description="What reads traces in Python, and plots")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi")
    depends_on("hdf5")
    depends_on("glib")
    depends_on("json-glib")
    depends_on("cunit")
    depends_on("xxhash")
    depends_on("random123", type="build")

    with when("+analysis"):
        depends_on("python@3.9:", type=("build", "run"))
        depends_on("py-h5py", type=("build", "run"))
        depends_on("py-pandas", type=("build", "run"))
        depends_on("py-matplotlib", type=("build", "run"))

    def configure_args(self):
        args = self.enable_or_disable("sanitizers")
        # Found by its header alone.
        args.append("CPPFLAGS=-I" + self.spec["random123"].prefix.include)
        return args
