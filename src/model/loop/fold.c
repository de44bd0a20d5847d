/* fold.c: a run cannot go on: do the solutions of a loop end there?
 *
 * The equations of a loop, F(u, t) = 0 with the states as they go on from the last point, are a
 * curve in the space of (u, t). It is followed from that point on, not by t but by its length s
 * in u, so that
 *
 *     A = (F_u  F_t; v' 0),  v the direction of the curve in u,
 *
 * is regular where F_u alone is singular, and t(s) is something to look at:
 *
 *     t has a maximum. Before it there are two solutions, which meet there: a fold (or a kink,
 *     abs(x) = 1 - t). Nearby there is no solution behind it. It is believed only if t falls on
 *     both sides like s^2 (s^4, s at a kink), not if it jumps down or is noise.
 *
 *     u grows by a million, and t comes to a stand: u grows beyond all bounds as t comes near t*.
 *     (By less if the equations cannot be computed farther out, and t stood still to rounding, or
 *     u had grown by much in the run before.)
 *
 *     t goes on: the loop is not what the run failed for; or, where it is steep, x^3 = t, it is
 *     no impasse, whatever it looked like. Where A is singular, solutions crossing each other, or
 *     where the curve cannot be followed, nothing is said.
 *
 * All of that within 1e-6 of the whole time: the states are extrapolated by their derivatives. If
 * these follow from u they are computed anew at the maximum, and it has to be there with them as
 * well (of y' = -u, u^2 = y it is not: u and y' pass 0 together); and of what becomes infinite
 * with them it is only said what was seen, unless it has grown by GROWN already.
 */
#include "model/loop/loop.h"

#include "linear/lapack.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 60, STEPS = 300, HALVINGS = 40, ITERATIONS = 12, NAMED = 4, WORK = 1000000 };

/* REACH, FALLEN, LOOK: of the whole time; FIRST: the first step, of the unknowns */
static const double REACH = 1e-6, FALLEN = 1e-11, LOOK = 1e-7, FIRST = 1e-9, HALF = 1e3,
                    ENDLESS = 1e6, GROWN = 1e4, STEEP = 1e-4, NOISY = 1e-8;

typedef struct place {
    double *u, t;      /* u in units of `size` */
    double *along, up; /* the direction of the curve, |along| = 1, and dt/ds */
} place;

typedef struct curve {
    model *m;
    loop l;
    size_t number; /* of the step in the plan */
    size_t *left;  /* steps that may still be solved, of all curves */
    int n;
    double t0, span, now; /* of the last point; the whole time; for which the slots are set */
    double *x, *xdot;     /* the last point */
    double *size, *whole, *r, *late, *early, *slope, *A, *b, *work;
    double unit;  /* the column of t in A is divided by this */
    double noise; /* rounding of the equations, as it moves t, in units of the whole time */
    int *pivot;
    place here, next, top, from, other;
} curve;

typedef enum finding { NOTHING, FOLDS, GROWS, PASSES } finding;

static void copy_place(const curve *c, place *to, const place *from)
{
    size_t bytes = (size_t)c->n * sizeof(double);
    memcpy(to->u, from->u, bytes);
    memcpy(to->along, from->along, bytes);
    to->t = from->t;
    to->up = from->up;
}

static void open_place(curve *c, place *p)
{
    p->u = dae_arena_take(&c->m->arena, 2 * (size_t)c->n, sizeof *p->u);
    p->along = p->u + c->n;
}

