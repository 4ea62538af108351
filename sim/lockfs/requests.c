/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockfs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/falloc.h>
#include <linux/fuse.h>

/* Headers before protocol 7.38 lack it: Linux 6.2, commit 153524053bbb ("fuse: allow non-extending parallel direct
 * writes on the same file"), include/uapi/linux/fuse.h. An older kernel ignores the bit. */
#ifndef FOPEN_PARALLEL_DIRECT_WRITES
#define FOPEN_PARALLEL_DIRECT_WRITES (1 << 6)
#endif

#define OLDEST_MINOR 23         /* from here on the reply to INIT has its present length */
#define LIFETIME_S 3600
#define NO_REPLY (-1)

G_STATIC_ASSERT(LOCKFS_ROOT == FUSE_ROOT_ID);
G_STATIC_ASSERT(LOCKFS_REQUEST_OVERHEAD >= FUSE_MIN_READ_BUFFER);

/* One request under way. */
struct exchange {
    struct lockfs_requests *requests;
    const struct fuse_in_header *in;
    const void *body;
    size_t body_length;
    char *out;                  /* of the reply, behind its header */
    size_t room;
    size_t out_length;
};

void lockfs_requests_init(struct lockfs_requests *requests, struct lockfs_store *store,
                          const struct lockfs_settings *settings, const struct lockfs_clock *clock)
{
    memset(requests, 0, sizeof *requests);
    requests->store = store;
    requests->settings = *settings;
    requests->clock = *clock;
    pthread_mutex_init(&requests->mutex, NULL);
    lockfs_counts_init(&requests->counts);
}

void lockfs_requests_release(struct lockfs_requests *requests)
{
    pthread_mutex_destroy(&requests->mutex);
}

static int64_t now_ns(const struct lockfs_requests *requests)
{
    return requests->clock.now_fn(requests->clock.closure);
}

void lockfs_requests_print(struct lockfs_requests *requests, bool restart, GString *text)
{
    pthread_mutex_lock(&requests->mutex);
    lockfs_counts_print(&requests->counts, text);
    if (restart)
        lockfs_counts_restart(&requests->counts, now_ns(requests));
    pthread_mutex_unlock(&requests->mutex);
}

/* The reply's body: zeros to be filled in. */
static void *reply_body(struct exchange *x, size_t length)
{
    g_assert(length <= x->room);
    x->out_length = length;
    return memset(x->out, 0, length);
}

/* The name that stands at `offset` of the body; NULL when it does not end within it. */
static const char *name_at(const struct exchange *x, size_t offset)
{
    const char *name = (const char *)x->body + offset;

    return x->body_length > offset && memchr(name, '\0', x->body_length - offset) != NULL ? name : NULL;
}

static void fill_attributes(struct fuse_attr *attr, const struct lockfs_attributes *a)
{
    *attr = (struct fuse_attr){
        .ino = a->number,
        .size = a->size_bytes,
        .blocks = a->size_bytes / 512 + (a->size_bytes % 512 != 0),
        .atime = (uint64_t)(a->modified_ns / G_GINT64_CONSTANT(1000000000)),
        .atimensec = (uint32_t)(a->modified_ns % G_GINT64_CONSTANT(1000000000)),
        .mode = a->mode,
        .nlink = a->linked ? 1 : 0,
        .uid = a->uid,
        .gid = a->gid,
        .blksize = LOCKFS_PAGE,
    };
    attr->mtime = attr->ctime = attr->atime;
    attr->mtimensec = attr->ctimensec = attr->atimensec;
}

static void fill_root(const struct lockfs_requests *requests, struct fuse_attr *attr)
{
    *attr = (struct fuse_attr){
        .ino = FUSE_ROOT_ID,
        .mode = S_IFDIR | 01777,
        .nlink = 2,
        .uid = requests->settings.uid,
        .gid = requests->settings.gid,
        .blksize = LOCKFS_PAGE,
    };
}

/* The kernel knows the file from now on. */
static void fill_entry(struct exchange *x, struct lockfs_file *file, struct fuse_entry_out *entry)
{
    struct lockfs_store *store = x->requests->store;
    struct lockfs_attributes a = lockfs_store_attributes(store, file);

    lockfs_store_remember(store, file);
    entry->nodeid = a.number;
    entry->entry_valid = entry->attr_valid = LIFETIME_S;
    fill_attributes(&entry->attr, &a);
}

