# SPDX-License-Identifier: BSD-3-Clause
"""test_plots.py FOLDER: every plot of traces and sweeps in FOLDER, which plots.sh has made.

What can be asked of a picture without eyes: texts neither overlap nor leave the picture, axes say what they show and in
which unit, both files are whole. Prints one line a check; exit status 1 when one failed.
"""

import contextlib
import io
import itertools
import os
import subprocess
import sys
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "analysis"))

import matplotlib.pyplot as plt     # noqa: E402  pylint: disable=wrong-import-position
from matplotlib.text import Text    # noqa: E402  pylint: disable=wrong-import-position

import plot                         # noqa: E402  pylint: disable=wrong-import-position
from plot_sweep import student_quantile     # noqa: E402  pylint: disable=wrong-import-position
import test_sweep                   # noqa: E402  pylint: disable=wrong-import-position

PLOT = os.path.join(os.environ["top_srcdir"], "analysis", "plot.py")
COUNTS = ("node", "processor", "writer", "writers", "point")        # of no unit
failed = 0


def check(sentence, good):
    global failed                   # pylint: disable=global-statement
    print(("ok - " if good else "not ok - ") + sentence)
    failed += not good


# --- what a picture must be ---

def _hidden_ticks(figure):
    """Labels of ticks that are outside of their axis, which are not drawn."""
    hidden = set()
    for axes in figure.axes:
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            low, high = sorted((low, high))
            slack = (high - low) * 1e-9
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not low - slack <= tick.get_loc() <= high + slack:
                    hidden.update((tick.label1, tick.label2))
    return hidden


def texts_of(figure):
    """The visible texts and where they stand."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = _hidden_ticks(figure)
    found = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            box = text.get_window_extent(renderer)
            if box.width > 0:
                found.append((text.get_text(), box))
    return found


def overlaps(figure):
    texts = texts_of(figure)
    bad = []
    for (a, first), (b, second) in itertools.combinations(texts, 2):
        width = min(first.x1, second.x1) - max(first.x0, second.x0)
        height = min(first.y1, second.y1) - max(first.y0, second.y0)
        if width > 1 and height > 2:
            bad.append(f"'{a}' and '{b}' overlap")
    size = figure.bbox
    bad += [f"'{text}' leaves the picture" for text, box in texts if box.x0 < size.x0 - 1 or box.x1 > size.x1 + 1 or
            box.y0 < size.y0 - 1 or box.y1 > size.y1 + 1]
    return bad


def unlabelled(figure):
    bad = []
    for axes in figure.axes:
        x, y = axes.get_xlabel(), axes.get_ylabel()
        shared = axes.get_shared_x_axes().get_siblings(axes)
        if not x and not any(other.get_xlabel() for other in shared):
            bad.append("an axis x has no label")
        named = [label.get_text() for label in axes.get_yticklabels()]
        if not y and not any(any(c.isalpha() for c in name) for name in named):
            bad.append("an axis y has neither a label nor names")
        bad += [f"'{label}' has no unit" for label in (x, y)
                if label and "(" not in label and label not in COUNTS and "." not in label]
    return bad


def looked_at(sentence, folder, *arguments):
    """Draws it, looks at it, and writes it."""
    try:
        figure = plot.draw(plot.parse(list(arguments)))
    except (plot.tiercel_trace.TraceError, plot.plot_style.PlotError, SystemExit) as error:
        print(f"#   {error}")
        check(sentence, False)
        return
    bad = overlaps(figure) + unlabelled(figure)
    for line in bad:
        print("#   " + line.replace("\n", " "))
    output = os.path.join(folder, "looked-at.svg")
    figure.set_layout_engine("none")        # it stands, and takes long
    figure.savefig(output)
    texts = xml.dom.minidom.parse(output).getElementsByTagName("text")
    plt.close(figure)
    check(sentence, not bad and len(texts) > 5)


# --- the plots ---

def test_traces(folder):
    def at(*arguments):
        return [os.path.join(folder, name[1:]) if name.startswith("@") else name for name in arguments]

    for arguments in (["throughput", "@flux"], ["throughput", "@flux", "@flux-2"], ["throughput", "@falkon"],
                      ["throughput", "@io"], ["throughput", "@batch"], ["curve", "broker", "routed", "@flux"],
                      ["curve", "broker", "routed", "@flux", "@flux-2"], ["heap", "@falkon"],
                      ["heap", "@falkon", "@falkon"], ["latency", "@flux"], ["latency", "@io"], ["latency", "@batch"],
                      ["latency", "@flux", "@flux-2"], ["latency", "@falkon", "--of", "lb-client", "pause"],
                      ["stages", "@flux"], ["stages", "@batch"], ["waterfall", "@flux"], ["waterfall", "@batch"],
                      ["waterfall", "@batch", "--job", "3"], ["roles", "@flux"], ["roles", "@io"], ["gantt", "@flux"],
                      ["gantt", "@flux", "--from", "0.1", "--to", "0.3"], ["gantt", "@batch"], ["locks", "@io"],
                      ["locks", "@io", "--file", "within-16"],
                      ["locks", "@io", "--file", "if-demoted-16", "--to", "0.1"],
                      ["published", "@flux"], ["published", "@io"], ["published", "@flux", "@io"]):
        looked_at(f"a plot of {' '.join(arguments).replace('@', '')}", folder, *at(*arguments))
    figure = plot.draw(plot.parse(["throughput", *at("@io")]))
    axes = figure.axes[0]
    styles = {(patch.get_edgecolor(), patch.get_linestyle()) for patch in axes.patches}
    check("each shared file has its curve, unlike the others",
          len(styles) == len(axes.patches) == len(axes.get_legend().get_texts()) > 4)
    plt.close(figure)


def test_sweeps(folder):
    sweep = test_sweep.write_sweep(os.path.join(folder, "sweep"))
    for arguments in (["jobs.run_rate"], ["jobs.run_rate", "stages.alloc.mean_s", "--x", "cluster.nodes"],
                      ["jobs.run_rate", "--x", "events.scheme", "--log-y"],
                      ["jobs.run_rate", "--where", "events.scheme=pr2792", "--where", "cluster.nodes=64"]):
        looked_at(f"a plot of a sweep: {' '.join(arguments)}", folder, "sweep", sweep, *arguments)
    axes = plot.draw(plot.parse(["sweep", sweep, "jobs.run_rate"])).axes[0]
    check("the topmost mark has room", axes.get_ylim()[1] >= 1.049 * max(line.get_ydata().max() for line in axes.lines))
    names = [f"line {i}" for i in range(len(axes.lines))]
    labels = [word for name in names for word in ("--label", name)]
    axes = plot.draw(plot.parse(["sweep", sweep, "jobs.run_rate", *labels])).axes[0]
    check("lines have the names they are given", [text.get_text() for text in axes.get_legend().get_texts()] == names)
    check("marks let what is below them be seen", all(line.get_markerfacecolor() == "none" for line in axes.lines))
    plt.close("all")
    known = {(0.975, 1): 12.7062047, (0.975, 2): 4.3026527, (0.975, 4): 2.7764451, (0.975, 30): 2.0422725,
             (0.95, 10): 1.8124611}
    check("Student's t is that of tables", all(abs(student_quantile(*at) / value - 1) < 1e-4
                                               for at, value in known.items()))


# --- what goes wrong ---

def run(*arguments):
    return subprocess.run([sys.executable, PLOT, *arguments], capture_output=True, text=True, check=False)


def status_of(*arguments):
    """The exit status, and what is said, without a process of its own."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            status = plot.main(list(arguments))
        except SystemExit as leaves:
            status = leaves.code
    return status, said.getvalue()


