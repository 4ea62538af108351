#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plots of traces and sweeps of tiercel.

    plot.py throughput TRACE...             what was submitted and what ended, per second, over time
    plot.py curve ROLE METRIC TRACE...      any curve of the trace, as a rate over time
    plot.py heap TRACE...                   a dispatcher client's heap, its collections, and the rate
    plot.py latency TRACE... [--of ROLE METRIC]     distributions of times; of several traces one of them
    plot.py stages TRACE                    how long each stage of a job's path takes
    plot.py waterfall TRACE [--job ID]      the steps of a job's path one behind the other
    plot.py roles TRACE                     how busy and how blocked each role's actors are
    plot.py gantt TRACE [--from S] [--to S]         which node or processor was held by jobs, and when
    plot.py locks TRACE [--file NAME] [--from S] [--to S]   who waited for a shared file's lock, and who held it
    plot.py published TRACE...              what was measured against what was published
    plot.py sweep SWEEP KEY... [--x PARAMETER] [--where PARAMETER=VALUE] [--label TEXT] [--log-y]
                                            results of a sweep over a parameter, with confidence bands

TRACE is a file or a run folder, SWEEP the folder of a sweep or its results.h5 or results.tsv, KEY a column of it such
as jobs.run_rate. -o FILE names the picture, and its ending the format (png, svg, pdf); without it both
KIND.png and KIND.svg are written. Needs no display. Exit status: 0; 1 when a file cannot be read or lacks what is
plotted; 2 for a wrong command line.
"""

import argparse
import os
import sys

OTHER_PYTHON = "/usr/bin/python3"

try:
    import plot_bars
    import plot_curves
    import plot_lanes
    import plot_style
    import plot_sweep
    import plot_times
    import tiercel_sweep
    import tiercel_trace
except ImportError as missing:
    if {"-h", "--help"}.intersection(sys.argv[1:]):
        print(f"usage: plot.py KIND TRACE... [-o FILE]\n\n{__doc__}")
        sys.exit(0)
    # A package that is there and broken has no name.
    lack = f"has no module {missing.name}" if isinstance(missing, ModuleNotFoundError) else f"fails: {missing}"
    other = ("" if os.path.realpath(sys.executable or "") == os.path.realpath(OTHER_PYTHON) else
             f", or start it with another Python 3, such as {OTHER_PYTHON} {sys.argv[0]} ...")
    sys.exit(f"plot.py: {sys.executable} {lack}; install h5py, pandas and matplotlib for it (Debian's Python: "
             f"python3-h5py python3-pandas python3-matplotlib){other}")


def _window(parser):
    parser.add_argument("--from", dest="begin", type=float, default=0.0, metavar="S", help="virtual time, in seconds")
    parser.add_argument("--to", dest="end", type=float, default=float("inf"), metavar="S")


def _curve(parser):
    parser.add_argument("role")
    parser.add_argument("metric")


def _latency(parser):
    parser.add_argument("--of", nargs=2, metavar=("ROLE", "METRIC"), help="a sampled metric of the trace")


def _waterfall(parser):
    parser.add_argument("--job", type=int, metavar="ID", help="of the table of jobs; default: means over all")


def _locks(parser):
    parser.add_argument("--file", metavar="NAME", help="group [io.NAME] of the deck; default: the first")
    _window(parser)


def _sweep(parser):
    parser.add_argument("--x", metavar="PARAMETER", help="default: the parameter with the most values")
    parser.add_argument("--where", action="append", metavar="PARAMETER=VALUE", help="only these points")
    parser.add_argument("--label", action="append", metavar="TEXT",
                        help="a line's name in the legend; once for each line, in their order")
    parser.add_argument("--log-y", action="store_true", help="a logarithmic axis of the results")


# Name: function, how many traces, further arguments.
PLOTS = {
    "throughput": (plot_curves.plot_throughput, "+", None),
    "curve": (plot_curves.plot_curve, "+", _curve),
    "heap": (plot_curves.plot_heap, "+", None),
    "latency": (plot_times.plot_latency, "+", _latency),
    "stages": (plot_times.plot_stages, 1, None),
    "waterfall": (plot_times.plot_waterfall, 1, _waterfall),
    "roles": (plot_bars.plot_roles, 1, None),
    "gantt": (plot_lanes.plot_gantt, 1, _window),
    "locks": (plot_lanes.plot_locks, 1, _locks),
    "published": (plot_bars.plot_published, "+", None),
    "sweep": (plot_sweep.plot_sweep, 1, _sweep),
}


def parse(arguments=None):
    """The command line; ends the program when it is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="plot.py KIND TRACE... [-o FILE]", allow_abbrev=False)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name, (function, count, more) in PLOTS.items():
        kind = kinds.add_parser(name, allow_abbrev=False, description=function.__doc__)
        if more is not None:
            more(kind)
        kind.add_argument("traces", nargs=count, metavar="SWEEP" if name == "sweep" else "TRACE")
        if name == "sweep":
            kind.add_argument("keys", nargs="+", metavar="KEY")
        kind.add_argument("-o", dest="output", metavar="FILE")
    options = parser.parse_args(arguments)
    options.outputs = [f"{options.kind}.png", f"{options.kind}.svg"] if options.output is None else [options.output]
    for output in options.outputs:
        if not output.endswith((".png", ".svg", ".pdf")):
            parser.error(f"{output}: expected a name that ends in .png, .svg or .pdf")
    return options


def draw(options):
    """The figure that was asked for. TraceError or PlotError when there is none."""
    opened = tiercel_sweep.open if options.kind == "sweep" else tiercel_trace.open
    return PLOTS[options.kind][0]([opened(path) for path in options.traces], options)


def main(arguments=None):
    options = parse(arguments)
    try:
        figure = draw(options)
        for output in options.outputs:
            # No date in the file: the same trace gives the same bytes.
            figure.savefig(output, metadata={"Date": None} if output.endswith(".svg") else None)
    except (tiercel_trace.TraceError, plot_style.PlotError) as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"plot.py: {error.filename}: cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
