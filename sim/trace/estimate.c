/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/estimate.h"

#include "trace/part.h"
#include "trace/trace_file.h"

/* Sizes of what HDF5 writes in its oldest format, taken from traces. */
enum {
    FILE_BYTES = 24576,             /* attributes, groups, deck, roles and stages */
    GROUP_BYTES = 1024,
    DATASET_BYTES = 600,            /* header and attributes */
    INDEX_BYTES = 2096,             /* of up to INDEX_CHUNKS chunks of a dataset that grows */
    INDEX_CHUNKS = 48,
    HISTOGRAM_ROWS = 300            /* filled buckets of a usual distribution */
};

static uint64_t figures_bytes(const struct trace_config *config)
{
    uint64_t bytes = 0;
    for (unsigned r = 0; r < config->role_count; r++) {
        bytes += 2 * GROUP_BYTES;
        for (unsigned m = 0; m < config->roles[r].metric_count; m++) {
            enum trace_metric_type type = config->roles[r].metrics[m].type;
            bytes += DATASET_BYTES;
            if (type != TRACE_COUNTER)
                bytes += INDEX_BYTES + SERIES_BINS * sizeof(uint64_t);
            if (type >= TRACE_SAMPLE)
                bytes += GROUP_BYTES + 3 * (DATASET_BYTES + INDEX_BYTES + HISTOGRAM_ROWS * sizeof(uint64_t));
        }
    }
    return bytes;
}

/* A table whose columns grow by whole chunks. */
static uint64_t table_bytes(const struct table *t, uint64_t rows, uint64_t chunk_rows, bool compress)
{
    uint64_t chunks = (rows + chunk_rows - 1) / chunk_rows;
    uint64_t data = compress ? table_row_size(t) * rows / 3 : table_row_size(t) * chunks * chunk_rows;
    return data + t->column_count * (DATASET_BYTES + INDEX_BYTES * (1 + chunks / INDEX_CHUNKS));
}

uint64_t trace_estimate_bytes(const struct trace_config *config, uint64_t rows, uint64_t events)
{
    uint64_t bytes = FILE_BYTES + figures_bytes(config);
    for (unsigned t = 0; config->level >= TRACE_LEVEL_JOBS && t < config->table_count; t++)
        bytes += table_bytes(&config->tables[t], rows, TRACE_FILE_CHUNK_ROWS, config->compress);
    if (config->level == TRACE_LEVEL_EVENTS)
        bytes += table_bytes(&events_table, events, PART_CHUNK_ROWS, false) +
                 (sizeof config->actor_roles[0] + sizeof config->actor_nodes[0]) * (uint64_t)config->actor_count;
    return bytes;
}
