/* dress.c: how the hidden equations look from outside.
 *
 *   y_i = x / scale,   w = (I + N) y,   z_i = w_i + beta_i sin(w_j), j < i
 *   r = row * (I + N') (1 + 0.3 sin z_j) psi(g)
 *
 * |N| <= 0.4 and |beta| <= 0.3 in the maximum norm, so an error in z and one in y differ by a factor of
 * at most 1.4 * 1.3 one way and 1 / (0.6 * 0.7) the other: 4.4 for both. What is done to rows changes no
 * solution. Rows of one size are mixed (kernel.c divides them by their rates), and scaled afterwards.
 *
 * Levels survive: z_i may hold x_j only where j's level is not higher, and z_i with a derivative only
 * what has one (index 1 without declared levels: anything; the kernel of the leading matrix is
 * oblique then). Constraints of index 2 and 3 are added to other rows; one time in five also other rows
 * to them, which costs a factor 1 / h of rounding.
 */
#include "prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MIX = 0.4, BENT = 0.3;

static int may_hold(const problem *p, int i, int j)
{
    const hidden *a = &p->kernel.z[i], *b = &p->kernel.z[j];
    if (p->kernel.index <= 1) return !p->levels || !a->differential || b->differential;
    return b->level <= a->level && (!a->differential || b->differential);
}

static int may_add(const problem *p, int full, int i, int j)
{
    return p->kernel.index <= 1 || full || p->kernel.z[i].differential ||
           !p->kernel.z[j].differential;
}

static int near(const problem *p, draw *d, int i)
{
    const kernel *k = &p->kernel;
    int j = k->shape == SHAPE_BAND ? i + draw_below(d, 2 * k->reach + 1) - k->reach
                                   : draw_below(d, k->n);
    return j < 0 || j >= k->n ? i : j;
}

/* columns: which unknowns z_i holds; else which rows are added to row i. */
static void mix_draw(problem *p, draw *d, mix *m, int columns, int full)
{
    int n = p->kernel.n, most = p->kernel.shape == SHAPE_DENSE ? n : 2, count = 0;
    m->on = 1;
    m->column = malloc(sizeof(int) * (size_t)(n * most + 1));
    m->value = malloc(sizeof(double) * (size_t)(n * most + 1));
    for (int i = 0; i < n; i++) {
        m->start[i] = count;
        double sum = 0;
        for (int c = 0; c < most; c++) {
            int j = p->kernel.shape == SHAPE_DENSE ? c : near(p, d, i);
            if (j == i || !(columns ? may_hold(p, i, j) : may_add(p, full, i, j))) continue;
            m->column[count] = j;
            m->value[count] = draw_sign(d, 0.2, 1);
            sum += fabs(m->value[count++]);
        }
        for (int c = m->start[i]; c < count; c++) m->value[c] *= MIX / fmax(sum, 1);
    }
    m->start[n] = count;
}

void mix_apply(const mix *m, int n, const double *y, double *w)
{
    for (int i = 0; i < n; i++) {
        double sum = y[i];
        for (int c = m->on ? m->start[i] : 0; m->on && c < m->start[i + 1]; c++)
            sum += m->value[c] * y[m->column[c]];
        w[i] = sum;
    }
}

/* y of (I + N) y = w; an iteration gains a factor 0.4 at least. */
static void mix_solve(const mix *m, int n, const double *w, double *y)
{
    memcpy(y, w, sizeof(double) * (size_t)n);
    for (int sweep = 0; m->on && sweep < 60; sweep++) {
        double moved = 0;
        for (int i = 0; i < n; i++) {
            double sum = w[i];
            for (int c = m->start[i]; c < m->start[i + 1]; c++)
                sum -= m->value[c] * y[m->column[c]];
            moved = fmax(moved, fabs(sum - y[i]));
            y[i] = sum;
        }
        if (moved < 1e-17) break;
    }
}

