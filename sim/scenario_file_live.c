/* SPDX-License-Identifier: BSD-3-Clause */
/* [system] kind = io on the live clock: from the groups [io.NAME] to files that are really written (io/mpiio.h). */
#include <math.h>
#include <string.h>

#include "io/mpiio.h"
#include "ranks/file_program.h"
#include "scenario_file.h"

#define SECOND_NS 1e9
#define MIB 1048576.0

/* --- from the deck --- */

/* "key=value, key=value" as a list of keys and values that MPI takes, which ends the run over any other; NULL when it
 * is not one. */
static char **parse_hints(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    bool whole = true;

    for (char **part = parts; *part != NULL; part++) {
        char *equals = strchr(*part, '=');
        if (equals == NULL)
            break;
        char *key = g_strstrip(g_strndup(*part, (gsize)(equals - *part)));
        char *value = g_strstrip(g_strdup(equals + 1));
        g_ptr_array_add(list, key);
        g_ptr_array_add(list, value);
        if (*key == '\0' || *value == '\0' || strlen(key) >= MPI_MAX_INFO_KEY || strlen(value) >= MPI_MAX_INFO_VAL) {
            whole = false;
            break;
        }
    }
    if (!whole || list->len != 2 * g_strv_length(parts)) {
        g_ptr_array_free(list, TRUE);
        return NULL;
    }
    g_ptr_array_add(list, NULL);
    return (char **)g_ptr_array_free(list, FALSE);
}

static void add_hint(char ***hints, const char *key, char *value)
{
    guint count = g_strv_length(*hints);
    *hints = g_renew(char *, *hints, count + 3);
    (*hints)[count] = g_strdup(key);
    (*hints)[count + 1] = value;
    (*hints)[count + 2] = NULL;
}

void file_live_read_hints(char ***hints, struct deck *deck, const char *group)
{
    if (!deck_has(deck, group, "hints"))
        return;
    g_auto(GStrv) stated = parse_hints(deck_text(deck, group, "hints"));
    if (stated == NULL) {
        deck_complain(deck, group, "hints", "'%s' is not a list of hints; expected key=value, with commas between "
                      "them, keys of at most %d bytes and values of at most %d", deck_text(deck, group, "hints"),
                      MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1);
        return;
    }
    for (char **hint = stated; *hint != NULL; hint += 2)
        add_hint(hints, hint[0], g_strdup(hint[1]));
}

/* What the deck says of collective writes is a hint to the library; one that is stated as such counts more. */
static void read_hints(struct file_group *group, struct deck *deck)
{
    const struct collective *c = &group->file.collective;

    group->hints = g_new0(char *, 1);
    if (c->aggregators != 0)
        add_hint(&group->hints, "cb_nodes", g_strdup_printf("%u", c->aggregators));
    if (c->buffer != 0)
        add_hint(&group->hints, "cb_buffer_size", g_strdup_printf("%" G_GUINT64_FORMAT, c->buffer));
    if (c->kind == COLLECTIVE_ROMIO && c->aggregators_per_node > 1)
        add_hint(&group->hints, "cb_config_list", g_strdup_printf("*:%u", c->aggregators_per_node));
    file_live_read_hints(&group->hints, deck, group->deck_group);
}

void file_live_check_rules(const struct shared_file *f, struct deck *deck, const char *group)
{
    if (f->rules != INODE_FUSE_62 && f->rules != INODE_FUSE_69 && f->rules != INODE_EXTENDING_SHARED)
        deck_complain(deck, group, "rules", "'%s' cannot be emulated on the live clock, which knows a file's end but "
                      "not its blocks; expected fuse-6.2, fuse-6.9 or extending-shared",
                      deck_text(deck, group, "rules"));
}

static void check_lock(const struct file_group *group, struct deck *deck)
{
    if (!group->locked)
        return;
    file_live_check_rules(&group->file, deck, group->deck_group);
    if (group->file.each)
        deck_complain(deck, group->deck_group, "files", "'each' has nothing to lock on the live clock; expected lock = "
                      "none, or files = one");
}

static void check_sizes(const struct file_group *group, struct deck *deck)
{
    const struct shared_file *f = &group->file;
    uint64_t length = f->pattern.transfer;

    if (f->collective.kind != COLLECTIVE_NONE)
        length = group->locked && f->plan.aggregators != 0 ? MAX(MIN(f->plan.cycle_bytes, f->plan.domain_bytes),
                                                                 f->collective.block * f->collective.pieces)
                                                           : f->collective.block * f->collective.pieces;
    if (length > MPIIO_WRITE_MOST_BYTES)
        deck_complain(deck, group->deck_group, "transfer", "makes calls of %" G_GUINT64_FORMAT " bytes; expected at "
                      "most %d on the live clock", length, MPIIO_WRITE_MOST_BYTES);
}

