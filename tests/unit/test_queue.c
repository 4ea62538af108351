/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue against a sorted list, and, where that would be slow, against what follows from the order: nothing is
 * pushed before what was popped last, so pops that never go backward and give back all that was pushed are right.
 */
#include "engine/engine.h"
#include "engine/queue.h"
#include "engine/random.h"
#include "suite.h"

enum { SENDERS = 64 };

/* A stream of traffic: who pushes what, and what came out. */
struct traffic {
    struct queue queue;
    uint64_t seed, drawn;
    uint32_t sequence[SENDERS];
    struct message last;            /* popped last */
    uint64_t pushed, popped;
    uint64_t sum;                   /* of what was pushed, less what was popped */
    unsigned backward;
    uint32_t shapes;                /* how often the queue changed its shape */
    unsigned shift;
    size_t buckets;
    GArray *list;                   /* of what is pending, sorted, the first one last; NULL: not kept */
};

static uint64_t below(struct traffic *t, uint64_t n)
{
    return random_below(random_bits(t->seed, 7, 0, t->drawn++), n);
}

static void traffic_init(struct traffic *t, uint64_t seed, bool with_list)
{
    *t = (struct traffic){ .seed = seed, .last.time_ns = -1 };
    queue_init(&t->queue);
    t->shift = t->queue.shift;
    t->buckets = t->queue.buckets;
    if (with_list)
        t->list = g_array_new(FALSE, FALSE, sizeof(struct message));
}

static void traffic_release(struct traffic *t)
{
    queue_release(&t->queue);
    if (t->list != NULL)
        g_array_free(t->list, TRUE);
}

static uint64_t fingerprint(const struct message *m)
{
    return ((uint64_t)m->time_ns * 31 + m->order_class) * 0x9e3779b97f4a7c15ull + m->word * 0x2545f4914f6cdd1dull +
           ((uint64_t)m->from << 32 | m->sequence);
}

static void list_insert(GArray *list, const struct message *m)
{
    guint low = 0, high = list->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (message_before(m, &g_array_index(list, struct message, middle)))
            low = middle + 1;
        else
            high = middle;
    }
    g_array_insert_val(list, low, *m);
}

/* A message `delay_ns` after the last one; raised to its place in the order when it would be before it. Late in time
 * delays are cut, so that a test does not come to its end. */
static void push(struct traffic *t, int64_t delay_ns)
{
    int64_t now_ns = MAX(t->last.time_ns, 0);
    if (now_ns > ENGINE_LAST_NS / 4)
        delay_ns %= 1000;
    uint32_t from = (uint32_t)below(t, SENDERS);
    struct message m = { .time_ns = now_ns + delay_ns, .from = from,
                         .to = from, .sequence = t->sequence[from]++, .word = t->pushed,
                         .order_class = below(t, 50) == 0 };
    if (t->popped != 0 && message_before(&m, &t->last))
        m.order_class = 2;
    if (t->popped != 0 && message_before(&m, &t->last))
        m.time_ns++;
    queue_push(&t->queue, &m);
    t->pushed++;
    t->sum += fingerprint(&m);
    if (t->list != NULL)
        list_insert(t->list, &m);
}

static void pop(struct traffic *t)
{
    int64_t next_ns = queue_next_ns(&t->queue);
    struct message m = queue_pop(&t->queue);
    t->backward += next_ns != m.time_ns || (t->popped != 0 && !message_before(&t->last, &m));
    t->popped++;
    t->sum -= fingerprint(&m);
    t->last = m;
    if (t->queue.shift != t->shift || t->queue.buckets != t->buckets) {
        t->shapes++;
        t->shift = t->queue.shift;
        t->buckets = t->queue.buckets;
    }
    if (t->list != NULL) {
        t->backward += memcmp(&m, &g_array_index(t->list, struct message, t->list->len - 1), sizeof m) != 0;
        g_array_set_size(t->list, t->list->len - 1);
    }
}

static void drain(struct traffic *t)
{
    while (queue_count(&t->queue) != 0)
        pop(t);
    CU_ASSERT_EQUAL(queue_next_ns(&t->queue), INT64_MAX);
    CU_ASSERT_EQUAL(t->popped, t->pushed);
    CU_ASSERT_EQUAL(t->backward, 0);
    CU_ASSERT_EQUAL(t->sum, 0);
}

/* How far ahead messages are sent. */
enum spread { SPREAD_NONE, SPREAD_EVEN, SPREAD_EXPONENTIAL, SPREAD_DECADES, SPREAD_TWO, SPREAD_CONSTANT };

