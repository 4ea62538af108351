/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broken traces: each is refused by every reader with one line that names the file, and nothing crashes. Half of them
 * are whole files that were damaged, which the seal tells; the others are files of killed runs, which have no checksum,
 * or were sealed again after the damage, so that HDF5 and our own checks must cope.
 */
#include "suite.h"

#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "trace/diff.h"
#include "trace/hdf5_file.h"
#include "trace/reader.h"
#include "trace/seal.h"
#include "trace/verify.h"
#include "trace_model.h"

static char *folder;
static char *whole_path;            /* a good trace of level events */
static char *whole;                 /* its bytes */
static gsize whole_size;
static char *broken_path;

/* The file at broken_path is refused by all readers, with these words. */
static void check_refused(const char *words)
{
    GError *error = NULL;
    bool complete;
    char *report = NULL;
    CU_ASSERT_FALSE(verify_trace(broken_path, &complete, &report, &error));
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, TIERCEL_ERROR_RUNTIME);
    CU_ASSERT(g_str_has_prefix(error->message, broken_path));
    CU_ASSERT_PTR_NULL(strchr(error->message, '\n'));
    if (strstr(error->message, words) == NULL) {
        fprintf(stderr, "%s\n   expected: %s\n", error->message, words);
        CU_FAIL("another message");
    }
    g_clear_error(&error);
    g_free(report);
    report = NULL;
    CU_ASSERT_FALSE(verify_merge(broken_path, &report, &error));
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_PTR_NULL(strchr(error->message, '\n'));
    g_clear_error(&error);
    g_free(report);
}

static void check_broken(const void *bytes, gsize size, const char *words)
{
    CU_ASSERT_FATAL(g_file_set_contents(broken_path, bytes, (gssize)size, NULL));
    check_refused(words);
}

/* --- not a file of ours, or not all of it --- */

