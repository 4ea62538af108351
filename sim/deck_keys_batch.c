/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck_keys_batch.h"

#define ALWAYS NULL
#define NO_CHOICES NULL
#define OF_SWF "workload.source=swf"
#define WITH_LOGS (DECK_BROKERED | DECK_BATCH)
#define PLANNING "scheduler.policy=easy|easy-sjf|conservative"

const struct deck_key deck_keys_batch[] = {
    { "cluster", "processors", QUANTITY_COUNT, NULL, "1", "16777216", NO_CHOICES, ALWAYS, DECK_BATCH, 0,
      "cores of the machine in all, a multiple of cores-per-node; none: as the workload's file says (swf: MaxProcs, "
      "else MaxNodes, else its widest job; batsim: nb_res)" },

    { "workload", "interval", QUANTITY_DISTRIBUTION, "exponential(1s)", NULL, NULL, NO_CHOICES,
      "workload.source=poisson", WITH_LOGS, 0, "the time from one submission to the next" },
    { "workload", "limit", QUANTITY_DURATION, NULL, "1ns", "40000d", NO_CHOICES, "workload.source=bulk|poisson",
      WITH_LOGS, 0, "the requested time of a job, at which it is killed and which plans trust; none: it has none" },
    { "workload", "file", DECK_FILE, NULL, NULL, NULL, NO_CHOICES, "workload.source=swf|batsim", WITH_LOGS, 0,
      "the file of jobs" },
    { "workload", "overrun", DECK_CHOICE, "clip", NULL, NULL, "clip|kill|extend|drop", OF_SWF, WITH_LOGS, 0,
      "a job that ran longer than it requested. clip: its run time becomes the requested time; kill: both stay, and it "
      "is killed; extend: its requested time becomes the run time; drop: it is left out" },
    { "workload", "missing-limit", DECK_CHOICE, "run", NULL, NULL, "run|none|drop", OF_SWF, WITH_LOGS, 0,
      "a job without requested time. run: it becomes the run time; none: it has no limit; drop: the job is left out" },
    { "workload", "checkpointed", DECK_CHOICE, "whole", NULL, NULL, "whole|pieces", OF_SWF, WITH_LOGS, 0,
      "jobs that stand in the log whole (status 0, 1, 5) and in pieces (2, 3, 4): which of both counts" },
    { "workload", "processors", DECK_CHOICE, "requested", NULL, NULL, "requested|allocated", OF_SWF, WITH_LOGS, 0,
      "which number of processors counts; the other is taken where that is unknown" },
    { "workload", "zero-run", DECK_CHOICE, "keep", NULL, NULL, "keep|drop", OF_SWF, WITH_LOGS, 0,
      "jobs of run time 0, which is less than half a second rounded down" },
    { "workload", "dependencies", DECK_CHOICE, "follow", NULL, NULL, "follow|ignore", OF_SWF, DECK_BATCH, 0,
      "follow: a job with a preceding job is submitted its think time after the end of that; ignore: at its own time" },
    { "workload", "shift-start", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, OF_SWF, WITH_LOGS, 0,
      "whether the first submission is moved to time 0, and all others with it" },

    { "scheduler", "by", DECK_CHOICE, "processors", NULL, NULL, "processors|machines", PLANNING, WITH_LOGS, 0,
      "what a plan of the future counts. processors: so many, whichever (the textbook form); machines: named ones, the "
      "lowest first, kept until the promise is renewed (as batsched does)" },
    { "scheduler", "depth", QUANTITY_COUNT, "1", "1", "1000000000", NO_CHOICES, "scheduler.policy=easy|easy-sjf",
      WITH_LOGS, 0, "how many waiting jobs have a promised start" },
    { "scheduler", "ties", DECK_CHOICE, "together", NULL, NULL, "together|one-at-a-time", ALWAYS, DECK_BATCH, 0,
      "what happens in one instant, always ends before submissions. together: the policy is told all of it, then "
      "asked; one-at-a-time: it is asked after each end and each submission" },
    { "scheduler", "at-limit", DECK_CHOICE, "kill", NULL, NULL, "kill|continue", ALWAYS, DECK_BATCH, 0,
      "what happens to a job that reaches its limit. continue: it runs on, and plans take it to end in the next "
      "instant" },
    { "scheduler", "whole-nodes", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, ALWAYS, DECK_BATCH, 0,
      "whether a job gets all cores of as many nodes as its processors need" },

    { "trace", "slowdown-bound", QUANTITY_DURATION, "10s", "1ns", "1d", NO_CHOICES, ALWAYS, DECK_BATCH,
      DECK_UNMODELLED,
      "run times below count as this in the bounded slowdown, max(1, (wait + run) / max(run, bound))" },
    { NULL }
};
