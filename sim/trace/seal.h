/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seal: the first 512 bytes of a trace, in front of the HDF5 data (HDF5's user block, which HDF5 skips).
 *
 * It is text. While a run goes on it says "state open". When the file is whole it says "state sealed", how many bytes
 * the file has and the CRC-32 (that of zlib and Python's zlib.crc32) of all that follows the seal. So a file that was
 * cut, copied half or changed by one bit is told before HDF5, which does not survive every damaged file, looks at it.
 * `head -n 4 trace.h5` shows it.
 *
 *     tiercel trace, format 1; an HDF5 file that begins at byte 512
 *     state sealed
 *     bytes 123456
 *     crc32 01234567
 */
#ifndef TIERCEL_TRACE_SEAL_H
#define TIERCEL_TRACE_SEAL_H

#include <stdbool.h>

#include "base/error.h"

enum { SEAL_BYTES = 512 };

/* Writes the open seal into a file that has HDF5 data behind it. */
gboolean seal_open(const char *path, GError **error);

/* Computes and writes the final seal; the HDF5 file is closed. */
gboolean seal_close(const char *path, GError **error);

/*
 * Reads a file's seal and holds the file against it. TRUE with *sealed: whether it is whole; an open file cannot be
 * checked further. FALSE with *error (TIERCEL_ERROR_RUNTIME): it cannot be read, is empty, is not a trace, was cut, or
 * was changed.
 */
gboolean seal_check(const char *path, bool *sealed, GError **error);

#endif