static void test_foreign(void)
{
    unlink(broken_path);
    check_refused("cannot be opened: No such file or directory");
    CU_ASSERT_EQUAL(g_mkdir(broken_path, 0755), 0);
    check_refused("is not a file");
    g_rmdir(broken_path);
    CU_ASSERT_EQUAL(mkfifo(broken_path, 0600), 0);
    check_refused("is not a file");
    unlink(broken_path);
    check_broken("", 0, "is empty");
    check_broken("{ \"format\": 1 }\n", 16, "is not a trace of tiercel");
    check_broken("\x89HDF\r\n\x1a\n", 8, "is an HDF5 file, but not a trace of tiercel");
    char *zeros = g_malloc0(100000);
    check_broken(zeros, 100000, "is not a trace of tiercel");
    g_free(zeros);
    check_broken("tiercel trace, format 2; something new\n", 39, "a trace of another format");

    /* Another program's HDF5: without and with a user block like ours. */
    hid_t file = H5Fcreate(broken_path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    check_refused("is an HDF5 file, but not a trace of tiercel");
    file = hdf5_create(broken_path, NULL);
    H5Fclose(file);
    check_refused("is not a trace of tiercel");
    CU_ASSERT(seal_close(broken_path, NULL));
    check_refused("is an HDF5 file, but not a trace of tiercel");
}

static void test_cut(void)
{
    static const double parts[] = { 0.002, 0.01, 0.1, 0.5, 0.9, 0.999 };
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
        check_broken(whole, (gsize)((double)whole_size * parts[i]), "it was cut");
    check_broken(whole, whole_size - 1, "it was cut");
    check_broken(whole, 511, "it was cut");
    check_broken(whole, 512, "it was cut");
    check_broken(whole, 30, "its first bytes are damaged");
    char *longer = g_malloc0(whole_size + 7);
    memcpy(longer, whole, whole_size);
    check_broken(longer, whole_size + 7, "it was added to");
    g_free(longer);
}

static void test_flipped(void)
{
    char *changed = g_memdup2(whole, whole_size);
    /* In the seal. */
    static const struct { gsize at; const char *words; } flips[] = {
        { 0, "is not a trace of tiercel" }, { 22, "its first bytes are damaged" }, { 66, "its seal" },
        { 70, "its seal" }, { 88, "its seal" }, { 110, "its seal" }, { 400, "its seal" }, { 511, "its seal" },
        { 512, "checksum does not match" }, { 530, "checksum does not match" }
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(flips); i++) {
        changed[flips[i].at] ^= (char)0x80;
        check_broken(changed, whole_size, flips[i].words);
        changed[flips[i].at] ^= (char)0x80;
    }
    /* Anywhere else. */
    for (unsigned i = 0; i < 40; i++) {
        gsize at = 512 + (whole_size - 512) / 40 * i + i * 97;
        changed[at] ^= (char)(1 << i % 8);
        check_broken(changed, whole_size, "checksum does not match");
        changed[at] ^= (char)(1 << i % 8);
    }
    g_free(changed);
}

/* --- damage that a seal does not tell --- */

/* A copy of the good trace, opened for damaging. */
static hid_t damage_begin(void)
{
    CU_ASSERT_FATAL(g_file_set_contents(broken_path, whole, (gssize)whole_size, NULL));
    hid_t file = hdf5_open(broken_path, true, NULL);
    CU_ASSERT_FATAL(file >= 0);
    return file;
}

static void damage_end(hid_t file, const char *words)
{
    CU_ASSERT_FATAL(H5Fclose(file) >= 0);
    CU_ASSERT_FATAL(seal_close(broken_path, NULL));
    check_refused(words);
}

static void test_attributes(void)
{
    hid_t file = damage_begin();
    hdf5_put_text(file, "format", "tiercel something");
    damage_end(file, "is an HDF5 file, but not a trace of tiercel");
    file = damage_begin();
    H5Adelete(file, "format");
    damage_end(file, "is an HDF5 file, but not a trace of tiercel");
    file = damage_begin();
    hdf5_put_u64(file, "format_version", 2);
    damage_end(file, "format_version");
    file = damage_begin();
    H5Adelete(file, "format_version");
    hdf5_put_text(file, "format_version", "1");
    damage_end(file, "format_version");
    file = damage_begin();
    hdf5_put_u64(file, "complete", 2);
    damage_end(file, "whether it is complete");
    file = damage_begin();
    H5Adelete(file, "complete");
    damage_end(file, "whether it is complete");
    file = damage_begin();
    hdf5_put_text(file, "deck_sha256", "00");
    damage_end(file, "SHA-256");
    file = damage_begin();
    H5Ldelete(file, "config/deck", H5P_DEFAULT);
    damage_end(file, "SHA-256");
}

static void test_tables(void)
{
    hid_t file = damage_begin();
    hid_t group = H5Gopen2(file, "jobs", H5P_DEFAULT);
    hdf5_put_u64(group, "rows", 1 << 30);
    H5Gclose(group);
    damage_end(file, "values where there should be 1073741824");

    file = damage_begin();
    group = H5Gopen2(file, "jobs", H5P_DEFAULT);
    H5Adelete(group, "rows");
    H5Gclose(group);
    damage_end(file, "no number of rows");

    file = damage_begin();
    group = H5Gopen2(file, "jobs", H5P_DEFAULT);
    hdf5_put_text(group, "columns", "id submit nothing");
    H5Gclose(group);
    damage_end(file, "its column nothing is missing");

    file = damage_begin();
    group = H5Gopen2(file, "jobs", H5P_DEFAULT);
    hdf5_put_text(group, "columns", "");
    H5Gclose(group);
    damage_end(file, "list of columns is damaged");

    file = damage_begin();
    H5Ldelete(file, "jobs/end", H5P_DEFAULT);
    damage_end(file, "its column end is missing");

    file = damage_begin();
    hid_t dataset = H5Dopen2(file, "jobs/end", H5P_DEFAULT);
    hsize_t size = 10;
    H5Dset_extent(dataset, &size);
    H5Dclose(dataset);
    damage_end(file, "its column end has 10 values");

    file = damage_begin();
    dataset = H5Dopen2(file, "jobs/end", H5P_DEFAULT);
    H5Adelete(dataset, "units");
    H5Dclose(dataset);
    damage_end(file, "its column end has no units");

    file = damage_begin();
    H5Ldelete(file, "jobs/end", H5P_DEFAULT);
    group = H5Gopen2(file, "jobs", H5P_DEFAULT);
    double *values = g_new0(double, 3000);
    hdf5_put_array(group, "end", H5T_NATIVE_DOUBLE, values, 3000, true, "ns", "times");
    H5Gclose(group);
    damage_end(file, "its column end has a type");
    g_free(values);

    /* A value of an enum that has no name. */
    file = damage_begin();
    dataset = H5Dopen2(file, "jobs/state", H5P_DEFAULT);
    hid_t type = H5Dget_type(dataset);
    uint8_t *states = g_malloc0(3000);
    CU_ASSERT_FATAL(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, states) >= 0);
    states[1234] = 77;
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, states);
    H5Tclose(type);
    H5Dclose(dataset);
    g_free(states);
    damage_end(file, "/jobs/state has the value 77 in row 1234");

    /* Messages out of order. */
    file = damage_begin();
    dataset = H5Dopen2(file, "events/time", H5P_DEFAULT);
    int64_t *times = g_new0(int64_t, 3000);
    H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, times);
    times[2000] = 5;
    H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, times);
    H5Dclose(dataset);
    g_free(times);
    damage_end(file, "/events is not in order at row 2000");

    file = damage_begin();
    group = H5Gopen2(file, "events", H5P_DEFAULT);
    hdf5_put_text(group, "columns", "time actor");
    H5Gclose(group);
    damage_end(file, "/events has other columns");
}

