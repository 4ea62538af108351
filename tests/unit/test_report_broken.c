/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces that were damaged and then closed with a right checksum, so that nothing but their content tells: every
 * object missing, every attribute missing, every data set cut, every value overwritten. Report, exports and diff
 * either cope or refuse with one line that names the file; nothing crashes, and a refused report writes nothing.
 */
#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "export.h"
#include "report/chrome.h"
#include "report/report.h"
#include "trace/diff.h"
#include "trace/hdf5_file.h"
#include "trace/seal.h"
#include "trace_model.h"

static char *folder;
static char *whole_path;            /* a good trace of level events */
static char *whole;                 /* its bytes */
static gsize whole_size;
static char *broken_path;

/* An object of the trace, and one of its attributes. */
struct place {
    char *object;                   /* "." for the root */
    char *attribute;                /* NULL: the object itself */
    bool dataset;
};

static GArray *places;              /* struct place */

/* --- what there is --- */

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    (void)object;
    (void)info;
    struct place place = { g_strdup(data), g_strdup(name), false };
    g_array_append_val(places, place);
    return 0;
}

static herr_t add_object(hid_t file, const char *name, const H5O_info_t *info, void *data)
{
    (void)data;
    struct place place = { g_strdup(name), NULL, info->type == H5O_TYPE_DATASET };
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (strcmp(name, ".") != 0)
        g_array_append_val(places, place);
    else
        g_free(place.object);
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, (void *)name);
    H5Oclose(object);
    return 0;
}

static void list_places(void)
{
    hid_t file = hdf5_open(whole_path, false, NULL);
    places = g_array_new(FALSE, FALSE, sizeof(struct place));
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_object, NULL, H5O_INFO_BASIC);
    H5Fclose(file);
}

static void free_places(void)
{
    for (guint i = 0; i < places->len; i++) {
        g_free(g_array_index(places, struct place, i).object);
        g_free(g_array_index(places, struct place, i).attribute);
    }
    g_array_free(places, TRUE);
}

/* --- who reads it --- */

static gboolean write_report(FILE *out, enum report_format format, GError **error)
{
    struct report_request request = { .path = broken_path, .format = format };
    return report_write(&request, out, error);
}

static gboolean write_text(FILE *out, GError **error)
{
    return write_report(out, REPORT_FORMAT_TEXT, error);
}

static gboolean write_page(FILE *out, GError **error)
{
    return write_report(out, REPORT_FORMAT_HTML, error);
}

static gboolean write_export(FILE *out, gboolean (*export)(struct reader *r, FILE *out, GError **error),
                             GError **error)
{
    struct reader *r = reader_open(broken_path, error);
    gboolean good = r != NULL && export(r, out, error);
    if (r != NULL)
        reader_free(r);
    return good;
}

static gboolean write_chrome(FILE *out, GError **error)
{
    return write_export(out, chrome_write, error);
}

static gboolean write_swf(FILE *out, GError **error)
{
    return write_export(out, export_write_swf, error);
}

static gboolean write_batsim(FILE *out, GError **error)
{
    return write_export(out, export_write_batsim, error);
}

static gboolean write_diff(FILE *out, GError **error)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    gboolean good = diff_traces(broken_path, whole_path, lines, error);
    fprintf(out, "%u", lines->len);
    g_ptr_array_free(lines, TRUE);
    return good;
}

static const struct {
    const char *name;
    gboolean (*write)(FILE *out, GError **error);
} readers[] = {
    { "report", write_text }, { "report html", write_page }, { "chrome", write_chrome }, { "swf", write_swf },
    { "batsim", write_batsim }, { "diff", write_diff }
};

/* Bit i: reader i refused it. */
static unsigned read_all(const struct place *place)
{
    unsigned refused = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(readers); i++) {
        GError *error = NULL;
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        gboolean good = readers[i].write(out, &error);
        fclose(out);
        bool right = good == (error == NULL);
        if (error != NULL)
            right = right && error->code == TIERCEL_ERROR_RUNTIME && strchr(error->message, '\n') == NULL &&
                    g_str_has_prefix(error->message, broken_path) &&
                    (!g_str_has_prefix(readers[i].name, "report") || size == 0);
        if (!right)
            fprintf(stderr, "\n%s of a trace with damaged %s %s: %s, %zu bytes written\n", readers[i].name,
                    place->object, place->attribute == NULL ? "" : place->attribute,
                    error != NULL ? error->message : "no error", size);
        CU_ASSERT(right);
        refused |= (good ? 0U : 1U) << i;
        g_clear_error(&error);
        free(text);
    }
    return refused;
}

/* --- the damages --- */

typedef void damage_fn(hid_t file, const struct place *place);

static unsigned read_damaged(const struct place *place, damage_fn *damage)
{
    CU_ASSERT_FATAL(g_file_set_contents(broken_path, whole, (gssize)whole_size, NULL));
    hid_t file = hdf5_open(broken_path, true, NULL);
    CU_ASSERT_FATAL(file >= 0);
    damage(file, place);
    CU_ASSERT_FATAL(H5Fclose(file) >= 0);
    CU_ASSERT_FATAL(seal_close(broken_path, NULL));
    return read_all(place);
}

