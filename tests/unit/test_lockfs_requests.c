/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as the kernel sends them, answered without a mount and under a clock of our own. */
#include "lockfs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/fuse.h>

#include "lockfs/options.h"
#include "suite.h"

/* The bit itself, so that a wrong constant shows. */
#define PARALLEL_BIT (UINT32_C(1) << 6)
#define MAX_WRITE 8192

static struct lockfs_store *store;
static struct lockfs_requests requests;
static int64_t now_ns;
static void (*meanwhile)(void);     /* called once, while a write is in service */

static uint64_t reply_words[(MAX_WRITE + LOCKFS_REQUEST_OVERHEAD) / 8];
static const struct fuse_out_header *const reply = (const void *)reply_words;
static const void *const reply_body = reply_words + sizeof(struct fuse_out_header) / 8;

static int64_t clock_now(void *unused)
{
    return now_ns;
}

static bool cut_short;

static bool clock_wait(void *unused, int64_t until_ns)
{
    void (*act)(void) = meanwhile;

    meanwhile = NULL;
    if (act != NULL)
        act();
    now_ns = MAX(now_ns, until_ns);
    return !cut_short;
}

static void set_up(bool parallel, uint64_t capacity_bytes)
{
    static const struct lockfs_clock fake = { .now_fn = clock_now, .wait_until_fn = clock_wait };
    struct lockfs_settings settings = { .request = { .fixed_ns = 1000, .per_byte_ps = 2000 }, .parallel = parallel,
                                        .max_write_bytes = MAX_WRITE, .uid = 5, .gid = 6 };

    now_ns = 0;
    meanwhile = NULL;
    store = lockfs_store_new(LOCKFS_KEEP_MEMORY, NULL, capacity_bytes, NULL);
    lockfs_requests_init(&requests, store, &settings, &fake);
}

static void tear_down(void)
{
    lockfs_requests_release(&requests);
    lockfs_store_free(store);
}

/* Sends a request whose body is two parts (each may be NULL), with `length` said and really sent; the error of the
 * reply, or 1 for none. */
static int send_cut(uint32_t opcode, uint64_t node, const void *first, size_t first_length, const void *second,
                    size_t second_length, long cut)
{
    size_t whole = sizeof(struct fuse_in_header) + first_length + second_length;
    size_t length = (size_t)((long)whole - cut);
    uint64_t *words = g_malloc0(length + 8);
    char *bytes = g_malloc0(whole);
    struct fuse_in_header header = { .len = (uint32_t)length, .opcode = opcode, .unique = 77, .nodeid = node,
                                     .uid = 1000, .gid = 1001 };

    memcpy(bytes, &header, sizeof header);
    if (first_length > 0)
        memcpy(bytes + sizeof header, first, first_length);
    if (second_length > 0)
        memcpy(bytes + sizeof header + first_length, second, second_length);
    memcpy(words, bytes, MIN(length, whole));
    size_t answer = lockfs_requests_answer(&requests, words, length, reply_words, sizeof reply_words);
    g_free(bytes);
    g_free(words);
    if (answer == 0)
        return 1;
    CU_ASSERT_EQUAL(answer, reply->len);
    CU_ASSERT_EQUAL(reply->unique, 77);
    CU_ASSERT_TRUE(reply->error == 0 || answer == sizeof *reply);
    return reply->error;
}

static int send(uint32_t opcode, uint64_t node, const void *body, size_t length)
{
    return send_cut(opcode, node, body, length, NULL, 0, 0);
}

static uint64_t create(const char *name)
{
    struct fuse_create_in in = { .flags = O_CREAT | O_RDWR, .mode = S_IFREG | 0644 };

    CU_ASSERT_EQUAL_FATAL(send_cut(FUSE_CREATE, FUSE_ROOT_ID, &in, sizeof in, name, strlen(name) + 1, 0), 0);
    return ((const struct fuse_entry_out *)reply_body)->nodeid;
}

static int write_at(uint64_t node, uint64_t offset, const char *text)
{
    struct fuse_write_in in = { .offset = offset, .size = (uint32_t)strlen(text) };

    return send_cut(FUSE_WRITE, node, &in, sizeof in, text, strlen(text), 0);
}

