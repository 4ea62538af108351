# SPDX-License-Identifier: BSD-3-Clause
"""Plots of sweeps: results over a parameter, with the confidence band of their mean over repeats."""

import difflib
import functools
import itertools

import matplotlib.pyplot as plt
import numpy

from plot_style import COLOURS, DASHES, MARKERS, PlotError, number

CONFIDENCE = 0.95
LINES_MOST = 14
PANELS_MOST = 6


@functools.lru_cache(maxsize=None)
def student_quantile(probability, degrees):
    """The t below which a value with so many degrees of freedom lies with this probability: with t = sqrt(n) tan(a)
    the density is cos(a) to the power n - 1."""
    angle = ((numpy.arange(50000) + 0.5) / 50000 - 0.5) * numpy.pi
    density = numpy.cos(angle) ** (degrees - 1)
    below = (numpy.cumsum(density) - density / 2) / density.sum()
    return float(numpy.sqrt(degrees) * numpy.tan(numpy.interp(probability, below, angle)))


# --- what is drawn over what ---

def _known(sweep, key):
    if key in sweep.frame:
        return key
    near = difflib.get_close_matches(key, list(sweep.frame), n=3)
    raise PlotError(f"{sweep.path}: has no column {key}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


def _is_number(frame, name):
    return frame[name].dtype.kind == "f"


def _picked(sweep, done, conditions):
    """The points that have these values: PARAMETER=VALUE."""
    for condition in conditions:
        name, equals, text = condition.partition("=")
        if not equals:
            raise PlotError(f"--where {condition}: expected PARAMETER=VALUE")
        column = done[_known(sweep, name)]
        if column.dtype.kind == "f":
            try:
                done = done[numpy.isclose(column, float(text), rtol=1e-9)]
            except ValueError:
                raise PlotError(f"--where {condition}: '{text}' is no number, as all values of {name} are; those of "
                                "quantities are in base units") from None
        else:
            done = done[column == text]
    return done


def _horizontal(sweep, done, asked):
    """The parameter along the axis: as asked for, or the one of numbers with the most values."""
    if asked is not None:
        return _known(sweep, asked)
    if not sweep.parameters:
        raise PlotError(f"{sweep.path}: has no parameters; name a column with --x")
    return max(sweep.parameters, key=lambda name: (_is_number(done, name), done[name].nunique()))


def _line_parameters(sweep, done, x):
    """Those that make a line each: that vary, and do not follow from x (as zipped ones do)."""
    return [name for name in sweep.parameters if name != x and done[name].nunique() > 1 and
            done.groupby(x)[name].nunique().max() > 1]


def _short(name):
    return name.partition(".")[2] or name


def _value(value):
    return number(value) if isinstance(value, float) else str(value)


def _lines_of(done, x, by):
    """(label, rows) a line, in the order of the deck."""
    if not by:
        return [("", done)]
    return [(", ".join(f"{_short(name)} = {_value(value)}" for name, value in
                       zip(by, key if isinstance(key, tuple) else (key,))), rows)
            for key, rows in done.groupby(by if len(by) > 1 else by[0], sort=False)]


def _named(sweep, lines, labels):
    """The lines with the names that were asked for."""
    if labels is None:
        return lines
    if len(labels) != len(lines):
        raise PlotError(f"{sweep.path}: names given by --label: {len(labels)}; expected one for each of {len(lines)} "
                        f"lines: {'; '.join(label for label, _ in lines)}")
    return [(label, rows) for label, (_, rows) in zip(labels, lines)]


# --- drawing ---

def _draw_line(axes, rows, x, key, places, style):
    """Mean over the repeats of each point, and the band in which the true mean lies; whether there was any."""
    rows = rows.dropna(subset=[key])
    groups = rows.groupby(x)[key]
    mean, count, deviation = groups.mean(), groups.count(), groups.std()
    at = [places[value] for value in mean.index]
    half = numpy.array([student_quantile((1 + CONFIDENCE) / 2, n - 1) * s / numpy.sqrt(n) if n > 1 else numpy.nan
                        for n, s in zip(count, deviation)])
    order = numpy.argsort(at)
    at, middle, half = numpy.array(at, dtype=float)[order], mean.to_numpy()[order], half[order]
    axes.plot(at, middle, markerfacecolor="none", **style)
    banded = numpy.isfinite(half)
    if banded.any():
        axes.fill_between(at, middle - half, middle + half, where=banded, color=style["color"], alpha=0.2, linewidth=0)
    return bool(banded.any())


def _set_horizontal(axes, values, places, numbers):
    """A logarithmic axis for what was doubled, and ticks where the points are."""
    if numbers and min(values) > 0 and max(values) / min(values) >= 16 and len(values) > 2:
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
    step = -(-len(values) // 12)
    if not numbers or len(values) <= 12 or axes.get_xscale() == "log":
        texts = [number(value) if numbers else str(value) for value in values[::step]]
        crowded = sum(map(len, texts)) > 60
        axes.set_xticks([places[value] for value in values[::step]], texts, rotation=30 if crowded else 0,
                        ha="right" if crowded else "center")


def _label(sweep, name):
    unit = sweep.frame.attrs["units"].get(name, "1")
    return name if unit == "1" else f"{name} ({unit})"


def _draw_panel(axes, sweep, lines, x, key, places):
    cycle = zip(itertools.cycle(COLOURS), itertools.cycle(MARKERS))
    # Each line is thinner than the one below it: both are seen where they coincide.
    widths = numpy.linspace(1.4 + min(1.2, 0.5 * (len(lines) - 1)), 1.4, len(lines))
    banded = False
    for i, ((label, rows), (colour, marker)) in enumerate(zip(lines, cycle)):
        style = {"color": colour, "marker": marker, "linestyle": DASHES[i // len(COLOURS) % len(DASHES)],
                 "label": label or None, "linewidth": widths[i], "markersize": 1 + 2.6 * widths[i]}
        banded = _draw_line(axes, rows, x, key, places, style) or banded
    axes.set(ylabel=_label(sweep, key))
    return banded


def plot_sweep(sweeps, options):
    """Results over a parameter: a panel a result, a line for each value of the other parameters."""
    sweep = sweeps[0]
    keys = [_known(sweep, key) for key in options.keys]
    done = _picked(sweep, sweep.done(), options.where or [])
    if done.empty:
        raise PlotError(f"{sweep.path}: none of its {len(sweep.frame)} points is done" +
                        (" and picked by --where" if options.where else ""))
    for key in keys:
        if not _is_number(done, key) or done[key].isna().all():
            raise PlotError(f"{sweep.path}: its column {key} has no numbers")
    if len(keys) > PANELS_MOST:
        raise PlotError(f"{len(keys)} results were asked for; expected at most {PANELS_MOST} in one figure")
    x = _horizontal(sweep, done, options.x)
    lines = _lines_of(done, x, _line_parameters(sweep, done, x))
    if len(lines) > LINES_MOST:
        raise PlotError(f"{sweep.path}: makes {len(lines)} lines over {x}; expected at most {LINES_MOST}: choose "
                        "another --x, or pick points with --where PARAMETER=VALUE")
    lines = _named(sweep, lines, options.label)
    numbers = _is_number(done, x)
    values = sorted(done[x].dropna().unique()) if numbers else list(dict.fromkeys(done[x]))
    places = {value: value if numbers else float(i) for i, value in enumerate(values)}
    # The legend stands at the right, and does not take its room from the panels.
    beside = 0.5 + 0.075 * max(len(label) for label, _ in lines) if len(lines) > 1 else 0
    figure, panels = plt.subplots(len(keys), 1, figsize=(6.5 + beside, 0.9 + 2.9 * len(keys)), sharex=True,
                                  squeeze=False)
    banded = [_draw_panel(axes, sweep, lines, x, key, places) for axes, key in zip(panels[:, 0], keys)]
    for axes in panels[:, 0]:
        if options.log_y:
            axes.set_yscale("log")
        elif axes.dataLim.y0 >= 0:
            # Room for the topmost marks, also where all values are close to each other.
            axes.set_ylim(0, axes.dataLim.y1 * 1.05 or None)
    _set_horizontal(panels[-1, 0], values, places, numbers)
    panels[-1, 0].set(xlabel=_label(sweep, x))
    lost = len(sweep.frame) - len(sweep.done())
    notes = ["mean and its 95 % band over the repeats"] * any(banded) + [f"{lost} points are not done"] * (lost > 0)
    notes += ["what is 0 is not on a logarithmic axis"] * bool(options.log_y and (done[keys] <= 0).any(axis=None))
    panels[0, 0].set_title((sweep.title or _short(keys[0])) + (f"\n{'; '.join(notes)}" if notes else ""), loc="left",
                           fontsize=10)
    if len(lines) > 1:
        panels[0, 0].legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=9)
    return figure
