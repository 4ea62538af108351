# SPDX-License-Identifier: BSD-3-Clause
"""Plots with a lane for each node, machine or writer: who held what, and when."""

import matplotlib.pyplot as plt
import numpy
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from plot_style import COLOURS, PALE, PlotError, first_of, jobs_of, legend_above, rows_of, title

HELD_FROM = ("alloc", "dispatch", "start", "begin")     # a job holds its resources from then
HELD_TO = ("free", "end", "done", "finish", "clean")    # until then
LANES_MOST = 32


# --- nodes, or machines of a batch scheduler ---

def lanes(start, end):
    """A lane for each interval so that none overlap; intervals in the order of their start."""
    free, lane = [], numpy.zeros(len(start), dtype=int)
    for i in range(len(start)):
        lane[i] = next((j for j, time in enumerate(free) if time <= start[i]), len(free))
        if lane[i] == len(free):
            free.append(0)
        free[lane[i]] = end[i]
    return lane, len(free)


def _draw_nodes(axes, jobs, start, end):
    nodes = sorted(jobs["node"].unique())
    # Bars that follow one another on a node take turns in colour, and have an edge as far as there is room.
    least = (jobs[end].max() - jobs[start].min()) / 2000
    for row, node in enumerate(nodes):
        part = jobs[jobs["node"] == node]
        begin, stop = part[start].to_numpy(), part[end].to_numpy()
        lane, count = lanes(begin, stop)
        height = 0.8 / count
        bottom = row - 0.4 + lane * height
        axes.add_collection(LineCollection(
            [[(a, y + height / 2), (max(b, a + least), y + height / 2)] for a, b, y in zip(begin, stop, bottom)],
            colors=[COLOURS[(0, 1, 2)[i % 3]] for i in range(len(part))], capstyle="butt",
            linewidths=max(1.0, min(12.0, 500 * height / (len(nodes) + 2)))))
    axes.set_ylim(len(nodes) - 0.4, -0.6)
    step = max(1, -(-len(nodes) // LANES_MOST))
    axes.set_yticks(range(0, len(nodes), step), nodes[::step])
    axes.grid(axis="y", visible=False)
    axes.set(ylabel="node")


def _draw_machines(axes, jobs, machines, start, end):
    held = machines.merge(jobs[["job", start, end]], on="job").sort_values(start, kind="stable")
    turn = {job: i for i, job in enumerate(dict.fromkeys(held["job"]))}
    axes.add_collection(PatchCollection(
        [Rectangle((a, first - 0.5), b - a, last - first + 1) for a, b, first, last in
         zip(held[start], held[end], held["first"].astype(float), held["last"].astype(float))],
        facecolors=[COLOURS[(0, 1, 2, 4)[turn[job] % 4]] for job in held["job"]], edgecolors="white", linewidths=0.4))
    axes.set_ylim(float(machines["last"].max()) + 0.5, -0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(ylabel="processor")


def plot_gantt(traces, options):
    """Which node, or which processors of a batch scheduler, were held by jobs, and when."""
    trace = traces[0]
    jobs = jobs_of(trace)
    start = first_of(jobs, HELD_FROM, trace, "time of their start")
    end = first_of(jobs, HELD_TO, trace, "time of their end")
    machines = trace.table("machines") if "machines" in trace.tables else None
    if "node" not in jobs and (machines is None or machines.empty):
        raise PlotError(f"{trace.path}: its jobs have no node")
    jobs = jobs.dropna(subset=[start, end]).sort_values(start, kind="stable")
    jobs = jobs[(jobs[end] >= options.begin) & (jobs[start] <= options.end)]
    if jobs.empty:
        raise PlotError(f"{trace.path}: no job ran in that time")
    count = jobs["node"].nunique() if machines is None else float(machines["last"].max()) + 1
    figure, axes = plt.subplots(figsize=(8, min(9, 1.4 + 0.32 * count) if machines is None else 5))
    if machines is None:
        _draw_nodes(axes, jobs, start, end)
    else:
        _draw_machines(axes, jobs, machines, start, end)
    least = (jobs[end].max() - jobs[start].min()) / 2000
    axes.set_xlim(max(options.begin, jobs[start].min()), min(options.end, jobs[end].max() + least))
    axes.set(xlabel="virtual time (s)")
    title(axes, f"{len(jobs)} jobs, from {start} to {end}", traces)
    return figure


# --- the lock of a shared file ---

HELD = {"exclusive": (COLOURS[1], "holds it exclusively"), "shared": (COLOURS[0], "shares it"),
        "demoted": (COLOURS[2], "exclusively, then shares it"),
        "unlocked": (COLOURS[3], "writes, as the file system lets it")}
WRITES_A_WRITER = 12                # of the whole run shown where nothing else is asked for


def _writes_of(trace, options):
    writes = rows_of(trace, "writes", "table of writes (that of kind = io)")
    names = list(writes["io"].cat.categories)
    name = options.file if options.file is not None else names[0]
    if name not in names:
        raise PlotError(f"{trace.path}: has no shared file {name}; expected one of {', '.join(names)}")
    writes = writes[writes["io"] == name]
    if writes.empty:
        raise PlotError(f"{trace.path}: nothing was written to {name}")
    return writes.sort_values("asked", kind="stable"), name


def _span_of(writes, options):
    """What is shown: as asked for, or so much that single writes can be seen."""
    end = options.end
    if end == float("inf"):
        begun = writes[writes["asked"] >= options.begin]
        some = begun[begun.groupby("writer").cumcount() < WRITES_A_WRITER]
        if not some.empty:
            end = some["ended"].max() if options.begin > 0 else some.groupby("writer")["ended"].max().median()
    return options.begin, min(end, writes["ended"].max())


def _segments(rows, first, last, row_of):
    return [[(a, row_of[writer]), (b, row_of[writer])] for a, b, writer in
            zip(rows[first], rows[last], rows["writer"])]


def _draw_count(axes, begin, end, **style):
    """How many of these intervals there are at a time."""
    times = numpy.concatenate([begin, end])
    steps = numpy.concatenate([numpy.ones(len(begin)), -numpy.ones(len(end))])
    order = numpy.lexsort((steps, times))
    axes.step(times[order], numpy.cumsum(steps[order]), where="post", linewidth=1.3, **style)


def plot_locks(traces, options):
    """When each writer of a shared file waited for the inode's lock, and when and how it held it."""
    trace = traces[0]
    writes, name = _writes_of(trace, options)
    begin, end = _span_of(writes, options)
    seen = writes[(writes["ended"] >= begin) & (writes["asked"] <= end)]
    if seen.empty:
        raise PlotError(f"{trace.path}: nothing was written to {name} in that time")
    writers = sorted(writes["writer"].unique())
    row_of = {writer: row for row, writer in enumerate(writers[:LANES_MOST])}
    shown = seen[seen["writer"].isin(list(row_of))]
    figure, (axes, counts) = plt.subplots(2, 1, figsize=(8, 2.6 + 0.26 * len(row_of)), sharex=True,
                                          gridspec_kw={"height_ratios": [0.26 * len(row_of), 1.0]})
    axes.add_collection(LineCollection(_segments(shown, "asked", "locked", row_of), colors=PALE, linewidths=9,
                                       capstyle="butt"))
    for held, (colour, _) in HELD.items():
        part = shown[shown["held"] == held]
        axes.add_collection(LineCollection(_segments(part, "locked", "ended", row_of), colors=colour, linewidths=9,
                                           capstyle="butt"))
        # Its beginning, where one write follows the other at once.
        axes.vlines(part["locked"], [row_of[w] - 0.36 for w in part["writer"]],
                    [row_of[w] + 0.36 for w in part["writer"]], color="white", linewidth=0.6)
    _draw_count(counts, seen["locked"].to_numpy(), seen["ended"].to_numpy(), color=COLOURS[0], label="hold the lock")
    _draw_count(counts, seen["asked"].to_numpy(), seen["locked"].to_numpy(), color=COLOURS[6], linestyle="--",
                label="wait for it")
    axes.set_ylim(len(row_of) - 0.4, -0.6)
    axes.set_yticks(range(len(row_of)), range(len(row_of)))
    axes.grid(axis="y", visible=False)
    axes.set(ylabel="writer")
    counts.set(xlabel=f"virtual time (s), of {writes['ended'].max():.4g} s", ylabel="writers")
    counts.set_xlim(max(begin, seen["asked"].min()), end)
    counts.set_ylim(bottom=0)
    counts.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    left = "" if len(row_of) == len(writers) else f", the first {len(row_of)} of {len(writers)} writers"
    title(axes, f"Lock of {name}{left}", traces)
    present = [held for held in HELD if (shown["held"] == held).any()]
    handles = [Patch(color=PALE, label="waits")] + [Patch(color=HELD[held][0], label=HELD[held][1]) for held in present]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncol=4, borderaxespad=0.2, columnspacing=1.2)
    legend_above(counts, 2)
    return figure
