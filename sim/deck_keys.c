/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups and keys of a deck: the table behind the reader, `tiercel check` and tiercel-deck(5). The costs are not
 * here: their list stands with the roles that pay them (ranks/instance.h) and is joined on below.
 */
#include "deck_schema.h"

#include <string.h>

#include "deck_keys_batch.h"
#include "deck_keys_dispatcher.h"
#include "deck_keys_file.h"
#include "ranks/batch.h"
#include "ranks/instance.h"
#include "ranks/task_service.h"

static const char *const kinds[] = { "brokered", "queueing", "phold", "dispatcher", "batch", "io", NULL };

static const struct deck_group groups[] = {
    { "deck", DECK_ALL_KINDS, false, "what this file is" },
    { "run", DECK_ALL_KINDS, false, "how the simulation is run; only the seed and the end change its result" },
    { "system", DECK_ALL_KINDS, false, "what is simulated" },
    { "cluster", DECK_BROKERED | DECK_BATCH | DECK_DISPATCHER, false, "the simulated machines" },
    { "network", DECK_BROKERED | DECK_QUEUEING | DECK_DISPATCHER | DECK_IO, false, "the links between actors" },
    { "workload", DECK_BROKERED | DECK_DISPATCHER | DECK_BATCH, false, "where jobs come from" },
    { "events", DECK_BROKERED, false, "what the key-value store's events are called, and who subscribes to what" },
    { "topics", DECK_BROKERED, false, "an event scheme of one's own, with [events] scheme = custom. A topic may hold "
      "{ns} once, for the name of the namespace; a subscription is a prefix of topics; a list has blanks between its "
      "entries, or is none. The lists must let every kvs have setroot, error and removed, every watcher setroot, "
      "removed and created: of primary, of each job's namespace, and of these still when another one has gone. The kvs "
      "of node 0 has primary without a call, so kvs-root-at-load must cover it; hb must be in kvs-root-at-load, and in "
      "kvs-worker-at-load or kvs-worker-at-first-use. In what check complains of, job-1 and job-27 are example names" },
    { "kvs", DECK_BROKERED, false, "the key-value store" },
    { "ingest", DECK_BROKERED, false, "the service that takes submissions" },
    { "job-manager", DECK_BROKERED, false, "the service that follows each job" },
    { "job-info", DECK_BROKERED, false, "the service that knows each job's data" },
    { "job-exec", DECK_BROKERED, false, "the service that starts jobs" },
    { "scheduler", DECK_BROKERED | DECK_BATCH, false, "which job starts next, and where" },
    { "source", DECK_QUEUEING, false, "what makes the jobs of a queueing network, and takes them back" },
    { "station.NAME", DECK_QUEUEING, false, "a station, or several alike, of a queueing network. NAME is the deck's: "
      "letters, digits and '-'" },
    { "phold", DECK_PHOLD, false, "the PHOLD benchmark of event simulators: events that hop between actors for ever" },
    { "dispatcher", DECK_DISPATCHER, false, "the services that hand tasks to executors" },
    { "client", DECK_DISPATCHER, false, "the load-balancing client that holds the tasks" },
    { "heap", DECK_DISPATCHER, false, "the client's memory, which a collector cleans up" },
    { "provision", DECK_DISPATCHER, false, "how executors come to be there" },
    { "faults", DECK_DISPATCHER, false, "what goes wrong, and how often" },
    { "io.NAME", DECK_IO | DECK_BROKERED | DECK_DISPATCHER, false,
      "a shared file and who writes it: with kind = io each such group is an experiment of its own, with its own "
      "server; else [workload] io names the one that jobs write when their task has run. NAME is the deck's: "
      "letters, digits and '-'" },
    { "collective", DECK_IO, false, "what processes do for one another in collective writes of shared files" },
    { "lock", DECK_IO | DECK_BROKERED | DECK_DISPATCHER, false, "the inode's lock on the nodes of shared files" },
    { "server", DECK_IO | DECK_BROKERED | DECK_DISPATCHER, false, "the server of shared files" },
    { "costs", DECK_ALL_KINDS, false, "how long one handling keeps its actor busy" },
    { "trace", DECK_ALL_KINDS, false, "what is recorded" },
    { "expect", DECK_ALL_KINDS, true, "published figures that the summary is compared with: "
      "jobs.run_rate = 67.6/s 2% \"source\"" },
    { "test", DECK_ALL_KINDS, true, "overrides, group.key = value, that make the deck a test of under a second; "
      "applied by the option --test" },
    { "sweep", DECK_ALL_KINDS, true, "what `tiercel sweep` plays: the product of all keys here, each group.key = "
      "value; value; ... or a range: 1..1024 *2, 0s..10ms +2ms. zip = group.key, group.key, ... lists keys that go on "
      "together (more lists behind a ';'); repeats = N plays each point with N seeds, from run.seed on" },
    { NULL, 0, false, NULL }
};