static void shuffle(draw *d, int n, int *order)
{
    for (int i = n - 1; i > 0; i--) {
        int j = draw_below(d, i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

static void draw_scales(problem *p, draw *d)
{
    dress *c = &p->dress;
    int kind = draw_below(d, 10); /* half unscaled, the rest within 1e+-2 or 1e+-8 */
    double most = kind < 5 ? 1 : kind < 8 ? 1e2 : 1e8;
    p->scaled = kind >= 5;
    c->unit =
        p->scaled && draw_chance(d, 0.5) ? draw_log(d, fmax(1e-4, 1 / most), fmin(1e4, most)) : 1;
    c->t0 = draw_chance(d, 0.3) ? draw_in(d, -3, 3) * c->unit : 0;
    for (int i = 0; i < p->kernel.n; i++) {
        c->scale[i] = draw_log(d, 1 / most, most);
        c->row[i] = draw_log(d, 1 / most, most);
    }
}

void dress_draw(problem *p, draw *d)
{
    dress *c = &p->dress;
    kernel *k = &p->kernel;
    int n = k->n, plain = c->form == FORM_IDENTITY || c->form == FORM_DIAGONAL;
    draw_scales(p, d);
    for (int i = 0; i < n; i++) c->place[i] = c->line[i] = i;
    if (k->shape != SHAPE_BAND && draw_chance(d, 0.5)) {
        shuffle(d, n, c->place);
        shuffle(d, n, c->line);
    }
    if (plain) memcpy(c->line, c->place, sizeof c->line);
    int moving = c->form != FORM_CONSTANT && !plain;
    int bent = draw_chance(d, 0.4), swell = draw_chance(d, 0.4), full = draw_chance(d, 0.2);
    if (!plain && draw_chance(d, 0.5)) mix_draw(p, d, &c->columns, 1, 0);
    if (!plain && draw_chance(d, 0.4)) mix_draw(p, d, &c->rows, 0, full);
    c->full = c->rows.on && full;
    for (int i = 0; i < n; i++) {
        int j = near(p, d, i), s = near(p, d, i);
        int fits = j < i && may_hold(p, i, j) && (moving || (!plain && !k->z[i].differential));
        c->bent[i] = bent && fits ? j : -1;
        c->beta[i] = draw_sign(d, 0.05, BENT);
        c->swell[i] = swell && moving && k->z[s].level < 2 ? s : -1;
    }
    if (c->form == FORM_IMPLICIT && draw_chance(d, 0.3)) c->kink = draw_sign(d, 0.05, 0.3);
    for (int i = 0; c->form == FORM_IDENTITY && i < n; i++)
        c->row[i] = c->scale[i] / c->unit * fmax(1, k->z[i].rate);
}

void dress_close(dress *c)
{
    free(c->columns.column);
    free(c->columns.value);
    free(c->rows.column);
    free(c->rows.value);
}

/* x and x' (leading term: d') at t; slope may be NULL. */
void dress_exact(problem *p, double t, double *x, double *slope)
{
    const dress *c = &p->dress;
    const kernel *k = &p->kernel;
    int n = k->n, count = 0;
    double time = (t - c->t0) / c->unit, w[KERNEL_MOST] = { 0 }, wp[KERNEL_MOST] = { 0 };
    double y[KERNEL_MOST] = { 0 }, yp[KERNEL_MOST] = { 0 };
    for (int i = 0; i < n; i++) {
        int j = c->bent[i];
        w[i] = curve_value(&k->z[i].s, time);
        wp[i] = curve_slope(&k->z[i].s, time);
        if (slope && c->form == FORM_LEADING && k->z[i].differential)
            slope[count++] = wp[i] * c->scale[i] / c->unit;
        if (j < 0) continue;
        w[i] -= c->beta[i] * sin(w[j]);
        wp[i] -= c->beta[i] * cos(w[j]) * wp[j];
    }
    mix_solve(&c->columns, n, w, y);
    mix_solve(&c->columns, n, wp, yp);
    for (int i = 0; i < n; i++) {
        x[c->place[i]] = c->scale[i] * y[i];
        if (slope && c->form != FORM_LEADING) slope[c->place[i]] = c->scale[i] * yp[i] / c->unit;
    }
}