static void open_curve(curve *c, model *m, model_step *s, const double *x, const double *xdot)
{
    size_t n = s->torn, all = n + 1, size = (size_t)m->p.problem.size;
    place *places[] = { &c->here, &c->next, &c->top, &c->from, &c->other };
    c->m = m;
    c->n = (int)n;
    c->number = (size_t)(s - m->run.step);
    c->l = (loop){ .m = m, .plan = &m->run, .s = s, .budget = 1000000 };
    double **vector[] = { &c->l.offset, &c->size,  &c->whole, &c->r,
                          &c->late,     &c->early, &c->slope, &c->b };
    for (size_t k = 0; k < 8; k++) *vector[k] = dae_arena_take(&m->arena, all, sizeof(double));
    c->A = dae_arena_take(&m->arena, 3 * all * all, sizeof(double));
    c->work = dae_arena_take(&m->arena, 8 * all + 64, sizeof(double));
    c->pivot = dae_arena_take(&m->arena, 2 * all, sizeof(int));
    c->x = dae_arena_take(&m->arena, 2 * size + 1, sizeof(double));
    c->xdot = c->x + size;
    memcpy(c->x, x, size * sizeof(double));
    memcpy(c->xdot, xdot, size * sizeof(double));
    for (size_t k = 0; k < 5; k++) open_place(c, places[k]);
    for (size_t j = 0; j < n; j++) {
        uint32_t slot = s->torn_slot[j];
        double nominal = fabs(m->variable[slot_variable(slot)].nominal_value);
        c->size[j] =
            fmax(fabs(m->value[slot]), nominal > 0 && !slot_is_derivative(slot) ? nominal : 1);
        c->here.u[j] = m->value[slot] / c->size[j];
    }
}

/* ---------------------------------------------------------------- the equations --------- */

/* The slots as they are at t: states, and what is computed before the loop. */
static bool set_time(curve *c, double t)
{
    model *m = c->m;
    bool stay = m->stay_near, good = true;
    if (c->now == t) return true;
    c->now = NAN;
    if (*c->left <= c->number) return false;
    *c->left -= c->number + 1;
    model_put_point(m, t, c->x, c->xdot);
    for (size_t j = 0; j < m->p.states; j++)
        m->value[slot_of(m->p.variable[j], 0)] = c->x[j] + (t - c->t0) * c->xdot[j];
    m->stay_near = true;
    for (size_t k = 0; k < c->number && good; k++)
        good = model_solve_step(m, &m->run, &m->run.step[k], "looking for a fold") == DAE_OK;
    m->stay_near = stay;
    if (good) c->now = t;
    return good;
}

static bool evaluate(curve *c, const double *u, double t, double *r)
{
    if (!set_time(c, t)) return false;
    for (int j = 0; j < c->n; j++) c->whole[j] = u[j] * c->size[j];
    return loop_evaluate(&c->l, c->whole, r) == DAE_OK;
}

/* F_t into `slope`, in units of the whole time; from one side where the other is not defined. */
static bool find_slope(curve *c, const double *u, double t)
{
    double d = LOOK * c->span, *late = c->late, *early = c->early;
    bool ahead = evaluate(c, u, t + d, late), behind = evaluate(c, u, t - d, early);
    if (!ahead && !behind) return false;
    for (int i = 0; i < c->n; i++)
        c->slope[i] = ((ahead ? late[i] : c->r[i]) - (behind ? early[i] : c->r[i])) /
                      ((ahead && behind ? 2 : 1) * LOOK);
    return true;
}

/* r := F, with F_u and F_t; early := the size of each row of these. */
static bool measure_rows(curve *c, const place *p)
{
    int n = c->n;
    if (!evaluate(c, p->u, p->t, c->r) || !find_slope(c, p->u, p->t)) return false;
    if (!evaluate(c, p->u, p->t, c->r) || loop_jacobian(&c->l) != DAE_OK) return false;
    for (int i = 0; i < n; i++) {
        double row = fabs(c->slope[i]);
        for (int j = 0; j < n; j++) row = fmax(row, fabs(c->l.s->K[i + j * n]) * c->size[j]);
        if (!(row > 0) || !isfinite(row)) return false;
        c->early[i] = row;
    }
    return true;
}

