# SPDX-License-Identifier: BSD-3-Clause
"""Tables of sweeps as sim/trace/results.h describes them: made up here, read by tiercel_sweep, and damaged. A part of
test_plots.py."""

import os
import random

import h5py
import numpy

import tiercel_sweep
from tiercel_trace import TraceError

check = None                        # test_plots.check

NODES = (16.0, 64.0, 256.0, 1024.0)
SCHEMES = ("v0.16", "pr2777", "pr2792")
REPEATS = 3
COLUMNS = (("point", "point", "1"), ("status", "point", "1"), ("repeat", "point", "1"), ("seed", "point", "1"),
           ("reason", "point", "1"), ("cluster.nodes", "parameters", "1"), ("events.scheme", "parameters", "1"),
           ("run.completed", "results", "1"), ("jobs.run_rate", "results", "1/s"),
           ("stages.alloc.mean_s", "results", "s"))
TEXTS = ("status", "reason", "events.scheme")


def rows_of_sweep():
    """The rows of a made-up sweep: 36 points, of which one failed and one is open."""
    rows = []
    for nodes in NODES:
        for i, scheme in enumerate(SCHEMES):
            for repeat in range(1, REPEATS + 1):
                point = len(rows) + 1
                state = {7: "failed", 36: "open"}.get(point, "done")
                result = [1.0, 90.0 / (1 + nodes / 500) * (1 + i) + repeat, nodes * 1e-5 * repeat]
                rows.append([float(point), state, float(repeat), float(repeat), "it was killed" * (point == 7), nodes,
                             scheme, *(result if state == "done" else [float("nan")] * 3)])
    return rows


def _cell(value):
    return value if isinstance(value, str) else "" if numpy.isnan(value) else f"{value:.17g}"


def write_sweep(folder):
    """Both tables in the folder."""
    os.makedirs(folder, exist_ok=True)
    rows = rows_of_sweep()
    with open(os.path.join(folder, "results.tsv"), "w", encoding="utf-8") as file:
        file.write("\t".join(name for name, _, _ in COLUMNS) + "\n")
        file.writelines("\t".join(map(_cell, row)) + "\n" for row in rows)
    with h5py.File(os.path.join(folder, "results.h5"), "w") as file:
        file.attrs.update({"format": 1, "kind": "sweep", "title": "A made-up sweep", "version": "test",
                           "rows": len(rows)})
        file["columns"] = numpy.array([name for name, _, _ in COLUMNS], dtype="S")
        for i, (name, group, unit) in enumerate(COLUMNS):
            values = [row[i] for row in rows]
            dataset = file.create_dataset(f"{group}/{name}", data=numpy.array(
                values, dtype="S" if name in TEXTS else "f8"))
            dataset.attrs.update({"units": unit, "long_name": f"the column {name}"})
    return folder


def _refused(path):
    try:
        tiercel_sweep.open(path)
    except TraceError as error:
        return str(error)
    return None


def _changed(path, data, words):
    with open(path, "wb") as file:
        file.write(data)
    message = _refused(path)
    if message is None or words not in message or "\n" in message or not message.startswith(path):
        print(f"#   {message!r}, expected: {words}")
        return False
    return True


def test_tables(folder):
    """Both forms say the same, and damaged ones are refused."""
    good = write_sweep(os.path.join(folder, "tables"))
    plain = tiercel_sweep.open(os.path.join(good, "results.tsv"))
    full = tiercel_sweep.open(good)
    check("a folder is opened by its HDF5 table, with units",
          full.path.endswith("results.h5") and full.frame.attrs["units"]["jobs.run_rate"] == "1/s" and
          full.title == "A made-up sweep")
    check("the TSV says the same", plain.frame.equals(full.frame) and plain.parameters == full.parameters and
          plain.results == full.results and plain.frame.attrs["units"] == full.frame.attrs["units"])
    check("parameters and results are told apart", full.parameters == ["cluster.nodes", "events.scheme"] and
          full.results == ["run.completed", "jobs.run_rate", "stages.alloc.mean_s"])
    check("points that are not done are left out", len(full.done()) == 34 and len(full.frame) == 36)
    _test_damaged_tsv(os.path.join(good, "results.tsv"), os.path.join(folder, "broken.tsv"))
    _test_damaged_hdf5(os.path.join(good, "results.h5"), os.path.join(folder, "broken-sweep.h5"))


def _test_damaged_tsv(good, broken):
    with open(good, "rb") as file:
        whole = file.read()
    lines = whole.split(b"\n")
    check("an empty table", _changed(broken, b"", "is empty"))
    check("a table that was cut within a line", all(_changed(broken, whole[:size], "it was cut") for size in
                                                    (1, 30, len(whole) // 2, len(whole) - 1)))
    check("a line that lacks cells", _changed(broken, b"\n".join(lines[:5] + [b"5\tdone"] + lines[6:]),
                                              "line 6 has 2 cells, but there are 10 columns"))
    check("a table without its points", _changed(broken, whole.replace(b"point", b"number", 1), "does not begin with"))
    check("a table without the status", _changed(broken, whole.replace(b"status", b"state", 1), "no column status"))
    check("a status that there is not", _changed(broken, whole.replace(b"failed", b"fallen", 1), "has the status"))
    check("a point that is no number", _changed(broken, whole.replace(b"\n2\t", b"\nx\t", 1), "is no number"))
    check("a column twice", _changed(broken, whole.replace(b"seed", b"repeat", 1), "has a column twice"))
    check("no text at all", _changed(broken, b"\xff\xfe\x00" * 100, "is not a text"))


def _test_damaged_hdf5(good, broken):
    with open(good, "rb") as file:
        whole = file.read()
    check("an empty file", _changed(broken, b"", "HDF5 cannot open it"))
    check("a text that calls itself HDF5", _changed(broken, b"point\tstatus\n", "HDF5 cannot open it"))
    check("a file that was cut", all(_changed(broken, whole[:size], "HDF5 cannot open it") for size in
                                     (100, len(whole) - 1)))

    def damaged(damage, words):
        with open(broken, "wb") as file:
            file.write(whole)
        with h5py.File(broken, "r+") as file:
            damage(file)
        with open(broken, "rb") as file:
            return _changed(broken, file.read(), words)

    def remove(name):
        return lambda file: file.__delitem__(name)

    def shorten(file):
        del file["results/jobs.run_rate"]
        file["results/jobs.run_rate"] = numpy.zeros(3)

    check("columns that are missing", all(damaged(remove(f"{group}/{name}"), f"its column {name} is missing")
                                          for name, group, _ in COLUMNS[1::4]))
    check("a column that is too short", damaged(shorten, "has 3 values where there should be 36"))
    check("no list of columns", damaged(remove("columns"), "is damaged"))
    check("another kind of file", damaged(lambda file: file.attrs.__delitem__("kind"), "not the table of a sweep"))
    check("another format", damaged(lambda file: file.attrs.__setitem__("format", 2), "another format"))
    check("units that are missing", damaged(
        lambda file: file["results/jobs.run_rate"].attrs.__delitem__("units"), "is damaged"))
    flips = random.Random(4)
    outcomes = []
    for _ in range(2):
        data = bytearray(whole)
        for at in (flips.randrange(len(data)) for _ in range(40)):
            data[at] ^= 1 << flips.randrange(8)
        with open(broken, "wb") as file:
            file.write(data)
        message = _refused(broken)
        outcomes.append(message is None or ("\n" not in message and message.startswith(broken)))
    check("flipped bits are read or refused, and crash nothing", all(outcomes))
