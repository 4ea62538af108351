# SPDX-License-Identifier: BSD-3-Clause
"""Plots over virtual time: throughput, any curve, and a dispatcher client's heap."""

import matplotlib.pyplot as plt
import numpy
import pandas

from plot_style import COLOURS, DASHES, PlotError, edges_of, first_of, jobs_of, legend_above, name_of, seconds, title

SUBMITTED = ("submit", "submitted", "arrival")
ENDED = ("clean", "end", "done", "finish", "task_end")

# Where jobs have no rows: the curves of what was handed in and of what ended, by role.
CURVES = (("lb-client", "submitted", "ended", "tasks"), ("plain-client", "submitted", "ended", "tasks"),
          ("client", "submitted", "ended", "jobs"), ("batch", "submitted", "completed", "jobs"),
          ("namespace-client", "created", "removed", "namespaces"))
BINS = 60
LINES_INSIDE = 4                    # of files: a longer legend stands beside the plot


def _job_times(trace):
    jobs = jobs_of(trace)
    for names, what, dash in ((SUBMITTED, "submitted", "--"), (ENDED, "ended", "-")):
        yield jobs[first_of(jobs, names, trace, f"time when they were {what}")].dropna(), what, dash


def coarse(curve, bins):
    """A curve in at most about so many bins: time, width, count, rate."""
    step = max(1, -(-len(curve) // bins))
    groups = numpy.arange(len(curve)) // step
    frame = pandas.DataFrame({"time": curve["time"].groupby(groups).min(),
                              "width": curve["width"].groupby(groups).sum(),
                              "count": curve["count"].groupby(groups).sum()})
    frame["rate"] = frame["count"] / frame["width"]
    return frame


def _throughput_of(trace):
    """(rate, edges, what, dash) of what was handed in and of what ended, or of each file, without a dash; and what it
    is."""
    if "jobs" in trace.tables:
        columns = list(_job_times(trace))
        bins = numpy.linspace(0, max(1e-9, *(times.max() for times, _, _ in columns)), BINS + 1)
        lines = []
        for times, what, dash in columns:
            count, edges = numpy.histogram(times, bins)
            lines.append((count / numpy.diff(edges), edges, what, dash))
        return lines, "jobs"
    known = set(trace.metrics())
    writers = sorted(role for role, metric in known if role.startswith("writer-") and metric == "written")
    if writers:
        curves = [(role.removeprefix("writer-"), coarse(trace.series(role, "written"), BINS)) for role in writers]
        return [(curve["rate"], edges_of(curve), name, None) for name, curve in curves if not curve.empty], "writes"
    for role, submitted, ended, what in CURVES:
        if (role, submitted) in known and (role, ended) in known:
            curves = [coarse(trace.series(role, metric), BINS) for metric in (submitted, ended)]
            return [(curve["rate"], edges_of(curve), told, dash) for curve, told, dash in
                    zip(curves, ("submitted", "ended"), ("--", "-")) if not curve.empty], what
    raise PlotError(f"{trace.path}: has neither a table of jobs (run with --trace jobs) nor a curve of what ended")


def plot_throughput(traces, _):
    """What was handed in and what ended, per second."""
    things, lines = set(), []
    alone = len(traces) == 1
    for i, trace in enumerate(traces):
        found, what = _throughput_of(trace)
        things.add(what)
        for rate, edges, told, dash in found:
            label = told if alone else f"{name_of(trace)}, {told}"
            # Of jobs a colour is a trace and a dash a kind of curve; files take turns in both.
            turn = len(lines) if alone or dash is None else i
            lines.append((rate, edges, {"label": label, "color": COLOURS[turn % len(COLOURS)],
                                        "linestyle": dash or DASHES[turn % len(DASHES)]}))
    beside = "writes" in things and len(lines) > LINES_INSIDE
    size = (7 + (0.6 + 0.075 * max(len(style["label"]) for _, _, style in lines) if beside else 0),
            max(3.6, 0.8 + 0.19 * len(lines)) if beside else 3.6)
    figure, axes = plt.subplots(figsize=size)
    for rate, edges, style in lines:
        axes.stairs(rate, edges, linewidth=1.5, **style)
    axes.set(xlabel="virtual time (s)", ylabel=f"{', '.join(sorted(things))} (1/s)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    title(axes, "Throughput", traces)
    if beside:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=9)
    elif "writes" in things:
        axes.legend(loc="upper right")
    else:
        legend_above(axes, 2)
    return figure


def plot_curve(traces, options):
    """Any curve of the trace, as a rate."""
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for i, trace in enumerate(traces):
        curve = trace.series(options.role, options.metric)
        if curve.empty:
            raise PlotError(f"{trace.path}: the curve of {options.role} {options.metric} is empty")
        axes.stairs(curve["rate"], edges_of(curve), label=name_of(trace), linestyle=DASHES[i % len(DASHES)],
                    color=COLOURS[i % len(COLOURS)], linewidth=1.2)
    unit = curve.attrs["units"]["rate"]
    axes.set(xlabel="virtual time (s)", ylabel=f"{options.metric} ({unit})")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    title(axes, f"{options.role}: {curve.attrs['long_name']['count']}", traces)
    if len(traces) > 1:
        axes.legend(loc="upper right")
    return figure


# --- the heap ---

CLIENT = "lb-client"
HEAP_BINS = 40


def _heap_of(trace):
    """Bins of equal width: time, tasks, collections, paused (s), freed (bytes)."""
    metrics = {"ended": "tasks", "pause": "collections", "paused": "paused", "freed": "freed"}
    if any((CLIENT, metric) not in trace.metrics() for metric in metrics):
        raise PlotError(f"{trace.path}: has no client with a collected heap (role {CLIENT})")
    curves = {name: trace.series(CLIENT, metric) for metric, name in metrics.items()}
    if curves["collections"]["count"].sum() == 0:
        raise PlotError(f"{trace.path}: its client's heap was never collected")
    # Each curve has bins of its own width, one a power of two times the other; all begin at 0.
    filled = [curve for curve in curves.values() if len(curve)]
    width = max(curve["width"].iloc[0] for curve in filled)
    bins = round(max(len(curve) * curve["width"].iloc[0] for curve in filled) / width)
    width *= max(1, bins // HEAP_BINS)
    frame = pandas.DataFrame({name: curve["count"].groupby((curve["time"] / width).astype(int)).sum()
                              for name, curve in curves.items()}).fillna(0)
    frame["time"] = frame.index * width
    frame["paused"] /= 1e9
    return frame, width


def plot_heap(traces, _):
    """Free in a dispatcher client's heap after a collection, collections, and the rate."""
    figure, (free, paused, rate) = plt.subplots(3, 1, figsize=(7, 6.4), sharex=True)
    for i, trace in enumerate(traces):
        heap, width = _heap_of(trace)
        style = {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)], "label": name_of(trace)}
        collected = heap[heap["collections"] > 0]
        free.plot(collected["time"] + width / 2, collected["freed"] / collected["collections"] / 2**20, marker="o",
                  markersize=2.5, linewidth=1.2, **style)
        edges = numpy.append(heap["time"], heap["time"].iloc[-1] + width)
        paused.stairs(heap["paused"], edges, linewidth=1.4, **style)
        rate.stairs(heap["tasks"] / width, edges, linewidth=1.4, **style)
    free.set(ylabel="free after a\ncollection (MiB)")
    paused.set(ylabel=f"collections (s in\neach {seconds(width)})")
    rate.set(ylabel="tasks ended (1/s)", xlabel="virtual time (s)")
    for axes in (free, paused, rate):
        axes.set_ylim(bottom=0)
    rate.set_xlim(left=0)
    title(free, "The client's heap", traces)
    if len(traces) > 1:
        legend_above(free, 3)
    return figure
