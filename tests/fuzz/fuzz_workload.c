/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feeds damaged logs and JSON workloads to their readers, and plays what they accept.
 *
 *     fuzz_workload SECONDS SEED CORPUS [KEEP]
 *
 * Each attempt takes a file of the folder CORPUS, changes it (bytes, numbers, lines, pieces of other files), opens it
 * as what its name says and takes all jobs from it, ending some at once so that dependents are released. A reader must
 * refuse with a message, or yield jobs in order whose number it told before. Whatever else goes wrong is for the
 * sanitizers. Compiled with -fsanitize-coverage=trace-pc and FUZZ_COVERAGE, inputs that reach code that none reached
 * before join the corpus, and are written to the folder KEEP (README.md).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workload/batsim.h"
#include "workload/swf.h"

enum { SIZE_MAX_OF_INPUT = 4096, REACHED = 1 << 16 };

struct input {
    char *bytes;
    size_t size;
    bool json;
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return below == 0 ? 0 : random_state % below;
}

/* --- coverage --- */

static unsigned newly_reached;

#ifdef FUZZ_COVERAGE
static uint8_t reached[REACHED];

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    uint8_t *cell = &reached[(pc ^ pc >> 16) % REACHED];
    newly_reached += *cell == 0;
    *cell = 1;
}
#endif

/* --- changing inputs --- */

static const char *const pieces[] = {
    "-1", "0", "1", "2", "99999999999999999999", "4611686018", "4611686018.427387904", "9223372036854775807", "1e20",
    "-0", "0.000000001", "0.0000000001", ".", "-", "+1", "nan", "0x10", ";", "; MaxProcs: 4\n", "; MaxProcs: -4\n",
    "\r\n", "\n", "\t", " ", "\0", "\xff", "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "\\ud800", "null",
    "true", "\"delay\"", "\"id\"", "\"walltime\": -1", "[[[[[[[[[[[[[[[[", "/* */",
    "1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 2 0\n"
};

static void replace(GString *text, size_t at, size_t size, const char *by, size_t by_size)
{
    g_string_erase(text, (gssize)at, (gssize)MIN(size, text->len - at));
    if (by_size > 0)
        g_string_insert_len(text, (gssize)at, by, (gssize)by_size);
}

static void change(GString *text, const GArray *corpus)
{
    size_t at = draw(text->len + 1);
    const struct input *other = &g_array_index(corpus, struct input, draw(corpus->len));
    const char *piece = pieces[draw(G_N_ELEMENTS(pieces))];
    char byte = (char)draw(256);

    switch (draw(7)) {
    case 0:
        replace(text, at, 1, &byte, 1);
        break;
    case 1:
        replace(text, at, draw(12), piece, MAX(strlen(piece), 1));
        break;
    case 2:
        replace(text, at, draw(200), NULL, 0);
        break;
    case 3: {
        size_t from = draw(other->size + 1), most = draw(200);
        replace(text, at, draw(40), other->bytes + from, MIN(other->size - from, most));
        break;
    }
    case 4: {                           /* a word becomes another */
        size_t end = at;
        while (end < text->len && !g_ascii_isspace(text->str[end]))
            end++;
        replace(text, at, end - at, piece, MAX(strlen(piece), 1));
        break;
    }
    case 5: {                           /* a part again */
        g_autofree char *part = g_memdup2(text->str + at, MIN(text->len - at, 100) + 1);
        replace(text, draw(text->len + 1), 0, part, MIN(text->len - at, 100));
        break;
    }
    default:
        g_string_truncate(text, at);
        break;
    }
    if (text->len > SIZE_MAX_OF_INPUT)
        g_string_truncate(text, SIZE_MAX_OF_INPUT);
}

/* --- an attempt --- */

/* Takes all jobs, ending each third at once and the others when nothing else comes. */
static uint64_t drain(struct workload *w)
{
    g_autoptr(GArray) running = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct workload_job job;
    GError *error = NULL;
    uint64_t yielded = 0;
    int64_t now_ns = 0;
    for (;;) {
        bool got = workload_next(w, &job, &error);
        if (got && job.submit_ns < now_ns)
            g_error("jobs are out of order");
        if (got)
            now_ns = job.submit_ns;
        else
            got = workload_released(w, &job, &error);
        if (!got && error == NULL && running->len > 0) {
            uint64_t index = g_array_index(running, uint64_t, running->len - 1);
            g_array_set_size(running, running->len - 1);
            workload_ended(w, index, now_ns);
            continue;
        }
        if (!got)
            break;
        if (job.duration_ns < 0 || job.limit_ns < 0 || job.slots == 0)
            g_error("a job makes no sense");
        yielded++;
        if (yielded % 3 == 0)
            workload_ended(w, job.index, now_ns);
        else
            g_array_append_val(running, job.index);
    }
    if (error != NULL)
        g_error("an accepted file fails later: %s", error->message);
    if (workload_held(w) != 0)
        g_error("jobs are held for ever");
    return yielded;
}

