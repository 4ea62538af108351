/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/columns.h"

#include <inttypes.h>
#include <string.h>

static hid_t native_type(enum table_type type)
{
    switch (type) {
    case TABLE_U8:
    case TABLE_ENUM:
        return H5T_NATIVE_UINT8;
    case TABLE_U16:
        return H5T_NATIVE_UINT16;
    case TABLE_U32:
        return H5T_NATIVE_UINT32;
    case TABLE_U64:
        return H5T_NATIVE_UINT64;
    case TABLE_I64:
        return H5T_NATIVE_INT64;
    }
    g_assert_not_reached();
}

/* A type of the caller's: the enum's values are bytes 0, 1, ... */
static hid_t stored_type(const struct table_column *column)
{
    if (column->type != TABLE_ENUM)
        return H5Tcopy(native_type(column->type));
    hid_t type = H5Tenum_create(H5T_NATIVE_UINT8);
    for (uint8_t value = 0; column->names[value] != NULL; value++)
        H5Tenum_insert(type, column->names[value], &value);
    return type;
}

/* A compressed chunk that grows stays in the cache; an uncompressed one needs none: rows go to the file at once. */
static hid_t access_new(bool compress, hsize_t chunk_rows)
{
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 11, compress ? 2 * (size_t)chunk_rows * sizeof(uint64_t) : 0, 1.0);
    return access;
}

static hid_t column_create(hid_t group, const struct table_column *column, unsigned chunk_rows, bool compress)
{
    hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = chunk_rows;
    hid_t type = stored_type(column);
    hid_t space = H5Screate_simple(1, &none, &unlimited);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk);
    if (compress) {
        H5Pset_shuffle(creation);
        H5Pset_deflate(creation, 1);
    }
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    hid_t access = access_new(compress, chunk_rows);
    hid_t dataset = H5Dcreate2(group, column->name, type, space, H5P_DEFAULT, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
    if (dataset >= 0 && !hdf5_describe(dataset, column->unit, column->text)) {
        H5Dclose(dataset);
        return -1;
    }
    return dataset;
}

bool columns_create(struct columns *c, hid_t parent, const struct table *t, unsigned chunk_rows, bool compress,
                    const char *order)
{
    g_assert(t->column_count <= COLUMNS_MAX);
    *c = (struct columns){ .group = hdf5_group(parent, t->name) };
    if (c->group < 0)
        return false;
    GString *names = g_string_new(NULL);
    bool good = true;
    for (unsigned i = 0; i < t->column_count && good; i++) {
        c->type[i] = t->columns[i].type;
        c->name[i] = g_strdup(t->columns[i].name);
        c->unit[i] = g_strdup(t->columns[i].unit);
        c->text[i] = g_strdup(t->columns[i].text);
        c->dataset[i] = column_create(c->group, &t->columns[i], chunk_rows, compress);
        good = c->dataset[i] >= 0;
        c->count = i + 1;
        g_string_append_printf(names, "%s%s", i == 0 ? "" : " ", c->name[i]);
    }
    good = good && hdf5_put_text(c->group, "columns", names->str) && hdf5_put_text(c->group, "order", order) &&
           hdf5_put_text(c->group, "long_name", t->text) && hdf5_put_u64(c->group, "rows", 0);
    g_string_free(names, TRUE);
    return good;
}

static bool column_append(hid_t dataset, enum table_type type, uint64_t rows, uint64_t n, const void *values)
{
    hsize_t size = rows + n, first = rows, count = n;
    if (H5Dset_extent(dataset, &size) < 0)
        return false;
    hid_t file = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(1, &count, NULL);
    bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0;
    /* An enum is written as the bytes it is stored as. */
    hid_t as = type == TABLE_ENUM ? H5Dget_type(dataset) : native_type(type);
    good = good && H5Dwrite(dataset, as, memory, file, H5P_DEFAULT, values) >= 0;
    if (type == TABLE_ENUM)
        H5Tclose(as);
    H5Sclose(memory);
    H5Sclose(file);
    return good;
}

bool columns_append(struct columns *c, const void *const *values, uint64_t n)
{
    if (n == 0)
        return true;
    for (unsigned i = 0; i < c->count; i++)
        if (!column_append(c->dataset[i], c->type[i], c->rows, n, values[i]))
            return false;
    c->rows += n;
    return true;
}

bool columns_append_rows(struct columns *c, const void *rows, uint64_t n)
{
    size_t stride = 0;
    for (unsigned i = 0; i < c->count; i++)
        stride += table_type_size(c->type[i]);
    void *column[COLUMNS_MAX];
    size_t offset = 0;
    for (unsigned i = 0; i < c->count; i++) {
        size_t size = table_type_size(c->type[i]);
        uint8_t *to = column[i] = g_malloc(size * MAX(n, 1));
        const uint8_t *from = (const uint8_t *)rows + offset;
        for (uint64_t row = 0; row < n; row++, from += stride, to += size)
            memcpy(to, from, size);
        offset += size;
    }
    bool good = columns_append(c, (const void *const *)column, n);
    for (unsigned i = 0; i < c->count; i++)
        g_free(column[i]);
    return good;
}

bool columns_mark(struct columns *c)
{
    return hdf5_put_u64(c->group, "rows", c->rows);
}