static void test_figures(void)
{
    hid_t file = damage_begin();
    hid_t object = H5Dopen2(file, "series/broker/forwarded", H5P_DEFAULT);
    hdf5_put_u64(object, "total", 7);
    H5Dclose(object);
    damage_end(file, "its figures in /series/broker do not fit");

    file = damage_begin();
    object = H5Dopen2(file, "series/broker/forwarded", H5P_DEFAULT);
    hdf5_put_i64(object, "bin_width_ns", 0);
    H5Dclose(object);
    damage_end(file, "its figures in /series/broker do not fit");

    file = damage_begin();
    object = H5Gopen2(file, "histograms/job_manager/run", H5P_DEFAULT);
    hdf5_put_u64(object, "count", 1);
    H5Gclose(object);
    damage_end(file, "its figures in /histograms/job_manager do not fit");

    file = damage_begin();
    H5Ldelete(file, "histograms/job_manager/run/lower", H5P_DEFAULT);
    damage_end(file, "its figures in /histograms/job_manager do not fit");

    file = damage_begin();
    H5Ldelete(file, "counters/broker/published", H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "counters/broker/published", H5P_DEFAULT, H5P_DEFAULT);
    damage_end(file, "its figures in /counters/broker do not fit");

    file = damage_begin();
    hdf5_put_u64(file, "figures", 0);
    damage_end(file, "does not say where its figures are");

    file = damage_begin();
    H5Ldelete(file, "roles/handled", H5P_DEFAULT);
    damage_end(file, "its table of roles is damaged");
}

/* A file as a killed run leaves it: the same bytes without the checksum. */
static void test_open(void)
{
    char *open_bytes = g_memdup2(whole, whole_size);
    CU_ASSERT_FATAL(g_file_set_contents(broken_path, whole, (gssize)whole_size, NULL));
    CU_ASSERT_FATAL(seal_open(broken_path, NULL));
    char *head = NULL;
    CU_ASSERT_FATAL(g_file_get_contents(broken_path, &head, NULL, NULL));
    memcpy(open_bytes, head, SEAL_BYTES);
    g_free(head);
    check_broken(open_bytes, 512, "HDF5 cannot open it");
    check_broken(open_bytes, 600, "HDF5 cannot open it");
    check_broken(open_bytes, whole_size / 2, "HDF5 cannot open it");
    check_broken(open_bytes, whole_size - 1, "HDF5 cannot open it");
    open_bytes[512] ^= 1;
    check_broken(open_bytes, whole_size, "HDF5 cannot open it");
    open_bytes[512] ^= 1;
    memset(open_bytes + 600, 0, 2000);
    check_broken(open_bytes, whole_size, ": ");
    g_free(open_bytes);
}

static void test_diff(void)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    CU_ASSERT_FATAL(g_file_set_contents(broken_path, whole, (gssize)whole_size - 5, NULL));
    CU_ASSERT_FALSE(diff_traces(whole_path, broken_path, lines, &error));
    CU_ASSERT(g_str_has_prefix(error->message, broken_path));
    g_clear_error(&error);
    CU_ASSERT_FALSE(diff_traces(broken_path, whole_path, lines, &error));
    CU_ASSERT(g_str_has_prefix(error->message, broken_path));
    g_clear_error(&error);
    CU_ASSERT(diff_traces(whole_path, whole_path, lines, &error));
    CU_ASSERT_EQUAL(lines->len, 0);
    g_ptr_array_free(lines, TRUE);
}

static void test_still_written(void)
{
    struct trace_config config = model_config(broken_path, TRACE_LEVEL_JOBS);
    struct trace *t = trace_new(&config, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    check_refused("still being written by its run");
    trace_free(t);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "what is not a trace is told apart", test_foreign },
        { "a trace that was cut or added to", test_cut },
        { "a flipped bit anywhere", test_flipped },
        { "attributes that are missing or wrong", test_attributes },
        { "tables that are damaged", test_tables },
        { "figures that do not fit together", test_figures },
        { "a killed run's file with further damage", test_open },
        { "diff refuses what verify refuses", test_diff },
        { "a trace that its run still writes", test_still_written },
        { NULL, NULL }
    };
    hdf5_quiet();
    folder = g_dir_make_tmp("tiercel-broken-XXXXXX", NULL);
    whole_path = g_build_filename(folder, "whole.h5", NULL);
    broken_path = g_build_filename(folder, "broken.h5", NULL);
    struct trace_config config = model_config(whole_path, TRACE_LEVEL_EVENTS);
    config.compress = false;
    int status = 1;
    if (model_run(&config, NULL, 3000, 0, NULL) && g_file_get_contents(whole_path, &whole, &whole_size, NULL))
        status = suite_run("broken traces", tests);
    unlink(whole_path);
    unlink(broken_path);
    g_rmdir(folder);
    g_free(whole);
    g_free(whole_path);
    g_free(broken_path);
    g_free(folder);
    return status;
}