static uint64_t size_of(uint64_t node)
{
    struct fuse_getattr_in in = { 0 };

    CU_ASSERT_EQUAL(send(FUSE_GETATTR, node, &in, sizeof in), 0);
    return ((const struct fuse_attr_out *)reply_body)->attr.size;
}

static void test_init(void)
{
    struct fuse_init_in in = { .major = 7, .minor = 45, .max_readahead = 4096, .flags = UINT32_MAX };
    const struct fuse_init_out *out = reply_body;

    set_up(true, 0);
    CU_ASSERT_EQUAL(send(FUSE_INIT, 0, &in, sizeof in), 0);
    CU_ASSERT_EQUAL(reply->len, sizeof *reply + 64);
    CU_ASSERT_EQUAL(out->major, 7);
    CU_ASSERT_EQUAL(out->minor, FUSE_KERNEL_MINOR_VERSION);
    CU_ASSERT_EQUAL(out->max_write, MAX_WRITE);
    CU_ASSERT_EQUAL(out->max_pages, 2);
    CU_ASSERT_EQUAL(out->flags, FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_PARALLEL_DIROPS);
    in.minor = 28;
    in.flags = FUSE_BIG_WRITES;
    CU_ASSERT_EQUAL(send(FUSE_INIT, 0, &in, sizeof in), 0);
    CU_ASSERT_EQUAL(out->minor, 28);
    CU_ASSERT_EQUAL(out->flags, FUSE_BIG_WRITES);
    in.major = 8;
    CU_ASSERT_EQUAL(send(FUSE_INIT, 0, &in, sizeof in), 0);
    CU_ASSERT_EQUAL(out->major, 7);
    CU_ASSERT_FALSE(requests.refused);
    in.major = 7;
    in.minor = 22;
    CU_ASSERT_EQUAL(send(FUSE_INIT, 0, &in, sizeof in), -EPROTO);
    CU_ASSERT_TRUE(requests.refused);
    tear_down();
}

static void test_flags(void)
{
    struct fuse_open_in in = { .flags = O_RDWR };

    for (int parallel = 0; parallel < 2; parallel++) {
        uint32_t expected = FOPEN_DIRECT_IO | (parallel ? PARALLEL_BIT : 0);
        set_up(parallel, 0);
        uint64_t node = create("a");
        const struct fuse_open_out *created = (const void *)((const char *)reply_body + sizeof(struct fuse_entry_out));
        CU_ASSERT_EQUAL(created->open_flags, expected);
        CU_ASSERT_EQUAL(send(FUSE_OPEN, node, &in, sizeof in), 0);
        CU_ASSERT_EQUAL(((const struct fuse_open_out *)reply_body)->open_flags, expected);
        tear_down();
    }
}

