/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_list.h"

#include <math.h>
#include <stdio.h>

#include "check.h"
#include "printed.h"

enum { ARRAY_MAX = 1000 };          /* tasks: Slurm's MaxArraySize is 1001 unless an administrator changed it */

/* --- the points --- */

struct listing {
    double events;
    double most_bytes;
    unsigned refused;
    unsigned unknown;               /* points whose events nobody can tell */
};

static const struct report_column columns[] = {
    { "point", "point", REPORT_COUNT },
    { "parameters", "parameters", REPORT_TEXT },
    { "seed", "seed", REPORT_COUNT },
    { "messages", "messages", REPORT_COUNT },
    { "memory", "memory", REPORT_BYTES },
    { "virtual_time", "virtual time", REPORT_SECONDS },
    { "problem", "problem", REPORT_TEXT }
};

static void add_point(struct section *s, struct sweep_plan *plan, unsigned point, struct share *alone,
                      struct listing *listing)
{
    struct check_needs needs;
    int64_t seed;
    g_autofree char *parameters = sweep_plan_point_text(plan, point);
    g_autofree char *problem = sweep_plan_needs(plan, point, alone, &needs, &seed);

    section_number(s, point + 1);
    section_text(s, parameters);
    section_count(s, (uint64_t)seed);
    section_number(s, isnan(needs.events) ? NAN : round(needs.events));
    section_number(s, needs.bytes);
    section_number(s, needs.span_ns / 1e9);
    section_text(s, problem == NULL ? "" : problem);
    listing->refused += problem != NULL;
    listing->unknown += problem == NULL && isnan(needs.events);
    listing->events += isnan(needs.events) ? 0 : needs.events;
    listing->most_bytes = fmax(listing->most_bytes, needs.bytes);
}

static void list(struct sweep_plan *plan, unsigned from, unsigned to, enum printed_form form, struct listing *listing)
{
    g_autofree char *title = g_strdup_printf("tiercel sweep: %s", deck_path(plan->deck));
    struct document *d = document_new(title);
    struct section *s = document_section(d, "points", "Points", columns, G_N_ELEMENTS(columns));
    struct share alone;

    share_init(&alone, MPI_COMM_SELF);
    for (unsigned point = from; point < to; point++)
        add_point(s, plan, point, &alone, listing);
    share_release(&alone);
    section_note(s, "%u points, about %.3g messages%s, at most %.3g MB in a process; nothing was run", to - from,
                 listing->events, listing->unknown == 0 ? "" : " and those that are not known beforehand",
                 listing->most_bytes / 1e6);
    if (listing->refused > 0)
        section_note(s, "%u of them will fail", listing->refused);
    printed_write(d, form, stdout);
    document_free(d);
}

int sweep_list_points(struct sweep_plan *plan, unsigned from, unsigned to, struct share *share, GError **error)
{
    struct listing listing = { .most_bytes = 0 };
    enum printed_form form;
    int status;

    if (!printed_form(plan->options->format, &form, error))
        return (*error)->code;
    if (share->process == 0)
        list(plan, from, to, form, &listing);
    status = listing.refused > 0 ? TIERCEL_ERROR_INPUT : TIERCEL_OK;
    MPI_Bcast(&status, 1, MPI_INT, 0, share->comm);
    return status;
}

/* --- the job array --- */

/* The command that plays a part of the sweep, as a shell reads it. */
static char *command_of(const struct sweep_plan *plan, const char *folder)
{
    const struct options *options = plan->options;
    g_autofree char *deck = g_shell_quote(options->words[0]);
    g_autofree char *quoted = g_shell_quote(folder);
    GString *command = g_string_new(NULL);

    g_string_append_printf(command, "tiercel sweep %s -o %s", deck, quoted);
    for (unsigned i = 0; i < options->settings->len; i++) {
        g_autofree char *assignment =
            g_shell_quote(g_array_index(options->settings, struct deck_setting, i).assignment);
        g_string_append_printf(command, " --set %s", assignment);
    }
    if (options->test)
        g_string_append(command, " --test");
    return g_string_free(command, FALSE);
}

void sweep_list_array(const struct sweep_plan *plan, const char *folder, FILE *out)
{
    unsigned points = deck_sweep_points(plan->deck);
    unsigned tasks = MIN(points, ARRAY_MAX);
    g_autofree char *command = command_of(plan, folder);

    fprintf(out, "#!/bin/bash\n#\n# The %u points of the sweep %s, as %u tasks of one process:\n#\n"
            "#     sbatch THIS                             under Slurm\n"
            "#     flux submit --cc=1-%u -n1 bash THIS     under Flux\n#\n"
            "# It is started in the folder in which `tiercel sweep --array` was. The last task to end makes the\n"
            "# table; should one have been lost, the last line, typed by hand, plays what is left and makes it.\n\n",
            points, deck_name(plan->deck), tasks, tasks);
    fprintf(out, "#SBATCH --job-name=%s-sweep\n#SBATCH --array=1-%u\n#SBATCH --ntasks=1\n"
            "#SBATCH --signal=B:USR2@60\n\n", deck_name(plan->deck), tasks);
    fprintf(out, "task=${SLURM_ARRAY_TASK_ID:-${FLUX_JOB_CC:-${1:?the number of a task, 1 to %u}}}\n"
            "trap 'stopped=1; kill -USR2 \"$child\" 2>/dev/null' USR2     # the time is nearly up\n"
            "stopped=\n"
            "worst=0\n"
            "for ((point = task; point <= %u; point += %u)); do\n"
            "    [ -z \"$stopped\" ] || exit 4\n"
            "    %s -q --point \"$point\" &\n"
            "    child=$!\n"
            "    wait \"$child\"\n"
            "    status=$?\n"
            "    [ \"$status\" -le 128 ] || { wait \"$child\"; status=$?; }\n"
            "    [ \"$status\" -ne 4 ] || exit 4     # stopped; the point is still open\n"
            "    [ \"$status\" -eq 0 ] || worst=$status\n"
            "done\n"
            "exit \"$worst\"\n\n# %s\n", tasks, points, tasks, command, command);
}