static void remove_object(hid_t file, const struct place *place)
{
    H5Ldelete(file, place->object, H5P_DEFAULT);
}

static void remove_attribute(hid_t file, const struct place *place)
{
    H5Adelete_by_name(file, place->object, place->attribute, H5P_DEFAULT);
}

static hsize_t extent(hid_t dataset)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t size = 0;
    if (H5Sget_simple_extent_ndims(space) == 1)
        H5Sget_simple_extent_dims(space, &size, NULL);
    H5Sclose(space);
    return size;
}

/* Half of a column that can grow; others are replaced by one value. */
static void cut_dataset(hid_t file, const struct place *place)
{
    hid_t dataset = H5Dopen2(file, place->object, H5P_DEFAULT);
    hsize_t size = extent(dataset) / 2;
    bool grows = size > 0 && H5Dset_extent(dataset, &size) >= 0;
    H5Dclose(dataset);
    if (grows)
        return;
    const double value = 1;
    H5Ldelete(file, place->object, H5P_DEFAULT);
    hdf5_put_array(file, place->object, H5T_NATIVE_DOUBLE, &value, 1, false, "1", "one value");
}

/* All bits of all values set. */
static void overwrite_dataset(hid_t file, const struct place *place)
{
    hid_t dataset = H5Dopen2(file, place->object, H5P_DEFAULT);
    hid_t type = H5Dget_type(dataset);
    size_t size = (size_t)MAX(extent(dataset), 1) * H5Tget_size(type);
    char *values = g_malloc(size);
    memset(values, 0xff, size);
    if (H5Tis_variable_str(type) <= 0)
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    g_free(values);
    H5Tclose(type);
    H5Dclose(dataset);
}

static bool is_row(const struct place *place)
{
    return place->attribute == NULL &&
           (g_str_has_prefix(place->object, "jobs/") || g_str_has_prefix(place->object, "events/"));
}

static void test_whole(void)
{
    struct place none = { (char *)"nothing", NULL, false };
    CU_ASSERT_FATAL(g_file_set_contents(broken_path, whole, (gssize)whole_size, NULL));
    unsigned refused = read_all(&none);
    for (unsigned i = 0; i < G_N_ELEMENTS(readers); i++)
        CU_ASSERT_EQUAL(refused >> i & 1, i == 3 || i == 4);    /* its jobs have no times of allocation */
    CU_ASSERT(places->len > 100);
}

static void test_missing_objects(void)
{
    for (guint i = 0; i < places->len; i++) {
        const struct place *place = &g_array_index(places, struct place, i);
        if (place->attribute != NULL)
            continue;
        unsigned refused = read_damaged(place, remove_object);
        CU_ASSERT(!is_row(place) || refused == (1U << G_N_ELEMENTS(readers)) - 1);
    }
}

/* There are many alike: some of them, or in the long form of the tests all. */
static void test_missing_attributes(void)
{
    guint step = getenv("LONG") != NULL && *getenv("LONG") != '\0' ? 1 : 7;
    for (guint i = 0; i < places->len; i += step) {
        const struct place *place = &g_array_index(places, struct place, i);
        if (place->attribute != NULL)
            read_damaged(place, remove_attribute);
    }
}

static void test_cut(void)
{
    for (guint i = 0; i < places->len; i++) {
        const struct place *place = &g_array_index(places, struct place, i);
        if (!place->dataset)
            continue;
        unsigned refused = read_damaged(place, cut_dataset);
        CU_ASSERT(!is_row(place) || refused == (1U << G_N_ELEMENTS(readers)) - 1);
    }
}

static void test_overwritten(void)
{
    for (guint i = 0; i < places->len; i++) {
        const struct place *place = &g_array_index(places, struct place, i);
        if (place->dataset)
            read_damaged(place, overwrite_dataset);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "the whole one is read", test_whole },
        { "objects that are missing", test_missing_objects },
        { "attributes that are missing", test_missing_attributes },
        { "data sets that were cut or replaced", test_cut },
        { "values that were overwritten", test_overwritten },
        { NULL, NULL }
    };
    hdf5_quiet();
    folder = g_dir_make_tmp("tiercel-report-XXXXXX", NULL);
    whole_path = g_build_filename(folder, "whole.h5", NULL);
    broken_path = g_build_filename(folder, "broken.h5", NULL);
    struct trace_config config = model_config(whole_path, TRACE_LEVEL_EVENTS);
    int status = 1;
    if (model_run(&config, NULL, 200, 0, NULL) && g_file_get_contents(whole_path, &whole, &whole_size, NULL)) {
        list_places();
        status = suite_run("reports of broken traces", tests);
        free_places();
    }
    unlink(whole_path);
    unlink(broken_path);
    g_rmdir(folder);
    g_free(whole);
    g_free(whole_path);
    g_free(broken_path);
    g_free(folder);
    return status;
}
