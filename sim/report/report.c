/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

#include "report/page.h"
#include "report/sections.h"

const char *const report_format_names[] = { [REPORT_FORMAT_TEXT] = "text", [REPORT_FORMAT_JSON] = "json",
                                            [REPORT_FORMAT_TSV] = "tsv", [REPORT_FORMAT_HTML] = "html",
                                            [REPORT_FORMATS] = NULL };

typedef gboolean section_add_fn(struct document *d, const struct report_source *source, GError **error);

static section_add_fn *const sections[] = {
    section_add_run, section_add_results, section_add_lists, section_add_limits, section_add_heap, section_add_stages,
    section_add_roles, section_add_path, section_add_chain
};

static struct document *describe(const struct report_source *source, GError **error)
{
    g_autofree char *title = g_strdup_printf("tiercel report of %s", reader_path(source->reader));
    struct document *d = document_new(title);

    for (unsigned i = 0; i < G_N_ELEMENTS(sections); i++)
        if (!sections[i](d, source, error)) {
            document_free(d);
            return NULL;
        }
    return d;
}

static void write_document(const struct document *d, const struct report_source *source, enum report_format format,
                           FILE *out)
{
    switch (format) {
    case REPORT_FORMAT_TEXT:
        document_write_text(d, out);
        break;
    case REPORT_FORMAT_JSON:
        document_write_json(d, out);
        break;
    case REPORT_FORMAT_TSV:
        document_write_tsv(d, out);
        break;
    case REPORT_FORMAT_HTML:
        page_write(d, source, out);
        break;
    case REPORT_FORMATS:
        g_assert_not_reached();
    }
}

gboolean report_write(const struct report_request *request, FILE *out, GError **error)
{
    struct report_source source = { .job = request->job };
    struct collector *figures = NULL;
    struct summary *summary = NULL;
    struct document *d = NULL;

    source.reader = reader_open(request->path, error);
    if (source.reader == NULL)
        return FALSE;
    figures = reader_figures(source.reader, error);
    if (figures != NULL) {
        g_autofree char *text = reader_document(source.reader, "summary");
        /* One that another version of the program wrote may lack keys: the trace's own figures are there. */
        summary = text != NULL ? summary_parse(text, request->path, NULL) : NULL;
        source.figures = figures;
        source.summary = summary;
        d = describe(&source, error);
    }
    if (d != NULL)
        write_document(d, &source, request->format, out);
    gboolean good = d != NULL;
    document_free(d);
    summary_free(summary);
    collector_free(figures);
    reader_free(source.reader);
    return good;
}
