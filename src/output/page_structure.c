/* page_structure.c: which unknowns occur in which equations, as pictures in a report page.
 *
 * The equations in the order in which they are solved: a square for every unknown that occurs,
 * blocks that are solved together framed, what is torn in another colour. More than RASTER rows
 * are drawn as a raster of that many, where a square means that there is something in it. Of
 * small models also Pryce's signature matrix with its offsets, as a table.
 */
#include "output/page.h"

#include <string.h>

enum { RASTER = 400, NAMED = 60, SIGNATURE = 30 };

static void escaped(dae_sink *s, const char *text)
{
    dae_sink_markup(s, text, strlen(text));
}

/* ---- the matrix ---- */

typedef struct picture {
    dae_sink *s;
    const dae_insight_matrix *m;
    unsigned size;                 /* squares on a side */
    unsigned char (*cell)[RASTER]; /* 1: something, 2: something torn */
} picture;

static unsigned place(const picture *p, unsigned i)
{
    return (unsigned)((uint64_t)i * p->size / p->m->size);
}

static void fill_cells(picture *p)
{
    for (size_t e = 0; e < p->m->entries; e++) {
        unsigned char *at = &p->cell[place(p, p->m->row[e])][place(p, p->m->column[e])];
        unsigned char what = p->m->torn[p->m->column[e]] ? 2 : 1;
        *at = *at > what ? *at : what;
    }
}

/* All squares of a kind as one path, runs in a row joined. */
static void draw_cells(picture *p, unsigned char kind, const char *class_name)
{
    dae_sink_print(p->s, "<path class=\"%s\" d=\"", class_name);
    for (unsigned i = 0; i < p->size; i++)
        for (unsigned j = 0; j < p->size; j++) {
            unsigned run = 0;
            while (j + run < p->size && p->cell[i][j + run] == kind) run++;
            if (run) dae_sink_print(p->s, "M%u %uh%uv1h-%uz", j, i, run, run);
            j += run;
        }
    dae_sink_text(p->s, "\"/>\n");
}

/* Blocks of more than one equation, if they can be seen. */
static void draw_blocks(picture *p)
{
    dae_sink_text(p->s, "<path class=\"block\" d=\"");
    for (size_t b = 0; b < p->m->blocks; b++) {
        unsigned from = place(p, p->m->begin[b]);
        unsigned to = p->m->begin[b + 1] == p->m->size ? p->size : place(p, p->m->begin[b + 1]);
        if (p->m->begin[b + 1] - p->m->begin[b] > 1 && to > from)
            dae_sink_print(p->s, "M%u %uh%uv%uh-%uz", from, from, to - from, to - from, to - from);
    }
    dae_sink_text(p->s, "\"/>\n");
}

/* Invisible squares that say what they are under the mouse. */
static void name_entries(picture *p)
{
    if (!p->m->row_name || p->m->size > NAMED) return;
    for (size_t e = 0; e < p->m->entries; e++) {
        dae_sink_print(p->s,
                       "<rect class=\"hit\" x=\"%u\" y=\"%u\" width=\"1\" height=\"1\"><title>",
                       p->m->column[e], p->m->row[e]);
        escaped(p->s, p->m->column_name[p->m->column[e]]);
        dae_sink_text(p->s, " in ");
        escaped(p->s, p->m->row_name[p->m->row[e]]);
        dae_sink_text(p->s, "</title></rect>\n");
    }
}

static void draw_matrix(dae_page *w, const dae_insight_matrix *m)
{
    dae_sink *s = w->sink;
    picture p = { .s = s, .m = m, .size = (unsigned)(m->size < RASTER ? m->size : RASTER) };
    p.cell = dae_alloc(&w->memory, RASTER, sizeof *p.cell);
    if (!p.cell) return; /* a page without the picture is better than none */
    fill_cells(&p);
    dae_sink_print(
        s,
        "<p class=\"note\">%zu equations (down) and their unknowns (across) in the order of "
        "solving; frames: equations solved together; the other colour: torn unknowns.%s</p>\n",
        m->size, m->size > RASTER ? " Drawn as a raster." : "");
    dae_sink_print(s,
                   "<svg role=\"img\" aria-label=\"structure of the equations\" viewBox=\"-0.5 "
                   "-0.5 %u %u\">\n",
                   p.size + 1, p.size + 1);
    draw_cells(&p, 1, "entry");
    draw_cells(&p, 2, "torn");
    draw_blocks(&p);
    name_entries(&p);
    dae_sink_text(s, "</svg>\n");
    dae_free(&w->memory, p.cell);
}

/* ---- the signature ---- */

static void signature_row(dae_sink *s, const dae_insight_signature *x, size_t i)
{
    signed char order[SIGNATURE];
    memset(order, -1, sizeof order);
    for (size_t e = 0; e < x->entries; e++)
        if (x->row[e] == i) order[x->column[e]] = (signed char)x->order[e];
    dae_sink_text(s, "<tr><th>");
    escaped(s, x->row_name[i]);
    dae_sink_text(s, "</th>");
    for (size_t j = 0; j < x->size; j++)
        if (order[j] < 0)
            dae_sink_text(s, "<td></td>");
        else
            dae_sink_print(s, "<td%s>%d</td>", x->match[i] == j ? " class=\"match\"" : "",
                           order[j]);
    dae_sink_print(s, "<td class=\"offset\">%u</td></tr>\n", x->c[i]);
}

static void draw_signature(dae_sink *s, const dae_insight_signature *x)
{
    dae_sink_text(
        s, "<p class=\"note\">The signature matrix: how often each unknown is differentiated in "
           "each equation, marked where an equation is matched with it; c: how often the "
           "equation has to be differentiated, d: up to which derivative the unknown then "
           "occurs.</p>\n<div class=\"signature\"><table>\n<tr><th></th>");
    for (size_t j = 0; j < x->size; j++) {
        dae_sink_text(s, "<th>");
        escaped(s, x->column_name[j]);
        dae_sink_text(s, "</th>");
    }
    dae_sink_text(s, "<th>c</th></tr>\n");
    for (size_t i = 0; i < x->size; i++) signature_row(s, x, i);
    dae_sink_text(s, "<tr><th>d</th>");
    for (size_t j = 0; j < x->size; j++) dae_sink_print(s, "<td class=\"offset\">%u</td>", x->d[j]);
    dae_sink_text(s, "<td></td></tr>\n</table></div>\n");
}

void dae_page_structure(dae_page *w)
{
    const dae_insight *k = w->insight;
    if (!k || (k->matrix.size == 0 && k->signature.size == 0)) return;
    dae_sink_text(w->sink, "<details id=\"structure\" open><summary>Structure</summary>\n");
    if (k->matrix.size > 0) draw_matrix(w, &k->matrix);
    if (k->signature.size > 0 && k->signature.size <= SIGNATURE)
        draw_signature(w->sink, &k->signature);
    dae_sink_text(w->sink, "</details>\n");
}
