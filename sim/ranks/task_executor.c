/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/task_executor.h"

#include <glib.h>

#include "ranks/write_run.h"

enum { STREAM_DURATION, STREAM_FAULTS, STREAM_WRITE, STREAMS };

/* Only where tasks write, since there may be millions of executors. */
struct writes {
    struct write_run run;
    uint64_t task;                  /* that writes */
    int64_t began_ns;
};

struct task_executor {
    uint32_t dispatcher;
    bool dead;
    bool died;                      /* what its next sign of life tells: started again, not only connected again */
    struct writes *writes;
};

static bool strikes(struct actor *self, uint64_t chance)
{
    return chance != 0 && actor_draw(self, STREAM_FAULTS) < chance;
}

static void task_executor_init(struct actor *self, const void *setup)
{
    const struct task_service *t = setup;
    struct task_executor *x = actor_state(self);
    x->dispatcher = task_service_dispatcher(t, task_service_of(t, actor_id(self)));
    if (t->file != NULL)
        x->writes = g_new0(struct writes, 1);
}

static void task_executor_release(struct actor *self)
{
    struct task_executor *x = actor_state(self);
    g_free(x->writes);
}

static void end_task(struct actor *self, struct task_executor *x, const struct task_service *t, uint64_t task)
{
    if (strikes(self, t->faults.task_failure))
        task |= TASK_FAILED;
    if (strikes(self, t->faults.lost_result)) {
        actor_count(self, TASK_EXECUTOR_LOST_RESULTS, 1);
        actor_timer(self, t->faults.reconnect_ns, TASK_EXECUTOR_BACK, 0);
        return;
    }
    actor_send(self, x->dispatcher, t->protocol == TASK_TCP ? TASK_EXECUTOR_RESULT : TASK_EXECUTOR_ANSWER, task);
}

/* Each executor has a place in each round of segments; its next task goes on where the last one ended. */
static void begin_writing(struct actor *self, struct task_executor *x, const struct task_service *t, uint64_t task)
{
    const struct shared_file *f = t->file;
    uint32_t service = task_service_of(t, actor_id(self));
    uint32_t place = actor_id(self) - x->dispatcher - 1;
    uint32_t mounts = f->mounts / t->services;
    struct write_run *run = &x->writes->run;
    uint64_t first = f->each ? 0 : run->end;
    *run = (struct write_run){
        .next = first, .end = first + pattern_writes(&f->pattern),
        .mount = f->first_mount + service * mounts + place / f->writers_per_node,
        .writer = f->each ? 0 : service * t->executors + place, .file = f->each ? place % f->writers_per_node : 0,
        .flags = f->each ? MOUNT_FRESH : 0
    };
    x->writes->task = task;
    x->writes->began_ns = actor_now(self);
    write_run_begin(self, f, run, STREAM_WRITE);
}

static void go_on_writing(struct actor *self, struct task_executor *x, const struct task_service *t,
                          const struct message *m)
{
    if (!write_run_handle(self, t->file, &x->writes->run, m, STREAM_WRITE))
        return;
    actor_sample(self, TASK_EXECUTOR_WRITE_TIME, actor_now(self) - x->writes->began_ns);
    end_task(self, x, t, x->writes->task);
}

/* The task's own time is the executor's: it does nothing else meanwhile. */
static void run_task(struct actor *self, struct task_executor *x, const struct task_service *t, uint64_t task)
{
    actor_charge(self, t->costs.executor_run.fixed_ns);
    if (t->duration.type != DISTRIBUTION_CONSTANT || t->duration.a_ns != 0) {
        int64_t duration_ns = actor_draw_duration(self, STREAM_DURATION, &t->duration);
        actor_spend(self, duration_ns);
        actor_count(self, TASK_EXECUTOR_RUN_US, (uint64_t)duration_ns / 1000);
    }
    if (x->writes != NULL)
        begin_writing(self, x, t, task);
    else
        end_task(self, x, t, task);
}

