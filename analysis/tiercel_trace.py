# SPDX-License-Identifier: BSD-3-Clause
"""Traces of tiercel as pandas data frames, with units.

    import tiercel_trace
    trace = tiercel_trace.open("runs/flux-bulksubmit-001/trace.h5")
    trace.attributes["digest"], trace.complete
    jobs = trace.jobs()                 # a row a job; times in seconds, enums as categories
    jobs.attrs["units"]["submit"]       # "s"
    curve = trace.series("broker", "routed")
    trace.stages(), trace.roles(), trace.counters()

A file that is damaged is refused with one line (TraceError): a whole trace carries its size and a checksum in its first
512 bytes, and one whose run was killed is first read in another process, because HDF5 does not survive every damaged
file. Reading needs h5py, numpy and pandas.
"""

import builtins
import json
import os
import re
import subprocess
import sys
import zlib

import h5py
import numpy
import pandas

SEAL_BYTES = 512
FIRST_LINE = b"tiercel trace, format 1; an HDF5 file that begins at byte 512\n"
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
NEVER = numpy.iinfo(numpy.int64).min        # a time that did not come
NO_LIMIT = numpy.iinfo(numpy.int64).max     # a length that has no limit


class TraceError(Exception):
    """What is wrong with a file, in one line that begins with its name."""


def _checksum(file):
    value = 0
    file.seek(SEAL_BYTES)
    while block := file.read(1 << 20):
        value = zlib.crc32(block, value)
    return value


def _seal(state):
    return (FIRST_LINE + state.encode()).ljust(SEAL_BYTES, b"\0")


