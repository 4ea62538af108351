# SPDX-License-Identifier: BSD-3-Clause
"""jobs.csv as pandas reads it, column by column; and an exported log played again.

    test_batch.py TIERCEL FOLDER
"""
import json
import os
import random
import subprocess
import sys

import pandas

COLUMNS = ["job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
           "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time",
           "turnaround_time", "stretch", "allocated_resources", "consumed_energy", "metadata"]
PROCESSORS = 32
JOBS = 400

tiercel, folder = sys.argv[1:3]
os.chdir(folder)
failures = 0


def check(sentence, holds):
    global failures
    failures += not holds
    print(("ok - " if holds else "not ok - ") + sentence, flush=True)


def write_deck(name, log):
    with open(name + ".deck", "w") as deck:
        deck.write("[deck]\nformat = 1\n[system]\nkind = batch\n[workload]\nsource = swf\nfile = %s\n"
                   "overrun = kill\n" % log)


def write_log():
    draw = random.Random(3)
    time = 0
    with open("log.swf", "w") as log:
        log.write("; MaxProcs: %d\n" % PROCESSORS)
        for job in range(1, JOBS + 1):
            time += draw.choice([0, 0, 1, 7, 20, 60])
            width = 40 if job % 97 == 0 else draw.choice([1, 1, 2, 3, 5, 8, 16, 32])
            limit = draw.randrange(1, 400)
            run = 0 if job % 53 == 0 else draw.randrange(1, 450) + draw.choice([0, 0.25])
            log.write("%d %d -1 %s %d -1 -1 %d %d -1 1 1 1 1 1 1 -1 -1\n" % (job * 2, time, run, width, width, limit))


def run(*arguments):
    return subprocess.run([tiercel] + list(arguments), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True).stdout


def play(name, deck, policy, by):
    settings = ["--set", "scheduler.policy=" + policy]
    if by is not None:
        settings += ["--set", "scheduler.by=" + by]
    run("run", deck + ".deck", "-q", "-o", name, "--force", *settings)
    with open(name + ".csv", "w") as csv:
        csv.write(run("export", name + "/trace.h5", "--format", "batsim"))
    return pandas.read_csv(name + ".csv")


def machines(text):
    found = []
    for span in str(text).split():
        first, _, last = span.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def near(a, b):
    return bool(((a - b).abs() < 1.5e-6).all())


def check_rows(what, jobs, summary):
    ran = jobs[jobs.final_state != "REJECTED"]
    rejected = jobs[jobs.final_state == "REJECTED"]
    check(what + ": the columns are Batsim's, in order", list(jobs.columns) == COLUMNS)
    check(what + ": each job has a row", sorted(jobs.job_id) == list(range(2, 2 * JOBS + 1, 2)))
    check(what + ": there is one workload", set(jobs.workload_name) == {"w0"})
    check(what + ": a log has no profiles", jobs.profile.isna().all())
    check(what + ": submission times ascend", jobs.submission_time.is_monotonic_increasing)
    check(what + ": jobs wider than the machine are rejected, without times",
          set(rejected.requested_number_of_resources) == {40} and rejected.loc[:, "starting_time":"stretch"].isna()
          .all().all() and rejected.allocated_resources.isna().all())
    check(what + ": all states occur", set(jobs.final_state) == {"COMPLETED_SUCCESSFULLY", "REJECTED",
                                                               "COMPLETED_WALLTIME_REACHED"})
    check(what + ": success is to have completed", (jobs.success == (jobs.final_state == "COMPLETED_SUCCESSFULLY"))
          .all())
    killed = ran[ran.success == 0]
    check(what + ": a killed job ran for its requested time", near(killed.execution_time, killed.requested_time))
    check(what + ": the others for no longer", (ran.execution_time <= ran.requested_time + 1e-9).all())
    check(what + ": no job starts before it is submitted", (ran.waiting_time >= 0).all())
    check(what + ": finish is start + execution", near(ran.finish_time, ran.starting_time + ran.execution_time))
    check(what + ": wait is start - submission", near(ran.waiting_time, ran.starting_time - ran.submission_time))
    check(what + ": turnaround is finish - submission",
          near(ran.turnaround_time, ran.finish_time - ran.submission_time))
    long = ran[ran.execution_time > 0]
    check(what + ": stretch is turnaround / execution",
          bool((abs(long.stretch - long.turnaround_time / long.execution_time) < 1e-5 * long.stretch).all()))
    held = [machines(text) for text in ran.allocated_resources]
    check(what + ": a job holds as many machines as it asked for",
          [len(set(h)) for h in held] == list(ran.requested_number_of_resources))
    free_at = {}
    overlap = False
    for start, end, names in sorted(zip(ran.starting_time, ran.finish_time, held), key=lambda job: job[:2]):
        overlap |= any(free_at.get(name, 0) > start + 1e-9 for name in names)
        free_at.update((name, end) for name in names)
    check(what + ": no machine has two jobs at a time", not overlap)
    check(what + ": they are machines 0 to 31", set(free_at) == set(range(PROCESSORS)))
    check(what + ": energy is not modelled, and there is no metadata",
          (ran.consumed_energy == 0).all() and jobs.metadata.isna().all())
    check(what + ": the summary has the same mean wait", abs(summary["jobs"]["mean_wait_s"] - ran.waiting_time.mean())
          < 1e-5)
    bounded = (ran.turnaround_time / ran.execution_time.clip(lower=10)).clip(lower=1)
    check(what + ": and mean bounded slowdown", abs(summary["jobs"]["mean_bounded_slowdown"] - bounded.mean()) < 1e-5)
    area = (ran.execution_time * ran.requested_number_of_resources).sum()
    span = ran.finish_time.max() - ran.submission_time.min()
    check(what + ": and utilisation", abs(summary["jobs"]["utilisation"] - area / span / PROCESSORS) < 1e-8)
    check(what + ": and counts", summary["jobs"]["killed"] == len(killed) and
          summary["jobs"]["rejected"] == len(rejected) and summary["jobs"]["submitted"] == JOBS)


write_log()
write_deck("first", "log.swf")
write_deck("again", "again.swf")
for policy, by in (("fcfs", None), ("sjf", None), ("easy", "processors"), ("easy", "machines"),
                   ("easy-sjf", "processors"), ("conservative", "processors"), ("conservative", "machines")):
    what = policy + ("" if by is None else " by " + by)
    first = play("out", "first", policy, by)
    with open("out/summary.json") as summary:
        check_rows(what, first, json.load(summary))
    with open("again.swf", "w") as log:
        log.write(run("export", "out/trace.h5", "--format", "swf"))
    again = play("out-again", "again", policy, by)
    times = ["job_id", "submission_time", "starting_time", "finish_time", "allocated_resources"]
    check(what + ": the exported log gives the same schedule on the same machines", first[times].equals(again[times]))
sys.exit(failures > 0)
