/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/mpiio_internal.h"

enum { PATIENCE_NS = 2000000000 };      /* for processes that may never come */

/* Libraries are short of words for what a file system says: errno has more, where it fits the class of the error. */
static char *reason_of(int code, int number)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int class = MPI_SUCCESS, length = 0;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class == MPI_ERR_NO_SPACE)
        return g_strdup(g_strerror(ENOSPC));
    if (class == MPI_ERR_QUOTA)
        return g_strdup(g_strerror(EDQUOT));
    if (class == MPI_ERR_READ_ONLY)
        return g_strdup(g_strerror(EROFS));
    if (number != 0)
        return g_strdup(g_strerror(number));
    if (code == MPI_SUCCESS)
        return g_strdup("the file system took no more, and did not say why");
    MPI_Error_string(code, text, &length);
    return g_strdup(text);
}

bool mpiio_errno_tells(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EIO || number == EFBIG || number == EROFS;
}

void mpiio_fail(struct mpiio_work *w, int code, int number, const char *format, ...)
{
    if (w->error != NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *why = reason_of(code, number);
    w->error = g_error_new(TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "[io.%s]: writer %u cannot %s: %s", w->job->name,
                           w->writer, what, why);
}

/* The first that failed tells the others. */
static void tell(struct mpiio_work *w, int first)
{
    bool teller = first == (int)w->writer;
    int length = teller ? (int)strlen(w->error->message) : 0;

    MPI_Bcast(&length, 1, MPI_INT, first, w->comm);
    g_autofree char *text = g_malloc0((gsize)length + 1);
    if (teller)
        memcpy(text, w->error->message, (size_t)length);
    MPI_Bcast(text, length, MPI_CHAR, first, w->comm);
    g_clear_error(&w->error);
    w->error = g_error_new_literal(TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, text);
}

/* What the processes say of themselves, of which the least counts. */
enum word { WORD_FAILED, WORD_GOES_ON, WORDS };

static void say(const struct mpiio_work *w, int words[WORDS])
{
    words[WORD_FAILED] = w->error != NULL ? (int)w->writer : (int)w->job->writers;
    words[WORD_GOES_ON] = !mpiio_wants_stop(w);
}

static gboolean conclude(struct mpiio_work *w, const int least[WORDS])
{
    if (!least[WORD_GOES_ON]) {
        w->stopped = true;
        g_clear_error(&w->error);
        return FALSE;
    }
    if (least[WORD_FAILED] == (int)w->job->writers)
        return TRUE;
    tell(w, least[WORD_FAILED]);
    return FALSE;
}

gboolean mpiio_agree(struct mpiio_work *w)
{
    int mine[WORDS], least[WORDS];

    say(w, mine);
    MPI_Allreduce(mine, least, WORDS, MPI_INT, MPI_MIN, w->comm);
    return conclude(w, least);
}

gboolean mpiio_agree_soon(struct mpiio_work *w)
{
    int mine[WORDS], least[WORDS], done = 0;
    int64_t began_ns = mpiio_clock_ns();
    MPI_Request request;

    say(w, mine);
    MPI_Iallreduce(mine, least, WORDS, MPI_INT, MPI_MIN, w->comm, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && w->error != NULL && mpiio_clock_ns() - began_ns > PATIENCE_NS) {
            /* Others wait inside the library for this process, and will for ever. */
            if (w->made)
                remove(w->path);
            fprintf(stderr, "tiercel: %s\n", w->error->message);
            fflush(NULL);
            MPI_Abort(MPI_COMM_WORLD, TIERCEL_ERROR_RUNTIME);
        }
    }
    return conclude(w, least);
}
