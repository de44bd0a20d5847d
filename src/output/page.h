/* page.h: a run as one web page that needs nothing else: no server, no network, no other file.
 *
 *     dae_page_open(&page, &sink, variables, count);
 *     page.writer.begin, point, ... (trajectory.h)
 *     page.title = ...; dae_page_fact(&page, "steps", "%d", 412);
 *     page.writer.end(&page.writer);                     writes it all
 *
 * The curves are drawn by dygraphs, which the page carries with it. All text from outside is
 * escaped; the page itself allows only the scripts and the style it was written with (by their
 * hashes) and no address to be opened. Of long runs it keeps so many points that no extreme is lost (curves.h); of models
 * with very many variables the first DAE_PAGE_CURVES that vary.
 */
#ifndef DAE_OUTPUT_PAGE_H
#define DAE_OUTPUT_PAGE_H

#include "daedalus/insight.h"
#include "output/curves.h"
#include "output/shares.h"
#include "output/svg.h"

enum {
    DAE_PAGE_POINTS = 5000,
    DAE_PAGE_CURVES = 10000,
    DAE_PAGE_FACTS = 32,
    DAE_PAGE_EVENTS = 1000
};

typedef struct dae_page_fact_row {
    const char *label;
    char value[64];
} dae_page_fact_row;

typedef struct dae_page {
    dae_trajectory writer;
    dae_sink *sink;
    const dae_variable *const *variable;
    int count;

    /* words; NULL: that section is left out */
    const char *title, *summary;
    const char *failure;              /* why the run ended early: it stands first */
    const char *source_name, *source; /* the model's text, with its length */
    size_t source_length;
    const char *analysis, *messages, *flat;
    const dae_insight *insight; /* pictures of the structure; NULL: none */
    dae_page_fact_row fact[DAE_PAGE_FACTS];
    int facts;

    dae_shares shares;
    dae_curves curves;
    double *constant; /* values of what does not vary */
    double *row;      /* those that vary, of one point */
    double *event;    /* times of which there are two rows, the first DAE_PAGE_EVENTS */
    double last;      /* the time of the row before */
    int64_t events;   /* all of them */
    dae_svg still;    /* the picture where there is no dygraphs */
    dae_memory memory;
} dae_page;

/* The variables are those of point's x, and stay with the caller. */
void dae_page_open(dae_page *w, dae_sink *sink, const dae_variable *const *variable, int count);
void dae_page_fact(dae_page *w, const char *label, const char *format, ...) DAE_PRINTF(3, 4);

/* The numbers, as JSON inside the page (page_data.c). */
void dae_page_data(const dae_page *w);

/* Pictures of which unknowns occur where (page_structure.c). */
void dae_page_structure(dae_page *w);

int dae_page_is_live(void); /* 1: with dygraphs */

#endif