#define ALWAYS NULL
#define NO_CHOICES NULL
#define CUSTOM "events.scheme=custom"
#define MADE "workload.source=bulk|poisson"

static const struct deck_key keys[] = {
    { "deck", "format", QUANTITY_COUNT, NULL, "1", "1", NO_CHOICES, ALWAYS, DECK_ALL_KINDS,
      DECK_REQUIRED | DECK_UNMODELLED | DECK_OWN, "the version of the deck's form; the first key of every deck" },
    { "deck", "title", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "what the deck shows, in one line" },
    { "deck", "base", DECK_FILE, NULL, NULL, NULL, NO_CHOICES, ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED | DECK_OWN,
      "a deck that this one builds on, by its path relative to this one or by the name of an installed deck: its "
      "values hold where this deck states none, except [expect] and [sweep]. In a cost profile: another profile" },
    { "deck", "scale", QUANTITY_PERCENTAGE, NULL, "0.001%", "100000%", NO_CHOICES, ALWAYS, DECK_ALL_KINDS,
      DECK_UNMODELLED | DECK_OWN,
      "in a cost profile that has a base: what each cost of the base is multiplied with. Costs that the profile states "
      "itself are taken as they are, as are other groups and percentages" },
    { "deck", "comparable", QUANTITY_BOOLEAN, "true", NULL, NULL, NO_CHOICES, ALWAYS, DECK_ALL_KINDS,
      DECK_UNMODELLED | DECK_OWN,
      "whether [expect] is compared; false in the effective deck of a run that overrode a modelled key" },

    { "run", "seed", QUANTITY_COUNT, "1", NULL, NULL, NO_CHOICES, ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "the seed of all random numbers" },
    { "run", "clock", DECK_CHOICE, "virtual", NULL, NULL, "virtual|live", ALWAYS, DECK_ALL_KINDS,
      DECK_UNMODELLED,
      "virtual: the parts run as a simulation in virtual time; live: the same parts run as real processes that send "
      "real messages, and handlings take as long as they take (of [costs], only the lengths of acts then hold: a "
      "validator's work, the launch of a process)" },
    { "run", "waiting", DECK_CHOICE, "auto", NULL, NULL, "auto|spin|yield", ALWAYS,
      DECK_BROKERED | DECK_DISPATCHER | DECK_IO, DECK_UNMODELLED,
      "how a process of the live clock waits for messages. spin: it looks again and again, and needs a core of its "
      "own; yield: it gives its core up and sleeps, the longer the longer nothing comes; auto: spin where every "
      "machine has a core for each of its processes, else yield. In a deck that predicts a live run: how that one "
      "waits" },
    { "run", "placement", DECK_CHOICE, "node", NULL, NULL, "node|role", ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "how actors are spread over processes: node gives each process a block of nodes, role gives each process one "
      "class of roles. Never changes the result" },
    { "run", "spread", DECK_CHOICE, "auto", NULL, NULL, "auto|always", ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "auto: a run with too little work for its processes goes on with fewer; always: it keeps all. Never changes the "
      "result" },
    { "run", "inbox", DECK_CHOICE, "shortcut", NULL, NULL, "shortcut|explicit", ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "shortcut: where nothing can tell the difference, a message is handled as soon as it arrives, at the time at "
      "which its actor will be free; explicit: it always waits in a queue. Never changes the result; for tests" },
    { "run", "stop-after", QUANTITY_DURATION, NULL, "1ns", "40000d", NO_CHOICES, ALWAYS, DECK_ALL_KINDS, 0,
      "virtual time after which the run is stopped; none: it goes on until all is done" },
    { "run", "tick", QUANTITY_DURATION, "1s", "1us", "10000d", NO_CHOICES, ALWAYS, DECK_ALL_KINDS, 0,
      "the end of a run is looked for at multiples of this virtual time" },

    { "system", "kind", DECK_CHOICE, NULL, NULL, NULL, "brokered|queueing|phold|dispatcher|batch|io", ALWAYS,
      DECK_ALL_KINDS, DECK_REQUIRED,
      "brokered: a tree of brokers with a key-value store and a job pipeline, as Flux was in early 2020; queueing: a "
      "network of queues, as textbooks have formulas for; phold: the benchmark of event simulators; "
      "dispatcher: clients, services that dispatch tasks, and executors, as Falkon was in 2008; "
      "batch: a batch scheduler alone, as job-scheduling simulators have it; io: writers of shared files under an "
      "inode's lock" },
    { "system", "age", QUANTITY_DURATION, "600s", NULL, "12000d", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "how long the instance has been up when the run begins; job ids count milliseconds from then" },

    { "cluster", "nodes", QUANTITY_COUNT, "1", "1", "16384", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "simulated nodes, each with its broker and services" },
    { "cluster", "cores-per-node", QUANTITY_COUNT, "1", "1", "4096", NO_CHOICES, ALWAYS, DECK_BROKERED | DECK_BATCH,
      0, "cores of a node; of a brokered instance, one executor plays each" },
    { "cluster", "fanout", QUANTITY_COUNT, "2", "1", "16384", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "children of a broker in the tree (Flux: tbon.arity)" },

    { "cluster", "cpus", QUANTITY_COUNT, NULL, "1", "4096", NO_CHOICES, ALWAYS, DECK_BROKERED | DECK_DISPATCHER, 0,
      "cores that all processes of a machine share: its brokers with their modules, the shells, and on node 0 the "
      "client; or the clients, services and executors of a machine. None: each has a core of its own" },
    { "cluster", "machines", QUANTITY_COUNT, "1", "1", "65535", NO_CHOICES, ALWAYS, DECK_DISPATCHER, 0,
      "with cpus: how many machines the clients, and the services with their executors, are divided among, in blocks; "
      "messages within one take local-latency. A live process is one with one cpu" },
    { "cluster", "nodes-per-machine", QUANTITY_COUNT, "1", "1", "16384", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "neighbouring nodes (brokers) that are one machine and share its cpus, as under flux start -s; machines are not "
      "divided among processes" },

    { "network", "hop-latency", QUANTITY_DURATION, "50us", "1ns", "1h", NO_CHOICES, ALWAYS,
      DECK_BROKERED | DECK_QUEUEING | DECK_DISPATCHER | DECK_IO, 0,
      "one message from one node to another, besides its size; in a queueing network one job's way between stations" },
    { "network", "local-latency", QUANTITY_DURATION, "10us", "1ns", "1h", NO_CHOICES, ALWAYS,
      DECK_BROKERED | DECK_IO | DECK_DISPATCHER, 0,
      "one message between two actors of a node (of a dispatcher: of a machine, with [cluster] cpus). Large values "
      "make windows long and parallel runs fast" },
    { "network", "bandwidth", QUANTITY_BANDWIDTH, "1Gbit/s", "1B/s", NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "of each link between actors of different nodes" },
    { "network", "header", QUANTITY_SIZE, "100B", NULL, "1MiB", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "what a message takes on such a link besides its payload" },

    { "workload", "source", DECK_CHOICE, NULL, NULL, NULL, "bulk|jobspec|namespaces|poisson|swf|batsim", ALWAYS,
      DECK_BROKERED | DECK_DISPATCHER | DECK_BATCH,
      DECK_REQUIRED,
      "bulk: jobs of one kind, made here; jobspec: a directory of Flux jobspec files (version 1); "
      "namespaces: no jobs, but a burst of namespaces of the store created and then removed (brokered); poisson: as "
      "bulk, but one after the other; swf: a log in the Standard Workload Format (version 2.2); batsim: a workload of "
      "Batsim, in JSON" },
    { "workload", "namespaces", QUANTITY_COUNT, "1024", "1", "1000000000", NO_CHOICES, "workload.source=namespaces",
      DECK_BROKERED, 0, "how many namespaces are created at once, and then removed at once" },
    { "workload", "fence", QUANTITY_COUNT, "0", NULL, "100000", NO_CHOICES, "workload.source=namespaces",
      DECK_BROKERED, 0, "participants of a fence that writes to each namespace before it goes: so many parts that "
      "become one transaction, and a wait for the version that it makes; 0: nothing is written" },
    { "workload", "user", DECK_CHOICE, "owner", NULL, NULL, "instance|owner|other", "workload.source=namespaces",
      DECK_BROKERED, 0, "who writes: the instance's owner, the namespace's owner, or another user, who is refused" },
    { "workload", "jobs", QUANTITY_COUNT, "1024", NULL, "1000000000000", NO_CHOICES, MADE,
      DECK_BROKERED | DECK_DISPATCHER | DECK_BATCH, 0, "how many jobs are submitted" },
    { "workload", "cores", QUANTITY_COUNT, "1", "1", "67108864", NO_CHOICES, MADE, DECK_BROKERED | DECK_BATCH, 0,
      "cores of a job" },
    { "workload", "duration", QUANTITY_DISTRIBUTION, "0s", NULL, NULL, NO_CHOICES, MADE,
      DECK_BROKERED | DECK_DISPATCHER | DECK_BATCH, 0, "how long a job's task runs" },
    { "workload", "dir", DECK_DIRECTORY, NULL, NULL, NULL, NO_CHOICES, "workload.source=jobspec", DECK_BROKERED, 0,
      "the directory; its files that end in .json are submitted in the order of their names" },
    { "workload", "repeat", QUANTITY_COUNT, "1", "1", "1000000000", NO_CHOICES, "workload.source=jobspec",
      DECK_BROKERED, 0, "how often the whole list of files is submitted" },
    { "workload", "io", DECK_NAME, NULL, NULL, NULL, NO_CHOICES, ALWAYS, DECK_BROKERED | DECK_DISPATCHER, 0,
      "the [io.NAME] that each job writes when its task has run, before the job ends; none: jobs write nothing" },
    { "workload", "submit-window", QUANTITY_COUNT, NULL, "1", NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "submissions that may wait for their answer at a time; none: all at once" },
    { "workload", "watch", DECK_CHOICE, "none", NULL, NULL, "none|guest|eventlog", ALWAYS, DECK_BROKERED, 0,
      "what the client watches of each job, through job-info, from its submission on. guest: exec.eventlog in the "
      "job's namespace; eventlog: the job's own event log, as flux-core's throughput.py does" },
    { "workload", "stop-queue", QUANTITY_BOOLEAN, NULL, NULL, NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "whether the client stops the queue, submits everything and starts it again, so that submission and execution "
      "are measured apart. Not stated: true for bulk and jobspec, whose jobs come at once; false for sources whose "
      "jobs come over time, of which else none would start before the last has come" },

    { "events", "scheme", DECK_CHOICE, "pr2792", NULL, NULL, "v0.16|pr2777|pr2792|custom", ALWAYS, DECK_BROKERED, 0,
      "the names of the events and who subscribes to what. v0.16: flux-core 0.16; pr2777: the kvs of node 0 subscribes "
      "once, by common prefix; pr2792: the namespace stands inside the topic and one subscription replaces three; "
      "custom: as [topics] says" },
    { "events", "async-subscribe", DECK_CHOICE, "none", NULL, NULL, "none|watcher|kvs|all", ALWAYS, DECK_BROKERED, 0,
      "who sends its subscribe and unsubscribe requests without waiting for the answer (flux-core pull request "
      "6701 did so in the watcher)" },
    { "events", "wait-for-watch", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "whether a job's task waits until the watch of its input has begun, so that every job has one however short it "
      "is" },

    { "topics", "setroot", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the topic of the event that tells of a new root of a namespace" },
    { "topics", "error", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the topic of the event that tells of a failed transaction" },
    { "topics", "removed", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the topic of the event that tells of a removed namespace" },
    { "topics", "created", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the topic of the event that tells of a new namespace" },
    { "topics", "kvs-root-at-load", DECK_TEXT, "hb", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what the kvs of node 0 has subscribed when the run begins" },
    { "topics", "kvs-root-per-namespace", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what it subscribes, a call each, for each namespace that is created" },
    { "topics", "kvs-root-at-removal", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the calls that it makes when a namespace goes for good: -PREFIX unsubscribes, +PREFIX subscribes" },
    { "topics", "kvs-worker-at-load", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what the kvs of any other node has subscribed when the run begins" },
    { "topics", "kvs-worker-at-first-use", DECK_TEXT, "hb", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what it subscribes, a call each, before its first namespace" },
    { "topics", "kvs-worker-per-namespace", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what it subscribes, a call each, for each namespace that is used on the node for the first time" },
    { "topics", "kvs-worker-at-removal", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the calls that it makes when a namespace goes for good: -PREFIX unsubscribes, +PREFIX subscribes" },
    { "topics", "watcher-at-load", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what the watcher of a node has subscribed when the run begins" },
    { "topics", "watcher-per-namespace", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "what it subscribes, a call each, for each namespace that gets its first watcher" },
    { "topics", "watcher-at-removal", DECK_TEXT, "none", NULL, NULL, NO_CHOICES, CUSTOM, DECK_BROKERED, 0,
      "the calls that it makes when its last watcher is gone: -PREFIX unsubscribes, +PREFIX subscribes" },

    { "kvs", "merge", QUANTITY_BOOLEAN, "true", NULL, NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "whether transactions of a namespace that wait behind one another are applied as one" },
    { "kvs", "ready-list", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "whether node 0's kvs keeps a list of the namespaces that have work, as from May 2021; without, it walks all of "
      "them after every message, those that wait for their removal included" },
    { "kvs", "content", DECK_CHOICE, "broker", NULL, NULL, "broker|module", ALWAYS, DECK_BROKERED, 0,
      "who serves blobs on each node: the broker's own thread, which passes all messages on, too (flux-core to 2022), "
      "or a module with a thread of its own" },
    { "kvs", "cache-age", QUANTITY_COUNT, "5", "1", "1000000", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "heartbeats without use after which a kvs forgets a directory" },
    { "kvs", "heartbeat", QUANTITY_DURATION, "2s", "10ms", "30s", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "the time between heartbeats; removed namespaces are freed at one" },

    { "ingest", "batch", QUANTITY_DURATION, "10ms", NULL, "1h", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "how long submissions are collected, from the first, before they are committed together" },
    { "ingest", "validators", QUANTITY_COUNT, "4", "1", "1024", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "processes that check jobspecs at the same time" },

    { "job-manager", "batch", QUANTITY_DURATION, "10ms", NULL, "1h", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "how long events of jobs are collected, from the first, before they are committed together" },
    { "job-manager", "passes", DECK_CHOICE, "nothing", NULL, NULL, "nothing|jobspec|all", ALWAYS, DECK_BROKERED, 0,
      "what its requests bring along, so that scheduler and job-exec need not look it up: nothing; the jobspec "
      "(flux-core from December 2020); all: R, too (from March 2024)" },

    { "job-info", "nodes", DECK_CHOICE, "all", NULL, NULL, "all|first", ALWAYS, DECK_BROKERED, 0,
      "where job-info runs: on every node, each of which looks every job up, or on node 0 only (from flux-core 0.17)" },
    { "job-info", "follows", DECK_CHOICE, "events", NULL, NULL, "events|journal|nothing", ALWAYS, DECK_BROKERED, 0,
      "how it learns of jobs. events: by job-state events, and looks up event log, jobspec and R of each; journal: "
      "with the log's text, so that it looks up two (from October 2020); nothing: it does not, and no such event is "
      "published" },
    { "job-info", "updates", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "whether shells follow changes of their R (from October 2023): job-info then watches each job's event log for "
      "its shell" },

    { "job-exec", "execution", DECK_CHOICE, "shells", NULL, NULL, "shells|simulated", ALWAYS, DECK_BROKERED, 0,
      "shells: each job has a shell on its node, with the commits that it makes; simulated: a timer on node 0, as with "
      "the jobspec key attributes.system.exec.test of flux-core" },
    { "job-exec", "batch", QUANTITY_DURATION, "0s", NULL, "1h", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "how long entries of a job's exec.eventlog are collected after the first, which is committed at once; the last "
      "one ends it (10ms from December 2020). 0s: each is committed by itself, with two more at the job's end" },

    { "scheduler", "mode", DECK_CHOICE, "single", NULL, NULL, "single|unlimited|limited:N", ALWAYS, DECK_BROKERED, 0,
      "requests for resources that may be outstanding: one, all, or N" },
    { "scheduler", "policy", DECK_CHOICE, "fcfs", NULL, NULL, "fcfs|sjf|easy|easy-sjf|conservative", ALWAYS,
      DECK_BROKERED | DECK_BATCH, 0,
      "the order of the queue. fcfs: first come, first served; the head waits until it fits; sjf: the same, shortest "
      "limit first; easy: later jobs may start if they delay none of the first `depth` ones; easy-sjf: of those the "
      "shortest first; conservative: if they delay no job before them" },
    { "scheduler", "fit", DECK_CHOICE, "worst", NULL, NULL, "worst|first|best", ALWAYS, DECK_BROKERED | DECK_BATCH, 0,
      "which node is chosen. worst: the one with the most free cores; first: the lowest that has room; best: the one "
      "with the fewest free cores that has room. Ties go to the lowest node" },

    { "source", "jobs", QUANTITY_COUNT, "100000", "1", "1000000000000", NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "how many jobs are made in all" },
    { "source", "warm-up", QUANTITY_COUNT, "0", NULL, "1000000000000", NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "how many of them, from the first, no figure of the source counts, because the network still fills" },
    { "source", "population", QUANTITY_COUNT, "0", NULL, "100000000", NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "closed network: the jobs that are inside at a time, each replaced when it returns; 0: an open network, where "
      "jobs come at intervals" },
    { "source", "interval", QUANTITY_DISTRIBUTION, "exponential(1s)", NULL, NULL, NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "open network: the time from one job to the next" },
    { "source", "service", QUANTITY_DISTRIBUTION, "0s", NULL, NULL, NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "how long the source itself is busy with each job that it makes" },
    { "source", "next", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, ALWAYS, DECK_QUEUEING, DECK_REQUIRED,
      "the stations to which a job goes first: names, separated by commas. With routing = random each may have its "
      "probability behind it, such as cpu 0.3, disk 0.7; without them all are alike" },
    { "source", "routing", DECK_CHOICE, "random", NULL, NULL, "random|cyclic", ALWAYS, DECK_QUEUEING, 0,
      "random: by the probabilities of next; cyclic: to each in turn, also among the copies of a station" },

    { "station.NAME", "servers", QUANTITY_COUNT, "1", "1", "1000000", NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "jobs that are served at a time; the others wait, first come first served" },
    { "station.NAME", "service", QUANTITY_DISTRIBUTION, "exponential(1s)", NULL, NULL, NO_CHOICES, ALWAYS,
      DECK_QUEUEING, 0, "how long a job is served" },
    { "station.NAME", "count", QUANTITY_COUNT, "1", "1", "1000000", NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "how many such stations there are, each with a queue of its own" },
    { "station.NAME", "next", DECK_TEXT, "source", NULL, NULL, NO_CHOICES, ALWAYS, DECK_QUEUEING, 0,
      "where a job goes then, as [source] next; the name source takes it out of the network" },
    { "station.NAME", "routing", DECK_CHOICE, "random", NULL, NULL, "random|cyclic", ALWAYS, DECK_QUEUEING, 0,
      "as [source] routing" },
    { "station.NAME", "reach", DECK_CHOICE, "all", NULL, NULL, "all|own", ALWAYS, DECK_QUEUEING, 0,
      "all: a job may go to any copy of the next station; own: the copies of both are divided into equal groups, and a "
      "job stays in its group" },

    { "phold", "actors", QUANTITY_COUNT, "1024", "1", "100000000", NO_CHOICES, ALWAYS, DECK_PHOLD, 0,
      "actors, between which events hop" },
    { "phold", "events-per-actor", QUANTITY_COUNT, "1", "1", "100000", NO_CHOICES, ALWAYS, DECK_PHOLD, 0,
      "events that each actor has at the beginning; their number never changes" },
    { "phold", "remote", QUANTITY_PERCENTAGE, "10%", NULL, "100%", NO_CHOICES, ALWAYS, DECK_PHOLD, 0,
      "how often an event goes to an actor drawn from all instead of staying where it is" },
    { "phold", "lookahead", QUANTITY_DURATION, "100ms", "1ns", "1h", NO_CHOICES, ALWAYS, DECK_PHOLD, 0,
      "the least time from one event to the next; also what one message takes" },
    { "phold", "mean", QUANTITY_DURATION, "1s", "2ns", "1d", NO_CHOICES, ALWAYS, DECK_PHOLD, 0,
      "the mean time from one event to the next: lookahead, and an exponential rest" },

    { "costs", "profile", DECK_NAME, NULL, NULL, NULL, NO_CHOICES, ALWAYS, DECK_ALL_KINDS, 0,
      "a file NAME.costs of costs (and of [network], [lock] and [server]) with their sources, looked up beside the "
      "deck and in its folder costs, then among the installed ones" },
    { "costs", "waiting", DECK_CHOICE, "any", NULL, NULL, "any|spin|yield", ALWAYS,
      DECK_BROKERED | DECK_DISPATCHER | DECK_IO, DECK_UNMODELLED,
      "of a profile that was measured on the live clock: how its processes waited. A run with another run.waiting is "
      "refused; any: the profile is not of that kind" },
    { "costs", "jitter", QUANTITY_PERCENTAGE, "0%", NULL, "100%", NO_CHOICES, ALWAYS, DECK_BROKERED, 0,
      "each time that a cost is paid it is drawn anew, uniformly within this share of what is stated: what makes runs "
      "with different seeds differ" },
    { "costs", "call-move", QUANTITY_DURATION, "4us", NULL, "1s", NO_CHOICES, ALWAYS, DECK_ALL_KINDS, 0,
      "setting aside one message that arrives while an actor is blocked in a call" },
    { NULL }    /* the single costs follow here */
};

static const struct deck_key trace_keys[] = {
    { "trace", "level", DECK_CHOICE, "jobs", NULL, NULL, "stats|jobs|events", ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "stats: curves, histograms and totals; jobs: a row a job (kind = io: a write) as well; events: a row a message "
      "as well" },
    { "trace", "flush-every", QUANTITY_DURATION, "30s", "100ms", "24h", NO_CHOICES, ALWAYS, DECK_ALL_KINDS,
      DECK_UNMODELLED, "wall time between two moments at which the trace on disk is brought up to date" },
    { "trace", "compress", QUANTITY_BOOLEAN, "true", NULL, NULL, NO_CHOICES, ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "whether rows of jobs are compressed; rows of messages never are" },
    { "trace", "bin", QUANTITY_DURATION, "1ms", "1us", "24h", NO_CHOICES, ALWAYS, DECK_ALL_KINDS, DECK_UNMODELLED,
      "the first width of the bins of curves over time; it doubles when a run is longer than 1024 bins" },
    { NULL }
};

static void add_costs(GArray *all, const struct cost_name *names, int kinds_of_cost)
{
    for (const struct cost_name *name = names; name->key != NULL; name++) {
        struct deck_key key = { .group = "costs", .name = name->key, .type = QUANTITY_COST,
                                .fallback = cost_text(&name->fallback), .kinds = kinds_of_cost, .text = name->text };
        g_array_append_val(all, key);
    }
}

static void add_group(GArray *all, const struct deck_key *list, const char *group)
{
    for (const struct deck_key *key = list; key->group != NULL; key++)
        if (strcmp(key->group, group) == 0)
            g_array_append_val(all, *key);
}

static void add_keys(GArray *all, const struct deck_key *list)
{
    for (const struct deck_key *key = list; key->group != NULL; key++) {
        /* Before the costs, in the order of the groups. */
        if (list == keys && strcmp(key->group, "costs") == 0 && strcmp(key->name, "profile") == 0) {
            add_keys(all, deck_keys_dispatcher);
            add_keys(all, deck_keys_file);
        }
        /* Those of a group that is here stand behind its own. */
        if (list == keys && key[1].group != NULL && strcmp(key->group, key[1].group) != 0) {
            g_array_append_val(all, *key);
            add_group(all, deck_keys_batch, key->group);
            continue;
        }
        g_array_append_val(all, *key);
    }
}

static gpointer make_schema(gpointer data)
{
    GArray *all = g_array_new(TRUE, TRUE, sizeof(struct deck_key));
    struct deck_schema *schema = g_new0(struct deck_schema, 1);

    add_keys(all, keys);
    add_costs(all, instance_cost_names, DECK_BROKERED);
    add_costs(all, task_service_cost_names, DECK_DISPATCHER);
    add_costs(all, batch_cost_names, DECK_BATCH);
    add_keys(all, trace_keys);
    add_group(all, deck_keys_batch, "trace");
    schema->groups = groups;
    schema->kinds = kinds;
    schema->key_count = all->len;
    schema->keys = (const struct deck_key *)g_array_free(all, FALSE);
    return schema;
}

const struct deck_schema *deck_schema_tiercel(void)
{
    static GOnce once = G_ONCE_INIT;

    return g_once(&once, make_schema, NULL);
}
