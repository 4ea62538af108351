/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/hdf5_file.h"

#include <string.h>

#include "trace/seal.h"

void hdf5_quiet(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Keeps the system's message, which HDF5 hides in the innermost description: error message = 'No space left ...'. */
static herr_t stack_reason(unsigned depth, const H5E_error2_t *entry, void *data)
{
    char **reason = data;
    const char *mark = entry->desc == NULL ? NULL : strstr(entry->desc, "error message = '");
    if (mark != NULL && *reason == NULL) {
        mark += strlen("error message = '");
        const char *end = strchr(mark, '\'');
        *reason = g_strndup(mark, end == NULL ? strlen(mark) : (size_t)(end - mark));
    }
    return 0;
}

gboolean hdf5_failure(GError **error, const char *path, const char *what)
{
    char *reason = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, stack_reason, &reason);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s%s%s", path, what, reason == NULL ? "" : ": ",
                reason == NULL ? "" : reason);
    g_free(reason);
    return FALSE;
}

/* Access as every file system allows: where locks are switched off, as on many parallel ones, do without. */
static hid_t access_new(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, 1, 1);
#endif
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    return access;
}

static bool stuck;

bool hdf5_close(hid_t file)
{
    bool good = H5Fclose(file) >= 0;

    stuck = stuck || !good;
    return good;
}

bool hdf5_is_stuck(void)
{
    return stuck;
}

hid_t hdf5_create(const char *path, GError **error)
{
    hdf5_quiet();
    hid_t access = access_new();
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, SEAL_BYTES);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    if (file < 0)
        hdf5_failure(error, path, "cannot be created");
    H5Pclose(creation);
    H5Pclose(access);
    return file;
}

