#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What README.md and the guide tell to type can be typed, and what they say is printed is printed.
#
# Blocks of code that begin with ```sh are scripts, those with ```console have commands after "$ ", each followed by
# what it prints, with "..." for lines left out. Both are run from the top of a tree like the sources', page by page.
# Where "long" follows the word, decks are run in their [test] form and only the exit status counts; so are all when
# SMOKE is set.

. "$top_srcdir/tests/lib.sh"

grep -q 'fsanitize=' "$top_builddir/Makefile" && skip "the sanitizer build plays these decks in other tests"
short=$SMOKE

tree=$scratch/tree
mkdir -p "$tree/bin" "$tree/build"
ln -s "$top_srcdir/inputs" "$top_srcdir/analysis" "$top_srcdir/doc" "$tree/"
ln -s "$(command -v "$MPIRUN")" "$tree/bin/mpirun"
[ "$PYTHON" = no ] || ln -s "$(command -v "$PYTHON")" "$tree/bin/python3"
export PATH="$tree/build:$tree/bin:$PATH" MPLCONFIGDIR="$scratch/matplotlib" GUIDE_FORM=

# The program, which adds --test in the short form. A comparison then is of two seeds, and a fit of one run a row, and
# it fits nothing.
cat >"$tree/build/tiercel" <<'END'
#!/bin/bash
case $GUIDE_FORM,$1 in
    short,compare)
        arguments=("$@")
        for i in "${!arguments[@]}"; do
            [ "${arguments[i]}" != --seeds ] || arguments[i + 1]=2
        done
        exec "$TIERCEL" "${arguments[@]}" --test
        ;;
    short,run | short,check | short,sweep) exec "$TIERCEL" "$@" --test ;;
    short,fit)
        [ "$3" != --profile ] || cp inputs/costs/flux-2020.costs "$4" || exit
        exec "$TIERCEL" fit "$2" --seeds 1 --sensitivity
        ;;
esac
exec "$TIERCEL" "$@"
END
chmod +x "$tree/build/tiercel"

# blocks PAGE FOLDER: each block as FOLDER/NN.sh, .long.sh, .console or .long.console
blocks()
{
    awk -v folder="$2" '
        /^```(sh|console)/ && !inside {
            inside = 1
            ending = (/ long$/ ? ".long" : "") (/^```sh/ ? ".sh" : ".console")
            file = sprintf("%s/%02d%s", folder, ++number, ending)
            printf "" >file
            next
        }
        /^```/ { if (inside) close(file); inside = 0; next }
        inside { print >file }' "$1"
}

# What differs from run to run: times of this machine.
steady()
{
    sed -E 's/ in [0-9.]+ s, digest/, digest/'
}

# printed EXPECTED ACTUAL: whether all lines of the one are in the other in that order, but for "..."
printed()
{
    awk 'NR == FNR { if ($0 != "...") wanted[++count] = $0; next }
        $0 == wanted[found + 1] { found++ }
        END { if (found < count) print "# not printed: " wanted[found + 1]; exit found < count }' "$1" "$2" >&3
}

# command_runs FORM COMMAND: what it prints is in $scratch/printed
command_runs()
{
    (cd "$tree" && GUIDE_FORM=$1 timeout 300 bash -e -c "$2" >"$scratch/printed" 2>&1 </dev/null) && return
    tail -n 5 "$scratch/printed" | sed 's/^/#   /' >&3
    return 1
}

can_run() # COMMAND: whether what it needs is there; a plot is half a second's work
{
    case $1 in *python3* | *analysis/*) [ "$PYTHON" != no ] && [ -z "$SMOKE" ] ;; esac
}

# play FORM FILE: the commands of a console block, one after the other
play()
{
    local form=$1 line='' command=''
    : >"$scratch/expected"
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            "$ "*)
                settle "$form" "$command"
                command=${line#"$ "}
                ;;
            *) printf '%s\n' "$line" >>"$scratch/expected" ;;
        esac
    done <"$2"
    settle "$form" "$command"
}

settle() # FORM COMMAND: runs it and looks at what it printed
{
    if [ -n "$2" ] && can_run "$2"; then
        check "$name: $2" command_runs "$1" "$2"
        if [ "$1" = full ] && grep -qvxF ... "$scratch/expected"; then
            steady <"$scratch/expected" >"$scratch/wanted"
            steady <"$scratch/printed" >"$scratch/got"
            check "$name: it prints what the page says" printed "$scratch/wanted" "$scratch/got"
        fi
    fi
    : >"$scratch/expected"
}

printf 'a\n...\nc\n' >"$scratch/wanted"
printf 'a\nb\nd\n' >"$scratch/got"
check "what is not printed is found out" expect_status 1 printed "$scratch/wanted" "$scratch/got" 3>/dev/null

for page in "$top_srcdir/README.md" "$top_srcdir"/doc/guide/*.md; do
    name=$(basename "$page" .md)
    [ "$page" != "$top_srcdir/doc/guide/README.md" ] || continue
    folder=$scratch/$name
    mkdir "$folder"
    blocks "$page" "$folder"
    check "$name has commands" test -n "$(ls "$folder")"
    for file in "$folder"/*; do
        form=full
        case $file in *.long.*) form=short ;; esac
        [ -z "$short" ] || form=short
        case $file in
            *.console) play "$form" "$file" ;;
            *)
                text=$(cat "$file")
                ! can_run "$text" || check "$name: script $(basename "$file")" command_runs "$form" "$text"
                ;;
        esac
    done
done

# Pages link to what is there.
while IFS=: read -r page target; do
    check "$(basename "$page") links to $target, which is there" test -e "$(dirname "$page")/$target"
done < <(grep -noE '\]\([^)#:]+' "$top_srcdir/README.md" "$top_srcdir"/doc/guide/*.md | sed -E 's/:[0-9]+:\]\(/:/' | sort -u)

done_testing
