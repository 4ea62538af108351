#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a trace of tiercel.

    plot.py throughput TRACE... [-o FILE]       jobs submitted and ended per second, over time
    plot.py curve ROLE METRIC TRACE... [-o FILE]    any curve of the trace, as a rate over time
    plot.py stages TRACE [-o FILE]              how long each stage of a job's path takes
    plot.py roles TRACE [-o FILE]               how busy and how blocked each role's actors are
    plot.py gantt TRACE [-o FILE] [--from S] [--to S]   which node was held by jobs, and when

TRACE is a file or a run folder. The ending of FILE chooses the format (png, svg, pdf); without -o both KIND.png and
KIND.svg are written. Needs no display. Exit status: 0; 1 when a trace cannot be read or lacks what is plotted; 2 for a
wrong command line.
"""

import argparse
import os
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt             # noqa: E402
import numpy                                # noqa: E402
from matplotlib.collections import LineCollection   # noqa: E402

import tiercel_trace                        # noqa: E402

# Colours that all kinds of colour vision tell apart (M. Okabe and K. Ito, 2008), the palest left out.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", "-.", ":"]
SUBMITTED = ("submit", "submitted", "arrival")
ENDED = ("clean", "end", "done", "finish", "task_end")
HELD_FROM = ("alloc", "dispatch", "start", "begin")     # a job holds its resources from then
HELD_TO = ("free", "end", "done", "finish", "clean")    # until then

plt.rcParams.update({
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS), "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd", "font.size": 10, "legend.frameon": False,
    "figure.constrained_layout.use": True, "svg.fonttype": "none", "svg.hashsalt": "tiercel", "savefig.dpi": 150,
})


class PlotError(Exception):
    """What a trace lacks for a plot."""


def first_of(frame, names, trace, what):
    for name in names:
        if name in frame and frame[name].notna().any():
            return name
    raise PlotError(f"{trace.path}: its jobs have no {what} (none of {', '.join(names)})")


def jobs_of(trace):
    if "jobs" not in trace.tables:
        raise PlotError(f"{trace.path}: has no table of jobs; run with --trace jobs")
    frame = trace.jobs()
    if frame.empty:
        raise PlotError(f"{trace.path}: its table of jobs is empty")
    return frame


def name_of(trace):
    """How a trace is called in a legend: its run folder."""
    folder = os.path.basename(os.path.dirname(os.path.abspath(trace.path)))
    base = os.path.basename(trace.path)
    return folder if base == "trace.h5" else base.removesuffix(".h5")


def title(axes, text, traces):
    note = "" if all(trace.complete for trace in traces) else "  (the run did not end)"
    axes.set_title(text + note, loc="left")


def legend_above(axes, columns):
    """Beside the title, where nothing is drawn."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=columns, borderaxespad=0.2, columnspacing=1.2)


