/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/shared_file.h"

#include "engine/random.h"

int64_t shared_file_draw(struct actor *self, const struct distribution *d, unsigned stream)
{
    return d->type == DISTRIBUTION_CONSTANT ? d->a_ns : random_duration(d, actor_draw(self, stream));
}
