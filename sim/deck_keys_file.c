/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck_keys_file.h"

#define ALWAYS NULL
#define NO_CHOICES NULL
#define OF_KIND DECK_IO, 0
#define OF_LIVE DECK_IO | DECK_BROKERED | DECK_DISPATCHER, DECK_UNMODELLED
#define WITH_JOBS DECK_IO | DECK_BROKERED | DECK_DISPATCHER, 0

const struct deck_key deck_keys_file[] = {
    { "io.NAME", "writers", QUANTITY_COUNT, "16", "1", "10000000", NO_CHOICES, ALWAYS, OF_KIND,
      "processes that write" },
    { "io.NAME", "writers-per-node", QUANTITY_COUNT, NULL, "1", "10000000", NO_CHOICES, ALWAYS,
      DECK_IO | DECK_DISPATCHER, 0,
      "writers that share a node, its mount and so its lock; none: all of the system, or of the service" },
    { "io.NAME", "pattern", DECK_CHOICE, "interleaved", NULL, NULL,
      "interleaved|contiguous|descending|last-first|random", ALWAYS, OF_KIND,
      "which bytes each writer writes. interleaved: in each segment a block for each writer, one behind the other, as "
      "IOR does; contiguous: a region for each; descending: from the end of the file; last-first: the last segment "
      "before all others; random: each writer's in an order of its own" },
    { "io.NAME", "transfer", QUANTITY_SIZE, "1MiB", "1B", "1TiB", NO_CHOICES, ALWAYS, WITH_JOBS,
      "bytes of one write" },
    { "io.NAME", "block", QUANTITY_SIZE, NULL, "1B", "1TiB", NO_CHOICES, ALWAYS, WITH_JOBS,
      "contiguous bytes of a writer in a segment, a multiple of transfer; none: one transfer" },
    { "io.NAME", "segments", QUANTITY_COUNT, "100", "1", "1000000000", NO_CHOICES, ALWAYS, WITH_JOBS,
      "blocks of each writer; of each job, where jobs write" },
    { "io.NAME", "files", DECK_CHOICE, "one", NULL, NULL, "one|each", ALWAYS, WITH_JOBS,
      "one: all write the same file; each: every writer, or job, has a file of its own" },
    { "io.NAME", "append", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, ALWAYS, WITH_JOBS,
      "whether the file is opened with O_APPEND" },
    { "io.NAME", "think", QUANTITY_DISTRIBUTION, "0s", NULL, NULL, NO_CHOICES, ALWAYS, WITH_JOBS,
      "what a writer does between two writes" },
    { "io.NAME", "lock", DECK_CHOICE, "shared", NULL, NULL, "exclusive|shared|none", ALWAYS, WITH_JOBS,
      "exclusive: every write takes the inode's lock for itself, as FUSE does without the server's flag for parallel "
      "direct writes; shared: as rules has it; none: nobody excludes anybody. The live clock emulates the first two by "
      "locks of its own on any file system, and with none leaves it to the file system to lock as it does" },
    { "io.NAME", "rules", DECK_CHOICE, "fuse-6.2", NULL, NULL,
      "fuse-6.2|fuse-6.9|ext4|xfs|extending-shared|demoting", ALWAYS, WITH_JOBS,
      "when a write may share the lock. fuse-6.2: when it ends within the file; fuse-6.9: and nobody uses the page "
      "cache; ext4: when it overwrites blocks that are there; xfs: unless it begins beyond the end; extending-shared: "
      "always, but for appending; demoting: as fuse-6.2, but an exclusive holder goes on shared at once" },
    { "io.NAME", "cached-users", QUANTITY_COUNT, "0", NULL, "1000000", NO_CHOICES, ALWAYS, WITH_JOBS,
      "who else has the file open through the page cache, on each node" },
    { "io.NAME", "queue", DECK_CHOICE, NULL, NULL, NULL, "kernel|fifo", ALWAYS, WITH_JOBS,
      "kernel: whoever runs may take a free lock past sleepers, until one has waited too long; fifo: strictly in "
      "order; none: as [lock] queue" },
    { "io.NAME", "pre-extend", DECK_CHOICE, "none", NULL, NULL, "none|set-size|preallocate|fill", ALWAYS, WITH_JOBS,
      "what is done to the file before it is written. set-size: its end is set, without blocks; preallocate: one "
      "writer fills it with zeros first (no job system); fill: it was there before, at its full size with all blocks" },
    { "io.NAME", "collective", DECK_CHOICE, "none", NULL, NULL, "none|ompio|romio", ALWAYS, OF_KIND,
      "none: independent writes; ompio, romio: collective calls, as these implementations of MPI-IO carry them out" },
    { "io.NAME", "pieces", QUANTITY_COUNT, "1", "1", "1000000", NO_CHOICES, ALWAYS, OF_KIND,
      "blocks of each writer in one collective call; with two and more the writers interleave within the call" },
    { "io.NAME", "aggregators", QUANTITY_COUNT, NULL, "1", "10000000", NO_CHOICES, ALWAYS, OF_KIND,
      "who writes for all in a collective call (the hint cb_nodes); none: as many as the implementation chooses" },
    { "io.NAME", "aggregators-per-node", QUANTITY_COUNT, "1", "1", "10000000", NO_CHOICES, ALWAYS, OF_KIND,
      "romio: how many of them a node may have (the hint cb_config_list)" },
    { "io.NAME", "buffer", QUANTITY_SIZE, NULL, "1B", "1TiB", NO_CHOICES, ALWAYS, OF_KIND,
      "what an aggregator collects (the hint cb_buffer_size), of which ompio writes one half at a time; none: 32 MiB "
      "with ompio, 16 MiB with romio" },
    { "io.NAME", "exchange", QUANTITY_COST, NULL, NULL, NULL, NO_CHOICES, ALWAYS, OF_KIND,
      "how long a meeting of all writers takes from the last arrival on, with the first operation of which it is made; "
      "byte: of the call's data; none: as [collective] exchange" },
    { "io.NAME", "operation", QUANTITY_DURATION, NULL, NULL, "1s", NO_CHOICES, ALWAYS, OF_KIND,
      "how long each further operation of a meeting takes: ompio has four in a call and one for each aggregator, romio "
      "two, and where few write for all four more; none: as [collective] operation" },
    { "io.NAME", "share", QUANTITY_COST, NULL, NULL, NULL, NO_CHOICES, ALWAYS, OF_KIND,
      "how long an aggregator takes to get from the others what it writes in a cycle; byte: of that; none: as "
      "[collective] share" },
    { "io.NAME", "hints", DECK_TEXT, NULL, NULL, NULL, NO_CHOICES, ALWAYS, OF_LIVE,
      "live clock: hints for the MPI library, key=value with commas between them, such as romio_cb_write=enable; they "
      "come before those that follow from aggregators, aggregators-per-node and buffer" },
    { "io.NAME", "windows", DECK_CHOICE, "auto", NULL, NULL, "auto|shared|messages", ALWAYS, OF_LIVE,
      "live clock: the windows of the emulated lock, by which the MPI library chooses its one-sided component. shared: "
      "of shared memory, on one machine; messages: of the first process's own memory, which serves the others; auto: "
      "shared where all writers are on one machine" },
    { "io.NAME", "verify", QUANTITY_BOOLEAN, "true", NULL, NULL, NO_CHOICES, ALWAYS, OF_LIVE,
      "live clock: whether all that was written is read back afterwards, by another process than wrote it, and "
      "compared" },
    { "io.NAME", "keep", QUANTITY_BOOLEAN, "false", NULL, NULL, NO_CHOICES, ALWAYS, OF_LIVE,
      "live clock: whether the file stays when it has been written and read back" },
    { "io.NAME", "against", DECK_NAME, NULL, NULL, NULL, NO_CHOICES, ALWAYS, OF_KIND,
      "another [io.NAME] of the deck: files.NAME.gain is this one's bandwidth over that one's" },

    { "collective", "exchange", QUANTITY_COST, "0s", NULL, NULL, NO_CHOICES, ALWAYS, OF_KIND,
      "of files whose [io.NAME] states none; this and the next two here, so that a cost profile can have them" },
    { "collective", "operation", QUANTITY_DURATION, "0s", NULL, "1s", NO_CHOICES, ALWAYS, OF_KIND,
      "of files whose [io.NAME] states none" },
    { "collective", "share", QUANTITY_COST, "0s", NULL, NULL, NO_CHOICES, ALWAYS, OF_KIND,
      "of files whose [io.NAME] states none" },
    { "collective", "cores", QUANTITY_COUNT, NULL, "1", "1000000", NO_CHOICES, ALWAYS, OF_KIND,
      "of a node: where it has more aggregators, share takes each of them as much longer; none: one for each" },

    { "lock", "queue", DECK_CHOICE, "kernel", NULL, NULL, "kernel|fifo", ALWAYS, WITH_JOBS,
      "of files whose [io.NAME] states none; here, so that a cost profile can say how fair an emulated lock is" },
    { "lock", "hz", QUANTITY_COUNT, "1000", "1", "1000000", NO_CHOICES, ALWAYS, WITH_JOBS,
      "ticks a second of the kernel; a sleeper may claim the lock when it has waited above ceil(hz / 250) whole "
      "ticks" },
    { "lock", "wake", QUANTITY_DISTRIBUTION, "uniform(10us, 30us)", NULL, NULL, NO_CHOICES, ALWAYS, WITH_JOBS,
      "from the release of a lock until a sleeper that waits for it runs" },
    { "lock", "return", QUANTITY_DISTRIBUTION, "uniform(7500ns, 22500ns)", NULL, NULL, NO_CHOICES, ALWAYS, WITH_JOBS,
      "from the release of a lock until the writer that had it asks again, besides the time to think. Only its ratio "
      "to wake matters: how often the lock is stolen" },

    { "server", "request", QUANTITY_COST, "1ms", NULL, NULL, NO_CHOICES, ALWAYS, WITH_JOBS,
      "how long the server takes for one request; byte: of the request" },
    { "server", "jitter", QUANTITY_PERCENTAGE, "10%", NULL, "100%", NO_CHOICES, ALWAYS, WITH_JOBS,
      "each such time is drawn anew, uniformly within this share of what is stated" },
    { "server", "channels", QUANTITY_COUNT, NULL, "1", "1000000", NO_CHOICES, ALWAYS, WITH_JOBS,
      "requests that are served at a time; none: any number" },
    { "server", "bandwidth", QUANTITY_BANDWIDTH, NULL, "1B/s", NULL, NO_CHOICES, ALWAYS, WITH_JOBS,
      "of all requests together, at most; none: no limit" },
    { "server", "folder", DECK_DIRECTORY, NULL, NULL, NULL, NO_CHOICES, ALWAYS, OF_LIVE,
      "live clock: where the files are written, each [io.NAME] as NAME.data; none: in the folder of the run's "
      "results" },
    { "server", "max-write", QUANTITY_SIZE, "1MiB", "1B", "1TiB", NO_CHOICES, ALWAYS, WITH_JOBS,
      "bytes of one request; a longer write is cut into requests, sent one after another under the lock" },
    { NULL }
};
