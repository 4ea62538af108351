/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small steps on HDF5 that the files of this folder share: errors as GError, attributes, texts, one-dimensional
 * datasets. Internal to sim/trace/.
 *
 * HDF5 prints its errors to stderr unless told otherwise; hdf5_quiet() tells it, and every function that opens or
 * creates a file calls it first. A failure's text takes the system's reason (a full disk) out of HDF5's own stack.
 */
#ifndef TIERCEL_TRACE_HDF5_FILE_H
#define TIERCEL_TRACE_HDF5_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <hdf5.h>

#include "base/error.h"

enum { HDF5_NAME_MAX = 64 };

void hdf5_quiet(void);

/* Sets *error: "PATH: WHAT: reason". Returns FALSE, so that it can be returned. */
gboolean hdf5_failure(GError **error, const char *path, const char *what);

/*
 * Closes a file that was written to. FALSE when the disk did not take what was left, because it is full, say: HDF5 then
 * keeps half of the file, and crashes on it when it ends, with MPI_Finalize or at exit(). So such a process must leave
 * by _exit(), and hdf5_is_stuck tells it. For the whole process, because HDF5's state is.
 */
bool hdf5_close(hid_t file);
bool hdf5_is_stuck(void);

/* Creates (over an existing file) with a user block of SEAL_BYTES, in the format that every HDF5 reads. -1 and *error
 * on failure. */
hid_t hdf5_create(const char *path, GError **error);
/* For reading, or for reading and writing. */
hid_t hdf5_open(const char *path, bool writable, GError **error);

/* A name for a path in the file: all but letters and digits becomes '_'. At most HDF5_NAME_MAX - 1 bytes. */
const char *hdf5_name(char name[HDF5_NAME_MAX], const char *text);

/* The group, created when it is not there. -1 on failure. */
hid_t hdf5_group(hid_t parent, const char *name);

/* Attributes: made, or written over. */
bool hdf5_put_text(hid_t object, const char *name, const char *text);
bool hdf5_put_u64(hid_t object, const char *name, uint64_t value);
bool hdf5_put_i64(hid_t object, const char *name, int64_t value);
bool hdf5_put_double(hid_t object, const char *name, double value);
/* `units` and `long_name`. */
bool hdf5_describe(hid_t object, const char *unit, const char *text);

/* False when the attribute is not there or is of another type. The text is the caller's. */
bool hdf5_get_text(hid_t object, const char *name, char **text);
bool hdf5_get_u64(hid_t object, const char *name, uint64_t *value);
bool hdf5_get_i64(hid_t object, const char *name, int64_t *value);
bool hdf5_get_double(hid_t object, const char *name, double *value);

/* A text as a scalar dataset. */
bool hdf5_put_document(hid_t parent, const char *name, const char *text, const char *long_name);
bool hdf5_get_document(hid_t parent, const char *name, char **text);

/* A one-dimensional dataset of `count` values of a native type: made, or written over. One that grows can be written
 * over with another count; that costs 2 KB of index. */
bool hdf5_put_array(hid_t parent, const char *name, hid_t type, const void *values, uint64_t count, bool grows,
                    const char *unit, const char *text);
/* Texts, as strings of one fixed length; does not grow. */
bool hdf5_put_texts(hid_t parent, const char *name, const char *const *texts, uint64_t count, const char *text);

/* Such texts, ended by NULL (g_strfreev), and how many; false when they are something else. */
bool hdf5_get_texts(hid_t parent, const char *name, char ***texts, uint64_t *count);

/* How many values a one-dimensional dataset has; false when it is something else. */
bool hdf5_array_size(hid_t parent, const char *name, uint64_t *count);
/* The whole of a one-dimensional dataset of `count` values; false when it has another size or class. */
bool hdf5_get_array(hid_t parent, const char *name, hid_t type, void *values, uint64_t count);

/* Whether `name` is there, without an error when it is not. */
bool hdf5_has(hid_t parent, const char *name);

/* All attributes of one object to another, which must have none of their names. */
bool hdf5_copy_attributes(hid_t from, hid_t to);

#endif