/* A := the factors of (F_u F_t; v' 0), rows scaled (in `early`: by what). */
static bool factor(curve *c, const place *p, const double *v)
{
    int n = c->n, all = n + 1, info = 0;
    const double *K = c->l.s->K;
    double *A = c->A, rcond = 0, most = 0;
    if (!measure_rows(c, p)) return false;
    for (int i = 0; i < n; i++) {
        double row = c->early[i];
        for (int j = 0; j < n; j++) A[i + j * all] = K[i + j * n] * c->size[j] / row;
        A[i + n * all] = c->slope[i] / row;
        c->unit = fmax(i > 0 ? c->unit : 0, fabs(A[i + n * all]));
    }
    if (!(c->unit > 0)) return false;
    for (int i = 0; i < n; i++) A[i + n * all] /= c->unit;
    for (int j = 0; j < n; j++) A[n + j * all] = v[j];
    A[n + n * all] = 0;
    for (int j = 0; j < all; j++) {
        double sum = 0;
        for (int i = 0; i < all; i++) sum += fabs(A[i + j * all]);
        most = fmax(most, sum);
    }
    dgetrf_(&all, &all, A, &all, c->pivot, &info);
    if (info != 0) return false;
    dgecon_("1", &all, A, &all, &most, &rcond, c->work, c->pivot + all, &info, 1);
    return info == 0 && rcond > 1e-10;
}

/* b := A^-1 b */
static bool solve(curve *c)
{
    int all = c->n + 1, one = 1, info = 0;
    dgetrs_("N", &all, &one, c->A, &all, c->pivot, c->b, &all, &info, 1);
    c->b[c->n] /= c->unit;
    for (int j = 0; j < all && info == 0; j++)
        if (!isfinite(c->b[j])) return false;
    return info == 0;
}

/* noise := what rounding of the terms of the equations at p does to t: by the last row of A^-1.
 */
static void find_noise(curve *c, const place *p)
{
    int n = c->n, all = n + 1, one = 1, info = 0;
    const double *K = c->l.s->K;
    memset(c->b, 0, (size_t)n * sizeof(double));
    c->b[n] = 1;
    dgetrs_("T", &all, &one, c->A, &all, c->pivot, c->b, &all, &info, 1);
    c->noise = 0;
    for (int i = 0; i < n; i++) {
        double terms = 0;
        for (int j = 0; j < n; j++) terms += fabs(K[i + j * n] * c->size[j] * p->u[j]);
        c->noise += fabs(c->b[i]) * DBL_EPSILON * terms / (c->early[i] * c->unit);
    }
}

/* The direction of the curve at p, from the factors. */
static bool find_direction(curve *c, place *p)
{
    double length = 0;
    memset(c->b, 0, (size_t)c->n * sizeof(double));
    c->b[c->n] = 1;
    if (!solve(c)) return false;
    for (int j = 0; j < c->n; j++) length = hypot(length, c->b[j]);
    for (int j = 0; j < c->n; j++) p->along[j] = c->b[j] / length;
    p->up = c->b[c->n] * c->span / length;
    return length > 0;
}

/* From p, where v' u is to stay, to the curve, by Newton's method: not farther than `far` in u.
 */
static bool come_back(curve *c, place *p, const double *v, double far)
{
    double moved = 0, rounding = 8 * DBL_EPSILON * fmax(fabs(p->t), c->span);
    for (int k = 0; k < ITERATIONS; k++) {
        double most = 0, big = 0;
        if (!factor(c, p, v)) return false;
        find_noise(c, p);
        for (int i = 0; i < c->n; i++) c->b[i] = -c->r[i] / c->early[i];
        c->b[c->n] = 0;
        if (!solve(c)) return false;
        for (int j = 0; j < c->n; j++) {
            p->u[j] += c->b[j];
            most = fmax(most, fabs(c->b[j]));
            big = fmax(big, fabs(p->u[j]));
        }
        double later = c->b[c->n] * c->span;
        p->t += later;
        moved += most;
        if (!(moved <= far + 1e-9 * big) || !(fabs(p->t - c->t0) <= 2 * REACH * c->span))
            return false;
        bool still = fabs(later) <= (k < 4 ? 1 : 50) * fmax(rounding, c->noise * c->span);
        if (most <= 1e-12 * big + 1e-6 * far && still)
            return factor(c, p, v) && find_direction(c, p);
    }
    return false;
}

/* to := the curve at `length` from `from`; both may not be the same place. */
static bool follow(curve *c, const place *from, double length, place *to)
{
    for (int j = 0; j < c->n; j++) to->u[j] = from->u[j] + length * from->along[j];
    to->t = from->t + length * from->up;
    if (fabs(to->t - c->t0) > REACH * c->span) to->t = from->t;
    return come_back(c, to, from->along, 0.3 * fabs(length));
}

