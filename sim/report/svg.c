/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/svg.h"

#include <math.h>
#include <stdbool.h>

#include <glib.h>

enum {
    WIDTH = 560, HEIGHT = 290,          /* of curves and histograms, in the units of the viewBox */
    LEFT = 72, RIGHT = 20, TOP = 58, BOTTOM = 48,
    ROW = 24,                           /* of bars and spans */
    NAME_LEAST = 60, NAME_MOST = 240, NAME_LETTERS = 32, END_LEAST = 40, END_MOST = 170,
    LETTER = 8,                         /* its width in texts of class tick, rather more than less */
    TICKS_MOST = 6
};

static const char *const colours[] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7" };
static const char *const dashes[] = { "none", "7 3", "2 3", "9 3 2 3" };

char *svg_escape(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return g_markup_escape_text(valid, -1);
}

static void put_text(FILE *out, double x, double y, const char *anchor, const char *class, const char *text)
{
    g_autofree char *escaped = svg_escape(text);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor, class,
            escaped);
}

static void begin(FILE *out, int height, const char *title)
{
    g_autofree char *escaped = svg_escape(title);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s</title>\n",
            WIDTH, height, escaped);
    put_text(out, 8, 18, "start", "title", title);
}

/* 1, 2 or 5 times a power of ten, so that there are at most TICKS_MOST of it. */
static double nice_step(double span)
{
    double step = pow(10, floor(log10(span / TICKS_MOST)));
    if (span / step > TICKS_MOST)
        step *= span / (2 * step) <= TICKS_MOST ? 2 : span / (5 * step) <= TICKS_MOST ? 5 : 10;
    return step;
}

/* A number at a tick: short, without noise in its last digit. */
static void tick_text(char *text, gsize size, double value)
{
    if (fabs(value) >= 1e6 || (value != 0 && fabs(value) < 1e-3))
        g_snprintf(text, size, "%.3g", value);
    else
        g_snprintf(text, size, "%.10g", round(value * 1e6) / 1e6 + 0.0);     /* no "-0" */
}

struct frame {
    double x_low, x_high, y_low, y_high;
};

static double place_x(const struct frame *f, double x)
{
    return LEFT + (x - f->x_low) / (f->x_high - f->x_low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *f, double y)
{
    return HEIGHT - BOTTOM - (y - f->y_low) / (f->y_high - f->y_low) * (HEIGHT - TOP - BOTTOM);
}

static void put_frame(FILE *out, const struct frame *f, const char *x_label, const char *y_label, bool decades)
{
    char text[32];
    double step = decades ? 1 : nice_step(f->x_high - f->x_low);
    for (double x = ceil(f->x_low / step - 1e-9) * step; x <= f->x_high + step * 1e-6; x += step) {
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>\n", place_x(f, x), TOP,
                place_x(f, x), HEIGHT - BOTTOM);
        tick_text(text, sizeof text, decades ? pow(10, x) : x);
        put_text(out, place_x(f, x), HEIGHT - BOTTOM + 16, "middle", "tick", text);
    }
    step = nice_step(f->y_high - f->y_low);
    for (double y = f->y_low; y <= f->y_high + step * 1e-6; y += step) {
        fprintf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT, place_y(f, y),
                WIDTH - RIGHT, place_y(f, y));
        tick_text(text, sizeof text, y);
        put_text(out, LEFT - 6, place_y(f, y) + 4, "end", "tick", text);
    }
    put_text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8, "middle", "label", x_label);
    put_text(out, 8, 38, "start", "label", y_label);
}

/* --- curves --- */

static void put_curve(FILE *out, const struct frame *f, const struct svg_curve *c, unsigned index)
{
    bool down = false;
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"%s\" d=\"", colours[index],
            dashes[index]);
    for (unsigned i = 0; i < c->count; i++) {
        if (isfinite(c->y[i]))
            fprintf(out, "%s%.1f %.1f", down ? "L" : "M", place_x(f, c->x[i]), place_y(f, c->y[i]));
        down = isfinite(c->y[i]);
    }
    fputs("\"/>\n", out);
}