def check_seal(path):
    """True when the file is whole, False when its run did not end. TraceError when it is neither."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise TraceError(f"{path}: is not a file")
        with builtins.open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            seal = file.read(SEAL_BYTES)
            if size == 0:
                raise TraceError(f"{path}: is empty")
            if not seal.startswith(FIRST_LINE):
                if seal.startswith(HDF5_SIGNATURE):
                    raise TraceError(f"{path}: is an HDF5 file, but not a trace of tiercel")
                raise TraceError(f"{path}: is not a trace of tiercel, or its first bytes are damaged")
            if len(seal) < SEAL_BYTES:
                raise TraceError(f"{path}: has {len(seal)} bytes: it was cut")
            if seal == _seal("state open\n"):
                return False
            found = re.match(rb"state sealed\nbytes (\d{1,20})\ncrc32 ([0-9a-f]{8})\n", seal[len(FIRST_LINE):])
            if found is None or seal != _seal(found[0].decode()):
                raise TraceError(f"{path}: its seal, the first {SEAL_BYTES} bytes, is damaged")
            bytes_written, checksum = int(found[1]), int(found[2], 16)
            if size != bytes_written:
                what = "cut" if size < bytes_written else "added to"
                raise TraceError(f"{path}: has {size} bytes, but {bytes_written} were written: it was {what}")
            if _checksum(file) != checksum:
                raise TraceError(f"{path}: was changed or damaged after it was written: its checksum does not match")
            return True
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None


def probe(path, code):
    """Reads a file that no checksum protects in another process, which may crash: `code` of Python, with the file as
    its argument. TraceError when that process is killed, or hangs."""
    folder = os.path.dirname(os.path.abspath(__file__))
    environment = dict(os.environ, PYTHONPATH=folder + os.pathsep + os.environ.get("PYTHONPATH", ""))
    try:
        result = subprocess.run([sys.executable, "-c", code, path], env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise TraceError(f"{path}: is damaged so badly that HDF5 hangs on it") from None
    if result.returncode < 0:
        raise TraceError(f"{path}: is damaged so badly that HDF5 fails on it")


def open(path):                             # pylint: disable=redefined-builtin
    """The trace at path (or in the run folder at path). TraceError when it cannot be read."""
    path = os.fspath(path)
    if os.path.isdir(path):
        folder, path = path, os.path.join(path, "trace.h5")
        if not os.path.exists(path):
            raise TraceError(f"{folder} is not the folder of a run: it has no trace.h5")
    sealed = check_seal(path)
    if not sealed:
        probe(path, "import sys, tiercel_trace; tiercel_trace.Trace(sys.argv[1], False)._read_all()")
    return Trace(path, sealed)


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


class Trace:
    """A trace. Made by open()."""

    def __init__(self, path, sealed):
        self.path = path
        try:
            self._file = h5py.File(path, "r")
            self.attributes = {name: _text(value) for name, value in self._file.attrs.items()}
        except (OSError, RuntimeError, KeyError):
            raise TraceError(f"{path}: HDF5 cannot open it; the file is damaged, or its run still writes it") from None
        if self.attributes.get("format") != "tiercel trace":
            raise TraceError(f"{path}: is not a trace of tiercel")
        if self.attributes.get("format_version") != 1:
            raise TraceError(f"{path}: has another format_version than 1, which this module reads")
        # A run that goes on writes its figures in turn at two places, and says which are right.
        self._figures = {0: "flush_0/", 1: "flush_1/"}.get(self.attributes.get("figures"), "")
        self.sealed = sealed
        self.complete = sealed and self.attributes.get("complete") == 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the file; data frames stay."""
        self._file.close()

    def _read(self, what, read):
        """Whatever h5py meets in a damaged file becomes a TraceError."""
        try:
            return read()
        except TraceError:
            raise
        except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, IndexError):
            raise TraceError(f"{self.path}: {what} is not there or is damaged") from None

    def _read_all(self):
        for name in self.tables:
            self.table(name)
        for part in ("series", "histograms"):
            for role, metric in self.metrics(part):
                self.series(role, metric) if part == "series" else self.histogram(role, metric)
        self.stages(), self.roles(), self.counters()

    # --- texts ---

    def document(self, name):
        """"deck", "effective" or "summary"; None when it is not there."""
        if f"config/{name}" not in self._file:
            return None
        return self._read(f"/config/{name}", lambda: _text(self._file[f"config/{name}"][()]))

    @property
    def summary(self):
        """summary.json of the run as a dictionary; None when it is not there."""
        text = self.document("summary")
        return None if text is None else self._read("/config/summary", lambda: json.loads(text))

    # --- tables ---

    @property
    def tables(self):
        """Names of the tables: "jobs", "events" ..."""
        return self._read("the list of tables",
                          lambda: [name for name, group in self._file.items() if "columns" in group.attrs])

    def _column(self, dataset, rows, seconds):
        values = dataset[:rows]
        if len(values) < rows:
            raise ValueError
        unit = _text(dataset.attrs["units"])
        names = h5py.check_enum_dtype(dataset.dtype)
        if names is not None:
            ordered = sorted(names, key=names.get)
            if names != {name: code for code, name in enumerate(ordered)} or (rows and values.max() >= len(ordered)):
                raise ValueError
            values = pandas.Categorical.from_codes(values.astype("int16"), ordered)
        elif unit == "ns" and seconds:
            times = values.astype("float64") / 1e9
            times[values == NEVER] = numpy.nan
            times[values == NO_LIMIT] = numpy.inf
            values, unit = times, "s"
        return values, unit

    def table(self, name, columns=None, seconds=True):
        """A table, or some of its columns. frame.attrs has `units` and `long_name` by column. With seconds, times in
        nanoseconds become seconds, NaN where they did not come and infinite where there is no limit; else they stay
        64-bit integers."""
        def read():
            group = self._file[name]
            rows = int(group.attrs["rows"])
            data, units, texts = {}, {}, {}
            for column in _text(group.attrs["columns"]).split() if columns is None else columns:
                data[column], units[column] = self._column(group[column], rows, seconds)
                texts[column] = _text(group[column].attrs["long_name"])
            frame = pandas.DataFrame(data)
            frame.attrs.update(units=units, long_name=texts, order=_text(group.attrs["order"]))
            return frame
        return self._read(f"the table /{name}", read)

    def jobs(self, **options):
        """The table of jobs."""
        return self.table("jobs", **options)

    def events(self, **options):
        """The table of messages, of a run of trace level events."""
        return self.table("events", **options)

    # --- figures ---

    def metrics(self, part="series"):
        """(role, metric) of all curves, or of "histograms" or "counters"."""
        def read():
            found = []
            for group in self._file.get(self._figures + part, {}).values():
                found += [(_text(group.attrs["role"]), metric) for metric in group]
            return found
        return self._read(f"/{part}", read)

    def _at(self, part, role, metric):
        for group in self._file.get(self._figures + part, {}).values():
            if _text(group.attrs["role"]) == role and metric in group:
                return group[metric]
        raise KeyError

    def series(self, role, metric):
        """A curve: columns time (start of a bin), width, count and rate per second. Of a sampled metric: its values."""
        def read():
            dataset = self._at("series", role, metric)
            width = dataset.attrs["bin_width_ns"] / 1e9
            count = dataset[:]
            frame = pandas.DataFrame({"time": numpy.arange(len(count)) * width + dataset.attrs["bin_start_ns"] / 1e9,
                                      "width": width, "count": count, "rate": count / width})
            unit = _text(dataset.attrs["units"])
            frame.attrs.update(units={"time": "s", "width": "s", "count": unit, "rate": f"{unit}/s"},
                               long_name={"count": _text(dataset.attrs["long_name"])})
            return frame
        return self._read(f"the curve of {role} {metric}", read)

    def histogram(self, role, metric):
        """The filled buckets of a sampled metric: lower, upper, count. frame.attrs has its mean, p50, p99 ..."""
        def read():
            group = self._at("histograms", role, metric)
            frame = pandas.DataFrame({name: group[name][:] for name in ("lower", "upper", "count")})
            unit = _text(group.attrs["units"])
            frame.attrs.update({name: _text(value) for name, value in group.attrs.items()})
            frame.attrs["units"] = {"lower": unit, "upper": unit, "count": "1"}
            return frame
        return self._read(f"the histogram of {role} {metric}", read)

    def _rows(self, name, columns):
        def read():
            if name not in self._file:
                return pandas.DataFrame(columns=columns)
            group = self._file[name]
            data = {}
            for column in columns:
                values = group[column][:]
                data[column] = [value.decode() for value in values] if values.dtype.kind == "S" else values
            frame = pandas.DataFrame(data)
            frame.attrs["units"] = {column: _text(group[column].attrs["units"]) for column in columns}
            return frame
        return self._read(f"/{name}", read)

    def stages(self):
        """A row a stage of a job's path, times in ns."""
        return self._rows(self._figures + "stages",
                          ["role", "name", "count", "mean", "p50", "p99", "smallest", "largest"])

    def roles(self):
        """A row a role; empty while the run has not ended."""
        return self._rows("roles", ["name", "actors", "handled", "busy_fraction", "blocked_fraction", "mean_queue",
                                    "mean_wait"])

    def counters(self):
        """A row a counter: role, metric, total, unit."""
        def read():
            rows = []
            for role, metric in self.metrics("counters"):
                dataset = self._at("counters", role, metric)
                rows.append((role, metric, int(dataset[()]), _text(dataset.attrs["units"])))
            return pandas.DataFrame(rows, columns=["role", "metric", "total", "unit"])
        return self._read("/counters", read)