def refuses(folder, *arguments):
    """The one line with which a plot is refused; nothing is written."""
    output = os.path.join(folder, "never.png")
    status, said = status_of(*arguments, "-o", output)
    good = status == 1 and said.count("\n") == 1 and said.startswith("plot.py: ")
    return said if good and not os.path.exists(output) else None


def test_refused(folder):
    flux, shared = os.path.join(folder, "flux"), os.path.join(folder, "io")
    broken = os.path.join(folder, "broken.h5")
    with open(os.path.join(flux, "trace.h5"), "rb") as file:
        whole = file.read()
    with open(broken, "wb") as file:
        file.write(whole[:len(whole) // 2])
    for sentence, words, arguments in (
            ("a curve that a trace lacks", "the curve of broker nothing", ["curve", "broker", "nothing", flux]),
            ("a heap that a trace lacks", "no client with a collected heap", ["heap", flux]),
            ("a table that a trace lacks", "has no table of writes", ["locks", flux]),
            ("a shared file that there is not", "expected one of serial-4", ["locks", shared, "--file", "none"]),
            ("a job that there is not", "no job has the id 7", ["waterfall", flux, "--job", "7"]),
            ("a damaged trace", "it was cut", ["roles", broken]),
            ("a trace that is not there", "No such file", ["roles", os.path.join(folder, "nowhere.h5")]),
            ("a result that a sweep lacks", "did you mean jobs.run_rate",
             ["sweep", os.path.join(folder, "sweep"), "jobs.runrate"]),
            ("a name too few for the lines of a sweep", "names given by --label: 1; expected one for each of ",
             ["sweep", os.path.join(folder, "sweep"), "jobs.run_rate", "--label", "one"]),
            ("a folder that is no sweep", "neither results.h5 nor results.tsv", ["sweep", flux, "jobs.run_rate"])):
        said = refuses(folder, *arguments)
        check(f"{sentence} is refused with one line", said is not None and words in said)
    check("a wrong command line is refused", status_of("pie", flux)[0] == 2 and status_of()[0] == 2 and
          status_of("roles", flux, "-o", "x.doc")[0] == 2)
    for ending in ("png", "pdf"):
        output = os.path.join(folder, f"roles.{ending}")
        check(f"a {ending} is written", run("roles", flux, "-o", output).returncode == 0 and
              os.path.getsize(output) > 5000)
    bare = subprocess.run([sys.executable, "-S", PLOT, "--help"], capture_output=True, text=True, check=False)
    check("--help needs no modules", bare.returncode == 0 and "plot.py throughput TRACE..." in bare.stdout)
    bare = subprocess.run([sys.executable, "-S", PLOT, "roles", flux], capture_output=True, text=True, check=False)
    check("what is not installed is told in one line", bare.returncode == 1 and bare.stderr.count("\n") == 1 and
          sys.executable in bare.stderr and "install h5py, pandas and matplotlib" in bare.stderr)
    said = run("--help")
    check("--help tells of every plot", said.returncode == 0 and
          all(f"plot.py {kind} " in said.stdout for kind in plot.PLOTS))


def main():
    folder = sys.argv[1]
    test_traces(folder)
    test_sweeps(folder)
    test_refused(folder)
    test_sweep.check = check
    test_sweep.test_tables(folder)
    return failed != 0


sys.exit(main())