void svg_curves(FILE *out, const char *title, const char *x_label, const char *y_label,
                const struct svg_curve *curves, unsigned count)
{
    struct frame f = { INFINITY, -INFINITY, 0, 0 };
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < curves[i].count; j++) {
            f.x_low = fmin(f.x_low, curves[i].x[j]);
            f.x_high = fmax(f.x_high, curves[i].x[j]);
            f.y_high = isfinite(curves[i].y[j]) ? fmax(f.y_high, curves[i].y[j]) : f.y_high;
        }
    if (!(f.x_high > f.x_low) || f.y_high <= 0)
        return;
    if (f.x_low > 0 && f.x_low < f.x_high / 8)
        f.x_low = 0;                    /* the first point is the middle of a bin */
    double step = nice_step(f.y_high);
    f.y_high = ceil(f.y_high / step) * step;
    begin(out, HEIGHT, title);
    put_frame(out, &f, x_label, y_label, false);
    for (unsigned i = 0; i < count; i++)
        put_curve(out, &f, &curves[i], i);
    for (unsigned i = 0; count > 1 && i < count; i++) {
        double x = WIDTH - RIGHT - 150.0 * (count - i);
        fprintf(out, "<line x1=\"%.1f\" y1=\"34\" x2=\"%.1f\" y2=\"34\" stroke=\"%s\" stroke-width=\"2\" "
                "stroke-dasharray=\"%s\"/>\n", x, x + 26, colours[i], dashes[i]);
        put_text(out, x + 32, 38, "start", "label", curves[i].name);
    }
    fputs("</svg>\n", out);
}

/* --- histograms --- */

void svg_histogram(FILE *out, const char *title, const char *label, const double *lower, const double *upper,
                   const double *share, unsigned count)
{
    struct frame f = { INFINITY, -INFINITY, 0, 0 };
    double highest = 0;
    for (unsigned i = 0; i < count; i++) {
        if (lower[i] <= 0)
            continue;
        f.x_low = fmin(f.x_low, log10(lower[i]));
        f.x_high = fmax(f.x_high, log10(upper[i]));
        highest = fmax(highest, share[i] / (log10(upper[i]) - log10(lower[i])));
    }
    if (!(f.x_high > f.x_low) || highest <= 0)
        return;
    f.x_low = floor(f.x_low * 2) / 2;
    f.x_high = fmax(ceil(f.x_high * 2) / 2, f.x_low + 1.5);
    double step = nice_step(highest);
    f.y_high = ceil(highest / step) * step;
    begin(out, HEIGHT, title);
    put_frame(out, &f, label, "share of the values a decade", true);
    for (unsigned i = 0; i < count; i++) {
        if (lower[i] <= 0)
            continue;
        double left = place_x(&f, log10(lower[i])), right = place_x(&f, log10(upper[i]));
        double top = place_y(&f, share[i] / (log10(upper[i]) - log10(lower[i])));
        fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>\n", left, top,
                fmax(right - left, 0.5), HEIGHT - BOTTOM - top, colours[0]);
    }
    fputs("</svg>\n", out);
}

/* --- rows --- */

static int rows_height(unsigned count)
{
    return TOP + (int)count * ROW + BOTTOM;
}

/* Rows from 0 to `high`, with names at their left and texts at their ends. */
struct rows {
    double high;
    int names, ends;                    /* the room that they take */
};

static void take_room(int *room, int most, const char *text)
{
    *room = MAX(*room, MIN(most, LETTER * (int)g_utf8_strlen(text, -1) + 14));
}

static double row_x(const struct rows *r, double value)
{
    return r->names + value / r->high * (WIDTH - r->names - r->ends);
}

/* The grid below `count` rows. */
static void put_rows_frame(FILE *out, const struct rows *r, const char *label, unsigned count)
{
    double high = r->high;
    char text[32];
    int bottom = TOP + (int)count * ROW;
    double step = nice_step(high);
    for (double x = 0; x <= high * (1 + 1e-9); x += step) {
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>\n", row_x(r, x), TOP,
                row_x(r, x), bottom);
        tick_text(text, sizeof text, x);
        put_text(out, row_x(r, x), bottom + 16, "middle", "tick", text);
    }
    put_text(out, (r->names + WIDTH - r->ends) / 2.0, bottom + 38, "middle", "label", label);
}