hid_t hdf5_open(const char *path, bool writable, GError **error)
{
    hdf5_quiet();
    hid_t access = access_new();
    hid_t file = H5Fopen(path, writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    if (file < 0)
        hdf5_failure(error, path, "HDF5 cannot open it; the file is damaged, or its run was killed before the first "
                                  "flush");
    H5Pclose(access);
    return file;
}

const char *hdf5_name(char name[HDF5_NAME_MAX], const char *text)
{
    g_strlcpy(name, text, HDF5_NAME_MAX);
    for (char *at = name; *at != '\0'; at++)
        if (!g_ascii_isalnum(*at))
            *at = '_';
    return name;
}

bool hdf5_has(hid_t parent, const char *name)
{
    return H5Lexists(parent, name, H5P_DEFAULT) > 0;
}

hid_t hdf5_group(hid_t parent, const char *name)
{
    if (hdf5_has(parent, name))
        return H5Gopen2(parent, name, H5P_DEFAULT);
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* The attribute, opened or made. */
static hid_t attribute_at(hid_t object, const char *name, hid_t type)
{
    if (H5Aexists(object, name) > 0)
        return H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return attribute;
}

static bool attribute_put(hid_t object, const char *name, hid_t file_type, hid_t memory_type, const void *value)
{
    hid_t attribute = attribute_at(object, name, file_type);
    if (attribute < 0)
        return false;
    bool good = H5Awrite(attribute, memory_type, value) >= 0;
    return H5Aclose(attribute) >= 0 && good;
}

bool hdf5_put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = text_type();
    bool good = attribute_put(object, name, type, type, &text);
    H5Tclose(type);
    return good;
}

bool hdf5_put_u64(hid_t object, const char *name, uint64_t value)
{
    return attribute_put(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

bool hdf5_put_i64(hid_t object, const char *name, int64_t value)
{
    return attribute_put(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

bool hdf5_put_double(hid_t object, const char *name, double value)
{
    return attribute_put(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

bool hdf5_describe(hid_t object, const char *unit, const char *text)
{
    return hdf5_put_text(object, "units", unit) && hdf5_put_text(object, "long_name", text);
}

/* A scalar of the class, or -1. */
static hid_t attribute_open(hid_t object, const char *name, H5T_class_t class)
{
    if (H5Aexists(object, name) <= 0)
        return -1;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    bool good = H5Tget_class(type) == class && H5Sget_simple_extent_npoints(space) == 1 &&
                (class != H5T_STRING || H5Tis_variable_str(type) > 0);
    H5Tclose(type);
    H5Sclose(space);
    if (good)
        return attribute;
    H5Aclose(attribute);
    return -1;
}

static bool attribute_get(hid_t object, const char *name, H5T_class_t class, hid_t type, void *value)
{
    hid_t attribute = attribute_open(object, name, class);
    if (attribute < 0)
        return false;
    bool good = H5Aread(attribute, type, value) >= 0;
    H5Aclose(attribute);
    return good;
}

bool hdf5_get_text(hid_t object, const char *name, char **text)
{
    char *value = NULL;
    hid_t type = text_type();
    bool good = attribute_get(object, name, H5T_STRING, type, &value);
    H5Tclose(type);
    *text = good ? g_strdup(value == NULL ? "" : value) : NULL;
    if (good)
        H5free_memory(value);
    return good;
}

bool hdf5_get_u64(hid_t object, const char *name, uint64_t *value)
{
    return attribute_get(object, name, H5T_INTEGER, H5T_NATIVE_UINT64, value);
}

bool hdf5_get_i64(hid_t object, const char *name, int64_t *value)
{
    return attribute_get(object, name, H5T_INTEGER, H5T_NATIVE_INT64, value);
}

bool hdf5_get_double(hid_t object, const char *name, double *value)
{
    return attribute_get(object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value);
}

bool hdf5_put_document(hid_t parent, const char *name, const char *text, const char *long_name)
{
    hid_t type = text_type();
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0 &&
                hdf5_put_text(dataset, "long_name", long_name);
    if (dataset >= 0)
        good = H5Dclose(dataset) >= 0 && good;
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool hdf5_get_document(hid_t parent, const char *name, char **text)
{
    *text = NULL;
    hid_t dataset = hdf5_has(parent, name) ? H5Dopen2(parent, name, H5P_DEFAULT) : -1;
    if (dataset < 0)
        return false;
    char *value = NULL;
    hid_t type = text_type();
    hid_t stored = H5Dget_type(dataset);
    hid_t space = H5Dget_space(dataset);
    bool good = H5Tis_variable_str(stored) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0;
    if (good) {
        *text = g_strdup(value == NULL ? "" : value);
        H5free_memory(value);
    }
    H5Tclose(stored);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
    return good;
}

static hid_t array_create(hid_t parent, const char *name, hid_t type, uint64_t count, bool grows)
{
    hsize_t size = count, unlimited = H5S_UNLIMITED, chunk = CLAMP(count, 64, 4096);
    hid_t space = H5Screate_simple(1, &size, grows ? &unlimited : NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, false);    /* the same content gives the same bytes */
    if (grows)
        H5Pset_chunk(creation, 1, &chunk);
    hid_t dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

bool hdf5_put_array(hid_t parent, const char *name, hid_t type, const void *values, uint64_t count, bool grows,
                    const char *unit, const char *text)
{
    hsize_t size = count;
    bool there = hdf5_has(parent, name);
    hid_t dataset = there ? H5Dopen2(parent, name, H5P_DEFAULT) : array_create(parent, name, type, count, grows);
    if (dataset < 0)
        return false;
    bool good = there || hdf5_describe(dataset, unit, text);
    if (good && there && grows)
        good = H5Dset_extent(dataset, &size) >= 0;
    if (good && count != 0)
        good = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    return H5Dclose(dataset) >= 0 && good;
}

bool hdf5_put_texts(hid_t parent, const char *name, const char *const *texts, uint64_t count, const char *text)
{
    size_t longest = 1;
    for (uint64_t i = 0; i < count; i++)
        longest = MAX(longest, strlen(texts[i]));
    char *packed = g_malloc0(longest * MAX(count, 1));
    for (uint64_t i = 0; i < count; i++)
        memcpy(packed + i * longest, texts[i], strlen(texts[i]));
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, longest);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    bool good = hdf5_put_array(parent, name, type, packed, count, false, "1", text);
    H5Tclose(type);
    g_free(packed);
    return good;
}

/* HDF5 takes memory for a whole chunk, however large a damaged file says that it is. Traces have small ones. */
static bool chunks_small(hid_t dataset)
{
    enum { VALUES_MOST = 1 << 20 };
    hid_t creation = H5Dget_create_plist(dataset);
    hsize_t chunk = 0;
    bool good = creation >= 0 && (H5Pget_layout(creation) != H5D_CHUNKED ||
                                  (H5Pget_chunk(creation, 1, &chunk) == 1 && chunk <= VALUES_MOST));
    if (creation >= 0)
        H5Pclose(creation);
    return good;
}

/* The one-dimensional dataset and how many values it has, or -1. */
static hid_t array_open(hid_t parent, const char *name, uint64_t *count)
{
    hid_t dataset = hdf5_has(parent, name) ? H5Dopen2(parent, name, H5P_DEFAULT) : -1;
    if (dataset < 0)
        return -1;
    hid_t space = H5Dget_space(dataset);
    hsize_t size = 0;
    bool good = H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &size, NULL) == 1 &&
                chunks_small(dataset);
    H5Sclose(space);
    *count = size;
    if (good)
        return dataset;
    H5Dclose(dataset);
    return -1;
}

bool hdf5_array_size(hid_t parent, const char *name, uint64_t *count)
{
    hid_t dataset = array_open(parent, name, count);
    if (dataset < 0)
        return false;
    H5Dclose(dataset);
    return true;
}

bool hdf5_get_array(hid_t parent, const char *name, hid_t type, void *values, uint64_t count)
{
    uint64_t there = 0;
    hid_t dataset = array_open(parent, name, &there);
    if (dataset < 0)
        return false;
    hid_t stored = H5Dget_type(dataset);
    bool good = there == count && H5Tget_class(stored) == H5Tget_class(type);
    if (good && count != 0)
        good = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5Tclose(stored);
    H5Dclose(dataset);
    return good;
}

bool hdf5_get_texts(hid_t parent, const char *name, char ***texts, uint64_t *count)
{
    enum { MOST = 1 << 20 };
    *texts = NULL;
    hid_t dataset = array_open(parent, name, count);
    if (dataset < 0)
        return false;
    hid_t type = H5Dget_type(dataset);
    size_t size = H5Tget_size(type);
    bool good = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && size <= MOST && *count <= MOST;
    if (good) {
        char *packed = g_malloc0(size * MAX(*count, 1));
        good = *count == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0;
        *texts = g_new0(char *, *count + 1);
        for (uint64_t i = 0; i < *count; i++)
            (*texts)[i] = g_strndup(packed + i * size, size);
        g_free(packed);
    }
    H5Tclose(type);
    H5Dclose(dataset);
    return good;
}

/* --- copying --- */

static herr_t attribute_copy(hid_t from, const char *name, const H5A_info_t *info, void *data)
{
    hid_t to = *(hid_t *)data;
    hid_t attribute = H5Aopen(from, name, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    herr_t status = -1;
    if (H5Sget_simple_extent_npoints(space) == 1) {
        void *value = g_malloc0(H5Tget_size(type));
        hid_t copy = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        if (copy >= 0 && H5Aread(attribute, type, value) >= 0 && H5Awrite(copy, type, value) >= 0)
            status = 0;
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
        if (copy >= 0)
            H5Aclose(copy);
        g_free(value);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return status;
}

bool hdf5_copy_attributes(hid_t from, hid_t to)
{
    return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, attribute_copy, &to) >= 0;
}
