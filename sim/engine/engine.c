/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine.h"

#include <stdlib.h>
#include <xxhash.h>

#include "engine/internal.h"
#include "engine/memory.h"

/* Of large actors, what every handling touches; all of small ones. */
enum { AHEAD_BYTES = 320 };

struct engine *engine_new(const struct engine_config *config, GError **error)
{
    if (config->tick_ns <= 0 || config->tick_ns > ENGINE_LAST_NS / 2 || config->stop_after_ns <= 0 ||
        config->move_ns < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "the engine was given a tick of %" G_GINT64_FORMAT " ns, a stop after %" G_GINT64_FORMAT
                    " ns and a move cost of %" G_GINT64_FORMAT " ns; expected above 0 and at most %" G_GINT64_FORMAT
                    ", above 0, and 0 or above",
                    config->tick_ns, config->stop_after_ns, config->move_ns, ENGINE_LAST_NS / 2);
        return NULL;
    }
    int rank, size;
    MPI_Comm_size(config->comm, &size);
    if (size > UINT16_MAX + 1) {        /* struct route */
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "the engine was given %d processes; expected at most %d", size, UINT16_MAX + 1);
        return NULL;
    }
    struct engine *e = g_new0(struct engine, 1);
    e->config = *config;
    e->config.stop_after_ns = MIN(config->stop_after_ns, ENGINE_LAST_NS);
    if (config->clock == ENGINE_LIVE) {
        e->live_clock = true;
        e->config.move_ns = 0;      /* setting aside is real work there */
        e->config.explicit_inbox = false;
    }
    e->clock = config->clock == ENGINE_VIRTUAL ? &engine_clock_virtual : &engine_clock_live;
    MPI_Comm_dup(config->comm, &e->comm);
    MPI_Comm_rank(e->comm, &rank);
    e->process = (uint32_t)rank;
    e->processes = (uint32_t)size;
    e->specs = g_array_new(FALSE, FALSE, sizeof(struct engine_actor));
    e->roles = g_ptr_array_new();
    e->local_link = (struct engine_link){ .latency_ns = 1 };
    e->cores = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    e->promises = g_array_new(FALSE, TRUE, sizeof(int64_t));
    g_array_set_size(e->promises, 1);
    e->sent_next_ns = INT64_MAX;
    e->phase_refuses_call = "before the run has begun";
    queue_init(&e->queue);
    pool_init(&e->pool);
    exchange_init(e);
    return e;
}

static void give_back(void *data, const struct message *m)
{
    struct engine *e = data;
    if (message_has_payload(m))
        pool_unref(&e->pool, m->payload);
}

void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    if (e->clock->release != NULL)
        e->clock->release(e);
    queue_each(&e->queue, give_back, e);
    dispatch_each_waiting(e, give_back, e);
    for (struct actor *a = actor_first(e); a != NULL; a = actor_next(e, a)) {
        if (a->role->release != NULL)
            a->role->release(a);
        if (a->own.inbox != NULL)
            g_free(a->own.inbox->items);
        g_free(a->own.inbox);
    }
    queue_release(&e->queue);
    pool_release(&e->pool);
    exchange_release(e);
    if (e->specs != NULL)
        g_array_free(e->specs, TRUE);
    g_ptr_array_free(e->roles, TRUE);
    link_times_release(&e->link_free);
    g_array_free(e->promises, TRUE);
    g_hash_table_destroy(e->cores);
    free(e->actors);
    free(e->routes);
    g_free(e->failure);
    MPI_Comm_free(&e->comm);
    g_free(e);
}

/* --- links --- */

void engine_set_link(struct engine *e, uint8_t from_zone, uint8_t to_zone, struct engine_link link)
{
    g_assert(from_zone < ENGINE_ZONES_MAX && to_zone < ENGINE_ZONES_MAX);
    e->links[from_zone][to_zone] = link;
    e->link_is_set[from_zone][to_zone] = true;
}

void engine_set_local_link(struct engine *e, struct engine_link link)
{
    e->local_link = link;
}