static void put_row(FILE *out, const struct rows *r, unsigned row, const char *name, double from, double to,
                    const char *fill)
{
    double y = TOP + row * ROW;
    g_autofree char *head = g_utf8_strlen(name, -1) > NAME_LETTERS ? g_utf8_substring(name, 0, NAME_LETTERS - 1) : NULL;
    g_autofree char *shown = head == NULL ? g_strdup(name) : g_strconcat(head, "\u2026", NULL);
    put_text(out, r->names - 8, y + 16, "end", "tick", shown);
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", row_x(r, from), y + 4,
            fmax(row_x(r, to) - row_x(r, from), 0.8), ROW - 8, fill);
}

/* Both kinds of rows end where the scale does. */
static bool rows_init(struct rows *r, double high, unsigned count)
{
    if (count == 0 || high <= 0)
        return false;
    r->high = ceil(high / nice_step(high) - 1e-9) * nice_step(high);
    r->names = NAME_LEAST;
    r->ends = END_LEAST;
    return true;
}

static void put_legend(FILE *out, const struct rows *r, const char *name, const char *second_name)
{
    fprintf(out, "<rect x=\"%d\" y=\"28\" width=\"22\" height=\"11\" fill=\"%s\"/>\n", r->names, colours[0]);
    put_text(out, r->names + 28, 38, "start", "label", name);
    fprintf(out, "<rect x=\"%d\" y=\"28\" width=\"22\" height=\"11\" fill=\"#fff\" stroke=\"%s\" "
            "stroke-dasharray=\"3 2\"/>\n", r->names + 110, colours[1]);
    put_text(out, r->names + 138, 38, "start", "label", second_name);
}

void svg_bars(FILE *out, const char *title, const char *label, const char *name, const char *second_name,
              const struct svg_bar *bars, unsigned count)
{
    struct rows r;
    double high = 0;
    for (unsigned i = 0; i < count; i++)
        high = fmax(high, bars[i].value + bars[i].second);
    if (!rows_init(&r, high, count))
        return;
    for (unsigned i = 0; i < count; i++) {
        take_room(&r.names, NAME_MOST, bars[i].name);
        take_room(&r.ends, END_MOST, bars[i].text);
    }
    begin(out, rows_height(count), title);
    put_rows_frame(out, &r, label, count);
    for (unsigned i = 0; i < count; i++) {
        put_row(out, &r, i, bars[i].name, 0, bars[i].value, colours[0]);
        if (bars[i].second > 0)
            fprintf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#fff\" stroke=\"%s\" "
                    "stroke-dasharray=\"3 2\"/>\n", row_x(&r, bars[i].value), TOP + (int)i * ROW + 4,
                    row_x(&r, bars[i].second) - r.names, ROW - 8, colours[1]);
        put_text(out, row_x(&r, bars[i].value + bars[i].second) + 5, TOP + i * ROW + 16, "start", "tick",
                 bars[i].text);
    }
    if (second_name != NULL)
        put_legend(out, &r, name, second_name);
    fputs("</svg>\n", out);
}

void svg_spans(FILE *out, const char *title, const char *label, const struct svg_span *spans, unsigned count)
{
    struct rows r;
    double high = 0;
    for (unsigned i = 0; i < count; i++)
        high = fmax(high, spans[i].to);
    if (!rows_init(&r, high, count))
        return;
    for (unsigned i = 0; i < count; i++) {
        take_room(&r.names, NAME_MOST, spans[i].name);
        take_room(&r.ends, END_MOST, spans[i].text);
    }
    begin(out, rows_height(count), title);
    put_rows_frame(out, &r, label, count);
    for (unsigned i = 0; i < count; i++) {
        put_row(out, &r, i, spans[i].name, spans[i].from, spans[i].to, colours[i % 2 == 0 ? 0 : 2]);
        put_text(out, row_x(&r, spans[i].to) + 5, TOP + i * ROW + 16, "start", "tick", spans[i].text);
    }
    fputs("</svg>\n", out);
}
