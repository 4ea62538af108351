/* SPDX-License-Identifier: BSD-3-Clause */
/* The inode lock and the question which mode a write takes, rule by rule. */
#include "io/inode.h"
#include "suite.h"

#define MS INT64_C(1000000)

static struct inode_lock lock;

static bool granted_is(uint32_t who, enum lock_mode mode)
{
    uint32_t told;
    enum lock_mode told_mode;
    return inode_lock_take_granted(&lock, &told, &told_mode) && told == who && told_mode == mode;
}

static bool granted_none(void)
{
    uint32_t who;
    enum lock_mode mode;
    return !inode_lock_take_granted(&lock, &who, &mode);
}

static bool woken_is(uint32_t who)
{
    uint32_t told;
    return inode_lock_take_woken(&lock, &told) && told == who;
}

static bool woken_none(void)
{
    uint32_t who;
    return !inode_lock_take_woken(&lock, &who);
}

static void test_modes(void)
{
    inode_lock_init(&lock, LOCK_KERNEL, 1000);
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 1, LOCK_SHARED, 0));
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 2, LOCK_SHARED, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 3, LOCK_EXCLUSIVE, 0));
    inode_lock_leave(&lock, LOCK_SHARED);
    CU_ASSERT_TRUE(woken_none());
    inode_lock_leave(&lock, LOCK_SHARED);
    CU_ASSERT_TRUE(woken_is(3));
    CU_ASSERT_TRUE(woken_none());
    CU_ASSERT_TRUE(inode_lock_try(&lock, 3, MS));
    CU_ASSERT_TRUE(lock.exclusive);
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 4, LOCK_SHARED, MS));
    inode_lock_release(&lock);
}

static void test_steal(void)
{
    inode_lock_init(&lock, LOCK_KERNEL, 1000);
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 1, LOCK_EXCLUSIVE, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 2, LOCK_EXCLUSIVE, 0));
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(woken_is(2));
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 1, LOCK_EXCLUSIVE, MS));
    CU_ASSERT_EQUAL(lock.steals, 1);
    CU_ASSERT_FALSE(inode_lock_try(&lock, 2, MS));
    CU_ASSERT_FALSE(lock.handoff);
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(woken_is(2));
    inode_lock_release(&lock);
}

/* The head has waited `wait_ns` when it wakes up in vain: is the lock its own then? */
static bool is_handed_off(uint32_t hz, int64_t since_ns, int64_t wait_ns)
{
    inode_lock_init(&lock, LOCK_KERNEL, hz);
    inode_lock_ask(&lock, 1, LOCK_EXCLUSIVE, 0);
    inode_lock_ask(&lock, 2, LOCK_EXCLUSIVE, since_ns);
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(woken_is(2));
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 1, LOCK_EXCLUSIVE, since_ns + wait_ns));
    CU_ASSERT_FALSE(inode_lock_try(&lock, 2, since_ns + wait_ns));
    bool handoff = lock.handoff;
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(woken_is(2));
    CU_ASSERT_EQUAL(inode_lock_ask(&lock, 3, LOCK_SHARED, since_ns + wait_ns), !handoff);
    if (handoff)
        CU_ASSERT_TRUE(inode_lock_try(&lock, 2, since_ns + wait_ns));
    CU_ASSERT_FALSE(lock.handoff);
    CU_ASSERT_EQUAL(lock.handoffs, handoff);
    inode_lock_release(&lock);
    return handoff;
}

static void test_handoff(void)
{
    CU_ASSERT_FALSE(is_handed_off(1000, 0, 5 * MS - 1));
    CU_ASSERT_TRUE(is_handed_off(1000, 0, 5 * MS));
    CU_ASSERT_TRUE(is_handed_off(1000, MS - 1, 4 * MS + 1));
    CU_ASSERT_FALSE(is_handed_off(250, 0, 8 * MS - 1));
    CU_ASSERT_TRUE(is_handed_off(250, 0, 8 * MS));
    CU_ASSERT_TRUE(is_handed_off(250, 4 * MS - 1, 4 * MS + 1));
    CU_ASSERT_FALSE(is_handed_off(250, 4 * MS - 1, 4 * MS));
}