/* ---------------------------------------------------------------- the beginning --------- */

/* along := how u moves with t, or if F_u is singular the null vector. */
static bool find_first_direction(curve *c, place *p)
{
    int n = c->n, info = 0, work = 8 * n + 64;
    double *J = c->A, *U = J + (n + 1) * (n + 1), *V = U + (n + 1) * (n + 1), *sigma = c->b,
           length = 0;
    const double *K = c->l.s->K;
    if (!measure_rows(c, p)) return false;
    for (int i = 0; i < n; i++) {
        double row = c->early[i];
        for (int j = 0; j < n; j++) J[i + j * n] = K[i + j * n] * c->size[j] / row;
        c->slope[i] /= row;
    }
    dgesvd_("A", "A", &n, &n, J, &n, sigma, U, &n, V, &n, c->work, &work, &info);
    if (info != 0) return false;
    memset(p->along, 0, (size_t)n * sizeof(double));
    double least =
        fmax(sigma[n - 1], DBL_MIN); /* of a null vector nothing but its direction counts */
    for (int k = 0; k < n; k++) {
        double part = 0, by = fmax(sigma[k], least) / least;
        for (int i = 0; i < n; i++) part += U[i + k * n] * c->slope[i];
        for (int j = 0; j < n; j++) p->along[j] -= V[k + j * n] * (part / by);
    }
    for (int j = 0; j < n; j++) length = hypot(length, p->along[j]);
    for (int j = 0; j < n; j++) p->along[j] /= length;
    return length > 0;
}

/* To where t grows; if it does not, as u moved so far (`before`: where it was; NULL: not known). */
static bool begin(curve *c, const double *before)
{
    place *p = &c->here;
    double went = 0, *v = c->other.along;
    if (!find_first_direction(c, p)) return false;
    memcpy(v, p->along, (size_t)c->n * sizeof(double));
    if (!come_back(c, p, v, 1e-3)) return false;
    for (int j = 0; j < c->n && before; j++) went += p->along[j] * (p->u[j] - before[j]);
    bool flat = fabs(p->up) <= fmax(64 * DBL_EPSILON, 4 * c->noise) * c->span;
    if (flat && !before) return false; /* on which side it is later is not known */
    if (flat ? went < 0 : p->up < 0) {
        for (int j = 0; j < c->n; j++) p->along[j] = -p->along[j];
        p->up = -p->up;
    }
    return fabs(p->t - c->t0) <= REACH * c->span;
}

/* ---------------------------------------------------------------- the walk -------------- */

static double largest(const curve *c, const place *p)
{
    double most = 0;
    for (int j = 0; j < c->n; j++) most = fmax(most, fabs(p->u[j]));
    return most;
}

/* How far t falls at this distance from the top; in small steps. */
static double fall(curve *c, double distance)
{
    place *p = &c->here, *q = &c->next;
    copy_place(c, p, &c->top);
    for (int k = 0; k < 4; k++) {
        if (!follow(c, p, distance / 4, q)) return NAN;
        copy_place(c, p, q);
    }
    return c->top.t - p->t;
}

/* `from` is before a maximum of t, `here` a distance behind it: top := the maximum. */
static bool is_top(curve *c, double distance)
{
    double width = distance;
    copy_place(c, &c->top, &c->from);
    for (int k = 0; k < HALVINGS; k++) {
        width /= 2;
        if (!follow(c, &c->top, width, &c->next)) continue; /* nearer there may be less of a bend */
        if (c->next.up > 0) copy_place(c, &c->top, &c->next);
    }
    for (int side = 0; side < 2; side++) {
        double d = side ? -distance : distance, full = fall(c, d), half = fall(c, d / 2);
        if (!(half > 0 && full > 1.5 * half && full < 30 * half)) return false;
        if (side == 0) copy_place(c, &c->other, &c->here);
    }
    return true;
}

/* t at sizes of the unknowns, beside those at the start, on the way to infinity. */
typedef struct growth {
    double start, first, half, size, t, still; /* still: the size from which on t did not change */
} growth;