static void test_names(void)
{
    struct fuse_create_in in = { .flags = O_CREAT | O_EXCL, .mode = 0600 };
    const struct fuse_entry_out *entry = reply_body;

    set_up(false, 0);
    CU_ASSERT_EQUAL(send(FUSE_LOOKUP, FUSE_ROOT_ID, "a", 2), -ENOENT);
    uint64_t node = create("a");
    CU_ASSERT_EQUAL(entry->attr.mode, S_IFREG | 0644);
    CU_ASSERT_TRUE(entry->attr.uid == 1000 && entry->attr.gid == 1001 && entry->attr.nlink == 1);
    CU_ASSERT_EQUAL(write_at(node, 0, "abc"), 0);
    CU_ASSERT_EQUAL(send(FUSE_LOOKUP, FUSE_ROOT_ID, "a", 2), 0);
    CU_ASSERT_EQUAL(entry->nodeid, node);
    CU_ASSERT_EQUAL(entry->attr.size, 3);
    CU_ASSERT_EQUAL(send(FUSE_LOOKUP, node, "a", 2), -ENOTDIR);
    CU_ASSERT_EQUAL(send_cut(FUSE_CREATE, FUSE_ROOT_ID, &in, sizeof in, "a", 2, 0), -EEXIST);
    /* Somebody else was quicker: without O_EXCL that is no error. */
    in.flags = O_CREAT;
    CU_ASSERT_EQUAL(send_cut(FUSE_CREATE, FUSE_ROOT_ID, &in, sizeof in, "a", 2, 0), 0);
    CU_ASSERT_EQUAL(entry->nodeid, node);
    CU_ASSERT_EQUAL(size_of(node), 3);
    in.flags = O_CREAT | O_TRUNC;
    CU_ASSERT_EQUAL(send_cut(FUSE_CREATE, FUSE_ROOT_ID, &in, sizeof in, "a", 2, 0), 0);
    CU_ASSERT_EQUAL(size_of(node), 0);
    CU_ASSERT_EQUAL(send(FUSE_UNLINK, FUSE_ROOT_ID, "a", 2), 0);
    CU_ASSERT_EQUAL(send(FUSE_LOOKUP, FUSE_ROOT_ID, "a", 2), -ENOENT);
    /* Looked up once, created three times: the kernel knows it until it has forgotten it four times. */
    struct fuse_forget_in forget = { .nlookup = 3 };
    CU_ASSERT_EQUAL(send(FUSE_FORGET, node, &forget, sizeof forget), 1);
    CU_ASSERT_EQUAL(write_at(node, 0, "x"), 0);
    struct {
        struct fuse_batch_forget_in in;
        struct fuse_forget_one one[2];
    } batch = { .in = { .count = 100 }, .one = { { .nodeid = 999, .nlookup = 1 }, { .nodeid = node, .nlookup = 1 } } };
    CU_ASSERT_EQUAL(send(FUSE_BATCH_FORGET, 0, &batch, sizeof batch), 1);
    CU_ASSERT_EQUAL(write_at(node, 0, "x"), -ENOENT);
    tear_down();
}

static void test_read_and_write(void)
{
    struct fuse_read_in in = { .offset = 1, .size = 100 };

    set_up(false, 0);
    uint64_t node = create("a");
    CU_ASSERT_EQUAL(write_at(node, 0, "hello"), 0);
    CU_ASSERT_EQUAL(((const struct fuse_write_out *)reply_body)->size, 5);
    CU_ASSERT_EQUAL(now_ns, 1000 + 5 * 2);
    CU_ASSERT_EQUAL(send(FUSE_READ, node, &in, sizeof in), 0);
    CU_ASSERT_EQUAL(reply->len, sizeof *reply + 4);
    CU_ASSERT_EQUAL(memcmp(reply_body, "ello", 4), 0);
    in.size = UINT32_MAX;
    CU_ASSERT_EQUAL(send(FUSE_READ, node, &in, sizeof in), -EINVAL);
    CU_ASSERT_EQUAL(write_at(999, 0, "x"), -ENOENT);
    tear_down();
}

static uint64_t written;

static void write_another(void)
{
    CU_ASSERT_EQUAL(size_of(written), 0);
    CU_ASSERT_EQUAL(write_at(written, 5, "world"), 0);
}

static void test_parallel(void)
{
    set_up(true, 0);
    written = create("a");
    meanwhile = write_another;
    CU_ASSERT_EQUAL(write_at(written, 0, "hello"), 0);
    CU_ASSERT_EQUAL(size_of(written), 10);
    CU_ASSERT_EQUAL(requests.counts.writes, 2);
    CU_ASSERT_EQUAL(requests.counts.extending_writes, 2);
    CU_ASSERT_EQUAL(requests.counts.lone_writes, 0);
    CU_ASSERT_EQUAL(requests.counts.in_flight_max, 2);
    CU_ASSERT_EQUAL(write_at(written, 2, "x"), 0);
    CU_ASSERT_EQUAL(requests.counts.extending_writes, 2);
    CU_ASSERT_EQUAL(requests.counts.lone_writes, 1);

    GString *text = g_string_new(NULL);
    lockfs_requests_print(&requests, true, text);
    CU_ASSERT_TRUE(g_str_has_prefix(text->str, "writes 3\nbytes 11\n"));
    g_string_truncate(text, 0);
    lockfs_requests_print(&requests, false, text);
    CU_ASSERT_TRUE(g_str_has_prefix(text->str, "writes 0\n"));
    g_string_free(text, TRUE);
    tear_down();
}

