/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of sim/engine/ share. Nobody else includes this.
 *
 *   engine.c    building an instance, its checks, its results
 *   actor.c     what roles call
 *   dispatch.c  one thread group: inbox, busy time, calls, turns; the digest
 *   virtual.c   windows of virtual time; exchange.c carries messages between processes
 *   live.c      the same handlers driven by MPI messages and the wall clock; live_clock.c the time that all go by, and
 *               how to wait
 *   queue.c     pending messages; pool.c payloads; link_times.c links of limited bandwidth; random.c distributions
 */
#ifndef TIERCEL_ENGINE_INTERNAL_H
#define TIERCEL_ENGINE_INTERNAL_H

#include "engine/engine.h"
#include "engine/link_times.h"
#include "engine/pool.h"
#include "engine/queue.h"

enum { NOBODY = UINT32_MAX };

enum { ENGINE_ROLES_MAX = 256, ENGINE_STREAMS_MAX = 256 };
#define ENGINE_LATENCY_MOST_NS (ENGINE_LAST_NS / 4)

/* Order class of the engine's own wake-ups, after all that arrives at the same instant. Never seen by a role. */
enum { ORDER_WAKE = 2 };

enum thread_flag {
    THREAD_BLOCKED = 1 << 0,        /* in a call */
    THREAD_WAITING = 1 << 1,        /* its inbox holds messages */
    THREAD_HOOKED = 1 << 2,         /* an actor of it has a turn hook */
    THREAD_EXPLICIT = 1 << 3,       /* no arrival shortcut (tests) */
    THREAD_WOKEN = 1 << 4,          /* a wake-up is pending */
    THREAD_TURN_DUE = 1 << 5,       /* that wake-up is for turns alone: counted as foreground work */
    THREAD_CROSSES = 1 << 6,        /* an actor of it can send to another process */
    THREAD_SHARES = 1 << 7          /* in a cpu group */
};

/* What a thread group needs only when something waits for it; made at first use. */
struct inbox {
    struct message *items;          /* a ring */
    uint32_t head;
    uint32_t count;
    uint32_t capacity;              /* a power of two */
    uint32_t callee;                /* actor whose reply ends the call */
    uint32_t caller;                /* actor of the group that called */
    int64_t call_ns;                /* when the call was made */
    int64_t blocked_ns;             /* total */
    struct cores *cores;            /* of its cpu group; only with THREAD_SHARES */
};

/* The cores of a cpu group. Threads that want one are served in the order in which they became ready; those that become
 * ready in one instant, by their first actor's id. */
struct cores {
    uint32_t count;
    int64_t free_ns[];              /* until when each is taken */
};

/* A thread group: one busy time, one order, one blocking. It is kept in its first actor. */
struct thread {
    int64_t free_ns;                /* busy until */
    struct inbox *inbox;            /* NULL until needed */
    uint32_t flags;                 /* enum thread_flag */
    uint32_t promise;               /* index among engine.promises, 0 when it made none */
};

/* An actor and, right behind it, its state and the counts of its random streams: what one handling touches stands on
 * two or three neighbouring cache lines. */
struct actor {
    struct engine *engine;
    const struct role *role;
    struct thread *thread;          /* of its group: in the group's first actor */
    struct thread own;
    uint64_t chain;                 /* the digest's hash over what was handled */
    uint64_t handled;
    /* second cache line */
    int64_t busy_ns;
    int64_t wait_ns;
    const void *setup;
    uint32_t id;
    uint32_t node;
    uint32_t sequence;              /* messages sent, low 32 bits */
    uint32_t next_in_thread;        /* place of the group's next actor, or NOBODY */
};

enum { PLACE_BYTES = 16 };

/* Where an actor is; kept for all actors on every process. */
struct route {
    uint32_t node;
    uint32_t place;                 /* in its process's memory of actors, in units of PLACE_BYTES */
    uint16_t process;
    uint8_t zone;
    uint8_t role;                   /* index in engine.roles */
};

/* What is fetched of an actor before a message for it is handled, by its role. */
struct ahead {
    uint32_t bytes;                 /* from its beginning */
    uint32_t streams_at;            /* where the counts of its random streams stand; 0 when it has none */
};

/* Messages packed for another process in one window, and what comes from it. */
struct peer {
    struct bytes out;
    struct bytes in;
};

/* What processes tell each other once a window. */
struct status {
    int64_t next_ns;                /* first pending message of the sender, or of what it sent in the window */
    int64_t send_ns;                /* from when on it may send something to another process */
    uint64_t pending;               /* its share of the totals that the end is tested on */
    int64_t held;
    uint64_t handled;
    uint64_t bytes;                 /* of the packed messages */
    uint32_t wishes;
    uint32_t failed;
};