/* True when the input was accepted. */
static bool attempt(const char *path, const struct input *input, uint64_t rules_drawn)
{
    int file = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
    if (file < 0 || write(file, input->bytes, input->size) != (ssize_t)input->size)
        g_error("%s cannot be written", path);
    close(file);
    struct swf_rules rules = {
        .overrun = rules_drawn % 4, .missing_limit = rules_drawn / 4 % 3, .pieces = rules_drawn / 12 % 2,
        .allocated_first = rules_drawn / 24 % 2, .drop_zero_run = rules_drawn / 48 % 2,
        .ignore_dependencies = rules_drawn / 96 % 3 == 0, .shift_start = rules_drawn / 288 % 2
    };
    GError *error = NULL;
    struct workload *w = input->json ? workload_batsim_new(path, &error) : workload_swf_new(path, &rules, &error);
    if (w == NULL) {
        if (error == NULL || *error->message == '\0')
            g_error("a refusal says nothing");
        g_error_free(error);
        return false;
    }
    uint64_t told = workload_jobs(w);
    if (drain(w) != told)
        g_error("not as many jobs as were told");
    workload_free(w);
    return true;
}

static gint name_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void corpus_read(GArray *corpus, const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(name, ".swf") || g_str_has_suffix(name, ".json"))
            g_ptr_array_add(names, g_strdup(name));
    if (dir != NULL)
        g_dir_close(dir);
    g_ptr_array_sort(names, name_compare);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(folder, g_ptr_array_index(names, i), NULL);
        struct input input = { .json = g_str_has_suffix(path, ".json") };
        if (g_file_get_contents(path, &input.bytes, &input.size, NULL))
            g_array_append_val(corpus, input);
    }
}

static void keep(GArray *corpus, const struct input *input, const char *folder)
{
    struct input copy = { g_memdup2(input->bytes, input->size + 1), input->size, input->json };
    g_array_append_val(corpus, copy);
    if (folder == NULL)
        return;
    g_autofree char *name = g_strdup_printf("%s/reached-%04u.%s", folder, corpus->len, input->json ? "json" : "swf");
    g_file_set_contents(name, input->bytes, (gssize)input->size, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: fuzz_workload SECONDS SEED CORPUS [KEEP]\n");
        return 2;
    }
    gint64 end_us = g_get_monotonic_time() + g_ascii_strtoll(argv[1], NULL, 10) * G_USEC_PER_SEC;
    g_autoptr(GArray) corpus = g_array_new(FALSE, FALSE, sizeof(struct input));
    uint64_t attempts = 0, accepted = 0;
    int memory = memfd_create("fuzz", 0);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", memory);
    random_state = g_ascii_strtoull(argv[2], NULL, 10) * 2654435769u + 88172645463325252u;
    corpus_read(corpus, argv[3]);
    if (corpus->len == 0)
        g_error("%s holds no inputs", argv[3]);
    bool taken[2] = { false, false };   /* a log, a JSON file: readers that refuse everything would find nothing */
    for (guint i = 0; i < corpus->len; i++) {
        const struct input *input = &g_array_index(corpus, struct input, i);
        for (uint64_t rules = 0; rules < 576; rules += 7)
            taken[input->json] |= attempt(path, input, rules);
    }
    while (g_get_monotonic_time() < end_us) {
        const struct input *from = &g_array_index(corpus, struct input, draw(corpus->len));
        GString *text = g_string_new_len(from->bytes, (gssize)from->size);
        struct input input = { .json = from->json };
        for (uint64_t changes = 1 + draw(4); changes > 0; changes--)
            change(text, corpus);
        input.bytes = text->str;
        input.size = text->len;
        newly_reached = 0;
        attempts++;
        accepted += attempt(path, &input, draw(576));
        if (newly_reached > 0)
            keep(corpus, &input, argc > 4 ? argv[4] : NULL);
        g_string_free(text, TRUE);
    }
    printf("%" G_GUINT64_FORMAT " inputs tried, %" G_GUINT64_FORMAT " accepted, a corpus of %u\n", attempts, accepted,
           corpus->len);
    for (guint i = 0; i < corpus->len; i++)
        g_free(g_array_index(corpus, struct input, i).bytes);
    close(memory);
    return attempts > 0 && taken[false] && taken[true] ? 0 : 1;
}
