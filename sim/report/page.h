/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as one HTML page: figures, then every section as a table. The page holds its style and its figures (svg.h)
 * and refers to nothing outside, so that it can be mailed and read without a network; it has no script. Internal to
 * sim/report/.
 */
#ifndef TIERCEL_REPORT_PAGE_H
#define TIERCEL_REPORT_PAGE_H

#include "report/sections.h"

void page_write(const struct document *d, const struct report_source *source, FILE *out);

#endif
