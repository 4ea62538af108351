# SPDX-License-Identifier: BSD-3-Clause
"""Plots with a row a thing: how busy roles were, and what was measured against what was published."""

import configparser
import re

import numpy

from plot_style import COLOURS, PALE, PlotError, at_the_right, legend_above, name_of, number, rows_figure, title


def plot_roles(traces, _):
    """How busy, and how blocked, each role's actors were."""
    trace = traces[0]
    roles = trace.roles()
    if roles.empty:
        raise PlotError(f"{trace.path}: has no table of roles; its run did not end")
    figure, axes = rows_figure(len(roles))
    rows = numpy.arange(len(roles))
    busy, blocked = 100 * roles["busy_fraction"], 100 * roles["blocked_fraction"]
    axes.barh(rows, busy, color=COLOURS[0], label="busy", height=0.7)
    axes.barh(rows, blocked, left=busy, color=COLOURS[4], label="blocked in a call", height=0.7, hatch="///",
              edgecolor="white")
    for row, part in zip(rows, busy + blocked):
        axes.annotate(f"{part:.1f}%", (part, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_yticks(rows, [f"{name} ({actors})" for name, actors in zip(roles["name"], roles["actors"])])
    axes.set_xlim(0, 109)
    axes.set_xticks(range(0, 101, 20))
    axes.set(xlabel="share of the time (%), mean over the actors of a role")
    title(axes, "Roles (actors)", traces)
    legend_above(axes, 2)
    return figure


# --- measured against published ---

EDGE = 100.0                        # what is off by more (%) is drawn at the edge, with an arrow


def _tolerances(trace):
    """By key, in percent, as the deck states them."""
    deck = configparser.ConfigParser(delimiters=("=",), comment_prefixes=("#",), interpolation=None, strict=False)
    deck.optionxform = str
    try:
        deck.read_string(trace.document("effective") or "")
        items = deck.items("expect")
    except configparser.Error:
        return {}
    found = ((key, re.match(r"\S+\s+([0-9.]+)%", value)) for key, value in items)
    return {key: float(match[1]) for key, match in found if match}


def _expected(traces):
    """(key, run, entry, tolerance in percent) of all expectations that came to a number."""
    rows = []
    for trace in traces:
        expect = (trace.summary or {}).get("expect") or {}
        if not expect:
            raise PlotError(f"{trace.path}: its deck expects nothing (no [expect])")
        tolerances = _tolerances(trace)
        rows += [(key, name_of(trace), entry, tolerances.get(key, 0.0)) for key, entry in expect.items()
                 if isinstance(entry.get("error"), (int, float))]
    if not rows:
        raise PlotError(f"{traces[0].path}: nothing that its deck expects came to a number")
    return rows


def plot_published(traces, _):
    """What was measured against what was published, and how far off it may be."""
    rows = _expected(traces)
    figure, axes = rows_figure(len(rows), width=8.6, row=0.36)
    places = numpy.arange(len(rows))
    error = numpy.array([100 * entry["error"] for _, _, entry, _ in rows])
    tolerance = numpy.array([part for _, _, _, part in rows])
    limit = min(EDGE, max(numpy.abs(error).max(), tolerance.max(), 1.0)) * 1.12
    axes.barh(places, 2 * numpy.minimum(tolerance, limit), left=-numpy.minimum(tolerance, limit), height=0.62,
              color=PALE, label="tolerance", zorder=1)
    axes.axvline(0, color="black", linewidth=1, zorder=2)
    shown = numpy.clip(error, -limit * 0.97, limit * 0.97)
    kinds = (("within it", COLOURS[0], "o", lambda e: e["comparable"] and e["ok"]),
             ("missed", COLOURS[1], "X", lambda e: e["comparable"] and not e["ok"]),
             ("not comparable", COLOURS[6], "|", lambda e: not e["comparable"]))
    for label, colour, marker, belongs in kinds:
        mask = numpy.array([bool(belongs(entry)) for _, _, entry, _ in rows])
        if mask.any():
            axes.scatter(shown[mask], places[mask], color=colour, marker=marker, s=46, label=label, zorder=3)
    for place in places[numpy.abs(error) > limit * 0.97]:
        axes.annotate("", (numpy.sign(error[place]) * limit, place), (shown[place], place),
                      arrowprops={"arrowstyle": "->", "color": COLOURS[1]})
    for place, (_, _, entry, _) in enumerate(rows):
        at_the_right(axes, place, f"{number(entry['measured'])}  /  {number(entry['published'])}")
    several = len(traces) > 1
    axes.set_yticks(places, [f"{run}: {key}" if several else key for key, run, _, _ in rows])
    axes.set_xlim(-limit, limit)
    axes.set(xlabel="measured over published, less 1 (%); at the right: measured / published")
    # Labels may leave little room: the title stands above the legend.
    title(axes, "Measured / published", traces, pad=24)
    legend_above(axes, 4)
    return figure