/* One byte more than fits in whole nanoseconds takes the whole next one. */
static int64_t transmission_ns(const struct engine_link *link, uint64_t size_bytes)
{
    const uint64_t ns_per_s = 1000000000u;
    uint64_t bytes = size_bytes + link->header_bytes;
    if (G_LIKELY(bytes >= size_bytes && bytes < (UINT64_MAX - link->bytes_per_s) / ns_per_s))
        return (int64_t)MIN((bytes * ns_per_s + link->bytes_per_s - 1) / link->bytes_per_s, (uint64_t)INT64_MAX);
    unsigned __int128 scaled = ((unsigned __int128)size_bytes + link->header_bytes) * 1000000000u;
    unsigned __int128 ns = (scaled + link->bytes_per_s - 1) / link->bytes_per_s;
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int64_t engine_link_arrival(struct engine *e, struct actor *from, uint32_t to, uint64_t size_bytes)
{
    const struct route *there = &e->routes[to];
    const struct engine_link *link = &e->local_link;
    if (there->node != from->node) {
        uint8_t zone = e->routes[from->id].zone;
        link = &e->links[zone][there->zone];
        if (!e->link_is_set[zone][there->zone]) {
            actor_fail(from, "a message to actor %" G_GUINT32_FORMAT " on node %" G_GUINT32_FORMAT
                       "; there is no link from zone %u to zone %u", to, there->node, zone, there->zone);
            return e->now_ns + 1;
        }
    }
    if (link->bytes_per_s == 0)
        return e->now_ns + link->latency_ns;
    int64_t *link_free_ns = link_times_find(&e->link_free, from->id, to);
    int64_t free_ns = MAX(e->now_ns, *link_free_ns);
    int64_t took_ns = transmission_ns(link, size_bytes);
    if (G_UNLIKELY(took_ns > ENGINE_LAST_NS - free_ns)) {
        actor_fail(actor_of(e, from->id), "%" G_GUINT64_FORMAT " bytes to actor %" G_GUINT32_FORMAT
                   " would arrive after the end of virtual time at %" G_GINT64_FORMAT " ns (146 years)", size_bytes, to,
                   ENGINE_LAST_NS);
        took_ns = 0;
    }
    *link_free_ns = free_ns + took_ns;
    return *link_free_ns + link->latency_ns;
}

/* --- building --- */

static void add_role(struct engine *e, const struct role *role)
{
    g_assert(e->roles->len < ENGINE_ROLES_MAX && role->streams <= ENGINE_STREAMS_MAX);
    uint32_t streams_at = (uint32_t)(sizeof(struct actor) + role->state_size);
    e->ahead[e->roles->len] = (struct ahead){
        .bytes = MIN(actor_places(role) * PLACE_BYTES, (uint32_t)AHEAD_BYTES),
        .streams_at = role->streams != 0 ? streams_at : 0,
    };
    g_ptr_array_add(e->roles, (gpointer)role);
}

uint32_t engine_add_actor(struct engine *e, const struct engine_actor *spec)
{
    g_assert(spec->zone < ENGINE_ZONES_MAX && spec->role->save != NULL && spec->role->handle != NULL);
    g_assert(spec->process < e->processes);
    g_assert(spec->role->state_size % 8 == 0);
    g_assert((spec->role->turn == NULL) == (spec->role->turn_ready == NULL));
    if (!g_ptr_array_find(e->roles, spec->role, NULL))
        add_role(e, spec->role);
    g_array_append_val(e->specs, *spec);
    return e->specs->len - 1;
}

static gboolean check_link(const struct engine_link *link, const char *what, GError **error)
{
    if (link->latency_ns >= 1 && link->latency_ns <= ENGINE_LATENCY_MOST_NS)
        return TRUE;
    if (link->latency_ns < 1)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "a %s latency of %" G_GINT64_FORMAT " ns; expected 1 ns or more (law 3: every message takes time)",
                    what, link->latency_ns);
    else
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "a %s latency of %" G_GINT64_FORMAT " ns; expected at most %" G_GINT64_FORMAT " ns (36 years)",
                    what, link->latency_ns, ENGINE_LATENCY_MOST_NS);
    return FALSE;
}

/* Which processes have actors of a zone: none, one, or several. */
struct zone_use {
    bool used;
    bool several;
    uint32_t process;
};

