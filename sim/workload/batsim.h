/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batsim's JSON workloads (https://batsim.readthedocs.io, "Workload input"): jobs, and the profiles that they follow.
 *
 *     { "nb_res": 4,
 *       "jobs": [ { "id": "1", "subtime": 0, "walltime": 100, "res": 4, "profile": "short" } ],
 *       "profiles": { "short": { "type": "delay", "delay": 30.5 } } }
 *
 * Understood are jobs that run for a time: profiles of type "delay". Parallel tasks, sequences, traces and the like say
 * what a job computes and sends on a modelled platform; a workload that uses one is refused with the place. A profile
 * that no job uses may be of any type.
 *
 *     id             a text or a whole number; given once
 *     subtime        submit time, seconds, 0 or above
 *     res            processors, from 1
 *     walltime       limit, seconds above 0; missing or -1: no limit (the job system kills at the limit, so a delay may
 *                    be longer)
 *     profile        a key of profiles
 *     delay          run time, seconds, 0 or above
 *
 * Further keys are Batsim's way of carrying notes, and are not looked at. Jobs are yielded in the order of their submit
 * times, those of one time in the order of the file. All that is wrong is found when the workload is made: the first
 * problem is the error. Memory: about 60 bytes a job and its names (while the file is read, ten times its size).
 */
#ifndef TIERCEL_WORKLOAD_BATSIM_H
#define TIERCEL_WORKLOAD_BATSIM_H

#include "workload/workload.h"

struct workload *workload_batsim_new(const char *path, GError **error);

/* The number of processors that the file is made for (nb_res), or 0. */
uint32_t workload_batsim_processors(const struct workload *w);

#endif
