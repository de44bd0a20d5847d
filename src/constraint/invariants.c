/* invariants.c: c(t, x, x') = c0: values, derivatives, projection; opening and closing.
 *
 * Projection. Of all x with c(x) = c0 the one nearest to x~ in the norm |(x - x~) / s|, where s
 * are the tolerances: Lagrange's conditions x = x~ + S C(x)' y, c(x) = c0, by the iteration
 *
 *     x_new = x~ + S C' (C S C')^-1 (C (x - x~) - (c - c0)),        S = diag(s)^2,
 *
 * with C at x. Its limit is the nearest point itself, not one near to it, and it contracts by about
 * curvature times distance in each pass. (Eich-Soellner, Fuehrer, Numerical Methods in Multibody
 * Dynamics, 1998, 5.3; Ascher, Petzold, 1998, 9.3.)
 */
#include "constraint/invariants.h"
#include "base/float_check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PASSES = 30 }; /* two or three at the end of a step */

int dae_inv_value(dae_invariants *v, double t, const double *x, double *c)
{
    const double *xdot = NULL;
    int answer = DAE_OK;
    if (v->what.uses_xdot) {
        answer = v->own.rhs(t, x, v->f_side, v->own.user);
        xdot = v->f_side;
    }
    if (answer == DAE_OK) answer = v->what.value(t, x, xdot, c, v->what.user);
    for (int i = 0; i < v->k && answer == DAE_OK; i++) {
        c[i] -= v->c0[i];
        if (!isfinite(c[i])) answer = DAE_RETRY;
    }
    return answer;
}

/* c_high := c at x + e, c_low := c at x - e, e along unknown j */
static int both_sides(dae_invariants *v, double t, int j, double e, double x)
{
    v->x_side[j] = x + e;
    int answer = dae_inv_value(v, t, v->x_side, v->c_high);
    v->x_side[j] = x - e;
    if (answer == DAE_OK) answer = dae_inv_value(v, t, v->x_side, v->c_low);
    v->x_side[j] = x;
    return answer;
}

/* Differences of order six. Over 1/500 of its size an unknown changes c smoothly: the error is
 * then 1e-16 of the sixth derivative in units of that size, and rounding 1e-13. */
int dae_inv_gradient(dae_invariants *v, double t, const double *x)
{
    static const double part[3] = { 45.0 / 60, -9.0 / 60, 1.0 / 60 };
    size_t k = (size_t)v->k;
    int answer = DAE_OK;
    memset(v->C, 0, k * (size_t)v->n * sizeof(double));
    if (v->what.gradient)
        answer = v->what.gradient(t, x, v->C, v->what.user);
    else
        memcpy(v->x_side, x, (size_t)v->n * sizeof(double));
    for (int j = 0; !v->what.gradient && j < v->n && answer == DAE_OK; j++) {
        double e = 2e-3 * fmax(fabs(x[j]), v->scale[j]), *C = v->C + k * (size_t)j;
        for (int side = 0; side < 3 && answer == DAE_OK; side++) {
            answer = both_sides(v, t, j, (side + 1) * e, x[j]);
            for (size_t i = 0; i < k; i++) C[i] += part[side] * (v->c_high[i] - v->c_low[i]) / e;
        }
    }
    for (size_t i = 0; i < k * (size_t)v->n && answer == DAE_OK; i++)
        if (!isfinite(v->C[i])) answer = DAE_RETRY;
    return answer;
}

/* ---- (C S C') y = b ---- */

static double *entry(const dae_invariants *v, int i, int j)
{
    return &v->G[(size_t)i + (size_t)j * (size_t)v->k];
}

/* Moves row and column `to` to place `at` of the lower triangle's full square. */
static void exchange(dae_invariants *v, int at, int to)
{
    for (int i = 0; i < v->k; i++) {
        double a = *entry(v, at, i);
        *entry(v, at, i) = *entry(v, to, i);
        *entry(v, to, i) = a;
    }
    for (int i = 0; i < v->k; i++) {
        double a = *entry(v, i, at);
        *entry(v, i, at) = *entry(v, i, to);
        *entry(v, i, to) = a;
    }
    int i = v->order[at];
    v->order[at] = v->order[to];
    v->order[to] = i;
}

/* A pivot below 1e-12 of the row's own square: to six digits the gradient is a combination of
 * those before it. */