static void test_batch(void)
{
    inode_lock_init(&lock, LOCK_KERNEL, 1000);
    inode_lock_ask(&lock, 0, LOCK_EXCLUSIVE, 0);
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 1, LOCK_SHARED, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 2, LOCK_EXCLUSIVE, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 3, LOCK_SHARED, 0));
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(granted_is(1, LOCK_SHARED));
    CU_ASSERT_TRUE(granted_is(3, LOCK_SHARED));
    CU_ASSERT_TRUE(granted_none());
    CU_ASSERT_TRUE(woken_none());
    CU_ASSERT_EQUAL(lock.shared, 2);
    /* Somebody waits, so a newcomer waits too. */
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 4, LOCK_SHARED, 0));
    inode_lock_release(&lock);

    inode_lock_init(&lock, LOCK_KERNEL, 1000);
    inode_lock_ask(&lock, 0, LOCK_EXCLUSIVE, 0);
    for (uint32_t who = 1; who <= LOCK_BATCH_MOST + 1; who++)
        inode_lock_ask(&lock, who, LOCK_SHARED, 0);
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_EQUAL(lock.shared, LOCK_BATCH_MOST);
    CU_ASSERT_EQUAL(inode_lock_waiters(&lock), 1);
    inode_lock_release(&lock);
}

/* A shared newcomer takes a free lock past a sleeper in exclusive mode, and brings those with it who head the queue. */
static void test_shared_newcomer(void)
{
    inode_lock_init(&lock, LOCK_KERNEL, 1000);
    inode_lock_ask(&lock, 0, LOCK_EXCLUSIVE, 0);
    inode_lock_ask(&lock, 1, LOCK_EXCLUSIVE, 0);
    inode_lock_ask(&lock, 2, LOCK_SHARED, 0);
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(woken_is(1));
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 3, LOCK_SHARED, 0));
    CU_ASSERT_TRUE(granted_none());
    CU_ASSERT_FALSE(inode_lock_try(&lock, 1, 0));
    inode_lock_leave(&lock, LOCK_SHARED);
    CU_ASSERT_TRUE(woken_is(1));
    CU_ASSERT_TRUE(inode_lock_try(&lock, 1, 0));
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(granted_is(2, LOCK_SHARED));
    inode_lock_release(&lock);
}

static void test_demote(void)
{
    inode_lock_init(&lock, LOCK_KERNEL, 1000);
    inode_lock_ask(&lock, 0, LOCK_EXCLUSIVE, 0);
    inode_lock_ask(&lock, 1, LOCK_SHARED, 0);
    inode_lock_ask(&lock, 2, LOCK_EXCLUSIVE, 0);
    inode_lock_demote(&lock);
    CU_ASSERT_FALSE(lock.exclusive);
    CU_ASSERT_TRUE(granted_is(1, LOCK_SHARED));
    CU_ASSERT_EQUAL(lock.shared, 2);
    inode_lock_leave(&lock, LOCK_SHARED);
    CU_ASSERT_TRUE(woken_none());
    inode_lock_leave(&lock, LOCK_SHARED);
    CU_ASSERT_TRUE(woken_is(2));
    inode_lock_release(&lock);
}

static void test_fifo(void)
{
    inode_lock_init(&lock, LOCK_FIFO, 1000);
    CU_ASSERT_TRUE(inode_lock_ask(&lock, 0, LOCK_EXCLUSIVE, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 1, LOCK_EXCLUSIVE, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 2, LOCK_SHARED, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 3, LOCK_SHARED, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 4, LOCK_EXCLUSIVE, 0));
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 5, LOCK_SHARED, 0));
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(granted_is(1, LOCK_EXCLUSIVE));
    CU_ASSERT_TRUE(granted_none());
    /* It is handed over: nobody can take it between. */
    CU_ASSERT_FALSE(inode_lock_ask(&lock, 0, LOCK_EXCLUSIVE, 0));
    inode_lock_leave(&lock, LOCK_EXCLUSIVE);
    CU_ASSERT_TRUE(granted_is(2, LOCK_SHARED));
    CU_ASSERT_TRUE(granted_is(3, LOCK_SHARED));
    CU_ASSERT_TRUE(granted_none());
    CU_ASSERT_TRUE(woken_none());
    inode_lock_release(&lock);
}

/* --- which mode --- */

struct choice {
    enum inode_rules rules;
    bool parallel;
    uint32_t cached_users;
    bool append;
    uint64_t offset;            /* of 10 bytes in a file of 100, the first 50 of which have blocks */
    enum lock_mode mode;
    enum inode_verdict verdict; /* in that mode */
};