static void test_full(void)
{
    set_up(true, 8);
    uint64_t node = create("a");
    CU_ASSERT_EQUAL(write_at(node, 4, "hello"), -ENOSPC);
    CU_ASSERT_EQUAL(requests.counts.failed_writes, 1);
    CU_ASSERT_EQUAL(now_ns, 0);
    CU_ASSERT_EQUAL(write_at(node, 0, "goodbye!"), 0);
    CU_ASSERT_EQUAL(write_at(node, UINT64_MAX - 2, "x"), -EFBIG);
    CU_ASSERT_EQUAL(send(FUSE_STATFS, FUSE_ROOT_ID, NULL, 0), 0);
    CU_ASSERT_EQUAL(((const struct fuse_statfs_out *)reply_body)->st.bfree, 0);
    tear_down();
}

static void test_cut_short(void)
{
    set_up(true, 8);
    uint64_t node = create("a");
    cut_short = true;
    CU_ASSERT_EQUAL(write_at(node, 0, "hello"), -EIO);
    cut_short = false;
    CU_ASSERT_EQUAL(size_of(node), 0);
    CU_ASSERT_TRUE(requests.counts.failed_writes == 1 && requests.counts.writes == 0);
    CU_ASSERT_EQUAL(write_at(node, 0, "goodbye!"), 0);
    tear_down();
}

static void test_attributes(void)
{
    struct fuse_setattr_in in = { .valid = FATTR_SIZE | FATTR_MODE | FATTR_GID | FATTR_MTIME, .size = 4096,
                                  .mode = S_IFREG | 0600, .gid = 9, .mtime = 123, .mtimensec = 4 };
    struct fuse_getattr_in get = { 0 };
    const struct fuse_attr_out *out = reply_body;

    set_up(false, 10000);
    CU_ASSERT_EQUAL(send(FUSE_GETATTR, FUSE_ROOT_ID, &get, sizeof get), 0);
    CU_ASSERT_TRUE(S_ISDIR(out->attr.mode));
    CU_ASSERT_TRUE(out->attr.uid == 5 && out->attr.gid == 6 && out->attr.ino == FUSE_ROOT_ID);
    CU_ASSERT_EQUAL(send(FUSE_SETATTR, FUSE_ROOT_ID, &in, sizeof in), -EPERM);
    uint64_t node = create("a");
    CU_ASSERT_EQUAL(send(FUSE_SETATTR, node, &in, sizeof in), 0);
    CU_ASSERT_TRUE(out->attr.size == 4096 && out->attr.blocks == 8);
    CU_ASSERT_TRUE(out->attr.mode == (S_IFREG | 0600) && out->attr.uid == 1000 && out->attr.gid == 9);
    CU_ASSERT_TRUE(out->attr.mtime == 123 && out->attr.mtimensec == 4);
    in.size = 10001;
    CU_ASSERT_EQUAL(send(FUSE_SETATTR, node, &in, sizeof in), -ENOSPC);
    in.mtime = UINT64_MAX;
    in.valid = FATTR_MTIME;
    CU_ASSERT_EQUAL(send(FUSE_SETATTR, node, &in, sizeof in), 0);
    CU_ASSERT_EQUAL(out->attr.mtime, 123);
    struct fuse_fallocate_in allocate = { .offset = 4000, .length = 1000 };
    CU_ASSERT_EQUAL(send(FUSE_FALLOCATE, node, &allocate, sizeof allocate), 0);
    CU_ASSERT_EQUAL(size_of(node), 5000);
    allocate.mode = 1;
    allocate.length = 5000;
    CU_ASSERT_EQUAL(send(FUSE_FALLOCATE, node, &allocate, sizeof allocate), 0);
    CU_ASSERT_EQUAL(size_of(node), 5000);
    allocate.mode = 2;
    CU_ASSERT_EQUAL(send(FUSE_FALLOCATE, node, &allocate, sizeof allocate), -EOPNOTSUPP);
    tear_down();
}

