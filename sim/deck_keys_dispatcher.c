/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck_keys_dispatcher.h"

#define ALWAYS NULL
#define NO_CHOICES NULL
#define BUNDLED "dispatcher.protocol=tcp|ws"
#define WITH_PROVISIONER "provision.policy=one-at-a-time|additive|exponential|all-at-once"
#define OF_KIND DECK_DISPATCHER, 0

const struct deck_key deck_keys_dispatcher[] = {
    { "dispatcher", "protocol", DECK_CHOICE, "tcp", NULL, NULL, "tcp|ws|plain", ALWAYS, OF_KIND,
      "how executors are spoken to. tcp: a task is pushed, acknowledged before it runs, and its result is not "
      "acknowledged; ws: word of a task is pushed, the executor fetches it and delivers the result, each in a "
      "web-service call; plain: five messages a task and nothing else, for comparisons of simulators" },
    { "dispatcher", "services", QUANTITY_COUNT, "1", "1", "65535", NO_CHOICES, ALWAYS, OF_KIND,
      "dispatchers, each with a queue and executors of its own" },
    { "dispatcher", "executors-per-service", QUANTITY_COUNT, "32", "1", "1000000", NO_CHOICES, ALWAYS, OF_KIND,
      "executors of one service; each runs one task at a time" },
    { "dispatcher", "threads", QUANTITY_COUNT, "1", "1", "1000000", NO_CHOICES, BUNDLED, OF_KIND,
      "executors that may have been notified and have not answered yet: 1 on Falkon's TCP path, 8 on its WS path" },
    { "dispatcher", "notify-rate", QUANTITY_RATE, NULL, "1/s", "1000000000/s", NO_CHOICES, BUNDLED, OF_KIND,
      "notifications of executors a second, at most, evenly spaced; none: no limit" },
    { "dispatcher", "notice-bundle", QUANTITY_COUNT, "1000", "1", "32767", NO_CHOICES, BUNDLED, OF_KIND,
      "ended tasks that one notice to the client may name" },
    { "dispatcher", "notice-rate", QUANTITY_RATE, "1000000/s", "1/s", "1000000000/s", NO_CHOICES, BUNDLED, OF_KIND,
      "notices to the client a second, at most, besides the time that each takes" },
    { "dispatcher", "choice", DECK_CHOICE, "longest-idle", NULL, NULL, "longest-idle|last-idle", BUNDLED, OF_KIND,
      "which idle executor gets the next task" },
    { "dispatcher", "lock", DECK_CHOICE, "shared", NULL, NULL, "shared|separate", BUNDLED, OF_KIND,
      "shared: taking a bundle in and dispatching exclude one another; separate: a bundle is taken in task by task "
      "beside the dispatch" },
    { "dispatcher", "piggy-back", QUANTITY_BOOLEAN, "true", NULL, NULL, NO_CHOICES, "dispatcher.protocol=ws", OF_KIND,
      "whether the answer to a delivered result carries the next task" },
    { "dispatcher", "slowest", QUANTITY_PERCENTAGE, "100%", "100%", "10000%", NO_CHOICES, BUNDLED, OF_KIND,
      "costs of the last service, of those of the first; the others lie evenly between" },
    { "dispatcher", "steal-first", QUANTITY_DURATION, "1ms", "1us", "1h", NO_CHOICES, "client.balance=stealing",
      OF_KIND, "a service that found nothing to steal waits so long, and twice as long each time" },
    { "dispatcher", "steal-most", QUANTITY_DURATION, "1s", "1us", "24h", NO_CHOICES, "client.balance=stealing", OF_KIND,
      "the longest such wait" },

    { "client", "clients", QUANTITY_COUNT, "1", "1", "65535", NO_CHOICES, ALWAYS, OF_KIND,
      "clients; the tasks and the services are dealt out among them" },
    { "client", "balance", DECK_CHOICE, "credit", NULL, NULL, "credit|late-binding|stealing", BUNDLED, OF_KIND,
      "how tasks come to services. credit: a window of outstanding tasks for each; late-binding: a service asks when "
      "it has idle executors; stealing: all are pushed at once, and a service without any takes half of another's" },
    { "client", "window", QUANTITY_COUNT, "1000", "1", "1000000000", NO_CHOICES, "client.balance=credit", OF_KIND,
      "tasks outstanding at one service, at most" },
    { "client", "bundle", QUANTITY_COUNT, "256", "1", "32767", NO_CHOICES, BUNDLED, OF_KIND,
      "tasks of one submit call, at most" },
    { "client", "poll", QUANTITY_DURATION, "100ms", "1us", "1h", NO_CHOICES, BUNDLED, OF_KIND,
      "a submit loop that finds its window full looks again after this time" },
    { "client", "rate", QUANTITY_RATE, "1000000/s", "1/s", "1000000000000/s", NO_CHOICES, BUNDLED, OF_KIND,
      "tasks that a submit loop hands out in any one second, at most" },

    { "heap", "size", QUANTITY_SIZE, NULL, "1MiB", "1024TiB", NO_CHOICES, BUNDLED, OF_KIND,
      "the client's collected heap, which does not grow; none: memory costs nothing" },
    { "heap", "live", QUANTITY_SIZE, "0B", NULL, NULL, NO_CHOICES, BUNDLED, OF_KIND,
      "in use from the beginning to the end" },
    { "heap", "per-task", QUANTITY_SIZE, "1KiB", NULL, "1GiB", NO_CHOICES, BUNDLED, OF_KIND,
      "allocated for one task between its submission and its notice" },
    { "heap", "held-per-task", QUANTITY_SIZE, "300B", NULL, "1GiB", NO_CHOICES, BUNDLED, OF_KIND,
      "in use, of that, until the notice" },
    { "heap", "leak", DECK_CHOICE, "none", NULL, NULL, "none|per-task|late-answer", BUNDLED, OF_KIND,
      "what is never let go of. per-task: leak-per-million, evenly; late-answer: the record of each task that ends "
      "before its submit call has returned" },
    { "heap", "leak-per-million", QUANTITY_SIZE, "0B", NULL, "1TiB", NO_CHOICES, "heap.leak=per-task", OF_KIND,
      "leaked by a million tasks" },
    { "heap", "record", QUANTITY_SIZE, "300B", NULL, "1MiB", NO_CHOICES, "heap.leak=late-answer", OF_KIND,
      "leaked by one such task" },
    { "heap", "overhead-limit", QUANTITY_BOOLEAN, "true", NULL, NULL, NO_CHOICES, BUNDLED, OF_KIND,
      "whether the client ends, as HotSpot does, after five collections in a row that left less than 2 % free and 2 % "
      "of the time" },

    { "provision", "policy", DECK_CHOICE, "static", NULL, NULL,
      "static|one-at-a-time|additive|exponential|all-at-once", BUNDLED, OF_KIND,
      "static: all executors are there from the beginning; else how hosts are asked for once there are tasks: one a "
      "request, 1 2 3 ..., 1 2 4 ..., or all in one" },
    { "provision", "host-executors", QUANTITY_COUNT, "1", "1", "4096", NO_CHOICES, WITH_PROVISIONER, OF_KIND,
      "executors of one host" },
    { "provision", "grant", QUANTITY_DISTRIBUTION, "uniform(60s, 120s)", NULL, NULL, NO_CHOICES, WITH_PROVISIONER,
      OF_KIND, "from a request until its hosts are there" },
    { "provision", "poll", QUANTITY_DURATION, "15s", "1ms", "24h", NO_CHOICES, WITH_PROVISIONER, OF_KIND,
      "how often the provisioner looks whether there are tasks" },

    { "faults", "task-failure", QUANTITY_PERCENTAGE, "0%", NULL, "100%", NO_CHOICES, BUNDLED, OF_KIND,
      "chance that a task ends with an error" },
    { "faults", "task-retries", QUANTITY_COUNT, "0", NULL, "255", NO_CHOICES, BUNDLED, OF_KIND,
      "a failed task is run so many times more: 30 on Falkon's WS path, 0 on its TCP path" },
    { "faults", "park-errors", QUANTITY_COUNT, NULL, "1", "255", NO_CHOICES, BUNDLED, OF_KIND,
      "an executor with so many errors gets no tasks for a while; none: never" },
    { "faults", "park-time", QUANTITY_DURATION, "300s", "1ms", "24h", NO_CHOICES, BUNDLED, OF_KIND,
      "that while, at least; how often it is looked at" },
    { "faults", "lost-result", QUANTITY_PERCENTAGE, "0%", NULL, "100%", NO_CHOICES, BUNDLED, OF_KIND,
      "chance that a connection breaks with a result under way, which is then lost" },
    { "faults", "reconnect", QUANTITY_DURATION, "10s", "1us", "24h", NO_CHOICES, BUNDLED, OF_KIND,
      "until the executor is connected again" },
    { "faults", "executor-failure", QUANTITY_PERCENTAGE, "0%", NULL, "50%", NO_CHOICES, BUNDLED, OF_KIND,
      "chance that an executor dies when it is notified" },
    { "faults", "restart", QUANTITY_DURATION, "60s", "1us", "24h", NO_CHOICES, BUNDLED, OF_KIND,
      "until it has been started again" },
    { "faults", "ack-timeout", QUANTITY_DURATION, "5s", "1us", "24h", NO_CHOICES, BUNDLED, OF_KIND,
      "how long the dispatcher waits for an executor to answer a notification" },
    { "faults", "notify-attempts", QUANTITY_COUNT, "1", "1", "255", NO_CHOICES, BUNDLED, OF_KIND,
      "notifications without an answer after which an executor is dropped: 5 on Falkon's WS path, 1 on its TCP path" },
    { "faults", "submit-failure", QUANTITY_PERCENTAGE, "0%", NULL, "100%", NO_CHOICES, BUNDLED, OF_KIND,
      "chance that a submit call fails" },
    { "faults", "submit-retry", QUANTITY_DURATION, "1s", "1us", "24h", NO_CHOICES, BUNDLED, OF_KIND,
      "until it is tried again" },
    { "faults", "submit-retries", QUANTITY_COUNT, "10", NULL, "1000000", NO_CHOICES, BUNDLED, OF_KIND,
      "after so many more attempts the submit loop gives up" },
    { NULL }
};
