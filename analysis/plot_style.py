# SPDX-License-Identifier: BSD-3-Clause
"""What all plots share: colours, fonts, words, and what to do about a trace that lacks something.

A family of plots is a module plot_*.py with functions that take traces (tiercel_trace) and the options of the command
line and return a figure. PlotError is what a trace lacks, in one line.
"""

import os

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt             # noqa: E402
import numpy                                # noqa: E402

# Colours that all kinds of colour vision tell apart (M. Okabe and K. Ito, 2008), the palest left out.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
GREY = "#999999"
PALE = "#d9d9d9"
DASHES = ["-", "--", "-.", ":"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]

plt.rcParams.update({
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS), "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd", "font.size": 10, "legend.frameon": False,
    "figure.constrained_layout.use": True, "svg.fonttype": "none", "svg.hashsalt": "tiercel", "savefig.dpi": 150,
    "hatch.linewidth": 0.6,
})


class PlotError(Exception):
    """What a trace lacks for a plot."""


# --- what a trace has ---

def first_of(frame, names, trace, what):
    """The first of these columns that has values."""
    for name in names:
        if name in frame and frame[name].notna().any():
            return name
    raise PlotError(f"{trace.path}: its jobs have no {what} (none of {', '.join(names)})")


def jobs_of(trace):
    """The table of jobs, which must have rows."""
    return rows_of(trace, "jobs", "table of jobs")


def rows_of(trace, table, what):
    """A table that must be there and have rows."""
    if table not in trace.tables:
        raise PlotError(f"{trace.path}: has no {what}; run with --trace jobs")
    frame = trace.table(table)
    if frame.empty:
        raise PlotError(f"{trace.path}: its {what} is empty")
    return frame


def name_of(trace):
    """How a trace is called in a legend: its run folder."""
    folder = os.path.basename(os.path.dirname(os.path.abspath(trace.path)))
    base = os.path.basename(trace.path)
    return folder if base == "trace.h5" else base.removesuffix(".h5")


# --- words ---

def seconds(value):
    """A time as people write it."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return "0"


def number(value):
    """A number without the noise of its last digits; thousands are set apart."""
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def title(axes, text, traces, pad=None):
    """A title at the left, `pad` points above the plot; a run that did not end says so."""
    note = "" if all(trace.complete for trace in traces) else "  (the run did not end)"
    axes.set_title(text + note, loc="left", pad=pad)


def legend_above(axes, columns):
    """Beside the title, where nothing is drawn."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=columns, borderaxespad=0.2, columnspacing=1.2,
                handletextpad=0.5)


def at_the_right(axes, row, text):
    """A text beside row `row` of a plot of rows."""
    axes.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=9,
                  annotation_clip=False)


def rows_figure(count, width=7.0, row=0.32):
    """Figure and axes for so many rows, the first one on top."""
    figure, axes = plt.subplots(figsize=(width, 1.3 + row * count))
    axes.set_ylim(count - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    return figure, axes


def edges_of(curve):
    """The edges of the bins of a curve."""
    return numpy.append(curve["time"], curve["time"].iloc[-1] + curve["width"].iloc[-1])
