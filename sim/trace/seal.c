/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "tiercel trace, format 1; an HDF5 file that begins at byte 512\n";
static const char hdf5_signature[] = "\211HDF\r\n\032\n";

enum { READ_BYTES = 1 << 20 };

static gboolean failure(GError **error, const char *path, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean failure(GError **error, const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s", path, text);
    g_free(text);
    return FALSE;
}

/* CRC-32 of ISO 3309, sixteen bytes a step ("slicing", M. Kounavis and F. Berry, 2005). */
enum { SLICES = 16 };

struct crc32 {
    uint32_t table[SLICES][256];
    uint32_t value;
};

static void crc32_init(struct crc32 *c)
{
    c->value = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t v = i;
        for (unsigned bit = 0; bit < 8; bit++)
            v = v >> 1 ^ (v & 1 ? UINT32_C(0xedb88320) : 0);
        c->table[0][i] = v;
    }
    for (unsigned t = 1; t < SLICES; t++)
        for (unsigned i = 0; i < 256; i++)
            c->table[t][i] = c->table[t - 1][i] >> 8 ^ c->table[0][c->table[t - 1][i] & 255];
}

/* The part of four bytes, the first of which is `after` bytes before the end of the step. */
static inline uint32_t crc32_slice(const struct crc32 *c, uint32_t word, unsigned after)
{
    return c->table[after][word & 255] ^ c->table[after - 1][word >> 8 & 255] ^ c->table[after - 2][word >> 16 & 255] ^
           c->table[after - 3][word >> 24];
}

static void crc32_add(struct crc32 *c, const uint8_t *at, size_t size)
{
    uint32_t v = c->value;
    for (; size >= SLICES; size -= SLICES, at += SLICES) {
        uint32_t word[4];
        memcpy(word, at, sizeof word);
        v = crc32_slice(c, word[0] ^ v, 15) ^ crc32_slice(c, word[1], 11) ^ crc32_slice(c, word[2], 7) ^
            crc32_slice(c, word[3], 3);
    }
    for (; size > 0; size--, at++)
        v = v >> 8 ^ c->table[0][(v ^ *at) & 255];
    c->value = v;
}

/* The whole block; `sum` NULL is the open seal. */
static void seal_format(char block[SEAL_BYTES], uint64_t bytes, const uint32_t *sum)
{
    memset(block, 0, SEAL_BYTES);
    if (sum == NULL)
        snprintf(block, SEAL_BYTES, "%sstate open\n", first_line);
    else
        snprintf(block, SEAL_BYTES, "%sstate sealed\nbytes %" PRIu64 "\ncrc32 %08" PRIx32 "\n", first_line, bytes,
                 *sum);
}

static gboolean seal_write(int fd, const char *path, const char block[SEAL_BYTES], GError **error)
{
    if (pwrite(fd, block, SEAL_BYTES, 0) == SEAL_BYTES)
        return TRUE;
    return failure(error, path, "its seal cannot be written: %s", g_strerror(errno));
}

gboolean seal_open(const char *path, GError **error)
{
    char block[SEAL_BYTES];
    seal_format(block, 0, NULL);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return failure(error, path, "cannot be opened: %s", g_strerror(errno));
    gboolean good = seal_write(fd, path, block, error);
    close(fd);
    return good;
}

/* The checksum of all behind the seal; *bytes is the size of the file. */
static gboolean file_sum(int fd, const char *path, uint32_t *sum, uint64_t *bytes, GError **error)
{
    uint8_t *buffer = g_malloc(READ_BYTES);
    struct crc32 *crc = g_new(struct crc32, 1);
    crc32_init(crc);
    off_t at = SEAL_BYTES;
    ssize_t got;
    while ((got = pread(fd, buffer, READ_BYTES, at)) > 0) {
        crc32_add(crc, buffer, (size_t)got);
        at += got;
    }
    if (got < 0)
        failure(error, path, "cannot be read: %s", g_strerror(errno));
    *sum = ~crc->value;
    *bytes = (uint64_t)at;
    g_free(crc);
    g_free(buffer);
    return got == 0;
}

