/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

#include <math.h>

#include "scenario_batch.h"
#include "scenario_brokered.h"
#include "scenario_dispatcher.h"
#include "scenario_file.h"
#include "scenario_phold.h"
#include "scenario_queueing.h"

/* By the choices of [system] kind. */
static const struct scenario_kind *const kinds[] = {
    &scenario_brokered, &scenario_queueing, &scenario_phold, &scenario_dispatcher,
    &scenario_batch, &scenario_file
};

struct scenario {
    const struct scenario_kind *kind;       /* NULL when the deck does not say which */
    void *data;
};

/* Ways of waiting differ by more than any handling. */
static void check_waiting(struct deck *deck)
{
    static const char *const ways[] = { "any", "spin", "yield" };

    if (!deck_has(deck, "costs", "waiting") || !deck_has(deck, "run", "waiting"))
        return;
    unsigned measured = deck_choice(deck, "costs", "waiting", NULL);
    if (measured != 0 && measured != deck_choice(deck, "run", "waiting", NULL))
        deck_complain(deck, "costs", "waiting",
                      "'%s' does not go with run.waiting = %s: this profile was measured with processes that wait by "
                      "%s; expected run.waiting = %s, or a profile that fits", ways[measured],
                      deck_text(deck, "run", "waiting"), ways[measured], ways[measured]);
}

struct scenario *scenario_new(struct deck *deck, struct share *share)
{
    struct scenario *scenario = g_new0(struct scenario, 1);

    if (deck_has(deck, "system", "kind")) {
        unsigned choice = deck_choice(deck, "system", "kind", NULL);
        g_assert(choice < G_N_ELEMENTS(kinds));
        scenario->kind = kinds[choice];
        scenario->data = scenario->kind->new(deck, share);
        check_waiting(deck);
    }
    return scenario;
}

void scenario_free(struct scenario *scenario)
{
    if (scenario->kind != NULL)
        scenario->kind->free(scenario->data);
    g_free(scenario);
}

uint32_t scenario_actors(const struct scenario *scenario)
{
    return scenario->kind->actors(scenario->data);
}

void scenario_populate(const struct scenario *scenario, struct engine *e, uint32_t processes)
{
    scenario->kind->populate(scenario->data, e, processes);
}

void scenario_place(const struct scenario *scenario, uint32_t actor, uint32_t processes, struct scenario_place *place)
{
    scenario->kind->place(scenario->data, actor, processes, place);
}

const struct role *const *scenario_roles(const struct scenario *scenario)
{
    return scenario->kind->roles(scenario->data);
}

const struct table *scenario_tables(const struct scenario *scenario, unsigned *count)
{
    return scenario->kind->tables(scenario->data, count);
}

uint64_t scenario_rows(const struct scenario *scenario)
{
    return scenario->kind->rows(scenario->data);
}

struct scenario_milestone scenario_milestone(const struct scenario *scenario)
{
    return scenario->kind->milestone(scenario->data);
}

uint32_t scenario_live_processes(const struct scenario *scenario, const char **why)
{
    if (scenario->kind->live_processes != NULL)
        return scenario->kind->live_processes(scenario->data, why);
    *why = "its services are nothing but modelled time";
    return 0;
}

bool scenario_performs(const struct scenario *scenario)
{
    return scenario->kind->perform != NULL;
}

static const struct job_file *file_of(const struct scenario *scenario)
{
    return scenario->kind->file == NULL ? NULL : scenario->kind->file(scenario->data);
}

gboolean scenario_begin(const struct scenario *scenario, MPI_Comm comm, const char *folder, bool *awake,
                        GError **error)
{
    const struct job_file *file = file_of(scenario);

    *awake = false;
    return file == NULL || job_file_begin(file, comm, folder, awake, error);
}

bool scenario_writes(const struct scenario *scenario)
{
    return file_of(scenario) != NULL;
}

gboolean scenario_write(const struct scenario *scenario, const void *request, size_t size, uint16_t *kind,
                        uint64_t *word, GError **error)
{
    return job_file_write(file_of(scenario), request, size, kind, word, error);
}

gboolean scenario_end(const struct scenario *scenario, bool good, GError **error)
{
    const struct job_file *file = file_of(scenario);

    return file == NULL || job_file_end(file, good, error);
}

bool scenario_calibrates(const struct scenario *scenario)
{
    return scenario->kind->calibrate != NULL;
}

gboolean scenario_calibrate(const struct scenario *scenario, MPI_Comm comm, GString *text, GError **error)
{
    return scenario->kind->calibrate(scenario->data, comm, text, error);
}

gboolean scenario_perform(const struct scenario *scenario, MPI_Comm comm, const char *folder, uint32_t act,
                          struct bytes *result, GError **error)
{
    return scenario->kind->perform(scenario->data, comm, folder, act, result, error);
}

void scenario_check_live(const struct scenario *scenario, struct deck *deck, uint32_t processes)
{
    const char *why;

    if (!deck_is_live(deck))
        return;
    uint32_t needed = scenario_live_processes(scenario, &why);
    if (needed == 0)
        deck_complain(deck, "run", "clock", "'live' cannot play this deck: %s; expected virtual", why);
    else if (processes < needed)
        deck_complain(deck, "run", "clock", "'live' needs at least %" G_GUINT32_FORMAT " processes here, %s; this run "
                      "has %" G_GUINT32_FORMAT ": expected a start by mpirun -n %" G_GUINT32_FORMAT, needed, why,
                      processes, needed);
}

void scenario_describe(const struct scenario *scenario, FILE *out)
{
    if (scenario->kind->describe != NULL)
        scenario->kind->describe(scenario->data, out);
}

void scenario_estimate(const struct scenario *scenario, struct scenario_estimate *estimate)
{
    *estimate = (struct scenario_estimate){ .events = NAN, .pending = NAN, .actor_bytes = NAN, .span_ns = NAN };
    if (scenario->kind->estimate != NULL)
        scenario->kind->estimate(scenario->data, estimate);
}

void scenario_summarise(const struct scenario *scenario, const struct scenario_run *run, struct summary *summary,
                        GArray *balances)
{
    scenario->kind->summarise(scenario->data, run, summary, balances);
}

void scenario_pools(const struct scenario *scenario, const struct scenario_run *run, GArray *pools)
{
    if (scenario->kind->pools != NULL)
        scenario->kind->pools(scenario->data, run, pools);
}

void scenario_headline(const struct scenario *scenario, const struct summary *summary, FILE *out)
{
    scenario->kind->headline(scenario->data, summary, out);
}

void scenario_details(const struct scenario *scenario, const struct summary *summary, FILE *out)
{
    scenario->kind->details(scenario->data, summary, out);
}
