# SPDX-License-Identifier: BSD-3-Clause
"""Plots of how long things take: distributions, stages of a job's path, and the path as a waterfall."""

import matplotlib.pyplot as plt
import numpy
import pandas

from plot_style import (COLOURS, DASHES, GREY, PlotError, at_the_right, jobs_of, legend_above, name_of, rows_figure,
                        seconds, title)

# Samples of times that are lengths, not moments: those of which a distribution is wanted unasked.
LENGTHS = ("wait", "run", "sojourn", "turnaround", "lock_wait", "pause", "commit_time", "write_time")
PER_DECADE = 16
ROWS_MOST = 32


# --- distributions ---

def _histogram(trace, role, metric):
    """Middle of each filled bucket and its count, in seconds where it is a time; and the unit."""
    buckets = trace.histogram(role, metric)
    unit = buckets.attrs["units"]["lower"]
    scale = 1e-9 if unit == "ns" else 1
    frame = pandas.DataFrame({"value": (buckets["lower"] + buckets["upper"]) / 2 * scale, "count": buckets["count"]})
    frame.attrs.update(unit="s" if unit == "ns" else unit, text=buckets.attrs.get("long_name", metric),
                       median=buckets.attrs.get("p50", numpy.nan) * scale, mean=buckets.attrs["mean"] * scale)
    return frame


def _lengths_of(trace):
    """(role, metric) of the stages of a job's path, or of other lengths of time."""
    stages = trace.stages()
    found = [(role, name) for role, name, count in zip(stages["role"], stages["name"], stages["count"]) if count > 0]
    if not found:
        found = [(role, metric) for role, metric in trace.metrics("histograms") if metric in LENGTHS]
    return [pair for pair in in_path_order(trace, found) if trace.histogram(*pair)["count"].sum() > 0]


def in_path_order(trace, pairs):
    """Stages in the order of a job's path, as the summary has them; others behind."""
    order = list((trace.summary or {}).get("stages", {}))
    return sorted(pairs, key=lambda pair: order.index(pair[1]) if pair[1] in order else len(order))


def _ridge(axes, row, frame, colour):
    """The density of one distribution over the logarithm of its values, as a hill on row `row`."""
    filled = frame[frame["value"] > 0]
    if filled.empty:
        return
    places = numpy.floor(numpy.log10(filled["value"]) * PER_DECADE).astype(int)
    first, last = places.min() - 1, places.max() + 1
    heights = numpy.bincount(places - first, weights=filled["count"], minlength=last - first + 1)
    heights = heights / heights.max() * 0.85
    edges = 10.0 ** (numpy.arange(first, last + 2) / PER_DECADE)
    axes.stairs(row + 0.4 - heights, edges, baseline=row + 0.4, fill=True, color=colour, alpha=0.75)
    if frame.attrs["median"] > 0:
        axes.plot([frame.attrs["median"]] * 2, [row - 0.45, row + 0.4], color="black", linewidth=1.4)


def _zeros(frame):
    """How many values a logarithmic axis has no place for, where that matters."""
    share = 100 * frame.loc[frame["value"] <= 0, "count"].sum() / frame["count"].sum()
    return f" ({share:.0f} % are 0)" if share >= 1 else ""


def _plot_ridges(trace):
    pairs = _lengths_of(trace)
    if not pairs:
        raise PlotError(f"{trace.path}: has no distribution of times; name one with --of ROLE METRIC")
    shown = pairs[:ROWS_MOST]
    several = len({role for role, _ in shown}) > 1
    frames = [_histogram(trace, role, metric) for role, metric in shown]
    names = [(f"{role}: {metric}" if several else metric) + _zeros(frame)
             for (role, metric), frame in zip(shown, frames)]
    figure, axes = rows_figure(len(shown), width=5.5 + 0.07 * max(map(len, names)), row=0.42)
    for row, frame in enumerate(frames):
        _ridge(axes, row, frame, COLOURS[0])
        at_the_right(axes, row, seconds(frame.attrs["median"]))
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), names)
    left = "" if len(shown) == len(pairs) else f" (the first {len(shown)} of {len(pairs)})"
    axes.set(xlabel="time (s); the median is marked, and stands at the right")
    title(axes, f"Distributions{left}, each to its own height", [trace])
    return figure


def plot_latency(traces, options):
    """Distributions of times: of one trace all of them, or with --of one of several traces."""
    if options.of is None and len(traces) == 1:
        return _plot_ridges(traces[0])
    if options.of is None:
        common = set.intersection(*(set(_lengths_of(trace)) for trace in traces))
        if not common:
            raise PlotError(f"{traces[0].path}: shares no distribution of times with the others; name one with "
                            "--of ROLE METRIC")
        options.of = next(pair for pair in _lengths_of(traces[0]) if pair in common)
    role, metric = options.of
    figure, axes = plt.subplots(figsize=(7, 3.8))
    low, high = numpy.inf, 0
    for i, trace in enumerate(traces):
        frame = _histogram(trace, role, metric).sort_values("value")
        if frame["count"].sum() == 0:
            raise PlotError(f"{trace.path}: {role} {metric} has no values")
        share = 100 * frame["count"].cumsum() / frame["count"].sum()
        # From nothing at the smallest value on: also one value alone is a line.
        axes.step([frame["value"].iloc[0], *frame["value"]], [0, *share], where="post",
                  color=COLOURS[i % len(COLOURS)], linestyle=DASHES[i % len(DASHES)], linewidth=1.6,
                  label=name_of(trace))
        low, high = min(low, frame["value"].min()), max(high, frame["value"].max())
    if low == high:
        axes.set_xlim(0, 2 * high or 1)
    elif high > 5 * low > 0:
        axes.set_xscale("log")
    axes.set(xlabel=f"{frame.attrs['text']} ({frame.attrs['unit']})", ylabel="share of the values up to it (%)")
    axes.set_ylim(0, 101)
    title(axes, f"{role}: {metric}", traces)
    if len(traces) > 1:
        axes.legend(loc="lower right")
    return figure