/* Which of our types a stored one is; false when none. */
static bool type_recognise(hid_t dataset, enum table_type *type)
{
    hid_t stored = H5Dget_type(dataset);
    H5T_class_t class = H5Tget_class(stored);
    size_t size = H5Tget_size(stored);
    bool is_signed = class == H5T_INTEGER && H5Tget_sign(stored) == H5T_SGN_2;
    H5Tclose(stored);
    if (class == H5T_ENUM && size == 1)
        *type = TABLE_ENUM;
    else if (class == H5T_INTEGER && is_signed && size == 8)
        *type = TABLE_I64;
    else if (class == H5T_INTEGER && !is_signed && (size == 1 || size == 2 || size == 4 || size == 8))
        *type = size == 1 ? TABLE_U8 : size == 2 ? TABLE_U16 : size == 4 ? TABLE_U32 : TABLE_U64;
    else
        return false;
    return true;
}

/* Opens a dataset for reading in blocks: without a cache when it is not compressed. */
static hid_t column_reopen(hid_t group, const char *name)
{
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t creation = dataset < 0 ? -1 : H5Dget_create_plist(dataset);
    if (creation < 0)
        return dataset;
    bool compressed = H5Pget_nfilters(creation) > 0;
    H5Pclose(creation);
    if (compressed)
        return dataset;
    H5Dclose(dataset);
    hid_t access = access_new(false, 0);
    dataset = H5Dopen2(group, name, access);
    H5Pclose(access);
    return dataset;
}

/* Opens the next column; *reason when it is not as it should be. */
static bool column_open(struct columns *c, const char *name, char **reason)
{
    unsigned i = c->count;
    uint64_t size = 0;
    if (!hdf5_array_size(c->group, name, &size)) {
        *reason = g_strdup_printf("its column %s is missing or not one-dimensional, or its chunks are too large", name);
        return false;
    }
    c->dataset[i] = column_reopen(c->group, name);
    c->name[i] = g_strdup(name);
    c->count++;
    if (!type_recognise(c->dataset[i], &c->type[i]))
        *reason = g_strdup_printf("its column %s has a type that traces do not use", name);
    else if (!hdf5_get_text(c->dataset[i], "units", &c->unit[i]) ||
             !hdf5_get_text(c->dataset[i], "long_name", &c->text[i]))
        *reason = g_strdup_printf("its column %s has no units or no long_name", name);
    else if (size < c->rows)
        *reason = g_strdup_printf("its column %s has %" PRIu64 " values where there should be %" PRIu64, name, size,
                                  c->rows);
    return *reason == NULL;
}

bool columns_open(struct columns *c, hid_t parent, const char *name, char **reason)
{
    *c = (struct columns){ .group = hdf5_has(parent, name) ? H5Gopen2(parent, name, H5P_DEFAULT) : -1 };
    *reason = NULL;
    char *names = NULL;
    if (c->group < 0 || !hdf5_get_text(c->group, "columns", &names) || !hdf5_get_u64(c->group, "rows", &c->rows)) {
        *reason = g_strdup("it has no list of columns or no number of rows");
    } else {
        char **list = g_strsplit(names, " ", -1);
        if (g_strv_length(list) == 0 || g_strv_length(list) > COLUMNS_MAX)
            *reason = g_strdup("its list of columns is damaged");
        for (char **at = list; *reason == NULL && *at != NULL; at++)
            column_open(c, *at, reason);
        g_strfreev(list);
    }
    g_free(names);
    if (*reason == NULL)
        return true;
    columns_close(c);
    return false;
}

bool columns_read(const struct columns *c, unsigned column, uint64_t first, uint64_t n, void *values)
{
    g_assert(column < c->count && first + n <= c->rows);
    if (n == 0)
        return true;
    hsize_t start = first, count = n;
    hid_t file = H5Dget_space(c->dataset[column]);
    hid_t memory = H5Screate_simple(1, &count, NULL);
    hid_t as = c->type[column] == TABLE_ENUM ? H5Dget_type(c->dataset[column]) : native_type(c->type[column]);
    bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                H5Dread(c->dataset[column], as, memory, file, H5P_DEFAULT, values) >= 0;
    if (c->type[column] == TABLE_ENUM)
        H5Tclose(as);
    H5Sclose(memory);
    H5Sclose(file);
    return good;
}

char **columns_names(const struct columns *c, unsigned column)
{
    if (c->type[column] != TABLE_ENUM)
        return NULL;
    hid_t type = H5Dget_type(c->dataset[column]);
    int members = H5Tget_nmembers(type);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < members; i++) {
        uint8_t value = (uint8_t)i;
        char name[256] = "";
        if (H5Tenum_nameof(type, &value, name, sizeof name) < 0)
            break;
        g_ptr_array_add(names, g_strdup(name));
    }
    H5Tclose(type);
    bool good = members > 0 && names->len == (guint)members;
    g_ptr_array_add(names, NULL);
    char **list = (char **)g_ptr_array_free(names, FALSE);
    if (good)
        return list;
    g_strfreev(list);
    return NULL;
}

bool columns_close(struct columns *c)
{
    bool good = true;
    for (unsigned i = 0; i < c->count; i++) {
        if (c->dataset[i] >= 0)
            good = H5Dclose(c->dataset[i]) >= 0 && good;
        g_free(c->name[i]);
        g_free(c->unit[i]);
        g_free(c->text[i]);
    }
    c->count = 0;
    if (c->group >= 0)
        good = H5Gclose(c->group) >= 0 && good;
    c->group = -1;
    return good;
}