static void note_growth(curve *c, growth *g)
{
    double rounding = 16 * DBL_EPSILON * fmax(fabs(c->t0), c->span);
    g->size = largest(c, &c->here) / g->start;
    if (isnan(g->half) && g->size > HALF) g->half = c->here.t;
    if (fabs(c->here.t - g->t) <= rounding) return;
    g->still = g->size;
    g->t = c->here.t;
}

/* Far enough; or as far as the equations can be computed, t standing still for long. */
static bool is_endless(const growth *g, double t)
{
    if (g->size > ENDLESS && t - g->half <= 0.5 * (g->half - g->first)) return true;
    return g->size > 8 * g->still;
}

/* Has it grown already, on the way to where the run ended? */
static bool has_grown(const curve *c, const model_pole *w, const place *first)
{
    double most = 0;
    for (int j = 0; j < c->n; j++) {
        uint32_t slot = c->l.s->torn_slot[j];
        double nominal = fabs(c->m->variable[slot_variable(slot)].nominal_value);
        bool given = nominal > 0 && !slot_is_derivative(slot);
        most = fmax(most, fabs(first->u[j]) * c->size[j] / (given ? nominal : 1));
    }
    return w->size > 0 && most > GROWN * w->size;
}

static finding walk(curve *c, const model_pole *w)
{
    double step = FIRST, path = 0, begun = 0;
    bool steep = fabs(c->here.up) < STEEP * c->span, grown = has_grown(c, w, &c->here),
         noisy = false;
    growth g = { .start = fmax(largest(c, &c->here), 1),
                 .first = c->here.t,
                 .half = NAN,
                 .size = 1,
                 .t = c->here.t,
                 .still = 1 };
    int failures = 0;
    copy_place(c, &c->top, &c->here);
    copy_place(c, &c->from, &c->here);
    for (int k = 0; k < STEPS && failures < HALVINGS; k++) {
        if (!follow(c, &c->here, step, &c->next)) {
            step /= 4, failures++;
            continue;
        }
        path += step;
        noisy = c->noise > NOISY;
        if (noisy) break;
        if (c->next.t > c->t0 + REACH * c->span) return steep ? PASSES : NOTHING;
        if (c->next.t > c->top.t) {
            copy_place(c, &c->from, &c->here);
            begun = path - step;
            copy_place(c, &c->top, &c->next);
        }
        copy_place(c, &c->here, &c->next);
        if (c->top.t - c->here.t > fmax(FALLEN, 100 * c->noise) * c->span)
            return c->here.up < 0 && c->from.up > 0 && is_top(c, path - begun) ? FOLDS : NOTHING;
        note_growth(c, &g);
        if (g.size > ENDLESS) break;
        step *= 2;
    }
    if (noisy && grown && steep) return GROWS;
    return is_endless(&g, c->here.t) ? GROWS : NOTHING;
}

/* ---------------------------------------------------------------- words ----------------- */

static bool is_named(const curve *c, uint32_t slot)
{
    return slot_variable(slot) < c->m->flat_variables || c->n == 1;
}

static void name_fold(const curve *c, char *at, size_t size, int *which)
{
    const model_step *s = c->l.s;
    size_t length = 0;
    int named = 0;
    double most = 0;
    for (int j = 0; j < c->n; j++)
        if (fabs(c->top.along[j]) > most && is_named(c, s->torn_slot[j])) {
            most = fabs(c->top.along[j]);
            *which = j;
        }
    for (int j = 0; j < c->n && named < NAMED; j++) {
        double value = c->top.u[j] * c->size[j];
        if (fabs(c->top.along[j]) < 1e-3 * most || !is_named(c, s->torn_slot[j])) continue;
        named++;
        length += (size_t)snprintf(at + length, size - length, ", '%.80s' = %.6g",
                                   model_slot_name(c->m, s->torn_slot[j]),
                                   fabs(value) < 1e-6 * c->size[j] ? 0 : value);
    }
}