# --- stages ---

def _stages_of(trace):
    stages = trace.stages()
    stages = stages[stages["count"] > 0]
    if stages.empty:
        raise PlotError(f"{trace.path}: has no stages")
    order = in_path_order(trace, list(zip(stages["role"], stages["name"])))
    return stages.set_index(["role", "name"]).loc[order].reset_index()


def _stage_names(stages):
    several = stages["role"].nunique() > 1
    return [f"{role}: {name}" if several else name for role, name in zip(stages["role"], stages["name"])]


def plot_stages(traces, _):
    """Median, mean and 99th percentile of each stage of a job's path."""
    trace = traces[0]
    stages = _stages_of(trace)
    figure, axes = rows_figure(len(stages), row=0.36)
    rows = numpy.arange(len(stages))
    # What is a million times shorter than the longest is drawn at the edge: the axis shows the rest. What is 0 has no
    # place on it; the mean at the right says so.
    right = max(stages["p99"].max(), stages["mean"].max(), 1) / 1e9
    p50, p99, mean = (numpy.maximum(stages[name].where(stages[name] > 0) / 1e9, right / 1e6)
                      for name in ("p50", "p99", "mean"))
    low = numpy.fmin(p50, mean)
    axes.hlines(rows, low, p99, color=GREY, linewidth=2, zorder=1)
    axes.scatter(p50, rows, color=COLOURS[0], marker="o", s=34, label="median", zorder=3)
    axes.scatter(mean, rows, color=COLOURS[4], marker="D", s=26, label="mean", zorder=2)
    axes.scatter(p99, rows, color=COLOURS[1], marker="|", s=110, linewidth=2.5, label="99th percentile", zorder=3)
    for row, value in zip(rows, stages["mean"] / 1e9):
        at_the_right(axes, row, seconds(value))
    axes.set_xscale("log")
    axes.set_xlim((low.min() if low.notna().any() else right) / 2, right * 2)
    axes.set_yticks(rows, _stage_names(stages))
    axes.set(xlabel="time in the stage (s); its mean at the right")
    title(axes, "Stages of a job's path", traces)
    legend_above(axes, 3)
    return figure


# --- waterfall ---

def _steps_of(trace, job):
    """Steps of the path, from the table of jobs: name, role, begin, end, in seconds since its first time. Of one job,
    or means over all that have the whole path."""
    jobs = jobs_of(trace)
    units, texts = jobs.attrs["units"], jobs.attrs["long_name"]
    times = [name for name in jobs if units[name] == "s" and name not in ("run", "limit") and jobs[name].notna().any()]
    key = "id" if "id" in jobs else "job"
    if job is not None:
        jobs = jobs[jobs[key] == job]
        if jobs.empty:
            raise PlotError(f"{trace.path}: no job has the id {job}")
        times = [name for name in times if jobs[name].notna().all()]
    jobs = jobs.dropna(subset=times)
    if jobs.empty or len(times) < 2:
        raise PlotError(f"{trace.path}: its jobs have no path of several times")
    means = jobs[times].sub(jobs[times[0]], axis=0).mean().sort_values(kind="stable")
    steps = [(name, texts[name].partition(": ")[0] if ": " in texts[name] else "", begin, end)
             for name, begin, end in zip(means.index[1:], means.iloc[:-1], means.iloc[1:])]
    return pandas.DataFrame(steps, columns=["name", "role", "begin", "end"]), len(jobs)


def plot_waterfall(traces, options):
    """The steps of a job's path, one behind the other: of one job, or means over all."""
    trace = traces[0]
    if options.job is None and "jobs" not in trace.tables:
        stages = _stages_of(trace)
        end = stages["mean"].cumsum() / 1e9
        steps = pandas.DataFrame({"name": stages["name"], "role": stages["role"], "begin": end - stages["mean"] / 1e9,
                                  "end": end})
        what = "Stages of a job's path, mean of each"
    else:
        steps, count = _steps_of(trace, options.job)
        what = f"Path of job {options.job}" if options.job is not None else f"Path of a job, mean of {count}"
    figure, axes = rows_figure(len(steps), row=0.34)
    roles = list(dict.fromkeys(steps["role"]))
    for i, role in enumerate(roles):
        part = steps[steps["role"] == role]
        colour = COLOURS[i % len(COLOURS)]
        axes.barh(part.index, part["end"] - part["begin"], left=part["begin"], height=0.7, color=colour,
                  hatch="///" if i >= len(COLOURS) else None, label=role)
        # So that the shortest step is seen.
        axes.vlines(part["begin"], part.index - 0.35, part.index + 0.35, color=colour, linewidth=1)
    for row, (begin, end) in enumerate(zip(steps["begin"], steps["end"])):
        at_the_right(axes, row, seconds(end - begin))
    axes.set_yticks(range(len(steps)), steps["name"])
    axes.set_xlim(0, steps["end"].max() * 1.02)
    axes.set(xlabel="time since submission (s); length of the step at the right")
    title(axes, what, traces)
    if len(roles) > 1:
        axes.legend(loc="upper right", title="who works", fontsize=9, title_fontsize=9, frameon=True, framealpha=0.9,
                    edgecolor="none")
    return figure
