/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small figures as SVG: curves over time, bars, and stacked spans, with axes, units and a legend.
 *
 *     struct svg_curve curves[] = { { "tasks/s", x, y, count } };
 *     svg_curves(out, "Throughput", "time (s)", "1/s", curves, 1);
 *     svg_bars(out, "Busy", "share of the time", bars, bar_count);
 *     svg_spans(out, "Stages of a job's path", "time since submission", spans, span_count);
 *
 * A figure is an <svg> element with a viewBox and no size of its own: it takes the width of what it stands in.
 * Colours are those of M. Okabe and K. Ito (2008), which people with any common colour blindness tell apart; no
 * meaning hangs on colour alone. All text is escaped. Figures refer to nothing outside. Local; what has nothing to
 * show draws nothing.
 */
#ifndef TIERCEL_REPORT_SVG_H
#define TIERCEL_REPORT_SVG_H

#include <stdio.h>

enum { SVG_CURVES_MOST = 4 };

struct svg_curve {
    const char *name;
    const double *x;
    const double *y;                /* NAN: a gap */
    unsigned count;
};

struct svg_bar {
    const char *name;
    double value;
    double second;                  /* stacked on it, hatched; 0: none */
    const char *text;               /* at its end */
};

struct svg_span {
    const char *name;
    double from;
    double to;
    const char *text;
};

void svg_curves(FILE *out, const char *title, const char *x_label, const char *y_label,
                const struct svg_curve *curves, unsigned count);
/* Horizontal, from 0; long names are cut; second_name explains the hatched part, NULL: there is none. */
void svg_bars(FILE *out, const char *title, const char *label, const char *name, const char *second_name,
              const struct svg_bar *bars, unsigned count);
/* One row a span, each where it lies. */
void svg_spans(FILE *out, const char *title, const char *label, const struct svg_span *spans, unsigned count);
/* A histogram: bars from lower[i] to upper[i] on a logarithmic axis, of the height share[i] / its width in decades. */
void svg_histogram(FILE *out, const char *title, const char *label, const double *lower, const double *upper,
                   const double *share, unsigned count);

/* "&", "<", ">" and quotes as entities. Free with g_free. */
char *svg_escape(const char *text);

#endif