static void fill_open(const struct lockfs_requests *requests, struct fuse_open_out *open)
{
    open->open_flags = FOPEN_DIRECT_IO;
    if (requests->settings.parallel)
        open->open_flags |= FOPEN_PARALLEL_DIRECT_WRITES;
}

static int answer_init(struct exchange *x)
{
    const struct fuse_init_in *in = x->body;
    struct lockfs_requests *requests = x->requests;

    if (in->major > FUSE_KERNEL_VERSION) {
        /* The kernel asks again, in the version that it is told. */
        struct fuse_init_out *out = reply_body(x, sizeof *out);
        out->major = FUSE_KERNEL_VERSION;
        out->minor = FUSE_KERNEL_MINOR_VERSION;
        return 0;
    }
    if (in->major < FUSE_KERNEL_VERSION || in->minor < OLDEST_MINOR) {
        pthread_mutex_lock(&requests->mutex);
        requests->refused = true;
        pthread_mutex_unlock(&requests->mutex);
        return EPROTO;
    }
    struct fuse_init_out *out = reply_body(x, sizeof *out);
    out->major = FUSE_KERNEL_VERSION;
    out->minor = MIN(in->minor, FUSE_KERNEL_MINOR_VERSION);
    out->max_readahead = in->max_readahead;
    out->flags = in->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_PARALLEL_DIROPS);
    out->max_background = 64;
    out->congestion_threshold = 48;
    out->max_write = requests->settings.max_write_bytes;
    out->max_pages = (uint16_t)(requests->settings.max_write_bytes / LOCKFS_PAGE);
    out->time_gran = 1;
    return 0;
}

static int answer_lookup(struct exchange *x)
{
    const char *name = name_at(x, 0);
    struct lockfs_file *file;

    if (name == NULL)
        return EINVAL;
    if (x->in->nodeid != FUSE_ROOT_ID)
        return ENOTDIR;
    int code = lockfs_store_find(x->requests->store, name, &file);
    if (code == 0) {
        fill_entry(x, file, reply_body(x, sizeof(struct fuse_entry_out)));
        lockfs_store_let_go(x->requests->store, file);
    }
    return code;
}

static int answer_forget(struct exchange *x)
{
    const struct fuse_forget_in *in = x->body;

    lockfs_store_forget(x->requests->store, x->in->nodeid, in->nlookup);
    return NO_REPLY;
}

static int answer_batch_forget(struct exchange *x)
{
    const struct fuse_batch_forget_in *in = x->body;
    const struct fuse_forget_one *one = (const struct fuse_forget_one *)(in + 1);
    size_t there = (x->body_length - sizeof *in) / sizeof *one;

    for (size_t i = 0; i < MIN(in->count, there); i++)
        lockfs_store_forget(x->requests->store, one[i].nodeid, one[i].nlookup);
    return NO_REPLY;
}

/* The reply to GETATTR and SETATTR. */
static int reply_attributes(struct exchange *x, struct lockfs_file *file)
{
    struct lockfs_attributes a = lockfs_store_attributes(x->requests->store, file);
    struct fuse_attr_out *out = reply_body(x, sizeof *out);

    out->attr_valid = LIFETIME_S;
    fill_attributes(&out->attr, &a);
    return 0;
}

static int answer_getattr(struct exchange *x)
{
    struct lockfs_file *file;

    if (x->in->nodeid == FUSE_ROOT_ID) {
        struct fuse_attr_out *out = reply_body(x, sizeof *out);
        out->attr_valid = LIFETIME_S;
        fill_root(x->requests, &out->attr);
        return 0;
    }
    int code = lockfs_store_by_number(x->requests->store, x->in->nodeid, &file);
    if (code != 0)
        return code;
    code = reply_attributes(x, file);
    lockfs_store_let_go(x->requests->store, file);
    return code;
}