static void check_group(const struct file_group *group, struct deck *deck)
{
    const struct shared_file *f = &group->file;
    const char *name = group->deck_group;

    if (f->append)
        deck_complain(deck, name, "append", "is not played on the live clock: MPI-IO does not know it; expected false");
    if (f->think.type != DISTRIBUTION_CONSTANT)
        deck_complain(deck, name, "think", "'%s' is drawn; expected a constant on the live clock",
                      deck_text(deck, name, "think"));
    if (f->cached_users != 0)
        deck_complain(deck, name, "cached-users", "'%u' are not there on the live clock; expected 0", f->cached_users);
    check_lock(group, deck);
    check_sizes(group, deck);
}

void file_live_read(struct file_scenario *s, struct deck *deck)
{
    s->folder = deck_has(deck, "server", "folder") ? deck_text(deck, "server", "folder") : NULL;
    for (unsigned i = 0; i < s->group_count; i++) {
        struct file_group *group = &s->groups[i];
        const char *name = group->deck_group;
        group->locked = deck_choice(deck, name, "lock", NULL) != 2;
        group->windows = deck_choice(deck, name, "windows", NULL);
        group->verify = deck_boolean(deck, name, "verify");
        group->keep = deck_boolean(deck, name, "keep");
        group->program = (struct file_program){ i, i == 0, i + 1 == s->group_count ? PROGRAM_NOBODY : i + 1 };
        read_hints(group, deck);
        check_group(group, deck);
    }
}

/* --- actors --- */

void file_live_populate(const struct file_scenario *s, struct engine *e)
{
    engine_set_link(e, 0, 0, s->link);
    engine_set_local_link(e, s->local_link);
    for (unsigned i = 0; i < s->group_count; i++)
        engine_add_actor(e, &(struct engine_actor){
            .role = &s->groups[i].roles[0], .setup = &s->groups[i].program, .node = 0, .process = 0,
            .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
        });
}

uint32_t file_live_processes(const void *data, const char **why)
{
    const struct file_scenario *s = data;
    uint32_t most = 1;

    for (unsigned i = 0; i < s->group_count; i++)
        most = MAX(most, s->groups[i].file.writers);
    *why = "one for each writer";
    return most;
}

/* --- the act --- */

static void put_figures(struct bytes *out, const struct mpiio_figures *x)
{
    const struct mpiio_lock_counts *l = &x->lock;
    const int64_t values[PROGRAM_METRICS] = {
        [PROGRAM_BYTES] = (int64_t)x->bytes, [PROGRAM_WRITES] = (int64_t)x->writes,
        [PROGRAM_VERIFIED] = (int64_t)x->verified, [PROGRAM_EXCLUSIVE] = (int64_t)l->exclusive,
        [PROGRAM_SHARED] = (int64_t)l->shared, [PROGRAM_EXTENDING] = (int64_t)l->extending,
        [PROGRAM_LONE] = (int64_t)l->lone, [PROGRAM_CONTESTED] = (int64_t)l->contested,
        [PROGRAM_RETAKES] = (int64_t)l->retakes, [PROGRAM_BROKEN] = (int64_t)l->broken,
        [PROGRAM_LOCK_WAIT] = l->wait_ns, [PROGRAM_WRITE_TIME] = x->write_ns,
        [PROGRAM_OMPIO] = x->component == MPIIO_OMPIO, [PROGRAM_ROMIO] = x->component == MPIIO_ROMIO,
        [PROGRAM_WINDOWS_SHARED] = x->windows == MPIIO_WINDOWS_SHARED,
        [PROGRAM_WINDOWS_MESSAGES] = x->windows == MPIIO_WINDOWS_MESSAGES,
        [PROGRAM_INFLIGHT] = (int64_t)l->inflight_most, [PROGRAM_OPENED] = x->opened_ns,
        [PROGRAM_READY] = x->ready_ns, [PROGRAM_WRITTEN] = x->written_ns, [PROGRAM_CLOSED] = x->closed_ns,
        [PROGRAM_HELD_UP] = x->held_up_ns
    };
    for (unsigned i = 0; i < PROGRAM_METRICS; i++)
        bytes_put_i64(out, values[i]);
}

static void describe_job(const struct file_group *group, const char *path, struct mpiio_job *job)
{
    static const enum mpiio_prepare prepares[] = {
        [PREPARE_NOTHING] = MPIIO_PREPARE_NOTHING, [PREPARE_SET_SIZE] = MPIIO_PREPARE_SET_SIZE,
        [PREPARE_ALLOCATE] = MPIIO_PREPARE_ALLOCATE, [PREPARE_FILLED] = MPIIO_PREPARE_FILL
    };
    const struct shared_file *f = &group->file;

    *job = (struct mpiio_job){
        .name = group->name, .path = path, .pattern = f->pattern, .writers = f->writers, .each = f->each,
        .locked = group->locked, .rules = { .rules = f->rules, .parallel = f->parallel },
        .windows = (enum mpiio_windows)group->windows, .prepare = prepares[f->prepare], .collective = f->collective,
        .plan = f->plan, .hints = group->hints, .think_ns = f->think.a_ns, .verify = group->verify, .keep = group->keep
    };
}