static void survey_zones(const struct engine *e, struct zone_use use[ENGINE_ZONES_MAX])
{
    for (uint32_t id = 0; id < e->specs->len; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        struct zone_use *u = &use[spec->zone];
        if (!u->used)
            *u = (struct zone_use){ .used = true, .process = spec->process };
        else if (u->process != spec->process)
            u->several = true;
    }
}

static bool node_is_split(const struct engine *e)
{
    GHashTable *process_of = g_hash_table_new(g_direct_hash, g_direct_equal);
    bool split = false;
    for (uint32_t id = 0; !split && id < e->specs->len; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        gpointer key = GUINT_TO_POINTER(spec->node), known;
        if (!g_hash_table_lookup_extended(process_of, key, NULL, &known))
            g_hash_table_insert(process_of, key, GUINT_TO_POINTER(spec->process));
        else
            split = GPOINTER_TO_UINT(known) != spec->process;
    }
    g_hash_table_destroy(process_of);
    return split;
}

static bool zones_cross(const struct zone_use *a, const struct zone_use *b)
{
    return a->several || b->several || a->process != b->process;
}

/* What the links allow: one latency for all, bandwidths, and how far processes can run ahead of each other. */
static gboolean survey_links(struct engine *e, GError **error)
{
    struct zone_use use[ENGINE_ZONES_MAX] = { { 0 } };
    survey_zones(e, use);
    if (!check_link(&e->local_link, "local", error))
        return FALSE;
    bool split = e->processes > 1 && node_is_split(e);
    e->limited_links = e->local_link.bytes_per_s != 0;
    e->uniform = !e->limited_links;
    e->uniform_ns = e->local_link.latency_ns;
    e->lookahead_ns = split ? e->local_link.latency_ns : INT64_MAX;
    for (unsigned a = 0; a < ENGINE_ZONES_MAX; a++)
        for (unsigned b = 0; b < ENGINE_ZONES_MAX; b++) {
            if (!use[a].used || !use[b].used)
                continue;
            const struct engine_link *link = &e->links[a][b];
            e->uniform &= e->link_is_set[a][b] && link->bytes_per_s == 0 && link->latency_ns == e->uniform_ns;
            if (!e->link_is_set[a][b])
                continue;
            if (!check_link(link, "hop", error))
                return FALSE;
            e->limited_links |= link->bytes_per_s != 0;
            if (zones_cross(&use[a], &use[b]))
                e->lookahead_ns = MIN(e->lookahead_ns, link->latency_ns);
            e->zone_crosses[a] |= zones_cross(&use[a], &use[b]);
        }
    for (unsigned a = 0; split && a < ENGINE_ZONES_MAX; a++)
        e->zone_crosses[a] = true;
    e->plain_links = e->uniform && e->processes == 1 && !e->live_clock;
    return TRUE;
}

/* --- starting --- */

static gboolean place_actors(struct engine *e, GError **error)
{
    e->actor_count = e->specs->len;
    e->routes = memory_new(e->actor_count * sizeof *e->routes);
    uint64_t *places = g_new0(uint64_t, e->processes);
    for (uint32_t id = 0; id < e->actor_count; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        guint role;
        g_ptr_array_find(e->roles, spec->role, &role);
        e->routes[id] = (struct route){ .node = spec->node, .place = (uint32_t)places[spec->process],
                                        .process = (uint16_t)spec->process, .zone = spec->zone,
                                        .role = (uint8_t)role };
        places[spec->process] += actor_places(spec->role);
        e->local_count += spec->process == e->process;
    }
    uint64_t most = 0;
    for (uint32_t p = 0; p < e->processes; p++)
        most = MAX(most, places[p]);
    e->actors_bytes = places[e->process] * PLACE_BYTES;
    g_free(places);
    if (most >= NOBODY) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "the actors of one process would take %" G_GUINT64_FORMAT " bytes; at most %" G_GUINT64_FORMAT
                    " fit, so run it on more processes", most * PLACE_BYTES, (uint64_t)NOBODY * PLACE_BYTES);
        return FALSE;
    }
    e->actors = memory_new(e->actors_bytes);
    return TRUE;
}