static int set_attributes(struct exchange *x, struct lockfs_file *file)
{
    const struct fuse_setattr_in *in = x->body;
    struct lockfs_store *store = x->requests->store;
    struct lockfs_attributes a = lockfs_store_attributes(store, file);

    if (in->valid & FATTR_SIZE) {
        int code = lockfs_store_set_size(store, file, in->size);
        if (code != 0)
            return code;
    }
    if (in->valid & FATTR_MODE)
        lockfs_store_set_mode(store, file, in->mode);
    if (in->valid & (FATTR_UID | FATTR_GID))
        lockfs_store_set_owner(store, file, in->valid & FATTR_UID ? in->uid : a.uid,
                               in->valid & FATTR_GID ? in->gid : a.gid);
    if (in->valid & FATTR_MTIME_NOW)
        lockfs_store_set_modified(store, file, g_get_real_time() * 1000);
    else if ((in->valid & FATTR_MTIME) && in->mtime < INT64_MAX / G_GINT64_CONSTANT(1000000000))
        lockfs_store_set_modified(store, file, (int64_t)in->mtime * 1000000000 + in->mtimensec);
    return reply_attributes(x, file);
}

static int answer_setattr(struct exchange *x)
{
    struct lockfs_file *file;

    if (x->in->nodeid == FUSE_ROOT_ID)
        return EPERM;
    int code = lockfs_store_by_number(x->requests->store, x->in->nodeid, &file);
    if (code != 0)
        return code;
    code = set_attributes(x, file);
    lockfs_store_let_go(x->requests->store, file);
    return code;
}

static int answer_unlink(struct exchange *x)
{
    const char *name = name_at(x, 0);

    if (name == NULL)
        return EINVAL;
    return x->in->nodeid == FUSE_ROOT_ID ? lockfs_store_unlink(x->requests->store, name) : ENOTDIR;
}

static int answer_open(struct exchange *x)
{
    struct lockfs_file *file;

    if (x->in->nodeid == FUSE_ROOT_ID)
        return EISDIR;
    int code = lockfs_store_by_number(x->requests->store, x->in->nodeid, &file);
    if (code == 0) {
        fill_open(x->requests, reply_body(x, sizeof(struct fuse_open_out)));
        lockfs_store_let_go(x->requests->store, file);
    }
    return code;
}

static int answer_create(struct exchange *x)
{
    const struct fuse_create_in *in = x->body;
    const char *name = name_at(x, sizeof *in);
    struct lockfs_store *store = x->requests->store;
    struct lockfs_file *file;

    if (name == NULL)
        return EINVAL;
    if (x->in->nodeid != FUSE_ROOT_ID)
        return ENOTDIR;
    int code = lockfs_store_create(store, name, in->mode, x->in->uid, x->in->gid, &file);
    if (code == EEXIST && !(in->flags & O_EXCL)) {
        code = lockfs_store_find(store, name, &file);
        if (code == 0 && (in->flags & O_TRUNC))
            lockfs_store_set_size(store, file, 0);
    }
    if (code != 0)
        return code;
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } *out = reply_body(x, sizeof *out);
    fill_entry(x, file, &out->entry);
    fill_open(x->requests, &out->open);
    lockfs_store_let_go(store, file);
    return 0;
}

static int answer_read(struct exchange *x)
{
    const struct fuse_read_in *in = x->body;
    struct lockfs_file *file;
    uint32_t got = 0;

    if (in->size > x->room)
        return EINVAL;
    int code = lockfs_store_by_number(x->requests->store, x->in->nodeid, &file);
    if (code != 0)
        return code;
    code = lockfs_store_get(x->requests->store, file, in->offset, x->out, in->size, &got);
    lockfs_store_let_go(x->requests->store, file);
    x->out_length = got;
    return code;
}

