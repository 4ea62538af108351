# SPDX-License-Identifier: BSD-3-Clause
"""The table of results of `tiercel sweep` as a pandas data frame, with units.

    import tiercel_sweep
    sweep = tiercel_sweep.open("runs/flux-fanout-sweep")    # the folder, or its results.h5 or results.tsv
    sweep.frame                                 # a row a point: point, status, parameters, results
    sweep.frame.attrs["units"]["jobs.run_rate"]     # "1/s"
    sweep.parameters, sweep.results             # names of columns
    sweep.done()                                # the finished points alone

A missing value is NaN, or an empty text. A damaged table is refused with one line (tiercel_trace.TraceError).
"""

import builtins
import os

import h5py
import numpy
import pandas

from tiercel_trace import TraceError, probe

FORMAT = 1
POINT = ("point", "status", "repeat", "seed", "reason")
TEXTS = ("status", "reason")
STATES = ("done", "failed", "open")
# As summary_key_unit() of sim/trace/summary.c has them, which results.h5 holds; for a TSV, which has none.
UNITS = (("bytes_per_s", "B/s"), ("mib_per_s", "MiB/s"), ("_rate", "1/s"), ("_per_s", "1/s"), ("rate_if_free", "1/s"),
         ("_s", "s"), ("bytes", "B"))
FIRST_RESULT = "run.completed"      # in the TSV: what stands before it, behind POINT, are the parameters


def open(path):                     # pylint: disable=redefined-builtin
    """The table at path, or in the sweep's folder at path. TraceError when it cannot be read."""
    path = os.fspath(path)
    if os.path.isdir(path):
        names = [name for name in ("results.h5", "results.tsv") if os.path.exists(os.path.join(path, name))]
        if not names:
            raise TraceError(f"{path}: has neither results.h5 nor results.tsv; expected the folder of a sweep")
        path = os.path.join(path, names[0])
    if not os.path.isfile(path):
        raise TraceError(f"{path}: {'is not a file' if os.path.exists(path) else 'cannot be read: it is not there'}")
    if path.endswith(".tsv"):
        return _read_tsv(path)
    probe(path, "import sys, tiercel_sweep; tiercel_sweep._read_hdf5(sys.argv[1])")
    return _read_hdf5(path)


def unit_of(key):
    """The unit that goes with a key of the summary: its name says it."""
    for end, unit in UNITS:
        if key.endswith(end):
            return unit
    return "1"


class Sweep:
    """A table of results. Made by open()."""

    def __init__(self, path, frame, parameters, results, title):
        self.path = path
        self.frame = frame
        self.parameters = parameters
        self.results = results
        self.title = title
        missing = [name for name in ("point", "status") if name not in frame]
        if missing:
            raise TraceError(f"{path}: has no column {missing[0]}; expected the table of a sweep")
        strange = frame.loc[~frame["status"].isin(STATES), "status"]
        if not strange.empty:
            raise TraceError(f"{path}: row {strange.index[0] + 1} has the status '{strange.iloc[0]}'; expected one of "
                             f"{', '.join(STATES)}")

    def done(self):
        """The rows of the points that were finished."""
        return self.frame[self.frame["status"] == "done"]


# --- results.tsv ---

def _read_lines(path):
    try:
        with builtins.open(path, encoding="utf-8", newline="\n") as file:
            text = file.read()
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TraceError(f"{path}: is not a text: expected a table cut by tabs") from None
    if not text:
        raise TraceError(f"{path}: is empty")
    if not text.endswith("\n"):
        raise TraceError(f"{path}: its last line has no end: it was cut")
    return text[:-1].split("\n")


def _column(path, name, cells):
    """Numbers where all that is there is a number; else texts."""
    if name in TEXTS:
        return cells
    try:
        return numpy.array([float(cell) if cell else numpy.nan for cell in cells])
    except ValueError:
        if name in POINT:
            raise TraceError(f"{path}: its column {name} has a value that is no number") from None
        return cells


def _read_tsv(path):
    header, *lines = _read_lines(path)
    names = header.split("\t")
    if names[0] != POINT[0]:
        raise TraceError(f"{path}: does not begin with the column {POINT[0]}; expected the table of a sweep")
    if len(set(names)) < len(names):
        raise TraceError(f"{path}: has a column twice")
    rows = [line.split("\t") for line in lines]
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise TraceError(f"{path}: line {i + 2} has {len(row)} cells, but there are {len(names)} columns; it was "
                             "cut or damaged")
    frame = pandas.DataFrame({name: _column(path, name, [row[i] for row in rows]) for i, name in enumerate(names)})
    first = names.index(FIRST_RESULT) if FIRST_RESULT in names else len(names)
    parameters = [name for name in names[:first] if name not in POINT]
    results = names[first:]
    # The text does not say the units of parameters; those of results follow from their names.
    frame.attrs["units"] = {name: unit_of(name) if name in results else "1" for name in names}
    frame.attrs["long_name"] = {name: name for name in names}
    return Sweep(path, frame, parameters, results, "")


# --- results.h5 ---

def _texts(values):
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values]


def _read_hdf5(path):
    try:
        with h5py.File(path, "r") as file:
            return _read_file(path, file)
    except OSError:
        raise TraceError(f"{path}: HDF5 cannot open it; it was cut or damaged, or is no table of results") from None
    except (RuntimeError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise TraceError(f"{path}: is damaged: {' '.join(str(error).split())}") from None


def _read_file(path, file):
    kind = file.attrs.get("kind", b"")
    if (kind.decode() if isinstance(kind, bytes) else kind) != "sweep":
        raise TraceError(f"{path}: is an HDF5 file, but not the table of a sweep")
    if file.attrs.get("format") != FORMAT:
        raise TraceError(f"{path}: has another format than {FORMAT}, which this module reads")
    rows = int(file.attrs["rows"])
    data, units, long_names, groups = {}, {}, {}, {}
    for name in _texts(file["columns"][:]):
        group = next((part for part in ("point", "parameters", "results") if part in file and name in file[part]), None)
        if group is None:
            raise TraceError(f"{path}: its column {name} is missing")
        dataset = file[group][name]
        values = dataset[:]
        if len(values) != rows:
            raise TraceError(f"{path}: its column {name} has {len(values)} values where there should be {rows}")
        data[name] = _texts(values) if dataset.dtype.kind in "SO" else values.astype("float64")
        units[name], long_names[name] = (_texts([dataset.attrs[word]])[0] for word in ("units", "long_name"))
        groups[name] = group
    frame = pandas.DataFrame(data)
    frame.attrs.update(units=units, long_name=long_names)
    title = file.attrs.get("title", "")
    return Sweep(path, frame, [name for name in data if groups[name] == "parameters"],
                 [name for name in data if groups[name] == "results"], _texts([title])[0])
