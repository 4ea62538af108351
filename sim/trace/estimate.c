/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/estimate.h"

#include "trace/part.h"

enum {
    FILE_BYTES = 16384,         /* attributes, groups, the decks */
    DATASET_BYTES = 1500,       /* header, attributes and first index of a dataset */
    CURVE_BYTES = SERIES_BINS * 8,
    HISTOGRAM_BYTES = 300 * 24, /* filled buckets of a usual distribution */
    CHUNK_BYTES_SMALL = 2048    /* of chunk index per 100 chunks, rounded */
};

static uint64_t figures_bytes(const struct trace_config *config)
{
    uint64_t bytes = 0;
    for (unsigned r = 0; r < config->role_count; r++) {
        for (unsigned m = 0; m < config->roles[r].metric_count; m++) {
            enum trace_metric_type type = config->roles[r].metrics[m].type;
            bytes += DATASET_BYTES;
            if (type != TRACE_COUNTER)
                bytes += CURVE_BYTES;
            if (type >= TRACE_SAMPLE)
                bytes += 3 * DATASET_BYTES + HISTOGRAM_BYTES;
        }
    }
    return bytes;
}

uint64_t trace_estimate_bytes(const struct trace_config *config, uint64_t rows, uint64_t events)
{
    uint64_t bytes = FILE_BYTES + figures_bytes(config);
    for (unsigned t = 0; config->level >= TRACE_LEVEL_JOBS && t < config->table_count; t++) {
        uint64_t size = table_row_size(&config->tables[t]) * rows;
        bytes += config->tables[t].column_count * DATASET_BYTES + (config->compress ? size / 3 : size);
    }
    if (config->level == TRACE_LEVEL_EVENTS)
        bytes += EVENT_COLUMNS * DATASET_BYTES + table_row_size(&events_table) * events + 6 * (uint64_t)config->actor_count;
    return bytes;
}