static void test_choices(void)
{
    static const struct choice choices[] = {
        { INODE_FUSE_62, true, 0, false, 90, LOCK_SHARED, INODE_GO },
        { INODE_FUSE_62, true, 0, false, 91, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_FUSE_62, true, 0, true, 0, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_FUSE_62, false, 0, false, 0, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_FUSE_62, true, 1, false, 0, LOCK_SHARED, INODE_GO },
        { INODE_FUSE_69, true, 1, false, 0, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_FUSE_69, true, 0, false, 0, LOCK_SHARED, INODE_GO },
        { INODE_FUSE_69, true, 0, false, 91, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_EXTENDING_SHARED, true, 0, false, 200, LOCK_SHARED, INODE_GO },
        { INODE_EXTENDING_SHARED, true, 1, false, 0, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_EXTENDING_SHARED, true, 0, true, 0, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_EXT4, true, 0, false, 40, LOCK_SHARED, INODE_GO },
        { INODE_EXT4, true, 0, false, 41, LOCK_SHARED, INODE_EXCLUSIVELY },
        { INODE_EXT4, true, 0, false, 91, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_XFS, true, 0, false, 0, LOCK_SHARED, INODE_GO },
        { INODE_XFS, true, 0, false, 100, LOCK_SHARED, INODE_GO },
        { INODE_XFS, true, 0, false, 101, LOCK_SHARED, INODE_EXCLUSIVELY },
        { INODE_XFS, false, 0, false, 0, LOCK_EXCLUSIVE, INODE_GO },
        { INODE_DEMOTING, true, 0, false, 91, LOCK_EXCLUSIVE, INODE_DEMOTE }
    };
    for (unsigned i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const struct choice *c = &choices[i];
        struct inode inode;
        struct inode_write write = { c->offset, 10, c->append };
        inode_init(&inode, c->rules, c->parallel);
        inode_written(&inode, &(struct inode_write){ 0, 50, false });
        inode_set_size(&inode, 100);
        inode.cached_users = c->cached_users;
        CU_ASSERT_EQUAL(inode_mode(&inode, &write), c->mode);
        CU_ASSERT_EQUAL(inode_verdict(&inode, &write, c->mode), c->verdict);
        inode_release(&inode);
    }
}

/* What was decided before the wait: a stale exclusive choice stands, a stale shared one does not. */
static void test_stale(void)
{
    struct inode inode;
    struct inode_write write = { 100, 10, false };
    inode_init(&inode, INODE_FUSE_62, true);
    inode_set_size(&inode, 100);
    CU_ASSERT_EQUAL(inode_mode(&inode, &write), LOCK_EXCLUSIVE);
    inode_set_size(&inode, 200);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &write, LOCK_EXCLUSIVE), INODE_GO);
    CU_ASSERT_EQUAL(inode_mode(&inode, &write), LOCK_SHARED);
    inode_set_size(&inode, 50);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &write, LOCK_SHARED), INODE_EXCLUSIVELY);
    inode_release(&inode);
    inode_init(&inode, INODE_XFS, true);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &write, LOCK_SHARED), INODE_EXCLUSIVELY);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &write, LOCK_EXCLUSIVE), INODE_DEMOTE);
    inode_written(&inode, &write);
    CU_ASSERT_EQUAL(inode.size_bytes, 110);
    inode_release(&inode);
}

static void test_extents(void)
{
    struct extents x;
    extents_init(&x);
    CU_ASSERT_FALSE(extents_cover(&x, 0, 1));
    extents_add(&x, 10, 10);
    extents_add(&x, 30, 10);
    CU_ASSERT_EQUAL(x.count, 2);
    CU_ASSERT_TRUE(extents_cover(&x, 10, 10));
    CU_ASSERT_FALSE(extents_cover(&x, 9, 2));
    CU_ASSERT_FALSE(extents_cover(&x, 19, 2));
    CU_ASSERT_FALSE(extents_cover(&x, 20, 1));
    extents_add(&x, 20, 10);
    CU_ASSERT_EQUAL(x.count, 1);
    CU_ASSERT_TRUE(extents_cover(&x, 10, 30));
    extents_add(&x, 0, 5);
    extents_add(&x, 3, 100);
    CU_ASSERT_EQUAL(x.count, 1);
    CU_ASSERT_TRUE(extents_cover(&x, 0, 103));
    extents_add(&x, 200, 1);
    extents_cut(&x, 50);
    CU_ASSERT_EQUAL(x.count, 1);
    CU_ASSERT_FALSE(extents_cover(&x, 49, 2));
    extents_release(&x);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "shared holders share, an exclusive one waits for the last of them", test_modes },
        { "whoever runs takes a free lock past a sleeper", test_steal },
        { "a sleeper that waited above 4 ms in whole ticks gets the next free lock", test_handoff },
        { "up to 256 who wait for shared mode get it at once", test_batch },
        { "a shared newcomer steals, and does not bring sleepers behind an exclusive one", test_shared_newcomer },
        { "a demoted holder lets those in who head the queue for shared mode", test_demote },
        { "a fair lock is handed over in order", test_fifo },
        { "each file system asks its own questions", test_choices },
        { "an exclusive choice is never looked at again, a shared one is", test_stale },
        { "neighbouring extents are one", test_extents },
        { NULL, NULL }
    };
    return suite_run("inode lock", tests);
}
