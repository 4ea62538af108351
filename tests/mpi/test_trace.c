/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of one run does not depend on the number of processes: figures, rows and messages are the same as of a
 * process that is alone. And what fails on one process fails on all, with the same text.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../unit/scratch.h"
#include "../unit/trace_model.h"
#include "trace/diff.h"
#include "trace/part.h"
#include "trace/reader.h"
#include "trace/verify.h"

enum { STEPS = 40000, FLUSH_STEPS = 3001 };

static struct gather *all;
static int failures;

static void check(bool good, const char *sentence, const GError *error)
{
    int mine = good, everywhere = 0;
    MPI_Allreduce(&mine, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!good && error != NULL)
        fprintf(stderr, "%s\n", error->message);
    if (gather_process(all) == 0)
        printf("%s - %s\n", everywhere ? "ok" : "not ok", sentence);
    failures += !everywhere;
}

/* --- gathering --- */

static gboolean part_check(void *data, unsigned process, const void *bytes, size_t size, GError **error)
{
    unsigned *next = data;
    bool good = process == (*next)++ && size == (size_t)process * 9000001;
    for (size_t i = 0; good && i < size; i += 4096)
        good = ((const uint8_t *)bytes)[i] == (uint8_t)(i / 4096 + process);
    if (!good)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "part %u is wrong", process);
    return good;
}

static gboolean part_refuse(void *data, unsigned process, const void *bytes, size_t size, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_STOPPED, "part %u of %zu bytes is not wanted", process, size);
    return FALSE;
}

static void test_gather(void)
{
    unsigned process = gather_process(all), next = 0;
    struct bytes mine = BYTES_INIT;
    size_t size = (size_t)process * 9000001;    /* more than one piece for process 2 */
    if (size != 0)
        memset(bytes_extend(&mine, size), 0, size);
    for (size_t i = 0; i < size; i += 4096)
        mine.data[i] = (uint8_t)(i / 4096 + process);
    GError *error = NULL;
    gboolean good = gather_parts(all, &mine, part_check, &next, &error);
    check(good && (process != 0 || next == gather_processes(all)), "parts arrive whole and in order", error);
    g_clear_error(&error);
    good = gather_parts(all, &mine, part_refuse, NULL, &error);
    check(!good && error != NULL && error->code == TIERCEL_ERROR_STOPPED &&
              strcmp(error->message, "part 0 of 0 bytes is not wanted") == 0,
          "a part that process 0 refuses is refused everywhere", error);
    g_clear_error(&error);
    bytes_release(&mine);

    check(gather_agree(all, NULL, &error), "nobody has an error, nobody gets one", error);
    GError *local = NULL;
    if (process + 1 >= gather_processes(all) / 2 + 1)
        g_set_error(&local, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "process %u failed", process);
    good = gather_agree(all, local, &error);
    char *expected = g_strdup_printf("process %u failed", gather_processes(all) / 2);
    check(!good && error != NULL && error->code == TIERCEL_ERROR_INPUT && strcmp(error->message, expected) == 0,
          "the first process's error is everybody's", error);
    g_clear_error(&error);
    g_free(expected);
}

/* --- the trace --- */

