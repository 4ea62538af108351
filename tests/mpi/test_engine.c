/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of the engine, each by a scene worked out by hand (scene.h). On one process and on several.
 */
#include <stdio.h>
#include <unistd.h>

#include "scenes.h"

enum { LIMIT_S = 100 };     /* a run that hangs dies by SIGALRM, and mpirun with it */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned (*check)(void);
    } all[] = {
        { "time", scenes_of_time }, { "calls", scenes_of_calls }, { "turns", scenes_of_turns },
        { "ends", scenes_of_ends }, { "instances", scenes_of_instances },
    };
    MPI_Init(&argc, &argv);
    alarm(LIMIT_S);
    int rank;
    unsigned failures = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        unsigned wrong = all[i].check();
        if (rank == 0)
            printf("%s: %u wrong\n", all[i].name, wrong);
        failures += wrong;
    }
    MPI_Finalize();
    return failures != 0;
}