struct engine {
    /* --- hot --- */
    int64_t now_ns;                 /* the running actor's own clock */
    int64_t limit_ns;               /* no handling starts at or after this: the next tick */
    int64_t pending;                /* foreground messages sent and not handled, this process's share */
    int64_t pending_background;
    int64_t handled_background;
    int64_t turns_due;              /* wake-ups for turns alone: foreground work that no message shows */
    struct route *routes;           /* by actor id */
    char *actors;                   /* this process's, each with its state behind it */
    uint32_t process;
    bool uniform;                   /* one latency for all links between different actors, no bandwidth */
    bool plain_links;               /* the same on the virtual clock and one process: a send is a push */
    int64_t uniform_ns;
    bool limited_links;             /* some link has a bandwidth */
    bool live_clock;                /* charges take the time that they take */
    struct queue queue;
    struct pool pool;
    uint64_t handled;
    uint64_t sent;
    uint64_t remote_messages;
    int64_t held;
    struct engine_config config;
    const struct engine_clock_ops *clock;

    /* --- cold --- */
    MPI_Comm comm;
    uint32_t processes;
    uint32_t actor_count;           /* all */
    uint32_t local_count;
    size_t actors_bytes;
    GArray *specs;                  /* struct engine_actor, until engine_start */
    GPtrArray *roles;               /* distinct ones, in the order in which they appeared */
    struct ahead ahead[ENGINE_ROLES_MAX];   /* by role */
    struct engine_link links[ENGINE_ZONES_MAX][ENGINE_ZONES_MAX];
    struct engine_link local_link;
    bool zone_crosses[ENGINE_ZONES_MAX];    /* actors of the zone can send to other processes */
    bool link_is_set[ENGINE_ZONES_MAX][ENGINE_ZONES_MAX];
    GArray *promises;               /* int64_t, by thread.promise; entry 0 is not used */
    uint32_t crossing_groups;       /* this process's thread groups that can send to another process */
    uint32_t promised_groups;       /* those of them that have made a promise */
    GHashTable *cores;              /* cpu group -> struct cores */
    struct link_times link_free;    /* when each link of limited bandwidth is free */
    int64_t sent_next_ns;           /* first arrival among what was sent to other processes in this window */
    int64_t window_end_ns;          /* everything before has been simulated when a window's messages come */
    int64_t lookahead_ns;           /* least latency between actors of different processes */
    uint64_t windows;
    struct peer *peers;             /* by process */
    void *live;                     /* live.c's own */
    char *failure;                  /* text of actor_fail on this process */
    const char *phase_refuses_call; /* why actor_call may not be used now; NULL when it may */
};

/* The clock behind the role-facing functions. */
struct engine_clock_ops {
    /* Sends a message that has its sender and number; sets its arrival. Takes over the payload's reference. */
    void (*post)(struct engine *e, struct actor *from, struct message *m, uint64_t size_bytes);
    /* The same for a message that leaves delay_ns from now. */
    void (*post_later)(struct engine *e, struct actor *from, struct message *m, int64_t delay_ns);
    /* A message of an actor to itself, to arrive at m->time_ns. */
    void (*post_self)(struct engine *e, struct message *m);
    void (*charge)(struct engine *e, int64_t cost_ns);
    void (*spend)(struct engine *e, int64_t duration_ns);
    int64_t (*now)(const struct engine *e);
    gboolean (*run)(struct engine *e, struct engine_result *result, GError **error);
    void (*release)(struct engine *e);
};

extern const struct engine_clock_ops engine_clock_virtual;
extern const struct engine_clock_ops engine_clock_live;

/* The same for what every handling does, with no call through the table on the virtual clock. */

static inline int64_t engine_now(const struct engine *e)
{
    return G_LIKELY(!e->live_clock) ? e->now_ns : e->clock->now(e);
}

static inline void engine_charge(struct engine *e, int64_t cost_ns)
{
    if (G_LIKELY(!e->live_clock))
        e->now_ns += cost_ns;
    else
        e->clock->charge(e, cost_ns);
}

static inline void engine_post(struct engine *e, struct actor *from, struct message *m, uint64_t size_bytes)
{
    if (G_LIKELY(e->plain_links)) {
        m->time_ns = e->now_ns + e->uniform_ns;
        queue_push(&e->queue, m);
    } else {
        e->clock->post(e, from, m, size_bytes);
    }
}

