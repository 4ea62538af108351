# SPDX-License-Identifier: BSD-3-Clause
"""test_trace.py written FOLDER WRITE_TRACE | damaged FOLDER WRITE_TRACE | incomplete FOLDER WRITE_TRACE | run FOLDER

Tests of analysis/ on traces, with h5py. Prints one line a check, as the shell tests do; exit status 1 when one failed.
"""

import json
import os
import random
import re
import subprocess
import sys
import zlib

import h5py
import numpy

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "analysis"))

import tiercel_trace            # noqa: E402  pylint: disable=wrong-import-position

STEPS = 5000
failed = 0


def check(sentence, good):
    global failed               # pylint: disable=global-statement
    print(("ok - " if good else "not ok - ") + sentence)
    failed += not good


def write(program, path, level="events", steps=STEPS):
    output = subprocess.run([program, path, level, str(steps)], check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def refused(path):
    """The message with which a file is refused; None when it is read."""
    try:
        with tiercel_trace.open(path) as trace:
            trace._read_all()       # pylint: disable=protected-access
    except tiercel_trace.TraceError as error:
        return str(error)
    return None


# --- what was written is read ---

def test_written(folder, program):
    path = os.path.join(folder, "trace.h5")
    expected = write(program, path)

    with h5py.File(path) as file:
        datasets = []
        file.visititems(lambda name, thing: datasets.append(thing) if isinstance(thing, h5py.Dataset) else None)
        described = [d for d in datasets if not d.name.startswith("/config/")]
        check("every dataset has units and a long_name",
              all(d.attrs.get("units") and d.attrs.get("long_name") for d in described) and len(described) > 40)
        check("names are of letters, digits and _",
              all(re.fullmatch(r"[A-Za-z0-9_/]+", d.name) for d in datasets))
        check("texts are plain texts", file.attrs["software"] == "tiercel" and
              file["config/deck"][()].decode().startswith("[deck]\n"))
        check("jobs are shuffled and deflated in chunks, messages are not",
              all(d.shuffle and d.compression == "gzip" for d in file["jobs"].values()) and
              all(d.compression is None and d.chunks for d in file["events"].values()))

    with tiercel_trace.open(folder) as trace:
        check("a run folder is opened, and complete", trace.complete and trace.sealed)
        check("there are the tables", trace.tables == ["events", "jobs"])
        check("attributes are plain values", trace.attributes["seed"] == 17 and trace.attributes["complete"] == 1 and
              trace.attributes["digest"] == "00112233445566778899aabbccddeeff")
        check("the deck and the summary are there", "seed = 17" in trace.document("effective") and
              trace.summary == {"format": 1} and trace.document("nothing") is None)

        jobs = trace.jobs()
        ids = jobs["id"].to_numpy().astype("int64")
        check("every job is there once", len(jobs) == expected["rows"] and sorted(ids) == list(range(STEPS)))
        check("times are seconds", numpy.allclose(jobs["submit"], ids * 1e-3) and jobs.attrs["units"]["submit"] == "s")
        check("states are categories by name",
              list(jobs["state"]) == [["completed", "failed", "killed"][i % 3] for i in ids])
        ended = ids * 1000000 + ids % 13 * 777777
        check("jobs are in the order of their ends", numpy.all(numpy.diff(ended) >= 0))
        raw = trace.jobs(columns=["end"], seconds=False)
        check("nanoseconds are had on request", raw["end"].dtype == "int64" and raw.attrs["units"]["end"] == "ns" and
              numpy.array_equal(raw["end"], ended))

        events = trace.events(seconds=False)
        check("every message is there", len(events) == STEPS)
        order = list(zip(events["time"], events["actor"], events["order_class"], events["from"], events["sequence"]))
        check("messages are in canonical order", order == sorted(order))

        curve = trace.series("broker", "forwarded")
        check("a curve adds up to its total", curve["count"].sum() == expected["forwarded"])
        check("its bins follow one another", numpy.allclose(numpy.diff(curve["time"]), curve["width"].iloc[0]) and
              curve.attrs["units"] == {"time": "s", "width": "s", "count": "1", "rate": "1/s"})
        run = trace.histogram("job-manager", "run")
        check("a histogram has the count, the mean and the quantile of the program",
              run["count"].sum() == expected["run_count"] == run.attrs["count"] and
              run.attrs["mean"] == expected["run_mean_ns"] and run.attrs["p99"] == expected["run_p99_ns"])
        check("and the mean is that of the jobs", numpy.isclose(run.attrs["mean"], numpy.mean(ids % 13 * 777777)))
        middle = (run["lower"] + run["upper"]) / 2
        check("buckets keep to the stated error",
              numpy.all(run["upper"] - middle <= run.attrs["relative_error"] * numpy.maximum(run["lower"], 1)))
        counters = trace.counters()
        check("counters have their totals", counters.loc[counters["metric"] == "published", "total"].tolist() ==
              [expected["published"]])
        stages, roles = trace.stages(), trace.roles()
        check("stages and roles are tables", list(stages["name"]) == ["alloc", "run"] and
              list(roles["name"]) == ["broker", "job-manager"] and roles["busy_fraction"].tolist() == [0.25, 0.75])
        for what in (lambda: trace.table("nothing"), lambda: trace.series("broker", "nothing"),
                     lambda: trace.histogram("nobody", "run"), lambda: trace.jobs(columns=["nothing"])):
            try:
                what()
                check("what is not there is an error", False)
            except tiercel_trace.TraceError:
                pass
        check("what is not there is an error", True)


# --- damage ---

def test_damaged(folder, program):
    path = os.path.join(folder, "whole.h5")
    broken = os.path.join(folder, "broken.h5")
    write(program, path, "jobs", 500)
    with open(path, "rb") as file:
        whole = file.read()

    def changed(data, words):
        with open(broken, "wb") as file:
            file.write(data)
        message = refused(broken)
        if message is None or words not in message or "\n" in message or not message.startswith(broken):
            print(f"#   {message!r}, expected: {words}")
            return False
        return True

    check("a file that is not there", "No such file" in refused(broken))
    check("an empty file", changed(b"", "is empty"))
    check("another program's text", changed(b"{}", "is not a trace of tiercel"))
    check("another program's HDF5", changed(b"\x89HDF\r\n\x1a\n" + bytes(2000), "is an HDF5 file, but not a trace"))
    check("a cut file", all(changed(whole[:size], "it was cut") for size in
                            (100, 511, 512, 5000, len(whole) // 2, len(whole) - 1)))
    check("a longer file", changed(whole + b"x", "it was added to"))
    flips = random.Random(1)

    def flip(data, first):
        at = flips.randrange(first, len(data))
        return data[:at] + bytes([data[at] ^ 1 << flips.randrange(8)]) + data[at + 1:]

    check("a flipped bit in the seal", all(changed(flip(whole[:SEAL], 0) + whole[SEAL:], ": ") for _ in range(50)))
    check("a flipped bit anywhere else",
          all(changed(flip(whole, SEAL), "its checksum does not match") for _ in range(50)))

    # As a killed run leaves it: no checksum. Some bits do not matter there; none may crash the reader.
    head = tiercel_trace.FIRST_LINE + b"state open\n"
    unsealed = head + bytes(SEAL - len(head)) + whole[SEAL:]
    with open(broken, "wb") as file:
        file.write(unsealed)
    with tiercel_trace.open(broken) as trace:
        check("a killed run's file is read and not complete", not trace.complete and len(trace.jobs()) == 500)
    check("a cut killed run's file", changed(unsealed[:len(unsealed) // 2], "HDF5 cannot open it"))
    outcomes = []
    for _ in range(3 if os.environ.get("SMOKE") else 12):
        with open(broken, "wb") as file:
            file.write(flip(flip(flip(unsealed, SEAL), SEAL), SEAL))
        message = refused(broken)
        outcomes.append(message is None or ("\n" not in message and message.startswith(broken)))
    check("a killed run's file with flipped bits is read or refused", all(outcomes))


def seal(path):
    """Closes a damaged file with a right size and checksum, so that only its content is wrong."""
    with open(path, "rb") as file:
        data = file.read()[SEAL:]
    head = tiercel_trace.FIRST_LINE + f"state sealed\nbytes {len(data) + SEAL}\ncrc32 {zlib.crc32(data):08x}\n".encode()
    with open(path, "wb") as file:
        file.write(head.ljust(SEAL, b"\0") + data)


def test_incomplete(folder, program):
    """Each object missing, each data set of one value: tables are refused, all else is read or refused."""
    path, broken = os.path.join(folder, "incomplete.h5"), os.path.join(folder, "broken.h5")
    write(program, path, "events", 100)
    with open(path, "rb") as file:
        whole = file.read()
    objects = []
    with h5py.File(path) as file:
        file.visititems(lambda name, thing: objects.append((name, isinstance(thing, h5py.Dataset))))

    def message_without(name, cut):
        with open(broken, "wb") as file:
            file.write(whole)
        with h5py.File(broken, "r+") as file:
            attributes = dict(file[name].attrs)
            del file[name]
            if cut:
                file[name] = numpy.zeros(1)
                file[name].attrs.update(attributes)
        seal(broken)
        return refused(broken)

    good, told = True, 0
    for name, is_dataset in objects:
        for cut in (False, True) if is_dataset else (False,):
            message = message_without(name, cut)
            column = is_dataset and name.startswith(("jobs/", "events/"))
            if (message is None and column) or (message is not None and
                                                ("\n" in message or not message.startswith(broken))):
                print(f"#   {name}: {message!r}")
                good = False
            told += message is not None
    check("an incomplete trace with a right checksum is read or refused, its tables are refused",
          good and told > len(objects) / 2)


SEAL = tiercel_trace.SEAL_BYTES


# --- a run of the program ---

def depth(node):
    return 0 if node == 0 else 1 + depth((node - 1) // 2)


def check_calls(jobs, watches, summary):
    """Scheme pr2792: 2 calls of each follower between a job's node and the root, 2 of a watcher that began."""
    check("a namespace is watched at most once, and on its job's node", watches["job"].is_unique and
          (watches.set_index("job")["node"] == jobs.set_index("id")["node"].reindex(watches["job"])).all())
    watched = jobs["id"].isin(watches["job"])
    calls = 2 * jobs["node"].map(depth) + 2 * watched
    check("job by job, the subscription calls follow from its node and from whether a watch began",
          watched.any() and calls.sum() == summary["subscribe"]["namespace_calls"])


def test_run(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    with tiercel_trace.open(folder) as trace:
        check("the trace is complete and of the summary's digest",
              trace.complete and trace.attributes["digest"] == summary["run"]["digest"])
        jobs = trace.jobs()
        check("a row a job", len(jobs) == summary["jobs"]["submitted"] and jobs["id"].is_unique)
        results = jobs["result"].value_counts()
        check("as many ended in each way", all(results[result] == summary["jobs"][result] for result in
                                               ("completed", "failed", "killed", "cancelled", "rejected")))
        check("the makespan is the last end", numpy.isclose(jobs["clean"].max(), summary["jobs"]["makespan_s"],
                                                            rtol=0.01))
        lengths = {"ingest": jobs["depend"] - jobs["submit"], "queue": jobs["request"] - jobs["depend"],
                   "alloc": jobs["alloc"] - jobs["request"]}
        check("mean stages of the jobs are those of the summary",
              all(numpy.isclose(lengths[stage].mean(), summary["stages"][stage]["mean_s"]) for stage in lengths))
        stages = trace.stages()
        check("all stages are those of the summary", len(stages) == len(summary["stages"]) and
              all(numpy.isclose(row["mean"] / 1e9, summary["stages"][row["name"]]["mean_s"]) and
                  numpy.isclose(row["p99"] / 1e9, summary["stages"][row["name"]]["p99_s"])
                  for _, row in stages.iterrows()))
        roles = trace.roles()
        check("roles are those of the summary", len(roles) == len(summary["roles"]) and
              all(row["handled"] == summary["roles"][row["name"]]["handled"] and
                  row["busy_fraction"] == summary["roles"][row["name"]]["busy_fraction"]
                  for _, row in roles.iterrows()))
        check("the curve of submitted jobs adds up", trace.series("job-manager", "submitted")["count"].sum() ==
              summary["jobs"]["submitted"])
        check("all curves add up to their totals", all(
            trace.series(role, metric)["count"].sum() == trace._at("series", role, metric).attrs["total"]
            for role, metric in trace.metrics()))
        check("events are the messages that were handled", "events" not in trace.tables or
              len(trace.events()) == summary["run"]["events"])
        check_calls(jobs, trace.table("watches"), summary)
        check("the effective deck is there", "[workload]" in trace.document("effective"))


def main():
    what, folder, *rest = sys.argv[1:]
    {"written": test_written, "damaged": test_damaged, "incomplete": test_incomplete,
     "run": test_run}[what](folder, *rest)
    return failed != 0


sys.exit(main())
