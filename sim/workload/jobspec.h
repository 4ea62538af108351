/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flux jobspec, version 1: reading it, writing it, and a workload made of a directory of such files.
 *
 * The format is Flux RFC 25 (Job Specification Version 1), as `flux mini submit` and `flux jobspec` of early 2020
 * wrote it and flux-core's validator (`flux.job.validate_jobspec`) accepted it. Understood:
 *
 *     version        1
 *     resources      one of  slot -> core           count slots of count cores, anywhere
 *                            node -> slot -> core   count slots on each of count nodes
 *                    each with type, count (integer, at least 1), with; slots with a label; core last; a node may say
 *                    "exclusive": true
 *     tasks          one task: command (list of text, or one text), slot (the label), count {per_slot: n} or
 *                    {total: n}; attributes allowed
 *     attributes     system.duration (seconds, a number, 0 = no limit); system.cwd, system.environment,
 *                    system.shell, system.exec, system.queue and user.* are kept in the text and not looked at
 *
 * What a job does: the duration of the job is N of a command `sleep N` (with an optional suffix s, m, h or d, as
 * coreutils has it), also as `/bin/sleep N`; 0 for `true` and `hostname`. When Flux's job-exec is told to simulate
 * (attributes.system.exec.test.run_duration, a Flux standard duration such as "2.5s"), that duration counts instead.
 * Any other command needs attributes.system.duration above 0, and is taken to run for exactly that long.
 * attributes.system.duration above 0 is also the job's limit.
 *
 * The reader is strict: what is not in the list above is refused with file, line and column or the path of the key,
 * the value, and what is expected. Numbers are read by their text: 1.0 is not a count.
 */
#ifndef TIERCEL_WORKLOAD_JOBSPEC_H
#define TIERCEL_WORKLOAD_JOBSPEC_H

#include "workload/workload.h"

/* Reads one jobspec of `size` bytes into resources, duration_ns and limit_ns of *job (the other fields are left as
 * they are). `name` is the file's, for the messages. */
bool jobspec_parse(const char *name, const char *text, size_t size, struct workload_job *job, GError **error);

/* Writes a jobspec, in the form of jobspec_parse, of a job that sleeps for job->duration_ns: what a workload that has
 * no jobspec files submits. Only resources, duration_ns and limit_ns are read. The caller frees it with
 * g_string_free. */
GString *jobspec_write(const struct workload_job *job);

/*
 * All files of `directory` whose name ends in .json, in the order of their names' bytes, the whole list `repeat` times
 * (at least 1). Every file is read and checked now; all that are malformed are named in one error, a line each. A
 * directory that is missing, holds no such file, or a file that cannot be read is an error too. All jobs are submitted
 * at time 0.
 */
struct workload *workload_jobspec_new(const char *directory, uint64_t repeat, GError **error);

#endif
