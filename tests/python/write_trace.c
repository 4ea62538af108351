/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_trace FILE LEVEL STEPS: writes the made-up trace of trace_model.h, and on stdout what a reader must find in it,
 * as JSON. For the tests of the Python readers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/trace_model.h"

int main(int argc, char **argv)
{
    static const char *const levels[] = { "stats", "jobs", "events", NULL };
    unsigned level = 0;
    while (argc == 4 && levels[level] != NULL && strcmp(levels[level], argv[2]) != 0)
        level++;
    if (argc != 4 || levels[level] == NULL) {
        fprintf(stderr, "usage: write_trace FILE stats|jobs|events STEPS\n");
        return 2;
    }
    uint64_t steps = strtoull(argv[3], NULL, 10);
    struct trace_config config = model_config(argv[1], level);
    GError *error = NULL;
    struct trace *t = trace_new(&config, NULL, &error);
    if (t != NULL) {
        model_steps(t, 0, 1, 0, steps);
        if (trace_merge(t, &error) && model_finish(t, steps, &error)) {
            const struct collector *all = trace_collector(t);
            const struct statistic *run = collector_statistic(all, 1, 2);
            printf("{ \"rows\": %llu, \"published\": %llu, \"forwarded\": %llu, \"run_count\": %llu, "
                   "\"run_mean_ns\": %.17g, \"run_p99_ns\": %.17g }\n",
                   (unsigned long long)steps, (unsigned long long)collector_total(all, 0, 0),
                   (unsigned long long)collector_total(all, 0, 1), (unsigned long long)run->count,
                   statistic_mean(run), statistic_quantile(run, 0.99));
        }
        trace_free(t);
    }
    if (error == NULL)
        return 0;
    fprintf(stderr, "%s\n", error->message);
    return 1;
}