gboolean seal_close(const char *path, GError **error)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return failure(error, path, "cannot be opened: %s", g_strerror(errno));
    uint32_t sum;
    uint64_t bytes;
    char block[SEAL_BYTES];
    gboolean good = file_sum(fd, path, &sum, &bytes, error);
    if (good) {
        seal_format(block, bytes, &sum);
        good = seal_write(fd, path, block, error);
    }
    close(fd);
    return good;
}

/* What a file is that does not begin with our first line. */
static gboolean foreign(GError **error, const char *path, const char *block, size_t size)
{
    if (size >= sizeof hdf5_signature - 1 && memcmp(block, hdf5_signature, sizeof hdf5_signature - 1) == 0)
        return failure(error, path, "is an HDF5 file, but not a trace of tiercel");
    if (size >= 8 && memcmp(block, first_line, 8) == 0)
        return failure(error, path, "its first bytes are damaged, or it is a trace of another format than 1");
    return failure(error, path, "is not a trace of tiercel");
}

static gboolean seal_compare(int fd, const char *path, const char block[SEAL_BYTES], uint64_t size, bool *sealed,
                             GError **error)
{
    char expected[SEAL_BYTES];
    seal_format(expected, 0, NULL);
    *sealed = memcmp(block, expected, SEAL_BYTES) != 0;
    if (!*sealed)
        return TRUE;

    uint64_t bytes = 0;
    uint32_t wanted = 0;
    char text[SEAL_BYTES + 1] = "";
    memcpy(text, block, SEAL_BYTES);
    if (sscanf(text + sizeof first_line - 1, "state sealed\nbytes %" SCNu64 "\ncrc32 %8" SCNx32, &bytes, &wanted) != 2)
        return failure(error, path, "its seal, the first %d bytes, is damaged", SEAL_BYTES);
    seal_format(expected, bytes, &wanted);
    if (memcmp(block, expected, SEAL_BYTES) != 0)
        return failure(error, path, "its seal, the first %d bytes, is damaged", SEAL_BYTES);
    if (size != bytes)
        return failure(error, path, "has %" PRIu64 " bytes, but %" PRIu64 " were written: it was %s", size, bytes,
                       size < bytes ? "cut" : "added to");
    uint32_t sum;
    if (!file_sum(fd, path, &sum, &bytes, error))
        return FALSE;
    if (sum != wanted)
        return failure(error, path, "was changed or damaged after it was written: its checksum does not match");
    return TRUE;
}

gboolean seal_check(const char *path, bool *sealed, GError **error)
{
    *sealed = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);    /* a pipe must not hang us */
    if (fd < 0)
        return failure(error, path, "cannot be opened: %s", g_strerror(errno));
    struct stat status;
    char block[SEAL_BYTES];
    gboolean good = FALSE;
    ssize_t got = 0;
    if (fstat(fd, &status) != 0)
        failure(error, path, "cannot be read: %s", g_strerror(errno));
    else if (!S_ISREG(status.st_mode))
        failure(error, path, "is not a file");
    else if (status.st_size == 0)
        failure(error, path, "is empty");
    else if ((got = pread(fd, block, SEAL_BYTES, 0)) < 0)
        failure(error, path, "cannot be read: %s", g_strerror(errno));
    else if ((size_t)got < sizeof first_line - 1 || memcmp(block, first_line, sizeof first_line - 1) != 0)
        foreign(error, path, block, (size_t)got);
    else if (got < SEAL_BYTES)
        failure(error, path, "has %zd bytes: it was cut", got);
    else
        good = seal_compare(fd, path, block, (uint64_t)status.st_size, sealed, error);
    close(fd);
    return good;
}