/* From the arrival of a write to just before its reply. */
static int serve_write(struct lockfs_requests *requests, struct lockfs_file *file, const struct fuse_write_in *in)
{
    struct lockfs_flight *flight = lockfs_store_flight(file);
    uint64_t end = in->offset + in->size, aside_bytes;

    pthread_mutex_lock(&requests->mutex);
    int64_t arrival_ns = now_ns(requests);
    bool extends = end > lockfs_store_attributes(requests->store, file).size_bytes;
    struct lockfs_write write = lockfs_counts_begin(&requests->counts, flight, arrival_ns, extends);
    pthread_mutex_unlock(&requests->mutex);

    int code = lockfs_store_put(requests->store, file, in->offset, in + 1, in->size, &aside_bytes);
    if (code == 0) {
        if (!requests->clock.wait_until_fn(requests->clock.closure,
                                           arrival_ns + cost_ns(&requests->settings.request, in->size, 0)))
            code = EIO;
        lockfs_store_grow(requests->store, file, code == 0 ? end : 0, aside_bytes, g_get_real_time() * 1000);
    }

    pthread_mutex_lock(&requests->mutex);
    lockfs_counts_end(&requests->counts, flight, &write, now_ns(requests), in->size, code == 0);
    pthread_mutex_unlock(&requests->mutex);
    return code;
}

static int answer_write(struct exchange *x)
{
    const struct fuse_write_in *in = x->body;
    struct lockfs_file *file;

    if (x->body_length - sizeof *in != in->size || in->size > x->requests->settings.max_write_bytes)
        return EINVAL;
    int code = lockfs_store_by_number(x->requests->store, x->in->nodeid, &file);
    if (code != 0)
        return code;
    code = serve_write(x->requests, file, in);
    lockfs_store_let_go(x->requests->store, file);
    if (code == 0) {
        struct fuse_write_out *out = reply_body(x, sizeof *out);
        out->size = in->size;
    }
    return code;
}

static int answer_fallocate(struct exchange *x)
{
    const struct fuse_fallocate_in *in = x->body;
    struct lockfs_store *store = x->requests->store;
    struct lockfs_file *file;

    if ((in->mode & ~(uint32_t)FALLOC_FL_KEEP_SIZE) != 0)
        return EOPNOTSUPP;
    if (in->offset > INT64_MAX || in->length > INT64_MAX - in->offset)
        return EFBIG;
    int code = lockfs_store_by_number(store, x->in->nodeid, &file);
    if (code != 0)
        return code;
    uint64_t end = in->offset + in->length;
    if (in->mode == 0 && end > lockfs_store_attributes(store, file).size_bytes)
        code = lockfs_store_set_size(store, file, end);
    lockfs_store_let_go(store, file);
    return code;
}

static int answer_statfs(struct exchange *x)
{
    struct lockfs_usage usage = lockfs_store_usage(x->requests->store);
    struct fuse_statfs_out *out = reply_body(x, sizeof *out);
    /* Without a limit as much is free as a file system of 1 EiB has. */
    uint64_t capacity = usage.capacity_bytes > 0 ? usage.capacity_bytes : UINT64_C(1) << 60;

    out->st.bsize = out->st.frsize = LOCKFS_PAGE;
    out->st.blocks = capacity / LOCKFS_PAGE;
    out->st.bfree = out->st.bavail = usage.used_bytes < capacity ? (capacity - usage.used_bytes) / LOCKFS_PAGE : 0;
    out->st.files = usage.files + 1;
    out->st.namelen = LOCKFS_NAME_MAX;
    return 0;
}

static int answer_opendir(struct exchange *x)
{
    if (x->in->nodeid != FUSE_ROOT_ID)
        return ENOTDIR;
    reply_body(x, sizeof(struct fuse_open_out));
    return 0;
}

/* Adds an entry to the listing; false when there is no room for it. */
static bool list(struct exchange *x, size_t limit, uint64_t number, uint64_t next, uint32_t type, const char *name)
{
    size_t name_length = strlen(name);
    size_t length = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name_length);

    if (x->out_length + length > limit)
        return false;
    struct fuse_dirent *entry = (struct fuse_dirent *)(x->out + x->out_length);
    memset(entry, 0, length);
    entry->ino = number;
    entry->off = next;
    entry->namelen = (uint32_t)name_length;
    entry->type = type;
    memcpy(entry->name, name, name_length);
    x->out_length += length;
    return true;
}

/* Positions in the listing: 0 is ".", 1 is "..", from 2 on the first file whose number is above the position less 1;
 * so a file that comes or goes between two calls shifts nothing. */