static int64_t delay(struct traffic *t, enum spread spread, int64_t scale_ns)
{
    switch (spread) {
    case SPREAD_NONE: return 0;
    case SPREAD_EVEN: return (int64_t)below(t, (uint64_t)scale_ns + 1);
    case SPREAD_EXPONENTIAL: return random_exponential(below(t, UINT64_MAX), scale_ns);
    case SPREAD_DECADES: {
        uint64_t power = 1;
        for (uint64_t k = below(t, 19); k != 0; k--)
            power *= 10;
        return (int64_t)below(t, power);
    }
    case SPREAD_TWO: return below(t, 100) == 0 ? (int64_t)below(t, 10000000000000000) : (int64_t)below(t, 50);
    default: return scale_ns;
    }
}

static void hold(struct traffic *t, enum spread spread, int64_t scale_ns, unsigned population, unsigned operations)
{
    while (queue_count(&t->queue) < population)
        push(t, delay(t, spread, scale_ns));
    while (queue_count(&t->queue) > population)
        pop(t);
    for (unsigned i = 0; i < operations; i++) {
        pop(t);
        push(t, delay(t, spread, scale_ns));
    }
}

/* --- tests --- */

static void test_empty(void)
{
    struct queue q;
    queue_init(&q);
    CU_ASSERT_EQUAL(queue_next_ns(&q), INT64_MAX);
    CU_ASSERT_EQUAL(queue_count(&q), 0);
    const struct message m = { .time_ns = 0, .word = 9 };
    queue_push(&q, &m);
    CU_ASSERT_EQUAL(queue_count(&q), 1);
    CU_ASSERT_EQUAL(queue_next_ns(&q), 0);
    CU_ASSERT_EQUAL(queue_pop(&q).word, 9);
    CU_ASSERT_EQUAL(queue_next_ns(&q), INT64_MAX);
    queue_push(&q, &m);
    CU_ASSERT_EQUAL(queue_pop(&q).word, 9);
    CU_ASSERT(queue_memory_bytes(&q) > 0);
    queue_release(&q);
}