/* The thread of an actor: its group's, or its own. Actors are linked in the order of their ids. */
static struct thread *thread_for(struct engine *e, GHashTable *groups, uint32_t group, struct actor *actor)
{
    gpointer key = GUINT_TO_POINTER(group);
    struct actor *first = group == ENGINE_NO_GROUP ? NULL : g_hash_table_lookup(groups, key);
    if (first != NULL) {
        struct actor *last = first;
        while (last->next_in_thread != NOBODY)
            last = actor_at(e, last->next_in_thread);
        last->next_in_thread = e->routes[actor->id].place;
        return &first->own;
    }
    if (group != ENGINE_NO_GROUP)
        g_hash_table_insert(groups, key, actor);
    if (e->config.explicit_inbox)
        actor->own.flags |= THREAD_EXPLICIT;
    return &actor->own;
}

static void make_actors(struct engine *e)
{
    GHashTable *groups = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (uint32_t id = 0; id < e->actor_count; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        if (spec->process != e->process)
            continue;
        struct actor *actor = actor_of(e, id);
        *actor = (struct actor){ .engine = e, .setup = spec->setup, .role = spec->role, .id = id, .node = spec->node,
                                 .next_in_thread = NOBODY };
        actor->thread = thread_for(e, groups, spec->thread_group, actor);
        if (spec->role->turn != NULL)
            actor->thread->flags |= THREAD_HOOKED;
        if (spec->cpu_group != ENGINE_NO_GROUP && !e->live_clock)
            dispatch_share_cores(e, actor->thread, spec->cpu_group, MAX(spec->cpu_cores, 1u));
        if (e->zone_crosses[spec->zone] && (actor->thread->flags & THREAD_CROSSES) == 0) {
            actor->thread->flags |= THREAD_CROSSES;
            e->crossing_groups++;
        }
    }
    g_hash_table_destroy(groups);
}

/* All processes fail alike, with the text of the lowest that failed. */
static gboolean agree(struct engine *e, GError **error)
{
    int failed = e->failure != NULL ? (int)e->process : (int)e->processes, first;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, e->comm);
    if (first == (int)e->processes)
        return TRUE;
    int length = e->failure != NULL ? (int)strlen(e->failure) : 0;
    MPI_Bcast(&length, 1, MPI_INT, first, e->comm);
    char *text = g_malloc0((gsize)length + 1);
    if (first == (int)e->process)
        memcpy(text, e->failure, (size_t)length);
    MPI_Bcast(text, length, MPI_CHAR, first, e->comm);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s", text);
    g_free(text);
    return FALSE;
}

gboolean engine_start(struct engine *e, GError **error)
{
    if (!engine_check(e, error) || !survey_links(e, error))
        return FALSE;
    if (!place_actors(e, error))
        return FALSE;
    make_actors(e);
    for (struct actor *a = actor_first(e); a != NULL; a = actor_next(e, a)) {
        e->now_ns = 0;
        if (a->role->init != NULL)
            a->role->init(a, a->setup);
        int64_t charged_ns = e->now_ns;
        e->now_ns = 0;
        if (charged_ns != 0)
            actor_fail(a, "a charge of %" G_GINT64_FORMAT " ns before the run has begun", charged_ns);
    }
    g_array_free(e->specs, TRUE);
    e->specs = NULL;
    return agree(e, error);
}

/* --- results --- */

static void digest_of(struct engine *e, uint64_t sum[2])
{
    struct bytes b = BYTES_INIT;
    unsigned __int128 total = 0;
    for (struct actor *actor = actor_first(e); actor != NULL; actor = actor_next(e, actor)) {
        bytes_clear(&b);
        bytes_put_u32(&b, actor->id);
        bytes_put_u64(&b, actor->chain);
        actor->role->save(actor, &b);
        XXH128_hash_t h = XXH3_128bits(b.data, b.size);
        total += (unsigned __int128)h.high64 << 64 | h.low64;
    }
    bytes_release(&b);
    sum[0] = (uint64_t)total;
    sum[1] = (uint64_t)(total >> 64);
}

