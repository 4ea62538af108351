/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_states.h"

#include <string.h>

#include "base/folder.h"
#include "sweep_claim.h"

/* "00017.claim": a point that is done has its folder, without an ending, whatever else is there. */
static void take_name(struct sweep_states *states, const char *name)
{
    char *ending;
    guint64 number = g_ascii_strtoull(name, &ending, 10);

    if (ending == name || number == 0 || number > states->points)
        return;
    enum sweep_state *state = &states->state[number - 1];
    if (*ending == '\0')
        *state = SWEEP_DONE;
    else if (strcmp(ending, SWEEP_CLAIM_FAILED) == 0 && *state == SWEEP_OPEN)
        *state = SWEEP_FAILED;
    else if (strcmp(ending, SWEEP_CLAIM_CLAIM) == 0)
        states->claimed[number - 1] = true;
}

void sweep_states_init(struct sweep_states *states, const struct sweep_folder *folder, unsigned points)
{
    g_autofree char *path = sweep_folder_file(folder, SWEEP_CLAIM_POINTS);
    g_autoptr(GPtrArray) names = folder_names(path);

    *states = (struct sweep_states){
        .points = points, .state = g_new0(enum sweep_state, points), .claimed = g_new0(bool, points)
    };
    for (unsigned i = 0; i < names->len; i++)
        take_name(states, names->pdata[i]);
    for (unsigned point = 0; point < points; point++) {
        states->done += states->state[point] == SWEEP_DONE;
        states->failed += states->state[point] == SWEEP_FAILED;
        states->open += states->state[point] == SWEEP_OPEN;
    }
}

void sweep_states_release(struct sweep_states *states)
{
    g_free(states->state);
    g_free(states->claimed);
    *states = (struct sweep_states){ .points = 0 };
}
