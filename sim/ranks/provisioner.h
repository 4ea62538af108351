/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provisioner of a service: asks a batch system for hosts, on which it then starts executors.
 *
 * It looks at the service's state at each poll; once there are tasks it asks for all hosts of the service, in requests
 * whose sizes the policy says: for h hosts, one-at-a-time makes h requests of 1, additive ceil((sqrt(8h+1)-1)/2) of 1,
 * 2, 3 ..., exponential ceil(log2(h+1)) of 1, 2, 4 ..., all-at-once a single one. Each is granted after a time that is
 * drawn, and the executors of its hosts register. Nothing is released: idle time-outs of 0, as in Falkon's samples.
 * Setup: struct task_service.
 */
#ifndef TIERCEL_RANKS_PROVISIONER_H
#define TIERCEL_RANKS_PROVISIONER_H

#include "ranks/task_service.h"

enum provisioner_metric { PROVISIONER_REQUESTS, PROVISIONER_STARTED };

/* Hosts of request number `request`, from 0, when `left` are still wanted; 0 when none are. */
uint32_t provisioner_request_size(enum provision_policy policy, uint32_t request, uint32_t left);

#endif
