#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What make install installs works from there: decks by their names from any folder, manual pages, the module file, the
# analysis. In the long form from the archive, built where no autotools are.

. "$top_srcdir/tests/lib.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

setting() # NAME: as the Makefile of $builddir has it
{
    make -s -C "$builddir" -f - print <<<"include Makefile
print: ; @echo \$($1)"
}

# look_at: what was installed from $builddir below $destination
look_at()
{
    local bin pkgdata man version
    bin=$destination$(setting bindir) man=$destination$(setting mandir)
    pkgdata=$destination$(setting pkgdatadir) version=$(setting PACKAGE_VERSION)

    check "the program is there" "$bin/tiercel" --version >"$scratch/version"
    check "of this version" grep -q "tiercel $version" "$scratch/version"
    for page in man1/tiercel.1 man5/tiercel-deck.5 man5/tiercel-trace.5; do
        check "$page is there" test -s "$man/$page"
    done
    for deck in flux-bulksubmit sweeps/falkon-services; do
        check "the deck $deck is there" test -s "$pkgdata/inputs/$deck.deck"
    done
    check "the analysis is there" test -x "$pkgdata/analysis/plot.py"
    check "the module is there, and names the folder of the program" \
        grep -q "^prepend-path PATH  *$(setting bindir)\$" "$pkgdata/modulefiles/tiercel/$version"
    check "and nothing that was to be replaced is left in it" \
        test -z "$(grep -o '@[A-Za-z]*@' "$pkgdata/modulefiles/tiercel/$version")"

    rm -rf "$scratch/elsewhere" && mkdir -p "$scratch/elsewhere/mine"
    printf '[deck]\nformat = 1\nbase = flux-counts\n' >"$scratch/elsewhere/mine/own.deck"
    in_folder()
    {
        (cd "$scratch/elsewhere" && "$@" </dev/null >"$scratch/said" 2>&1)
    }
    check "a deck is run by its name from another folder" in_folder "$bin/tiercel" run flux-counts --test -o run -q
    check "its trace is whole" in_folder "$bin/tiercel" verify run/trace.h5
    check "one in a folder of the installed, too" in_folder "$bin/tiercel" sweep sweeps/flux-fanout --dry-run
    check "an own deck builds on one by its name" in_folder "$bin/tiercel" run mine/own.deck --test -o own -q
    if [ "$PYTHON" != no ]; then
        check "the installed analysis plots it" in_folder env "MPLCONFIGDIR=$scratch" "$PYTHON" \
            "$pkgdata/analysis/plot.py" roles run -o "$scratch/roles.svg"
    fi
}

# What the recipe says to configure is known there: AutotoolsPackage with stand-ins for Spack's own words.
recipe_fits()
{
    "$PYTHON" - "$top_srcdir" <<'END'
import contextlib, subprocess, sys, types
top = sys.argv[1]
stand_in = types.ModuleType("spack.package")
known = ("variant", "depends_on", "license")
versions = []
class AutotoolsPackage:
    def enable_or_disable(self, name): return [f"--enable-{name}"]
    spec = {"random123": types.SimpleNamespace(prefix=types.SimpleNamespace(include="/r/include"))}
for word in known: setattr(stand_in, word, lambda *a, **k: None)
stand_in.version = lambda text, **k: versions.append(text)
stand_in.when = lambda *a: contextlib.nullcontext()
stand_in.AutotoolsPackage = AutotoolsPackage
sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": stand_in})
scope = {}
exec(open(f"{top}/packaging/spack/package.py").read(), scope)
arguments = scope["Tiercel"]().configure_args()
text = subprocess.run([f"{top}/configure", "--help"], capture_output=True, text=True).stdout
assert all(argument.split("=")[0] in text for argument in arguments), arguments
assert f"tiercel {versions[0]}" in text, versions
END
}

if [ "$PYTHON" != no ]; then
    check "the recipe for Spack is of this version, and configure knows what it asks for" recipe_fits
fi

builddir=$top_builddir destination=$scratch/root
check "make install" make -s -C "$builddir" install "DESTDIR=$destination" >"$scratch/log" 2>&1
look_at

[ -n "$LONG" ] || done_testing

# A folder of all commands but the autotools.
mkdir "$scratch/commands"
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
    for command in "$folder"/*; do
        case $(basename "$command") in
            auto* | aclocal* | libtool* | ifnames | m4) ;;
            *) [ ! -x "$command" ] || ln -s "$command" "$scratch/commands/" 2>/dev/null ;;
        esac
    done
done
archive_is_built()
{
    # Its folder is named relative to the build's, and so are its members.
    make -s -C "$top_builddir" dist "distdir=$(basename "$scratch")/tiercel" &&
        tar -C "$scratch" --strip-components=1 -xf "$scratch"/tiercel.tar.xz && mkdir "$scratch/build" && cd "$scratch/build" && export PATH="$scratch/commands" &&
        ! command -v autoconf automake aclocal autoreconf m4 &&
        ../tiercel/configure -q --prefix=/opt/tiercel "CC=$CC" "MPIRUN=$MPIRUN" && make -s -j2 &&
        make -s install "DESTDIR=$scratch/other-root"
}
check "the archive is built and installed without autotools" eval "(archive_is_built) >'$scratch/log' 2>&1"
[ "$checks_failed" -eq 0 ] || done_testing
builddir=$scratch/build destination=$scratch/other-root
look_at

done_testing
