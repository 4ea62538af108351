#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# tiercel report and export: formats, sections, the end of a heap told beforehand, and traces that are no traces.

. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/cli/alone.sh"

cd "$scratch" || exit 99

# value FILE SECTION ROW COLUMN: a number of a report in tsv, found by the text of its row's first column
value()
{
    awk -F'\t' -v section="$2" -v name="$3" -v column="$4" '
        $1 == section && $5 == name { row = $2 }
        $1 == section && $2 == row && $3 == column { print $5; exit }' "$1"
}

near() # VALUE EXPECTED PERCENT
{
    awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && b > 0 && d <= p / 100 * b) }' &&
        return 0
    echo "# $1, expected $2 within $3 %"
    return 1
}

# ---- jobs ----

check "a brokered run" expect_status 0 alone run "$top_srcdir/inputs/flux-bulksubmit.deck" --test --trace jobs -q -o jobs
for section in Run Results "Stages of a job" Roles "The path of a job"; do
    check "the text tells: $section" says_in 0 out "$section" report jobs/trace.h5
done
check "the folder of a run is its trace" says_in 0 out "The path of a job" report jobs
check "for all that read one" says_in 0 out "jobs/trace.h5: complete" verify jobs
check "also for two" expect_status 0 alone diff jobs jobs/trace.h5
check "and what another tool gets" says_in 0 out "; Version" export jobs --format swf
check "another folder is none" says_in 1 err ". is not the folder of a run: it has no trace.h5" report .
check "json can be asked for" says_in 0 out '"format": 1' report jobs/trace.h5 --format json
if command -v python3 >/dev/null; then
    check "and is JSON" python3 -c 'import json, sys; json.load(open("out"))'
fi
check "tsv can be asked for" says_in 0 out $'stages\t1\tstage\t\tingest' report jobs/trace.h5 --format=tsv
cp out jobs.tsv
check "html can be asked for" says_in 0 out "<!DOCTYPE html>" report jobs/trace.h5 --format html
check "the page has its figures" test "$(grep -c '<svg ' out)" -ge 5
check "the page refers to nothing outside" test "$(grep -coE '(src|href)=|url\(|@import|<script' out)" -eq 0
check "every element is closed" test "$(grep -o '<svg ' out | wc -l)" -eq "$(grep -o '</svg>' out | wc -l)"
if command -v python3 >/dev/null; then
    check "each figure is XML" python3 -c '
import re, xml.dom.minidom
page = open("out", encoding="utf-8").read()
figures = re.findall(r"<svg .*?</svg>", page, re.S)
assert len(figures) >= 5
for figure in figures:
    assert "nan" not in xml.dom.minidom.parseString(figure).toxml().lower().replace("nano", "")'
fi
id=$(value jobs.tsv path median id)
check "the path of one job" says_in 0 out "$id" report jobs/trace.h5 --job "$id"
check "only of that one" test "$(grep -c slowest out)" -eq 0
check "a job that is not there" says_in 2 err "no job of this trace has the id 7" report jobs/trace.h5 --job 7
check "a job that is no number" says_in 2 err "is not the id of a job" report jobs/trace.h5 --job x
check "a format that there is not" says_in 2 err "expected text, json, tsv or html" report jobs/trace.h5 --format xml

# The steps of a path have no gap: their lengths add up to the time of the last.
path_adds_up()
{
    awk -F'\t' '$1 == "path" && $3 == "job" { on = $5 == "median" }
        $1 == "path" && on && $3 == "length_s" { sum += $5 }
        $1 == "path" && on && $3 == "since_submit_s" { last = $5 }
        END { d = sum - last; exit !(last > 0 && d < 1e-9 && d > -1e-9) }' jobs.tsv
}
check "the steps of a path add up" path_adds_up

# ---- export, and the critical path ----

check "a run with every message" expect_status 0 alone run "$top_srcdir/inputs/flux-bulksubmit.deck" --test \
    --trace events -q -o events
check "messages tell the critical path" says_in 0 out "critical_path" report events/trace.h5 --format tsv
cp out events.tsv
# Every moment of a job belongs to one role, or to the links.
# shellcheck disable=SC2016
check "its parts are all of the job's time" awk -F'\t' '
    $1 == "critical_path" && $3 == "job" { job = $5 }
    $1 == "critical_path" && $3 == "share" { sum[job] += $5 }
    END { n = 0; for (j in sum) { n++; if (sum[j] < 1 - 1e-9 || sum[j] > 1 + 1e-9) exit 1 } exit n != 2 }' events.tsv
check "kvs-root is on it" grep -q 'critical_path.*kvs-root' events.tsv
check "events are exported" says_in 0 out '"ph":"X"' export events/trace.h5 --format chrome
cp out events.json
check "jobs are exported" says_in 0 out '"ph":"b"' export jobs/trace.h5 --format chrome
cp out jobs.json
nested() # FILE: valid JSON, whose slices are properly nested
{
    python3 -c '
import json, sys
events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
tracks, open_spans, slices = {}, {}, 0
for e in events:
    if e["ph"] == "X":
        tracks.setdefault((e["pid"], e["tid"]), []).append((round(e["ts"] * 1000), round(e["dur"] * 1000)))
        slices += 1
    elif e["ph"] == "b":
        spans = open_spans.setdefault(e["id"], [])
        assert not spans or spans[-1][1] <= e["ts"]
        spans.append((e["name"], e["ts"]))
    elif e["ph"] == "e":
        name, since = open_spans[e["id"]].pop()
        assert name == e["name"] and since <= e["ts"]
        slices += 1
for track in tracks.values():
    ends = []
    for start, length in sorted(track, key=lambda s: (s[0], -s[1])):
        while ends and ends[-1] <= start:
            ends.pop()
        assert not ends or start + length <= ends[-1]
        ends.append(start + length)
assert slices > 100 and not any(open_spans.values())
print(slices, "slices")' "$1"
}
if command -v python3 >/dev/null; then
    check "the events are JSON, properly nested" nested events.json
    check "the jobs are JSON, properly nested" nested jobs.json
