/* curves.c: many curves in bounded memory; see curves.h. */
#include "output/curves.h"
#include "base/float_check.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SPARE = 3 }; /* an unfinished group and the last row come behind a full store */

static size_t stride(const dae_curves *c)
{
    return (size_t)c->most + SPARE;
}

int dae_curves_open(dae_curves *c, int count, int most)
{
    memset(c, 0, sizeof *c);
    dae_memory_init(&c->memory, NULL);
    c->count = count;
    c->most = 1 + most / 4 * 4; /* the first row, and groups of four */
    c->group = 1;
    c->t = dae_alloc(&c->memory, stride(c), sizeof(double));
    c->v = dae_alloc(&c->memory, stride(c) * (size_t)count, sizeof(double));
    c->last = dae_alloc(&c->memory, (size_t)count, sizeof(double));
    c->open = dae_alloc(&c->memory, (size_t)count, sizeof *c->open);
    return c->t && c->v && c->last && c->open ? 0 : ENOMEM;
}

void dae_curves_close(dae_curves *c)
{
    void *const block[] = { c->t, c->v, c->own, c->last, c->open };
    for (int k = 0; k < 5; k++)
        if (block[k]) dae_free(&c->memory, block[k]);
    memset(c, 0, sizeof *c);
}

const double *dae_curves_times(const dae_curves *c, int i)
{
    return c->own ? c->own + stride(c) * (size_t)i : c->t;
}

const double *dae_curves_values(const dae_curves *c, int i)
{
    return c->v + stride(c) * (size_t)i;
}

/* ---- extremes ---- */

/* The lowest value where it came first, the highest where it came last; NaN only if there is
 * nothing else. */
static void take(dae_extremes *e, double t, double v, int64_t row, int first)
{
    if (first || v < e->low || isnan(e->low)) {
        e->low = v;
        e->t_low = t;
        e->at_low = row;
    }
    if (first || v >= e->high || isnan(e->high)) {
        e->high = v;
        e->t_high = t;
        e->at_high = row;
    }
}

static void give(const dae_extremes *e, double *t, double *v)
{
    int low_first = e->at_low <= e->at_high;
    t[0] = low_first ? e->t_low : e->t_high;
    v[0] = low_first ? e->low : e->high;
    t[1] = low_first ? e->t_high : e->t_low;
    v[1] = low_first ? e->high : e->low;
}

/* Four points become two. */
static int thin(dae_curves *c)
{
    if (!c->own) {
        c->own = dae_alloc(&c->memory, stride(c) * (size_t)c->count, sizeof(double));
        if (!c->own) return ENOMEM;
        for (int i = 0; i < c->count; i++)
            memcpy(c->own + stride(c) * (size_t)i, c->t, stride(c) * sizeof(double));
    }
    int groups = (c->points - 1) / 4;
    for (int i = 0; i < c->count; i++) {
        double *t = c->own + stride(c) * (size_t)i, *v = c->v + stride(c) * (size_t)i;
        for (int g = 0; g < groups; g++) {
            dae_extremes e = { 0 };
            for (int k = 0; k < 4; k++) take(&e, t[1 + 4 * g + k], v[1 + 4 * g + k], k, k == 0);
            give(&e, t + 1 + 2 * g, v + 1 + 2 * g);
        }
    }
    c->points = 1 + 2 * groups;
    c->group = c->group == 1 ? 4 : 2 * c->group;
    return 0;
}

/* ---- rows ---- */

static void store_row(dae_curves *c, double t, const double *v)
{
    c->t[c->points] = t;
    for (int i = 0; i < c->count; i++) {
        c->v[stride(c) * (size_t)i + (size_t)c->points] = v[i];
        if (c->own) c->own[stride(c) * (size_t)i + (size_t)c->points] = t;
    }
    c->points++;
}

static void store_groups(dae_curves *c)
{
    for (int i = 0; i < c->count; i++) {
        size_t at = stride(c) * (size_t)i + (size_t)c->points;
        give(&c->open[i], c->own + at, c->v + at);
    }
    c->points += 2;
    c->waiting = 0;
}

int dae_curves_add(dae_curves *c, double t, const double *v)
{
    if (c->points == c->most && c->waiting == 0) {
        int error = thin(c);
        if (error) return error;
    }
    c->t_last = t;
    memcpy(c->last, v, (size_t)c->count * sizeof(double));
    c->rows++;
    if (c->group == 1) {
        store_row(c, t, v);
        return 0;
    }
    for (int i = 0; i < c->count; i++) take(&c->open[i], t, v[i], c->rows, c->waiting == 0);
    if (++c->waiting == c->group) store_groups(c);
    return 0;
}

void dae_curves_finish(dae_curves *c)
{
    if (c->group == 1) return;
    if (c->waiting > 0) store_groups(c);
    store_row(c, c->t_last, c->last);
}