/* Five keys, pushed in all 120 orders. */
static void test_order(void)
{
    const struct message sorted[5] = {
        { .time_ns = 10, .order_class = 0, .from = 1, .sequence = UINT32_MAX },
        { .time_ns = 10, .order_class = 0, .from = 1, .sequence = 0 },      /* the next number: it wraps */
        { .time_ns = 10, .order_class = 0, .from = 2, .sequence = 5 },
        { .time_ns = 10, .order_class = 1, .from = 0, .sequence = 4 },
        { .time_ns = 11, .order_class = 0, .from = 0, .sequence = 3 },
    };
    unsigned wrong = 0;
    for (unsigned order = 0; order < 120; order++) {
        struct queue q;
        unsigned left[5] = { 0, 1, 2, 3, 4 }, code = order;
        queue_init(&q);
        for (unsigned n = 5; n > 0; code /= n, n--) {
            unsigned k = code % n;
            queue_push(&q, &sorted[left[k]]);
            left[k] = left[n - 1];
        }
        for (unsigned i = 0; i < 5; i++) {
            struct message m = queue_pop(&q);
            wrong += memcmp(&m, &sorted[i], sizeof m) != 0;
        }
        queue_release(&q);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_list(void)
{
    static const unsigned populations[] = { 1, 2, 3, 17, 300, 2000 };
    for (unsigned spread = SPREAD_NONE; spread <= SPREAD_CONSTANT; spread++)
        for (size_t i = 0; i < G_N_ELEMENTS(populations); i++) {
            struct traffic t;
            traffic_init(&t, 1000 + spread * 100 + i, true);
            hold(&t, spread, 1000, populations[i], 8000);
            drain(&t);
            traffic_release(&t);
        }
}

static void test_scales(void)
{
    for (int64_t scale_ns = 1; scale_ns <= 1000000000000000; scale_ns *= 1000) {
        struct traffic t;
        traffic_init(&t, (uint64_t)scale_ns, false);
        hold(&t, SPREAD_EVEN, scale_ns, 3000, 20000);
        hold(&t, SPREAD_EXPONENTIAL, scale_ns, 3000, 20000);
        drain(&t);
        traffic_release(&t);
    }
}

/* Each change of scale finds the queue in a shape made for another. */
static void test_changes(void)
{
    struct traffic t;
    traffic_init(&t, 3, false);
    for (unsigned round = 0; round < 3; round++) {
        hold(&t, SPREAD_EVEN, 1000000000000, 5000, 20000);
        hold(&t, SPREAD_EVEN, 10, 5000, 20000);
        hold(&t, SPREAD_DECADES, 0, 5000, 20000);
        hold(&t, SPREAD_TWO, 0, 5000, 20000);
        hold(&t, SPREAD_NONE, 0, 5000, 5000);
        hold(&t, SPREAD_CONSTANT, 12345, 5000, 20000);
    }
    drain(&t);
    CU_ASSERT(t.shapes >= 3);
    traffic_release(&t);
}

static void test_populations(void)
{
    static const unsigned populations[] = { 1, 200000, 10, 50000, 1, 3000, 100000, 100 };
    for (unsigned spread = SPREAD_EXPONENTIAL; spread <= SPREAD_TWO; spread++) {
        struct traffic t;
        traffic_init(&t, 40 + spread, false);
        for (size_t i = 0; i < G_N_ELEMENTS(populations); i++)
            hold(&t, spread, 5000000, populations[i], 10000);
        drain(&t);
        CU_ASSERT(spread != SPREAD_EXPONENTIAL || t.shapes >= 2);
        traffic_release(&t);
    }
}

static void test_one_instant(void)
{
    struct traffic t;
    traffic_init(&t, 5, false);
    for (unsigned i = 0; i < 100000; i++)
        push(&t, 777);
    hold(&t, SPREAD_NONE, 0, 100000, 10000);
    drain(&t);
    CU_ASSERT_EQUAL(t.last.time_ns / 1000, 0);
    traffic_release(&t);
}

/* Every sender's numbers pass 2^32 while others wait. */
static void test_wrap(void)
{
    struct traffic t;
    traffic_init(&t, 6, true);
    for (unsigned i = 0; i < SENDERS; i++)
        t.sequence[i] = UINT32_MAX - 3 * i;
    hold(&t, SPREAD_CONSTANT, 5, 1000, 20000);
    hold(&t, SPREAD_EVEN, 3, 1000, 20000);
    drain(&t);
    for (unsigned i = 0; i < SENDERS; i++)
        CU_ASSERT(t.sequence[i] < 10000);
    traffic_release(&t);
}

static void test_end_of_time(void)
{
    struct traffic t;
    traffic_init(&t, 7, true);
    for (unsigned i = 0; i < 600; i++) {
        push(&t, ENGINE_LAST_NS - (int64_t)below(&t, 100));
        push(&t, (int64_t)below(&t, 10));
    }
    drain(&t);
    traffic_release(&t);
}

static void count_visit(void *data, const struct message *m)
{
    uint64_t *sum = data;
    *sum += fingerprint(m);
}

static void test_visits(void)
{
    struct traffic t;
    traffic_init(&t, 8, false);
    for (unsigned round = 0; round < 30; round++) {
        hold(&t, (enum spread)(round % 6), 1000000, 1 + (unsigned)below(&t, 20000), 500);
        uint64_t sum = 0;
        queue_each(&t.queue, count_visit, &sum);
        CU_ASSERT_EQUAL(sum, t.sum);
        CU_ASSERT_EQUAL(queue_count(&t.queue), t.pushed - t.popped);
    }
    /* Released with messages in it. */
    traffic_release(&t);
}

static void test_few_and_many(void)
{
    static const unsigned populations[] = { 3, QUEUE_FEW_MOST, QUEUE_FEW_MOST + 1, 10, 200, 1, 70, 16, 17, 300, 15 };
    for (enum spread spread = SPREAD_NONE; spread <= SPREAD_CONSTANT; spread++) {
        struct traffic t;
        unsigned became_few = 0, was_few = 1;
        traffic_init(&t, 100 + spread, true);
        for (unsigned i = 0; i < 40; i++) {
            hold(&t, spread, 100000, populations[i % G_N_ELEMENTS(populations)], 700);
            became_few += t.queue.few && !was_few;
            was_few = t.queue.few;
        }
        CU_ASSERT(became_few >= 3 || spread == SPREAD_NONE);   /* one instant never ends its bucket */
        drain(&t);
        traffic_release(&t);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "an empty queue says so, again and again", test_empty },
        { "messages come by time, class, sender and number, however they were pushed", test_order },
        { "small populations come out as from a sorted list", test_list },
        { "a few messages, many, and few again", test_few_and_many },
        { "any scale of time from 1 ns to 10^15 ns", test_scales },
        { "a traffic that changes its scale changes the shape, not the order", test_changes },
        { "populations grow to 200,000 and shrink", test_populations },
        { "100,000 messages of one instant", test_one_instant },
        { "sequence numbers wrap", test_wrap },
        { "times up to the end of virtual time", test_end_of_time },
        { "a visit sees each message once", test_visits },
        { NULL, NULL },
    };
    return suite_run("queue", tests);
}