fi

# A batch scheduler's jobs: their table names them otherwise, and has lengths of time among the times.
check "a batch run" expect_status 0 alone run "$top_srcdir/inputs/batch-three-policies.deck" --test --trace jobs -q \
    -o batch
check "classes of jobs are told" says_in 0 out $'classes\t1\ttext\t\t1 processor' report batch/trace.h5 --format tsv
cp out batch.tsv
check "as the summary has them" near "$(value batch.tsv classes width_1 jobs)" \
    "$(sed -n 's/.*"width_1": { "jobs": \([0-9]*\).*/\1/p' batch/summary.json)" 0
check "the path of a batch job has two steps" test "$(grep -c $'^path\t.*\tstep\t' batch.tsv)" -eq 4
check "and can be asked for" says_in 0 out $'path\t1\tstep\t\tstart' report batch/trace.h5 --job 3 --format tsv
check "batch jobs are exported" says_in 0 out '"name":"start"' export batch/trace.h5 --format chrome
cp out batch.json
check "without what is no time" test "$(grep -c '"name":"limit"\|"name":"run"' batch.json)" -eq 0

# Shared files: a section for them, one for what is expected, one for the balances.
check "a run of shared files" expect_status 0 alone run "$top_srcdir/inputs/io-fuse.deck" --test --trace jobs -q -o io
check "shared files are told" says_in 0 out $'files\t1\tname\t\tserial-4' report io/trace.h5 --format tsv
check "so is what is expected" grep -q $'^expect\t1\tname\t\tfiles.serial-4.writes_per_s' out
check "and the balances" grep -q $'^balance\t.*\tok$' out

# The export's memory does not go with the trace: 400000 rows and 50000, whose difference would be 14 MB at least.
peak() # ROWS: kilobytes
{
    "$top_builddir/tests/python/write_trace" "rows-$1.h5" events "$1" >/dev/null
    env "${alone_environment[@]}" python3 -c '
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
status, usage = os.wait4(child.pid, 0)[1:]
print(usage.ru_maxrss if status == 0 else 0)' "$TIERCEL" export "rows-$1.h5" --format chrome
}
if command -v python3 >/dev/null && ! grep -q 'fsanitize=address' "$top_builddir/config.status"; then
    few=$(peak 50000) many=$(peak 400000)
    check "a long trace is exported in the memory of a short one ($few kB, $many kB)" holds \
        "$many > 0 && $many < $few + 8000"
fi
check "an export that there is not" says_in 2 err "expected batsim, chrome or swf" export events/trace.h5 --format csv

quick_part_ends

# ---- a client that ended before it had run for a minute ----

check "a short run of a client with a heap" says_in 0 out "client: collected for" run \
    "$top_srcdir/inputs/falkon-1b.deck" --test -o minute
check "has no last minute" test "$(grep -c 'last minute' out)" -eq 0
check "and says what it did not measure" grep -q "client.last_minute_rate = .*: not measured: not comparable" out
check "without a number that is none" test "$(grep -c nan out)" -eq 0

# ---- the end of a heap ----

# The long run of inputs/falkon-1b.deck with a hundred times its leak: two thirds tell when the whole will end.
falkon()
{
    expect_status 0 alone run "$top_srcdir/inputs/falkon-1b.deck" -q --set heap.leak-per-million=40960000B \
        --set workload.jobs="$1" -o "$2"
}
check "two thirds of a leaking run" falkon 10000000 part
check "and all of it" falkon 17000000 whole
check "the end is told beforehand" says_in 0 out "the end (predicted)" report part/trace.h5 --format tsv
cp out part.tsv
check "and found where it is" says_in 0 out "the end (measured)" report whole/trace.h5 --format tsv
cp out whole.tsv
check "the predicted task is that of the end, within 2 %" near "$(value part.tsv heap 'the end (predicted)' tasks)" \
    "$(value whole.tsv heap 'the end (measured)' tasks)" 2
check "the predicted time too, within 10 %" near "$(value part.tsv heap 'the end (predicted)' time_s)" \
    "$(value whole.tsv heap 'the end (measured)' time_s)" 10
check "it comes before a straight line has the heap empty" awk -v e="$(value whole.tsv heap 'the end (measured)' tasks)" \
    -v s="$(value part.tsv heap 'empty by a straight line' tasks)" 'BEGIN { exit !(e + 0 > 0 && e + 0 < s + 0) }'
check "and cannot be exported" says_in 1 err "neither events nor jobs" export part/trace.h5 --format chrome
check "a trace without a table of jobs has no path" says_in 2 err "has no table of jobs" report part/trace.h5 --job 1

# ---- damaged ----

size=$(wc -c <jobs/trace.h5)
: >empty
head -c 4096 jobs/trace.h5 >short
printf 'a text, not a trace\n' >text
for at in 600 2000 $((size / 2)) $((size - 100)); do
    cp jobs/trace.h5 "flipped-$at"
    printf '\377\252\125' | dd of="flipped-$at" bs=1 seek="$at" conv=notrunc 2>/dev/null
done
for bad in empty short text missing flipped-*; do
    check "a damaged trace is refused: $bad" says_in 1 err "$bad" report "$bad"
    check "with nothing on stdout: $bad" test ! -s out
    check "nor exported: $bad" says_in 1 err "$bad" export "$bad" --format chrome
done

done_testing