gboolean file_live_perform(const void *data, MPI_Comm comm, const char *folder, uint32_t act, struct bytes *result,
                           GError **error)
{
    const struct file_scenario *s = data;
    const struct file_group *group = &s->groups[act];
    g_autofree char *name = g_strdup_printf("%s.data", group->name);
    g_autofree char *path = g_build_filename(s->folder != NULL ? s->folder : folder != NULL ? folder : ".", name, NULL);
    struct mpiio_figures figures;
    struct mpiio_job job;

    describe_job(group, path, &job);
    if (!mpiio_job_run(comm, act, &job, &figures, error))
        return FALSE;
    put_figures(result, &figures);
    return TRUE;
}

/* --- what came of it --- */

static double moment_s(const struct collector *figures, const char *role, const char *metric)
{
    const struct statistic *s = collector_named_statistic(figures, role, metric);
    return s->count != 0 ? (double)s->largest / SECOND_NS : NAN;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

struct summary_file file_live_figures(const struct file_group *group, const struct collector *figures)
{
    const char *role = group->role_names[0];
    const struct statistic *inflight = collector_named_statistic(figures, role, "inflight");
    struct summary_file x = {
        .bytes = collector_named_total(figures, role, "bytes"),
        .writes = collector_named_total(figures, role, "writes"),
        .extending_writes = collector_named_total(figures, role, "extending"),
        .exclusive_locks = collector_named_total(figures, role, "exclusive"),
        .shared_locks = collector_named_total(figures, role, "shared"),
        .lone_writes = collector_named_total(figures, role, "lone"),
        .inflight_max = inflight->count != 0 ? (uint64_t)inflight->largest : 0,
        .steals = collector_named_total(figures, role, "retakes"),
        .prepared_s = moment_s(figures, role, "ready"),
        .ended_s = moment_s(figures, role, "closed"),
        .extending_share = NAN, .exclusive_share = NAN, .lock_wait_s = NAN, .gain = NAN
    };
    if (group->locked) {
        x.lock_wait_s = ratio((double)collector_named_total(figures, role, "lock_wait") / SECOND_NS, (double)x.writes);
        x.extending_share = ratio((double)x.extending_writes, (double)x.writes);
        x.exclusive_share = ratio((double)x.exclusive_locks, (double)x.writes);
    }
    x.bandwidth_bytes_per_s = ratio((double)x.bytes, x.ended_s);
    x.mib_per_s = x.bandwidth_bytes_per_s / MIB;
    x.writes_per_s = ratio((double)x.writes, moment_s(figures, role, "written") - x.prepared_s);
    return x;
}

struct summary_live_file file_live_times(const struct file_group *group, const struct collector *figures)
{
    const char *role = group->role_names[0];
    double written_s = moment_s(figures, role, "written");
    return (struct summary_live_file){
        .verified_bytes = collector_named_total(figures, role, "verified"),
        .contested = collector_named_total(figures, role, "contested"),
        .retakes = collector_named_total(figures, role, "retakes"),
        .retake_share = ratio((double)collector_named_total(figures, role, "retakes"),
                              (double)collector_named_total(figures, role, "contested")),
        .open_s = moment_s(figures, role, "opened"),
        .write_s = written_s - moment_s(figures, role, "ready"),
        .close_s = moment_s(figures, role, "closed") - written_s,
        .mean_write_s = ratio((double)collector_named_total(figures, role, "write_time") / SECOND_NS,
                              (double)collector_named_total(figures, role, "writes")),
        .held_up_s = moment_s(figures, role, "held_up")
    };
}

/* What one word says of all files. */
static const char *of_all(const struct file_scenario *s, const struct collector *figures, const char *first,
                          const char *first_word, const char *second, const char *second_word)
{
    uint64_t firsts = 0, seconds = 0;

    for (unsigned i = 0; i < s->group_count; i++) {
        firsts += collector_named_total(figures, s->groups[i].role_names[0], first);
        seconds += collector_named_total(figures, s->groups[i].role_names[0], second);
    }
    if (firsts != 0 && seconds != 0)
        return "both";
    return firsts != 0 ? first_word : seconds != 0 ? second_word : "none";
}

void file_live_summarise(const struct file_scenario *s, const struct collector *figures, struct summary *summary)
{
    summary_text(summary, "live", "io", of_all(s, figures, "ompio", "ompio", "romio", "romio"));
    summary_text(summary, "live", "windows",
                 of_all(s, figures, "windows_shared", "shared", "windows_messages", "messages"));
    for (unsigned i = 0; i < s->group_count; i++) {
        struct summary_live_file x = file_live_times(&s->groups[i], figures);
        summary_live_file(summary, s->groups[i].name, &x);
    }
}