int dae_inv_factor(dae_invariants *v, const double *s)
{
    int k = v->k;
    for (int i = 0; i < k; i++) {
        v->order[i] = i;
        for (int j = 0; j < k; j++) {
            double sum = 0;
            for (int l = 0; l < v->n; l++) {
                const double *C = v->C + (size_t)k * (size_t)l;
                sum += C[i] * s[l] * s[l] * C[j];
            }
            *entry(v, i, j) = sum;
        }
        v->y[i] = *entry(v, i, i);
    }
    for (v->rank = 0; v->rank < k; v->rank++) {
        int r = v->rank, best = r;
        double most = 0;
        for (int i = r; i < k; i++) {
            double own = v->y[v->order[i]];
            double part = own > 0 ? *entry(v, i, i) / own : 0;
            if (part > most) most = part, best = i;
        }
        if (!(most > 1e-12)) break;
        exchange(v, r, best);
        double root = sqrt(*entry(v, r, r));
        *entry(v, r, r) = root;
        for (int i = r + 1; i < k; i++) *entry(v, i, r) /= root;
        for (int j = r + 1; j < k; j++)
            for (int i = r + 1; i < k; i++) *entry(v, i, j) -= *entry(v, i, r) * *entry(v, j, r);
    }
    return v->rank;
}

void dae_inv_solve(dae_invariants *v, double *y)
{
    double *z = v->y;
    for (int i = 0; i < v->rank; i++) {
        z[i] = y[v->order[i]];
        for (int j = 0; j < i; j++) z[i] -= *entry(v, i, j) * z[j];
        z[i] /= *entry(v, i, i);
    }
    for (int i = v->rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < v->rank; j++) z[i] -= *entry(v, j, i) * z[j];
        z[i] /= *entry(v, i, i);
    }
    for (int i = v->rank; i < v->k; i++) y[v->order[i]] = 0;
    for (int i = 0; i < v->rank; i++) y[v->order[i]] = z[i];
}

void dae_inv_add(const dae_invariants *v, const double *s, double factor, const double *y,
                 double *out)
{
    for (int j = 0; j < v->n; j++) {
        const double *C = v->C + (size_t)v->k * (size_t)j;
        double sum = 0;
        for (int i = 0; i < v->k; i++) sum += C[i] * y[i];
        out[j] += factor * s[j] * s[j] * sum;
    }
}

/* ---- projection ---- */

/* |c - c0| in units of what rounding of x and of c0 does to it; v->C belongs to x. */
static double misses(const dae_invariants *v, const double *x)
{
    double most = 0;
    for (int i = 0; i < v->k; i++) {
        double sum = fabs(v->c0[i]);
        for (int j = 0; j < v->n; j++)
            sum += fabs(v->C[(size_t)i + (size_t)v->k * (size_t)j] * x[j]);
        most = fmax(most, fabs(v->c[i]) / (DBL_EPSILON * sum + DBL_MIN));
    }
    return most;
}

static void pass(dae_invariants *v, double *x)
{
    for (int i = 0; i < v->k; i++) {
        v->c[i] = -v->c[i];
        for (int j = 0; j < v->n; j++)
            v->c[i] += v->C[(size_t)i + (size_t)v->k * (size_t)j] * (x[j] - v->x_from[j]);
    }
    dae_inv_solve(v, v->c);
    memcpy(x, v->x_from, (size_t)v->n * sizeof(double));
    dae_inv_add(v, v->s, 1, v->c, x);
}

int dae_inv_project(dae_invariants *v, double t, double *x, const double *weight)
{
    double before = INFINITY;
    for (int j = 0; j < v->n; j++) {
        v->s[j] = weight ? 1 / weight[j] : v->scale[j];
        v->x_from[j] = x[j];
    }
    for (int i = 0; i < PASSES; i++) {
        int answer = dae_inv_value(v, t, x, v->c);
        if (answer == DAE_OK) answer = dae_inv_gradient(v, t, x);
        if (answer != DAE_OK) return answer;
        double now = misses(v, x);
        if (now <= 1 || (i > 1 && now <= 30 && now > 0.5 * before))
            return DAE_OK; /* the value of c may be noisier than we think */
        if (i > 3 && now > 0.9 * before) return now <= 1e4 ? DAE_OK : DAE_RETRY;
        before = now;
        dae_inv_factor(v, v->s);
        pass(v, x);
    }
    return before <= 1e4 ? DAE_OK : DAE_RETRY;
}

/* ---- opening and closing ---- */

static dae_invariants *nobody(void)
{
    static const dae_invariants none = {
        .report = { .status = DAE_E_NOMEM,
                    .length = 30,
                    .text = "error[E_NOMEM]: out of memory\n" },
    };
    return (dae_invariants *)(uintptr_t)&none;
}

static dae_status refuse(dae_invariants *v, const char *argument, const char *is)
{
    return dae_fail_arg(&v->report, DAE_E_ARG, "dae_invariants_open", argument, is);
}

static dae_status check(dae_invariants *v, const dae_invariant *w)
{
    if (!w) return refuse(v, "what", "NULL");
    if (!w->problem) return refuse(v, "what.problem", "NULL");
    if (!w->value) return refuse(v, "what.value", "NULL");
    if (w->problem->size < 1) return refuse(v, "what.problem", "of size 0");
    if (w->count < 1 || w->count > w->problem->size)
        return refuse(v, "what.count", "not between 1 and the size of the problem");
    if (w->problem->project) return refuse(v, "what.problem", "one that has a projection already");
    for (int j = 0; w->scale && j < w->problem->size; j++)
        if (!(w->scale[j] > 0) || !isfinite(w->scale[j]))
            return refuse(v, "what.scale", "not positive and finite");
    int plain = w->problem->rhs && w->problem->mass_kind == DAE_MASS_IDENTITY;
    if (w->uses_xdot && !plain)
        return refuse(v, "what.uses_xdot", "set, but the problem is not x' = rhs(t, x)");
    return DAE_OK;
}