static void fill_result(struct engine *e, struct engine_result *r)
{
    uint64_t mine[2], *all = g_new(uint64_t, 2 * e->processes);
    digest_of(e, mine);
    MPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, e->comm);
    unsigned __int128 digest = 0;
    for (uint32_t p = 0; p < e->processes; p++)
        digest += (unsigned __int128)all[2 * p + 1] << 64 | all[2 * p];
    g_free(all);
    r->digest[0] = (uint64_t)digest;
    r->digest[1] = (uint64_t)(digest >> 64);

    int64_t sums[6] = { (int64_t)e->handled, (int64_t)e->remote_messages, e->pending, e->pending_background,
                        (int64_t)e->sent, e->held };
    MPI_Allreduce(MPI_IN_PLACE, sums, 6, MPI_INT64_T, MPI_SUM, e->comm);
    r->handled = (uint64_t)sums[0];
    r->remote_messages = (uint64_t)sums[1];
    r->pending = (uint64_t)sums[2];
    r->pending_background = (uint64_t)sums[3];
    r->sent = (uint64_t)sums[4];
    r->held = sums[5];
    r->windows = e->windows;
    r->active_processes = e->processes;
}

gboolean engine_run(struct engine *e, struct engine_result *result, GError **error)
{
    gboolean ran = e->clock->run(e, result, error);
    if (!ran || !agree(e, error))
        return FALSE;
    fill_result(e, result);
    return TRUE;
}

struct engine_role_totals *engine_role_totals(struct engine *e, const struct role ***roles, unsigned *count)
{
    enum { FIELDS = 5 };
    *count = e->roles->len;
    int64_t *sums = g_new0(int64_t, FIELDS * *count);
    /* A blocked time belongs to a group, and is counted with its first actor. */
    for (struct actor *actor = actor_first(e); actor != NULL; actor = actor_next(e, actor)) {
        guint index;
        g_ptr_array_find(e->roles, actor->role, &index);
        int64_t *s = &sums[FIELDS * index];
        s[0]++;
        s[1] += (int64_t)actor->handled;
        s[2] += actor->busy_ns;
        s[3] += actor->own.inbox != NULL ? actor->own.inbox->blocked_ns : 0;
        s[4] += actor->wait_ns;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)(FIELDS * *count), MPI_INT64_T, MPI_SUM, e->comm);
    struct engine_role_totals *totals = g_new(struct engine_role_totals, *count);
    *roles = g_new(const struct role *, *count);
    for (unsigned i = 0; i < *count; i++) {
        const int64_t *s = &sums[FIELDS * i];
        (*roles)[i] = g_ptr_array_index(e->roles, i);
        totals[i] = (struct engine_role_totals){ (uint64_t)s[0], (uint64_t)s[1], s[2], s[3], s[4] };
    }
    g_free(sums);
    return totals;
}

void engine_each_thread(const struct engine *e, int64_t now_ns, engine_thread_fn *visit, void *data)
{
    for (struct actor *first = actor_first(e); first != NULL; first = actor_next(e, first)) {
        const struct thread *thread = &first->own;
        if (first->thread != thread)
            continue;
        int64_t busy_ns = 0, blocked_ns = thread->inbox != NULL ? thread->inbox->blocked_ns : 0;
        for (const struct actor *a = first; a != NULL; a = thread_next(e, a))
            busy_ns += a->busy_ns;
        /* The last handling reaches beyond now_ns, or a call goes on at it. */
        busy_ns -= MAX(0, thread->free_ns - now_ns);
        if ((thread->flags & THREAD_BLOCKED) != 0)
            blocked_ns += MAX(0, now_ns - thread->inbox->call_ns);
        visit(data, first->id, busy_ns, blocked_ns);
    }
}

size_t engine_memory_bytes(const struct engine *e)
{
    size_t inboxes = 0;
    for (struct actor *a = actor_first(e); a != NULL; a = actor_next(e, a))
        if (a->own.inbox != NULL)
            inboxes += sizeof(struct inbox) + a->own.inbox->capacity * sizeof(struct message);
    return sizeof *e + e->actor_count * sizeof(struct route) + e->actors_bytes + inboxes +
           queue_memory_bytes(&e->queue) + e->pool.bytes;
}

struct actor *engine_actor(const struct engine *e, uint32_t id)
{
    if (id >= e->actor_count || e->routes[id].process != e->process)
        return NULL;
    return actor_of(e, id);
}