static int answer_readdir(struct exchange *x)
{
    const struct fuse_read_in *in = x->body;
    size_t limit = MIN(in->size, x->room);
    uint64_t position = in->offset, number;
    char name[LOCKFS_NAME_MAX + 1];

    if (x->in->nodeid != FUSE_ROOT_ID)
        return ENOTDIR;
    for (; position < 2; position++)
        if (!list(x, limit, FUSE_ROOT_ID, position + 1, S_IFDIR >> 12, position == 0 ? "." : ".."))
            return 0;
    while (lockfs_store_next(x->requests->store, position - 1, name, &number)) {
        if (!list(x, limit, number, number + 1, S_IFREG >> 12, name))
            break;
        position = number + 1;
    }
    return 0;
}

static int answer_nothing(struct exchange *x)
{
    return 0;
}

static int answer_never(struct exchange *x)
{
    return NO_REPLY;
}

/* What is not here is answered with ENOSYS, upon which the kernel asks no more, or does without. */
static const struct {
    uint32_t opcode;
    size_t body;                /* bytes that the request has at least, behind its header */
    int (*answer_fn)(struct exchange *);
} kinds[] = {
    { FUSE_LOOKUP, 1, answer_lookup },
    { FUSE_FORGET, sizeof(struct fuse_forget_in), answer_forget },
    { FUSE_GETATTR, sizeof(struct fuse_getattr_in), answer_getattr },
    { FUSE_SETATTR, sizeof(struct fuse_setattr_in), answer_setattr },
    { FUSE_UNLINK, 1, answer_unlink },
    { FUSE_OPEN, sizeof(struct fuse_open_in), answer_open },
    { FUSE_READ, sizeof(struct fuse_read_in), answer_read },
    { FUSE_WRITE, sizeof(struct fuse_write_in), answer_write },
    { FUSE_STATFS, 0, answer_statfs },
    { FUSE_RELEASE, 0, answer_nothing },
    { FUSE_FSYNC, 0, answer_nothing },
    { FUSE_FLUSH, 0, answer_nothing },
    { FUSE_INIT, 4 * sizeof(uint32_t), answer_init },
    { FUSE_OPENDIR, 0, answer_opendir },
    { FUSE_READDIR, sizeof(struct fuse_read_in), answer_readdir },
    { FUSE_RELEASEDIR, 0, answer_nothing },
    { FUSE_FSYNCDIR, 0, answer_nothing },
    { FUSE_CREATE, sizeof(struct fuse_create_in) + 1, answer_create },
    { FUSE_INTERRUPT, 0, answer_never },
    { FUSE_DESTROY, 0, answer_nothing },
    { FUSE_BATCH_FORGET, sizeof(struct fuse_batch_forget_in), answer_batch_forget },
    { FUSE_FALLOCATE, sizeof(struct fuse_fallocate_in), answer_fallocate },
};

/* An errno, 0 for success, or NO_REPLY. */
static int answer(struct exchange *x)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kinds[i].opcode == x->in->opcode) {
            if (x->body_length >= kinds[i].body)
                return kinds[i].answer_fn(x);
            return kinds[i].opcode == FUSE_FORGET || kinds[i].opcode == FUSE_BATCH_FORGET ? NO_REPLY : EINVAL;
        }
    return ENOSYS;
}

size_t lockfs_requests_answer(struct lockfs_requests *requests, const void *request, size_t length, void *reply,
                              size_t room)
{
    const struct fuse_in_header *in = request;
    struct fuse_out_header *out = reply;

    g_assert(room >= requests->settings.max_write_bytes + LOCKFS_REQUEST_OVERHEAD);
    if (length < sizeof *in)
        return 0;
    struct exchange x = {
        .requests = requests,
        .in = in,
        .body = in + 1,
        .body_length = length - sizeof *in,
        .out = (char *)(out + 1),
        .room = room - sizeof *out,
    };
    int code = in->len == length ? answer(&x) : EINVAL;
    if (code == NO_REPLY)
        return 0;
    if (code != 0)
        x.out_length = 0;
    *out = (struct fuse_out_header){ .len = (uint32_t)(sizeof *out + x.out_length), .error = -code,
                                     .unique = in->unique };
    return out->len;
}
