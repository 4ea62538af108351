/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/folder.h"
#include "base/text_file.h"
#include "run_folder.h"
#include "sweep_folder.h"

#define ONE_OF ", one of "
#define SESSION "session "

enum { FILE_MODE = 0666, CLAIM_MAX = 4096, TRIES_MAX = 100, LOOKS_MAX = 3, LOOK_US = 20000 };

char *sweep_claim_name(const struct sweep_folder *folder, unsigned point, const char *ending)
{
    return g_strdup_printf("%s/" SWEEP_CLAIM_POINTS "/%0*u%s", folder->path, SWEEP_CLAIM_DIGITS, point + 1, ending);
}

static bool exists(const struct sweep_folder *folder, unsigned point, const char *ending)
{
    g_autofree char *path = sweep_claim_name(folder, point, ending);

    return g_access(path, F_OK) == 0;
}

enum sweep_state sweep_folder_state(const struct sweep_folder *folder, unsigned point)
{
    if (exists(folder, point, ""))
        return SWEEP_DONE;
    return exists(folder, point, SWEEP_CLAIM_FAILED) ? SWEEP_FAILED : SWEEP_OPEN;
}

char *sweep_folder_reason(const struct sweep_folder *folder, unsigned point)
{
    g_autofree char *path = sweep_claim_name(folder, point, SWEEP_CLAIM_FAILED);
    char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return g_strdup("not known");
    text[strcspn(text, "\n")] = '\0';
    return text;
}

void sweep_folder_retry(const struct sweep_folder *folder, unsigned point)
{
    g_autofree char *path = sweep_claim_name(folder, point, SWEEP_CLAIM_FAILED);

    g_unlink(path);
}

/* --- claiming --- */

static enum sweep_outcome refuse(const char *path, const char *what, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s cannot be %s: %s", path, what, g_strerror(errno));
    return SWEEP_ERROR;
}

/* Whether the open file is still the one of that name: its holder removes it when the point is settled. */
static bool is_current(int fd, const char *path)
{
    struct stat held;
    struct stat named;

    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

/* How often the point was begun: a line each. One that was cut short does not count. */
static unsigned count_attempts(int fd, int64_t *size)
{
    char text[CLAIM_MAX];
    ssize_t read_size = pread(fd, text, sizeof text, 0);
    unsigned lines = 0;

    *size = 0;
    for (ssize_t i = 0; i < read_size; i++)
        if (text[i] == '\n') {
            lines++;
            *size = i + 1;
        }
    return lines;
}

static bool write_attempt(const struct sweep_folder *folder, const struct sweep_claim *claim)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *when = g_date_time_format_iso8601(now);
    g_autofree char *line = g_strdup_printf("process %ld on %s since %s" ONE_OF "%u of " SESSION "%s\n", (long)getpid(),
                                            g_get_host_name(), when, folder->processes, folder->session);
    ssize_t size = (ssize_t)strlen(line);

    return pwrite(claim->fd, line, (size_t)size, claim->before) == size;
}

static void close_claim(struct sweep_claim *claim)
{
    if (claim->fd >= 0)
        close(claim->fd);
    claim->fd = -1;
    g_clear_pointer(&claim->path, g_free);
    g_clear_pointer(&claim->part, g_free);
}

/* The file goes first, while it is still locked: whoever gets the lock then sees that it is gone. */
static void drop_claim(struct sweep_claim *claim)
{
    g_unlink(claim->path);
    close_claim(claim);
}

void sweep_claim_release(struct sweep_claim *claim)
{
    run_folder_remove(claim->part);
    if (claim->before > 0 && ftruncate(claim->fd, claim->before) == 0)
        close_claim(claim);         /* earlier processes that died still count */
    else
        drop_claim(claim);
}

/* The lock is held, and on the file of that name. */
static enum sweep_outcome take(const struct sweep_folder *folder, bool retry, struct sweep_claim *claim,
                               GError **error)
{
    unsigned attempts = count_attempts(claim->fd, &claim->before);

    if (sweep_folder_state(folder, claim->point) != SWEEP_OPEN) {
        drop_claim(claim);
        return SWEEP_SETTLED;
    }
    if (attempts > 0 && !retry) {
        close_claim(claim);
        return SWEEP_INTERRUPTED;
    }
    if (attempts >= SWEEP_ATTEMPTS_MAX)
        return sweep_claim_fail(folder, claim, "its process died twice while it played this point", error)
                   ? SWEEP_SETTLED : SWEEP_ERROR;
    run_folder_remove(claim->part);
    if (write_attempt(folder, claim))
        return SWEEP_CLAIMED;
    enum sweep_outcome outcome = refuse(claim->path, "written", error);
    sweep_claim_release(claim);
    return outcome;
}

/* Opens the claim, made if need be, and locks it: 1; 0 when another process holds it, -1 when it has just gone or
 * cannot be had. */