static dae_status choose(dae_invariants *v, const dae_invariant_use *use)
{
    static const char *const forms[] = { "projected", "dae", "stabilized", "plain" };
    const char *name = use && use->name ? use->name : forms[0];
    double rtol = use && use->rtol > 0 ? use->rtol : 1e-6;
    int form = 0;
    while (form < 4 && strcmp(forms[form], name) != 0) form++;
    if (form == 4) {
        dae_fail(&v->report, DAE_E_OPTION, "there is no use of invariants '%.60s'", name);
        dae_hint(&v->report, "projected, dae, stabilized, plain");
        return DAE_E_OPTION;
    }
    v->form = (dae_inv_form)form;
    v->gamma = use ? use->gamma : 0;
    if (!(v->gamma >= 0) || !isfinite(v->gamma) || !isfinite(rtol)) {
        dae_fail(&v->report, DAE_E_OPTION, "gamma must be positive, or 0: chosen");
        return DAE_E_OPTION;
    }
    v->kappa = pow(fmax(rtol, DBL_EPSILON), -1.0 / 6);
    int plain = v->own.rhs && v->own.mass_kind == DAE_MASS_IDENTITY;
    if (plain || v->form == INV_PROJECTED || v->form == INV_PLAIN) return DAE_OK;
    dae_fail(&v->report, DAE_E_OPTION, "'%s' needs a problem x' = rhs(t, x)", name);
    dae_why(&v->report, "the correction is added to x', which this problem has not explicitly");
    dae_hint(&v->report, "'projected' takes every form of problem");
    return DAE_E_OPTION;
}

static dae_status take_memory(dae_invariants *v)
{
    size_t n = (size_t)v->n, k = (size_t)v->k, all = n + k;
    const dae_vector_wish wish[] = {
        { &v->c0, k },     { &v->c, k },      { &v->c_low, k },       { &v->c_high, k },
        { &v->C, k * n },  { &v->G, k * k },  { &v->y, k },           { &v->s, n },
        { &v->x_side, n }, { &v->x_from, n }, { &v->f, n },           { &v->f_side, n },
        { &v->mass, all }, { &v->scale, n },  { &v->state, 3 * all },
    };
    v->vectors = dae_alloc_vectors(&v->memory, wish, sizeof wish / sizeof wish[0]);
    v->order = dae_alloc(&v->memory, k, sizeof(int));
    v->level = dae_alloc(&v->memory, all, 1);
    v->names = dae_alloc(&v->memory, 2 * all, sizeof(char *));
    v->text = dae_alloc(&v->memory, 2 * all, 80);
    if (!v->vectors || !v->order || !v->level || !v->names || !v->text) {
        dae_free(&v->memory, v->vectors);
        v->vectors = NULL; /* nothing works without, and every call looks at them */
        return dae_fail(&v->report, DAE_E_NOMEM, "out of memory for %d invariants of %d unknowns",
                        v->k, v->n);
    }
    for (size_t j = 0; j < n; j++) v->scale[j] = v->what.scale ? v->what.scale[j] : 1;
    return DAE_OK;
}

dae_invariants *dae_invariants_open(const dae_invariant *what, const dae_invariant_use *use)
{
    dae_memory memory;
    dae_memory_init(&memory, use ? use->allocator : NULL);
    dae_invariants *v = dae_alloc(&memory, 1, sizeof *v);
    if (!v) return nobody();
    v->memory = memory;
    if (check(v, what) != DAE_OK) return v;
    v->what = *what;
    v->own = *what->problem;
    v->n = v->own.size;
    v->k = what->count;
    if (choose(v, use) == DAE_OK && take_memory(v) == DAE_OK) dae_inv_problem_fill(v);
    return v;
}

void dae_invariants_close(dae_invariants *v)
{
    if (!v || v == nobody()) return;
    dae_memory memory = v->memory;
    dae_free(&memory, v->vectors);
    dae_free(&memory, v->order);
    dae_free(&memory, v->level);
    dae_free(&memory, v->names);
    dae_free(&memory, v->text);
    dae_free(&memory, v);
}

dae_status dae_invariants_status(const dae_invariants *v)
{
    return v ? v->report.status : DAE_E_ARG;
}

const char *dae_invariants_message(const dae_invariants *v)
{
    return v ? v->report.text : "";
}

const dae_problem *dae_invariants_problem(const dae_invariants *v)
{
    return v ? &v->problem : NULL;
}