def plot_throughput(traces, _):
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for i, trace in enumerate(traces):
        jobs = jobs_of(trace)
        columns = [(jobs[first_of(jobs, names, trace, f"time when they were {what}")].dropna(), what, dash)
                   for names, what, dash in ((SUBMITTED, "submitted", "--"), (ENDED, "ended", "-"))]
        bins = numpy.linspace(0, max(1e-9, *(times.max() for times, _, _ in columns)), 61)
        for times, what, dash in columns:
            count, edges = numpy.histogram(times, bins)
            label = what if len(traces) == 1 else f"{name_of(trace)}, {what}"
            colour = COLOURS[(2 * i + (what == "ended")) % len(COLOURS)] if len(traces) == 1 else None
            axes.stairs(count / numpy.diff(edges), edges, label=label, linestyle=dash, linewidth=1.5,
                        color=colour or COLOURS[i % len(COLOURS)])
    axes.set(xlabel="virtual time (s)", ylabel="jobs (1/s)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    title(axes, "Throughput", traces)
    legend_above(axes, 2)
    return figure


def plot_curve(traces, options):
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for i, trace in enumerate(traces):
        curve = trace.series(options.role, options.metric)
        if curve.empty:
            raise PlotError(f"{trace.path}: the curve of {options.role} {options.metric} is empty")
        edges = numpy.append(curve["time"], curve["time"].iloc[-1] + curve["width"].iloc[-1])
        axes.stairs(curve["rate"], edges, label=name_of(trace), linestyle=DASHES[i % len(DASHES)],
                    color=COLOURS[i % len(COLOURS)], linewidth=1.2)
    unit = curve.attrs["units"]["rate"]
    axes.set(xlabel="virtual time (s)", ylabel=f"{options.metric} ({unit})")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    title(axes, f"{options.role}: {curve.attrs['long_name']['count']}", traces)
    if len(traces) > 1:
        axes.legend(loc="upper right")
    return figure


def seconds(value):
    """A time as people write it."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return "0"


def plot_stages(traces, _):
    trace = traces[0]
    stages = trace.stages()
    stages = stages[stages["count"] > 0]
    if stages.empty:
        raise PlotError(f"{trace.path}: has no stages")
    figure, axes = plt.subplots(figsize=(7, 1.2 + 0.36 * len(stages)))
    rows = numpy.arange(len(stages))
    true_mean = stages["mean"] / 1e9
    # What is a million times shorter than the longest is drawn at the edge: the axis shows the rest.
    right = max(stages["p99"].max(), stages["mean"].max(), 1) / 1e9
    p50, p99, mean = (numpy.maximum(stages[name] / 1e9, right / 1e6) for name in ("p50", "p99", "mean"))
    axes.hlines(rows, p50, p99, color="#999999", linewidth=2, zorder=1)
    axes.scatter(p50, rows, color=COLOURS[0], marker="o", s=34, label="median", zorder=3)
    axes.scatter(mean, rows, color=COLOURS[4], marker="D", s=26, label="mean", zorder=2)
    axes.scatter(p99, rows, color=COLOURS[1], marker="|", s=110, linewidth=2.5, label="99th percentile", zorder=3)
    for row, value in zip(rows, true_mean):
        axes.annotate(seconds(value), (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=9,
                      annotation_clip=False)
    axes.set_xscale("log")
    axes.set_xlim(min(p50.min(), mean.min()) / 2, right * 2)
    several = stages["role"].nunique() > 1
    axes.set_yticks(rows, [f"{role}: {name}" if several else name
                           for role, name in zip(stages["role"], stages["name"])])
    axes.invert_yaxis()
    axes.set(xlabel="time in the stage (s); its mean at the right")
    title(axes, "Stages of a job's path", traces)
    legend_above(axes, 3)
    return figure


def plot_roles(traces, _):
    trace = traces[0]
    roles = trace.roles()
    if roles.empty:
        raise PlotError(f"{trace.path}: has no table of roles; its run did not end")
    figure, axes = plt.subplots(figsize=(7, 1.3 + 0.32 * len(roles)))
    rows = numpy.arange(len(roles))
    busy, blocked = 100 * roles["busy_fraction"], 100 * roles["blocked_fraction"]
    axes.barh(rows, busy, color=COLOURS[0], label="busy", height=0.7)
    axes.barh(rows, blocked, left=busy, color=COLOURS[4], label="blocked in a call", height=0.7, hatch="///",
              edgecolor="white")
    for row, part in zip(rows, busy + blocked):
        axes.annotate(f"{part:.1f}%", (part, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_yticks(rows, [f"{name} ({actors})" for name, actors in zip(roles["name"], roles["actors"])])
    axes.invert_yaxis()
    axes.set_xlim(0, 109)
    axes.set_xticks(range(0, 101, 20))
    axes.grid(axis="y", visible=False)
    axes.set(xlabel="share of the time (%), mean over the actors of a role")
    title(axes, "Roles (actors)", traces)
    legend_above(axes, 2)
    return figure


def lanes(start, end):
    """A lane for each interval so that none overlap; intervals in the order of their start."""
    free, lane = [], numpy.zeros(len(start), dtype=int)
    for i in range(len(start)):
        lane[i] = next((j for j, time in enumerate(free) if time <= start[i]), len(free))
        if lane[i] == len(free):
            free.append(0)
        free[lane[i]] = end[i]
    return lane, len(free)


def plot_gantt(traces, options):
    trace = traces[0]
    jobs = jobs_of(trace)
    start = first_of(jobs, HELD_FROM, trace, "time of their start")
    end = first_of(jobs, HELD_TO, trace, "time of their end")
    if "node" not in jobs:
        raise PlotError(f"{trace.path}: its jobs have no node")
    jobs = jobs.dropna(subset=[start, end]).sort_values(start, kind="stable")
    jobs = jobs[(jobs[end] >= options.begin) & (jobs[start] <= options.end)]
    if jobs.empty:
        raise PlotError(f"{trace.path}: no job ran in that time")
    nodes = sorted(jobs["node"].unique())
    figure, axes = plt.subplots(figsize=(8, min(9, 1.4 + 0.32 * len(nodes))))
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
    axes.set_xlim(max(options.begin, jobs[start].min()), min(options.end, jobs[end].max() + least))
    step = max(1, len(nodes) // 32)
    axes.set_yticks(range(0, len(nodes), step), nodes[::step])
    axes.grid(axis="y", visible=False)
    axes.set(xlabel="virtual time (s)", ylabel="node")
    title(axes, f"{len(jobs)} jobs, from {start} to {end}", traces)
    return figure


PLOTS = {"throughput": plot_throughput, "curve": plot_curve, "stages": plot_stages, "roles": plot_roles,
         "gantt": plot_gantt}


def main():
    parser = argparse.ArgumentParser(description="Plots of a trace of tiercel.", allow_abbrev=False)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name in PLOTS:
        kind = kinds.add_parser(name, allow_abbrev=False)
        if name == "curve":
            kind.add_argument("role")
            kind.add_argument("metric")
        if name == "gantt":
            kind.add_argument("--from", dest="begin", type=float, default=0.0, metavar="S")
            kind.add_argument("--to", dest="end", type=float, default=float("inf"), metavar="S")
        kind.add_argument("traces", nargs="+" if name in ("throughput", "curve") else 1, metavar="TRACE")
        kind.add_argument("-o", dest="output", metavar="FILE")
    options = parser.parse_args()
    outputs = [f"{options.kind}.png", f"{options.kind}.svg"] if options.output is None else [options.output]
    if any(not output.endswith((".png", ".svg", ".pdf")) for output in outputs):
        parser.error(f"{options.output}: expected a name that ends in .png, .svg or .pdf")
    try:
        figure = PLOTS[options.kind]([tiercel_trace.open(path) for path in options.traces], options)
        for output in outputs:
            # No date in the file: the same trace gives the same bytes.
            figure.savefig(output, metadata={"Date": None} if output.endswith(".svg") else None)
    except (tiercel_trace.TraceError, PlotError) as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"plot.py: {error.filename}: cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