static dae_status tell_fold(curve *c)
{
    model *m = c->m;
    const model_step *s = c->l.s;
    const model_equation *e = &m->run.list->item[s->residual_equation[0]];
    char at[NAMED * 120] = "", text[160], where[LOCATED];
    unsigned count = s->torn + s->assigned;
    int which = 0;
    name_fold(c, at, sizeof at, &which);
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    dae_report_clear(&m->report);
    dae_fail(&m->report, DAE_E_IMPASSE,
             "the solution cannot be continued: two solutions meet, and "
             "none follows (a fold, an impasse point)");
    dae_at(&m->report, "t* = %.10g%s", c->top.t, at);
    dae_why(&m->report,
            "%u equation%s, %s%s%s: followed farther along '%s' the solution goes back in time; "
            "the other one has '%s' = %.7g at t* - %.2g",
            count, count == 1 ? "" : "s", count == 1 ? "" : "among them ", text, where,
            model_slot_name(m, s->torn_slot[which]), model_slot_name(m, s->torn_slot[which]),
            c->other.u[which] * c->size[which], c->top.t - c->other.t);
    dae_hint(&m->report,
             "behind t* these equations have no real solution near by; stop before t*, or "
             "look for what should keep the model from it");
    return DAE_E_IMPASSE;
}

/* What grew, from where to where. */
static void name_growth(const curve *c, char *text, size_t size)
{
    const model_step *s = c->l.s;
    double most = largest(c, &c->here);
    size_t length = 0;
    int named = 0;
    for (int j = 0; j < c->n && named < NAMED; j++) {
        if (fabs(c->here.u[j]) < 1e-3 * most || !is_named(c, s->torn_slot[j])) continue;
        length += (size_t)snprintf(text + length, size - length, "%s'%.80s'", named++ ? ", " : "",
                                   model_slot_name(c->m, s->torn_slot[j]));
    }
}

static dae_status tell_growth(curve *c, const model_pole *w, const place *first, dae_status failed)
{
    model *m = c->m;
    const model_step *s = c->l.s;
    const model_equation *e = &m->run.list->item[s->residual_equation[0]];
    char names[NAMED * 90] = "", text[160], where[LOCATED];
    int which = 0;
    name_growth(c, names, sizeof names);
    for (int j = 1; j < c->n; j++)
        if (fabs(c->here.u[j]) > fabs(c->here.u[which])) which = j;
    const char *name = model_slot_name(m, s->torn_slot[which]);
    double last = first->u[which] * c->size[which], end = c->here.u[which] * c->size[which];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    if (w->feeds && failed != DAE_OK &&
        !has_grown(c, w, first)) { /* the states would not go on as they did */
        dae_why(&m->report,
                "with the states as they are there, equation %s%s holds near t = %.10g "
                "only with larger and larger values of %s",
                text, where, c->here.t, names);
        return failed;
    }
    dae_report_clear(&m->report);
    dae_fail(&m->report, DAE_E_SINGULARITY, "the solution grows without bound: %s", names);
    dae_at(&m->report, "t* = %.10g, equation %s%s", c->here.t, text, where);
    if (fabs(end) > 2 * fabs(last))
        dae_why(
            &m->report,
            "from '%s' = %.4g, where the run ended, to %.4g the equations hold at times that are "
            "by no more than %.2g later: t comes to a stand at t*",
            name, last, end, fmax(0, c->here.t - first->t));
    else
        dae_why(
            &m->report,
            "'%s' is %.4g where the run ended, many times what it was at the start, and but for "
            "rounding t has come to a stand there",
            name, last);
    dae_hint(&m->report, "%s no finite value at t*; stop before it",
             strstr(names, ", ") ? "they have" : "it has");
    return DAE_E_SINGULARITY;
}