static void test_listing(void)
{
    static const char *const names[] = { "first", "second", "third" };
    static const char *const expected[] = { ".", "..", "first", "third" };
    unsigned seen = 0;

    set_up(false, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        create(names[i]);
    CU_ASSERT_EQUAL(send(FUSE_OPENDIR, FUSE_ROOT_ID, NULL, 0), 0);
    CU_ASSERT_EQUAL(send(FUSE_UNLINK, FUSE_ROOT_ID, "second", 7), 0);
    /* With room for one entry a call. */
    struct fuse_read_in in = { .size = 32 };
    while (send(FUSE_READDIR, FUSE_ROOT_ID, &in, sizeof in) == 0 && reply->len > sizeof *reply) {
        const struct fuse_dirent *entry = reply_body;
        CU_ASSERT_EQUAL(reply->len, sizeof *reply + 32);
        CU_ASSERT_TRUE_FATAL(seen < G_N_ELEMENTS(expected));
        CU_ASSERT_EQUAL(entry->namelen, strlen(expected[seen]));
        CU_ASSERT_EQUAL(memcmp(entry->name, expected[seen], entry->namelen), 0);
        in.offset = entry->off;
        seen++;
    }
    CU_ASSERT_EQUAL(seen, G_N_ELEMENTS(expected));
    in = (struct fuse_read_in){ .size = 1000 };
    CU_ASSERT_EQUAL(send(FUSE_READDIR, FUSE_ROOT_ID, &in, sizeof in), 0);
    CU_ASSERT_EQUAL(reply->len, sizeof *reply + 4 * 32);
    CU_ASSERT_EQUAL(send(FUSE_READDIR, 2, &in, sizeof in), -ENOTDIR);
    tear_down();
}

/* Every kind of request, cut short and too long: an error or no reply, and no byte read that is not there (the
 * sanitizers see to that). */
static void test_broken(void)
{
    struct fuse_write_in in = { .size = 10 };
    char body[64];

    set_up(true, 0);
    uint64_t node = create("a");
    for (uint32_t opcode = 0; opcode < 64; opcode++)
        for (size_t length = 0; length <= sizeof body; length++) {
            memset(body, 'x', sizeof body);
            send(opcode, length % 2 ? FUSE_ROOT_ID : node, body, length);
            memset(body, 0xff, sizeof body);
            send(opcode, length % 2 ? FUSE_ROOT_ID : node, body, length);
        }
    CU_ASSERT_EQUAL(send(FUSE_LOOKUP, FUSE_ROOT_ID, "abc", 3), -EINVAL);
    CU_ASSERT_EQUAL(send(FUSE_UNLINK, FUSE_ROOT_ID, "abc", 3), -EINVAL);
    CU_ASSERT_EQUAL(send_cut(FUSE_WRITE, node, &in, sizeof in, "123456789", 9, 0), -EINVAL);
    CU_ASSERT_EQUAL(send_cut(FUSE_WRITE, node, &in, sizeof in, "1234567890a", 11, 0), -EINVAL);
    char *large = g_malloc0(MAX_WRITE + 1);
    in.size = MAX_WRITE + 1;
    CU_ASSERT_EQUAL(send_cut(FUSE_WRITE, node, &in, sizeof in, large, MAX_WRITE + 1, 0), -EINVAL);
    g_free(large);
    CU_ASSERT_EQUAL(send_cut(FUSE_GETATTR, node, NULL, 0, NULL, 0, 1), 1);
    CU_ASSERT_EQUAL(send(FUSE_GETATTR, node, NULL, 0), -EINVAL);
    CU_ASSERT_EQUAL(send(4711, node, NULL, 0), -ENOSYS);
    struct fuse_in_header header = { .len = sizeof header + 1, .opcode = FUSE_STATFS, .unique = 77 };
    CU_ASSERT_EQUAL(lockfs_requests_answer(&requests, &header, sizeof header, reply_words, sizeof reply_words),
                    sizeof *reply);
    CU_ASSERT_EQUAL(reply->error, -EINVAL);
    tear_down();
}

/* --- the command line --- */

static struct lockfs_options options;
static GError *error;

static bool parse(const char *line)
{
    static char **words;

    g_strfreev(words);
    words = g_strsplit(line, " ", -1);
    g_clear_error(&error);
    return lockfs_options_parse((int)g_strv_length(words), words, &options, &error);
}

static void test_options(void)
{
    CU_ASSERT_TRUE(parse("lockfs /mnt"));
    CU_ASSERT_STRING_EQUAL(options.folder, "/mnt");
    CU_ASSERT_TRUE(options.request.fixed_ns == 1000000 && options.channels == 32 && !options.parallel);
    CU_ASSERT_TRUE(options.max_write_bytes == 1 << 20 && options.capacity_bytes == 1 << 30);
    CU_ASSERT_PTR_NULL(options.command);
    CU_ASSERT_TRUE(parse("lockfs --request 100us+14ns/B --parallel --channels=4 --max-write 8KiB --discard /mnt -- cp -r a"));
    CU_ASSERT_TRUE(options.request.fixed_ns == 100000 && options.request.per_byte_ps == 14000 && options.parallel);
    CU_ASSERT_TRUE(options.channels == 4 && options.max_write_bytes == 8192 && options.capacity_bytes == 0);
    CU_ASSERT_STRING_EQUAL(options.command[0], "cp");
    CU_ASSERT_STRING_EQUAL(options.command[2], "a");
    CU_ASSERT_TRUE(parse("lockfs --store /tmp --capacity 10MiB /mnt ls -l"));
    CU_ASSERT_TRUE(options.keep == LOCKFS_KEEP_FOLDER && options.capacity_bytes == 10 << 20);
    CU_ASSERT_STRING_EQUAL(options.command[1], "-l");
    CU_ASSERT_TRUE(parse("lockfs --help"));
    CU_ASSERT_TRUE(parse("lockfs -h --channels 3"));
}

static void test_bad_options(void)
{
    static const struct {
        const char *line, *said;
    } bad[] = {
        { "lockfs", "folder is missing" },
        { "lockfs --paralel /mnt", "did you mean --parallel" },
        { "lockfs -x /mnt", "'-x' is not an option" },
        { "lockfs --parallel=1 /mnt", "takes no value" },
        { "lockfs --channels", "value is missing" },
        { "lockfs --channels 0 /mnt", "from 1 to 1024" },
        { "lockfs --channels 1.5 /mnt", "--channels: '1.5'" },
        { "lockfs --max-write 5000B /mnt", "number of pages" },
        { "lockfs --max-write 2MiB /mnt", "not in its range" },
        { "lockfs --request 1 /mnt", "--request: '1'" },
        { "lockfs --request 1ns/queued /mnt", "not in its range" },
        { "lockfs --request 2min /mnt", "not in its range" },
        { "lockfs --request 59s+1ms/B /mnt", "not in its range" },
        { "lockfs --capacity 0B /mnt", "not in its range" },
        { "lockfs --store= /mnt", "expected a path" },
        { "lockfs --store /tmp --discard /mnt", "without --store" },
        { "lockfs --discard --store /tmp /mnt", "without --discard" },
        { "lockfs /mnt --parallel", "expected options before it" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        CU_ASSERT_FALSE(parse(bad[i].line));
        CU_ASSERT_PTR_NOT_NULL(error != NULL ? strstr(error->message, bad[i].said) : NULL);
        if (error == NULL || strstr(error->message, bad[i].said) == NULL)
            printf("%s: %s\n", bad[i].line, error != NULL ? error->message : "accepted");
    }
    g_clear_error(&error);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "the protocol is agreed upon", test_init },
        { "files are opened for direct writes, parallel if so told", test_flags },
        { "files are made, found, unlinked and forgotten", test_names },
        { "what is written is read, and takes its time", test_read_and_write },
        { "writes in service at a time are counted", test_parallel },
        { "a full store refuses at once", test_full },
        { "a write that the server's end cuts short fails", test_cut_short },
        { "attributes are told and set", test_attributes },
        { "the folder can be listed in pieces", test_listing },
        { "broken requests are refused", test_broken },
        { "the command line is understood", test_options },
        { "a wrong command line is refused", test_bad_options },
        { NULL, NULL }
    };
    return suite_run("lockfs-requests", tests);
}