/* Told of a task. FALSE when that was the end of it. */
static bool survives(struct actor *self, struct task_executor *x, const struct task_service *t)
{
    if (x->dead)
        return false;
    if (!strikes(self, t->faults.executor_failure))
        return true;
    x->dead = x->died = true;
    actor_count(self, TASK_EXECUTOR_DEATHS, 1);
    actor_timer(self, t->faults.restart_ns, TASK_EXECUTOR_BACK, 0);
    return false;
}

static void come_back(struct actor *self, struct task_executor *x, const struct task_service *t)
{
    bool register_again = x->died || t->protocol == TASK_TCP;
    x->dead = x->died = false;
    actor_send(self, x->dispatcher, register_again ? TASK_EXECUTOR_REGISTER : TASK_EXECUTOR_ASK, 0);
}

static void task_executor_handle(struct actor *self, const struct message *m)
{
    const struct task_service *t = actor_setup(self);
    struct task_executor *x = actor_state(self);
    switch (m->kind) {
    case DISPATCHER_TASK:
        if (!survives(self, x, t))
            break;
        actor_charge(self, t->costs.executor_ack.fixed_ns);
        actor_send(self, x->dispatcher, TASK_EXECUTOR_TAKEN, 0);
        run_task(self, x, t, m->word);
        break;
    case DISPATCHER_POKE:
        if (!survives(self, x, t))
            break;
        actor_charge(self, t->costs.executor_ack.fixed_ns);
        actor_send(self, x->dispatcher, TASK_EXECUTOR_ASK, 0);
        break;
    case DISPATCHER_WORK:
        if (m->word != TASK_NONE)
            run_task(self, x, t, m->word);
        break;
    case TASK_EXECUTOR_BACK:
        come_back(self, x, t);
        break;
    case MOUNT_NEXT:
    case MOUNT_WRITTEN:
        go_on_writing(self, x, t, m);
        break;
    case TASK_EXECUTOR_START:
        actor_send(self, x->dispatcher, TASK_EXECUTOR_REGISTER, 0);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void task_executor_save(const struct actor *self, struct bytes *sink)
{
    const struct task_executor *x = actor_state(self);
    bytes_put_u8(sink, x->dead);
    bytes_put_u8(sink, x->died);
    if (x->writes != NULL) {
        write_run_save(&x->writes->run, sink);
        bytes_put_u64(sink, x->writes->task);
    }
}

static const struct kind_name task_executor_kinds[] = {
    { DISPATCHER_TASK, "task", "run this task" },
    { DISPATCHER_POKE, "poke", "there is work" },
    { DISPATCHER_WORK, "work", "answer to ask and answer: a task, or none" },
    { TASK_EXECUTOR_START, "start", "the provisioner starts the executor" },
    { TASK_EXECUTOR_BACK, "back", "timer: connected or started again" },
    { 0, NULL, NULL }
};

static const struct metric task_executor_metrics[] = {
    [TASK_EXECUTOR_RUN_US] = { "run_us", "1", "microseconds of tasks' own durations", METRIC_COUNTER },
    [TASK_EXECUTOR_LOST_RESULTS] = { "lost_results", "1", "results lost with their connection", METRIC_COUNTER },
    [TASK_EXECUTOR_DEATHS] = { "deaths", "1", "deaths of executors", METRIC_COUNTER },
    [TASK_EXECUTOR_WRITE_TIME] = { "write_time", "ns", "how long a task wrote its part of a shared file",
                                   METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_task_executor = {
    .name = "task-executor",
    .text = "runs one task at a time for a dispatcher",
    .state_size = sizeof(struct task_executor),
    .streams = STREAMS,
    .kinds = task_executor_kinds,
    .metrics = task_executor_metrics,
    .init = task_executor_init,
    .handle = task_executor_handle,
    .save = task_executor_save,
    .release = task_executor_release,
};