/* What looked like a fold to the integrator. */
static dae_status tell_steep(const curve *c, const place *first)
{
    model *m = c->m;
    const model_step *s = c->l.s;
    const model_equation *e = &m->run.list->item[s->residual_equation[0]];
    char text[160], where[LOCATED];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    dae_report_clear(&m->report);
    dae_fail(&m->report, DAE_E_CONVERGENCE,
             "the solution is too steep at a point to be followed by time");
    dae_at(&m->report, "t = %.10g, '%s' = %.6g, equation %s%s", c->t0,
           model_slot_name(m, s->torn_slot[0]), first->u[0] * c->size[0], text, where);
    dae_why(&m->report,
            "the Jacobian of the equations is singular there or nearly so, but their "
            "solution goes on: at t = %.10g '%s' is %.6g",
            c->next.t, model_slot_name(m, s->torn_slot[0]), c->next.u[0] * c->size[0]);
    dae_hint(&m->report, "start behind it");
    return DAE_E_CONVERGENCE;
}

/* ---------------------------------------------------------------- the question ---------- */

/* The derivatives of the states at the top, instead of those where the run ended. */
static bool renew_rates(curve *c)
{
    model *m = c->m;
    bool stay = m->stay_near, good = evaluate(c, c->top.u, c->top.t, c->r);
    m->stay_near = true;
    for (size_t k = c->number; k < m->run.steps && good; k++) {
        model_step *s = &m->run.step[k];
        if (k > c->number)
            good = model_solve_step(m, &m->run, s, "looking for a fold") == DAE_OK;
        else if (s->assigned > 0)
            good = unit_run(m, &s->assign) == DAE_OK;
        for (uint32_t i = 0; k == c->number && i < s->assigned && good; i++)
            m->value[s->assigned_slot[i]] = s->assign.out[i];
    }
    m->stay_near = stay;
    for (size_t j = 0; j < m->p.states && good; j++) {
        c->xdot[j] = m->value[slot_of(m->p.variable[j], 1)];
        good = isfinite(c->xdot[j]);
    }
    c->now = NAN;
    return good;
}

static finding look_at(curve *c, const model_pole *w, const double *before, const place *first)
{
    size_t bytes = (size_t)c->n * sizeof(double);
    memcpy(c->here.u, first->u, bytes);
    c->here.t = c->t0;
    c->now = NAN;
    finding found = begin(c, before) ? walk(c, w) : NOTHING;
    if (found != FOLDS || !w->feeds) return found;
    if (!renew_rates(c)) return NOTHING;
    memcpy(c->here.u, first->u, bytes);
    c->here.t = c->t0;
    return begin(c, before) && walk(c, w) == FOLDS ? FOLDS : NOTHING;
}

/* The unknowns of a step at a point that was kept. */
static bool load_kept(model *m, const model_step *s, const model_kept *from, double *u)
{
    if (!from->x || isnan(from->t) || model_load_point(m, from->t, from->x, from->xdot) != DAE_OK)
        return false;
    for (uint32_t j = 0; j < s->torn; j++) u[j] = m->value[s->torn_slot[j]];
    return true;
}

dae_status model_blame_loops(model *m, dae_status failed)
{
    model_poles *p = &m->poles;
    dae_report said = m->report;
    finding found = NOTHING;
    size_t left = WORK;
    if (m->array || m->flat->watches > m->flat->guards)
        return failed; /* other states, other loops */
    for (size_t k = 0; k < p->count && p->span > 0; k++) {
        const model_pole *w = &p->item[k];
        const model_step *s = w->step;
        curve c = { .left = &left, .t0 = p->kept.t, .span = p->span };
        place first;
        if (s->torn > LARGEST) continue;
        double *now = dae_arena_take(&m->arena, 2 * (size_t)s->torn, sizeof *now),
               *before = now + s->torn;
        bool known = load_kept(m, s, &p->prior, before);
        if (!load_kept(m, s, &p->kept, now)) break;
        open_curve(&c, m, w->step, p->kept.x, p->kept.xdot);
        open_place(&c, &first);
        copy_place(&c, &first, &c.here);
        first.t = c.t0;
        for (uint32_t j = 0; j < s->torn; j++) before[j] /= c.size[j];
        found = look_at(&c, w, known ? before : NULL, &first);
        m->report = said;
        if (found == GROWS) return tell_growth(&c, w, &first, failed);
        if (found == FOLDS) return tell_fold(&c);
        if (found == PASSES && failed == DAE_E_IMPASSE && m->p.states == 0)
            return tell_steep(&c, &first);
    }
    m->report = said;
    return failed;
}