static int lock_claim(struct sweep_claim *claim)
{
    claim->fd = open(claim->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (claim->fd < 0 && errno == EEXIST)
        claim->fd = open(claim->path, O_RDWR | O_CLOEXEC);
    if (claim->fd < 0)
        return -1;
    if (flock(claim->fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? 0 : -1;
    if (is_current(claim->fd, claim->path))
        return 1;
    errno = ENOENT;
    return -1;
}

/* The claim of a settled point, whose process died between the two. */
static void remove_stale(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_current(fd, path))
        g_unlink(path);
    if (fd >= 0)
        close(fd);
}

enum sweep_outcome sweep_folder_claim(const struct sweep_folder *folder, unsigned point, bool retry,
                                      struct sweep_claim *claim, GError **error)
{
    enum sweep_outcome outcome = SWEEP_BUSY;

    *claim = (struct sweep_claim){ .point = point, .fd = -1,
                                   .path = sweep_claim_name(folder, point, SWEEP_CLAIM_CLAIM),
                                   .part = sweep_claim_name(folder, point, SWEEP_CLAIM_PART) };
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        int locked = 0;
        if (sweep_folder_state(folder, point) != SWEEP_OPEN) {
            if (retry)
                remove_stale(claim->path);
            outcome = SWEEP_SETTLED;
        } else if ((locked = lock_claim(claim)) == 1) {
            return take(folder, retry, claim, error);
        } else if ((locked < 0 && errno == ENOENT && i + 1 < TRIES_MAX) || (locked == 0 && retry && i < LOOKS_MAX)) {
            /* Its holder has just settled the point, or let go of it; or somebody only looks at it. */
            if (claim->fd >= 0)
                close(claim->fd);
            claim->fd = -1;
            if (locked == 0)
                g_usleep(LOOK_US);
            continue;
        }
        if (locked < 0)
            outcome = refuse(claim->path, claim->fd < 0 ? "created" : "locked", error);
        break;
    }
    close_claim(claim);
    return outcome;
}

/* --- those that were killed --- */

struct death {                      /* of a process that had a point */
    int fd;                         /* of the claim, locked */
    int64_t before;                 /* its size without the last attempt */
    unsigned processes;
    char *session;
};

static void close_death(gpointer data)
{
    struct death *death = data;

    close(death->fd);
    g_free(death->session);
    g_free(death);
}

/* What the last line of a claim says; NULL when somebody holds it, or it says nothing. */
static struct death *read_death(const char *path)
{
    char text[CLAIM_MAX + 1] = "";
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ssize_t size = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? pread(fd, text, CLAIM_MAX, 0) : 0;

    if (size > 0 && text[size - 1] == '\n') {
        text[size - 1] = '\0';
        const char *last = strrchr(text, '\n') == NULL ? text : strrchr(text, '\n') + 1;
        const char *one_of = strstr(last, ONE_OF);
        const char *session = strstr(last, SESSION);
        if (one_of != NULL && session != NULL) {
            struct death *death = g_new0(struct death, 1);
            death->fd = fd;
            death->before = last - text;
            death->processes = (unsigned)g_ascii_strtoull(one_of + strlen(ONE_OF), NULL, 10);
            death->session = g_strdup(session);
            return death;
        }
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static bool all_died(const GPtrArray *deaths, const struct death *death)
{
    unsigned count = 0;

    for (unsigned i = 0; i < deaths->len; i++)
        count += strcmp(((const struct death *)deaths->pdata[i])->session, death->session) == 0;
    return death->processes > 1 && count >= death->processes;
}

void sweep_folder_forgive(const struct sweep_folder *folder)
{
    g_autoptr(GPtrArray) deaths = g_ptr_array_new_with_free_func(close_death);
    g_autofree char *points = sweep_folder_file(folder, SWEEP_CLAIM_POINTS);
    g_autoptr(GPtrArray) names = folder_names(points);

    for (unsigned i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(points, names->pdata[i], NULL);
        struct death *death = g_str_has_suffix(names->pdata[i], SWEEP_CLAIM_CLAIM) ? read_death(path) : NULL;
        if (death != NULL)
            g_ptr_array_add(deaths, death);
    }
    for (unsigned i = 0; i < deaths->len; i++) {
        const struct death *death = deaths->pdata[i];
        if (all_died(deaths, death) && ftruncate(death->fd, death->before) != 0)
            return;                 /* it stays counted */
    }
}

/* --- settling --- */

gboolean sweep_claim_finish(const struct sweep_folder *folder, struct sweep_claim *claim, GError **error)
{
    g_autofree char *whole = sweep_claim_name(folder, claim->point, "");

    if (g_rename(claim->part, whole) == 0) {
        drop_claim(claim);
        return TRUE;
    }
    refuse(whole, "made", error);
    sweep_claim_release(claim);
    return FALSE;
}

gboolean sweep_claim_fail(const struct sweep_folder *folder, struct sweep_claim *claim, const char *reason,
                          GError **error)
{
    g_autofree char *path = sweep_claim_name(folder, claim->point, SWEEP_CLAIM_FAILED);
    g_autofree char *text = g_strdup_printf("%s\n", reason);

    run_folder_remove(claim->part);
    if (text_file_write(path, text, error)) {
        drop_claim(claim);
        return TRUE;
    }
    sweep_claim_release(claim);
    return FALSE;
}