/* The name of this test's folder, made by process 0. */
static void make_folder(char folder[64])
{
    g_strlcpy(folder, "scratch-trace-XXXXXX", 64);
    if (gather_process(all) == 0 && g_mkdtemp(folder) == NULL)
        folder[0] = '\0';
    MPI_Bcast(folder, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void test_same(const char *folder)
{
    char *many_path = g_build_filename(folder, "many.h5", NULL), *alone_path = g_build_filename(folder, "one.h5", NULL);
    struct trace_config config = model_config(many_path, TRACE_LEVEL_EVENTS);
    GError *error = NULL;
    gboolean good = model_run(&config, all, STEPS, FLUSH_STEPS, &error);
    check(good, "a run on these processes is traced", error);
    g_clear_error(&error);
    bool same = true, whole = true;
    if (gather_process(all) == 0) {
        GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
        config.path = alone_path;
        bool complete = false;
        char *report = NULL;
        same = model_run(&config, NULL, STEPS, 0, &error) && diff_traces(many_path, alone_path, lines, &error) &&
               lines->len == 0;
        for (guint i = 0; i < lines->len; i++)
            fprintf(stderr, "%s\n", (char *)lines->pdata[i]);
        whole = verify_trace(many_path, &complete, &report, &error) && complete;
        g_free(report);
        g_ptr_array_free(lines, TRUE);
    }
    check(same, "the trace is that of one process alone, whenever it was flushed", error);
    check(whole, "it is whole", error);
    g_clear_error(&error);
    char *part = part_path(many_path, gather_process(all));
    check(!g_file_test(part, G_FILE_TEST_EXISTS), "no part is left", NULL);
    g_free(part);
    g_free(many_path);
    g_free(alone_path);
}

/* Flushed and then left, as a kill leaves it: the parts stay, and are joined. */
static void test_left(const char *folder)
{
    char *path = g_build_filename(folder, "left.h5", NULL);
    struct trace_config config = model_config(path, TRACE_LEVEL_EVENTS);
    GError *error = NULL;
    struct trace *t = trace_new(&config, all, &error);
    unsigned process = gather_process(all), processes = gather_processes(all);
    gboolean good = t != NULL;
    if (good) {
        model_steps(t, process, processes, 0, STEPS);
        good = trace_flush(t, (int64_t)STEPS * MODEL_STEP_NS, &error);
        model_steps(t, process, processes, STEPS, STEPS + 500);
    }
    trace_free(t);
    check(good, "a run is flushed and left", error);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t rows = 0;
    if (process == 0) {
        char *report = NULL;
        good = verify_merge(path, &report, &error);
        g_free(report);
        struct reader *r = good ? reader_open(path, &error) : NULL;
        good = r != NULL && !reader_complete(r);
        if (good)
            rows = reader_rows(r, (unsigned)reader_table_find(r, "events"));
        reader_free(r);
    }
    check(good && (process != 0 || rows == STEPS), "its parts are joined up to the flush", error);
    g_clear_error(&error);
    g_free(path);
}

/* One process's disk is full: everybody's flush fails, with the same text. */
static void test_full(const char *folder)
{
    char *path = g_build_filename(folder, "full.h5", NULL);
    struct trace_config config = model_config(path, TRACE_LEVEL_EVENTS);
    GError *error = NULL;
    unsigned process = gather_process(all), processes = gather_processes(all);
    struct trace *t = trace_new(&config, all, &error);
    check(t != NULL, "a trace is begun", error);
    struct rlimit before, limit = { 300000, 300000 };
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit.rlim_max = before.rlim_max;
    if (process + 1 == processes)
        setrlimit(RLIMIT_FSIZE, &limit);
    model_steps(t, process, processes, 0, 3 * STEPS);
    gboolean good = trace_flush(t, INT64_C(3) * STEPS * MODEL_STEP_NS, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    char *part = part_path(path, processes - 1);
    check(!good && error != NULL && error->code == TIERCEL_ERROR_RUNTIME &&
              (processes == 1 || strstr(error->message, part) != NULL),
          "a full disk of one process is an error of all", error);
    g_clear_error(&error);
    trace_free(t);
    g_free(part);
    g_free(path);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    GError *error = NULL;
    all = gather_new(MPI_COMM_WORLD, &error);
    if (all == NULL) {
        fprintf(stderr, "%s\n", error->message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    char folder[64];
    make_folder(folder);
    check(folder[0] != '\0', "there is a folder to write in", NULL);
    test_gather();
    if (folder[0] != '\0') {
        test_same(folder);
        test_left(folder);
        test_full(folder);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (gather_process(all) == 0 && folder[0] != '\0')
        scratch_remove(folder);
    gather_free(all);
    MPI_Finalize();
    return failures != 0;
}