static inline struct actor *actor_at(const struct engine *e, uint32_t place)
{
    return (struct actor *)(void *)(e->actors + (size_t)place * PLACE_BYTES);
}

/* The actor must be this process's. */
static inline struct actor *actor_of(const struct engine *e, uint32_t id)
{
    return actor_at(e, e->routes[id].place);
}

static inline uint32_t actor_places(const struct role *role)
{
    size_t bytes = sizeof(struct actor) + role->state_size + role->streams * sizeof(uint64_t);
    return (uint32_t)((bytes + PLACE_BYTES - 1) / PLACE_BYTES);
}

/* Walks this process's actors: for (a = actor_first(e); a != NULL; a = actor_next(e, a)). */
static inline struct actor *actor_first(const struct engine *e)
{
    return e->local_count != 0 ? actor_at(e, 0) : NULL;
}

static inline struct actor *actor_next(const struct engine *e, struct actor *a)
{
    char *next = (char *)a + (size_t)actor_places(a->role) * PLACE_BYTES;
    return next < e->actors + e->actors_bytes ? (struct actor *)(void *)next : NULL;
}

/* The first actor of a group. */
static inline struct actor *thread_first(const struct thread *thread)
{
    return (struct actor *)(void *)((char *)thread - offsetof(struct actor, own));
}

static inline struct actor *thread_next(const struct engine *e, const struct actor *a)
{
    return a->next_in_thread == NOBODY ? NULL : actor_at(e, a->next_in_thread);
}

/* --- dispatch.c --- */

/* A message's time has come at its actor: handles it, or puts it into the inbox. */
void dispatch_message(struct engine *e, const struct message *m);

/* Ends the handler's act: blocks the running actor's thread group until `callee` replies. */
void dispatch_block(struct actor *self, uint32_t callee);

/* Puts in order what is due of the thread groups that wait at the beginning, e.g. turns that are ready at time 0. */
void dispatch_start(struct engine *e);

/* Puts a thread into a cpu group. */
void dispatch_share_cores(struct engine *e, struct thread *thread, uint32_t group, uint32_t cores);

/* Visits what waits in inboxes. */
void dispatch_each_waiting(struct engine *e, void (*visit)(void *data, const struct message *m), void *data);

/* --- exchange.c --- */

/* A message in the form in which it goes to another process, and back from it with a payload of this one's pool. */
void exchange_write(struct bytes *out, const struct message *m);
struct message exchange_read(struct engine *e, struct cursor *c);

/* Packs a message for its process. */
void exchange_pack(struct engine *e, uint32_t process, const struct message *m);

/* Makes the buffers, with room for a status in front. */
void exchange_init(struct engine *e);
void exchange_release(struct engine *e);

/* Swaps packed messages and status with every other process, puts what came into the queue, and joins the status of
 * all into *all (least time, sums, or-ed wishes). Collective. */
void exchange_window(struct engine *e, struct status mine, struct status *all);

/* --- live_clock.c --- */

/* Time that has passed on this process's machine. */
int64_t live_clock_machine_ns(void);

/* What live_clock_machine_ns says at one common moment a little later than the call: the start. Collective. */
int64_t live_clock_start(MPI_Comm comm);

/* ENGINE_WAIT_SPIN when each machine has a core for each of its processes. The same on all processes. Collective. */
enum engine_waiting live_clock_waiting(MPI_Comm comm);

/* --- live.c --- */

/* Puts an act of all processes behind those that were asked for before it. On process 0. */
void live_act_ask(struct engine *e, struct actor *actor, uint32_t act, uint16_t kind);

/* --- engine.c --- */

/* When a message that is sent at e->now_ns arrives; moves the link's free time when its bandwidth is limited. */
int64_t engine_link_arrival(struct engine *e, struct actor *from, uint32_t to, uint64_t size_bytes);

/* What was added under an id; until engine_start has returned. */
static inline const struct engine_actor *engine_spec(const struct engine *e, uint32_t id)
{
    return &g_array_index(e->specs, struct engine_actor, id);
}

/* --- check.c --- */

/* Refuses calls and groups that cannot work; the same on every process. */
gboolean engine_check(const struct engine *e, GError **error);

bool role_declares_call(const struct role *caller, const struct role *callee);

static inline const struct role *engine_role_of(const struct engine *e, uint32_t id)
{
    return g_ptr_array_index(e->roles, e->routes[id].role);
}

static inline uint64_t mix_words(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline bool message_is_background(const struct message *m)
{
    return (m->flags & MESSAGE_BACKGROUND) != 0;
}

#endif
