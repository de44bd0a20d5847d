/* invariants_problem.c: an ODE with invariants as a dae_problem; what is known of it at a point.
 *
 * Stabilization (Ascher, Chin, Reich 1994): with C D = 1 and e = c - c0,
 *
 *     e' = C f + c_t - gamma e,
 *
 * so an integral (C f + c_t = 0 everywhere) is approached like exp(-gamma t), and an invariant with
 * |C f + c_t| <= gamma0 |e| if gamma > gamma0. Each step of size h adds an error of about tol to e:
 * e stays near tol / (gamma h), that is near tol if gamma is 1 / h. A larger gamma would make the
 * equations stiff. Order five takes steps of about tol^(1/6) times the time |x| / |f| in which
 * the solution changes; hence gamma = rtol^(-1/6) |f| / |x|, at every point anew: any positive
 * function will do, and a fixed one would be lost where a comet meets its sun.
 */
#include "constraint/invariants.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double dae_inv_gamma(const dae_invariants *v, const double *x, const double *f)
{
    double speed = 0, size = 0;
    if (v->gamma > 0) return v->gamma;
    for (int j = 0; j < v->n; j++) {
        double a = f[j] / v->scale[j], b = x[j] / v->scale[j];
        speed += a * a;
        size += 1 + b * b;
    }
    return v->kappa * sqrt(speed / size);
}

/* ---- callbacks: the user's own, and those of the reformulations ---- */

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    const dae_invariants *v = user;
    return v->own.residual(t, x, xdot, r, v->own.user);
}

static int leading(double t, const double *x, double *d, void *user)
{
    const dae_invariants *v = user;
    return v->own.d(t, x, d, v->own.user);
}

static int rhs(double t, const double *x, double *f, void *user)
{
    const dae_invariants *v = user;
    return v->own.rhs(t, x, f, v->own.user);
}

static int mass(double t, const double *x, double *M, void *user)
{
    const dae_invariants *v = user;
    return v->own.mass(t, x, M, v->own.user);
}

static int jacobian(double t, const double *x, const double *xdot, double c, double *J, void *user)
{
    const dae_invariants *v = user;
    return v->own.jacobian(t, x, xdot, c, J, v->own.user);
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    const dae_invariants *v = user;
    return v->own.jacobian_x(t, x, xdot, K, v->own.user);
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    const dae_invariants *v = user;
    return v->own.jacobian_xdot(t, x, xdot, C, v->own.user);
}

static int event(double t, const double *x, const double *xdot, double *g, void *user)
{
    const dae_invariants *v = user;
    return v->own.event(t, x, xdot, g, v->own.user);
}

static int project(double t, double *x, const double *weight, void *user)
{
    return dae_inv_project(user, t, x, weight);
}

/* f -= factor D y; y is lost. Answers DAE_RETRY where the invariants are dependent: D is not
 * defined there. */
static int correct(dae_invariants *v, double factor, double *y, double *f)
{
    if (dae_inv_factor(v, v->scale) < v->k) return DAE_RETRY;
    dae_inv_solve(v, y);
    dae_inv_add(v, v->scale, -factor, y, f);
    return DAE_OK;
}

static int rhs_dae(double t, const double *x, double *f, void *user)
{
    dae_invariants *v = user;
    int answer = v->own.rhs(t, x, f, v->own.user);
    if (answer == DAE_OK) answer = dae_inv_gradient(v, t, x);
    memcpy(v->c, x + v->n, (size_t)v->k * sizeof(double));
    if (answer == DAE_OK) answer = correct(v, 1, v->c, f);
    return answer == DAE_OK ? dae_inv_value(v, t, x, f + v->n) : answer;
}

static int rhs_stabilized(double t, const double *x, double *f, void *user)
{
    dae_invariants *v = user;
    int answer = v->own.rhs(t, x, f, v->own.user);
    double gamma = dae_inv_gamma(v, x, f);
    if (answer == DAE_OK) answer = dae_inv_value(v, t, x, v->c);
    if (answer == DAE_OK) answer = dae_inv_gradient(v, t, x);
    return answer == DAE_OK ? correct(v, gamma, v->c, f) : answer;
}

/* d rhs / dx by central differences: the solver's own are one-sided, and c may be found to twelve
 * digits only. */
static int jacobian_used(double t, const double *x, const double *xdot, double *K, void *user)
{
    dae_invariants *v = user;
    size_t size = (size_t)v->problem.size;
    double *y = v->state, *low = y + size, *high = low + size;
    (void)xdot;
    memcpy(y, x, size * sizeof *y);
    for (size_t j = 0; j < size; j++) {
        double scale = j < (size_t)v->n ? v->scale[j] : 1;
        double e = 1e-5 * fmax(fabs(x[j]), scale), above = x[j] + e, below = x[j] - e;
        y[j] = above;
        int answer = v->problem.rhs(t, y, high, v);
        y[j] = below;
        if (answer == DAE_OK) answer = v->problem.rhs(t, y, low, v);
        if (answer != DAE_OK) return answer;
        y[j] = x[j];
        for (size_t i = 0; i < size; i++) K[i + j * size] = (high[i] - low[i]) / (above - below);
    }
    return DAE_OK;
}

/* ---- the problem ---- */

enum { NAME = 80 };

static void set_names(dae_invariants *v)
{
    int all = v->n + v->k;
    for (int i = 0; i < all; i++) {
        char *unknown = v->text + 2 * i * NAME, *equation = unknown + NAME, own[32];
        const char *const *given = v->own.names, *const *rows = v->own.equation_names;
        const char *of = own;
        if (i < v->n) {
            snprintf(own, sizeof own, "x[%d]", i + 1);
            snprintf(unknown, NAME, "%s", given && given[i] ? given[i] : own);
            snprintf(own, sizeof own, "equation %d", i + 1);
            snprintf(equation, NAME, "%s", rows && rows[i] ? rows[i] : own);
        } else {
            snprintf(own, sizeof own, "invariant %d", i - v->n + 1);
            if (v->what.names && v->what.names[i - v->n]) of = v->what.names[i - v->n];
            snprintf(unknown, NAME, "z %s", of);
            snprintf(equation, NAME, "%s", of);
        }
        v->names[i] = unknown;
        v->names[all + i] = equation;
    }
}

static void reformulate(dae_invariants *v)
{
    dae_problem *p = &v->problem;
    int n = v->n, all = v->form == INV_DAE ? n + v->k : n;
    *p = (dae_problem){ .size = all, .event_count = v->own.event_count, .user = v };
    p->event = v->own.event ? event : NULL;
    p->event_names = v->own.event_names;
    p->names = v->names;
    p->rhs = rhs_stabilized;
    p->jacobian_x = jacobian_used;
    p->pattern.kind = DAE_PATTERN_DENSE;
    p->level = v->level;
    set_names(v);
    for (int i = 0; i < all; i++) {
        v->mass[i] = i < n;
        v->level[i] = i < n ? DAE_DIFFERENTIAL : DAE_INDEX2;
    }
    if (v->form != INV_DAE) return;
    p->rhs = rhs_dae;
    p->equation_names = v->names + n + v->k;
    p->mass_kind = DAE_MASS_DIAGONAL;
    p->mass_values = v->mass;
}

void dae_inv_problem_fill(dae_invariants *v)
{
    dae_problem *p = &v->problem;
    if (v->form == INV_DAE || v->form == INV_STABILIZED) {
        reformulate(v);
        return;
    }
    *p = v->own;
    p->user = v;
    p->residual = v->own.residual ? residual : NULL;
    p->d = v->own.d ? leading : NULL;
    p->rhs = v->own.rhs ? rhs : NULL;
    p->mass = v->own.mass ? mass : NULL;
    p->jacobian = v->own.jacobian ? jacobian : NULL;
    p->jacobian_x = v->own.jacobian_x ? jacobian_x : NULL;
    p->jacobian_xdot = v->own.jacobian_xdot ? jacobian_xdot : NULL;
    p->event = v->own.event ? event : NULL;
    p->project = v->form == INV_PROJECTED ? project : NULL;
}

/* ---- calls between steps ---- */

static dae_status said(dae_invariants *v, int answer, const char *who, double t)
{
    dae_report_clear(&v->report);
    if (answer == DAE_OK) return DAE_OK;
    dae_status status = answer == DAE_RETRY ? DAE_E_SINGULAR : DAE_E_USER;
    dae_fail(&v->report, status, "%s: the invariants cannot be used here", who);
    dae_at(&v->report, "t = %.10g", t);
    if (answer == DAE_RETRY)
        dae_why(&v->report, "a callback refused or gave NaN, or no point with c = c0 is near");
    else
        dae_why(&v->report, "a callback answered %d", answer);
    dae_hint(&v->report, "look at c and its derivative at this point");
    return status;
}

static dae_status lacking(dae_invariants *v, const void *a, const void *b, const char *who)
{
    if (!v || !v->vectors) return v ? v->report.status : DAE_E_ARG;
    dae_report_clear(&v->report);
    if (a && b) return DAE_OK;
    return dae_fail_arg(&v->report, DAE_E_ARG, who, a ? "out" : "x", "NULL");
}

dae_status dae_invariants_start(dae_invariants *v, double t, const double *x, double *state)
{
    dae_status status = lacking(v, x, x, "dae_invariants_start");
    if (status != DAE_OK) return status;
    memset(v->c0, 0, (size_t)v->k * sizeof(double));
    int answer = dae_inv_value(v, t, x, v->c);
    if (answer == DAE_OK) memcpy(v->c0, v->c, (size_t)v->k * sizeof(double));
    if (answer == DAE_OK && state) {
        memmove(state, x, (size_t)v->n * sizeof(double));
        for (int i = v->n; i < v->problem.size; i++) state[i] = 0;
    }
    v->started = answer == DAE_OK;
    return said(v, answer, "dae_invariants_start", t);
}

dae_status dae_invariants_project(dae_invariants *v, double t, double *x, const double *weight)
{
    dae_status status = lacking(v, x, x, "dae_invariants_project");
    return status == DAE_OK ? said(v, dae_inv_project(v, t, x, weight), "dae_invariants_project", t)
                            : status;
}

/* The derivative of c along f, central over a short time; the largest component. */
static int rate_along(dae_invariants *v, double t, const double *x, double *rate)
{
    double size = 0, *y = v->x_side;
    int answer = v->own.rhs(t, x, v->f, v->own.user);
    for (int j = 0; j < v->n; j++) size = fmax(size, fabs(v->f[j]) / fmax(fabs(x[j]), v->scale[j]));
    double e = 1e-3 / (size > 0 ? size : 1);
    static const double part[3] = { 45.0 / 60, -9.0 / 60, 1.0 / 60 };
    memset(v->c_high, 0, (size_t)v->k * sizeof(double));
    for (int side = -3; side <= 3 && answer == DAE_OK; side++) {
        if (side == 0) continue;
        for (int j = 0; j < v->n; j++) y[j] = x[j] + side * e * v->f[j];
        answer = dae_inv_value(v, t + side * e, y, v->c_low);
        for (int i = 0; i < v->k; i++)
            v->c_high[i] += (side < 0 ? -1 : 1) * part[abs(side) - 1] * v->c_low[i] / e;
    }
    *rate = 0;
    for (int i = 0; i < v->k; i++) *rate = fmax(*rate, fabs(v->c_high[i]));
    return answer;
}

/* Beside c = c0, by a thousandth of the size of x along D: how fast does |c - c0| grow? */
static int growth(dae_invariants *v, double t, const double *x, double *gamma0)
{
    double beside = 0, away = 0;
    int answer = dae_inv_gradient(v, t, x);
    if (answer == DAE_OK && dae_inv_factor(v, v->scale) == 0) return DAE_RETRY;
    for (int i = 0; i < v->k; i++) v->c[i] = 1;
    memset(v->s, 0, (size_t)v->n * sizeof(double));
    dae_inv_solve(v, v->c);
    dae_inv_add(v, v->scale, 1, v->c, v->s);
    double most = 0;
    for (int j = 0; j < v->n; j++) most = fmax(most, fabs(v->s[j]) / fmax(fabs(x[j]), v->scale[j]));
    for (int j = 0; j < v->n; j++) v->x_from[j] = x[j] + v->s[j] * 1e-3 / most;
    if (answer == DAE_OK) answer = rate_along(v, t, v->x_from, &beside);
    if (answer == DAE_OK) answer = dae_inv_value(v, t, v->x_from, v->c);
    for (int i = 0; i < v->k; i++) away = fmax(away, fabs(v->c[i]));
    *gamma0 = away > 0 ? beside / away : NAN;
    return answer;
}

/* C D for the factors at hand: the identity on the independent invariants. */
static double identity(dae_invariants *v)
{
    double least = INFINITY;
    for (int i = 0; i < v->k; i++) {
        double sum = 0, others = 0;
        for (int l = 0; l < v->k; l++) v->c[l] = l == i;
        dae_inv_solve(v, v->c);
        memset(v->s, 0, (size_t)v->n * sizeof(double));
        dae_inv_add(v, v->scale, 1, v->c, v->s);
        for (int l = 0; l < v->k; l++) {
            double entry = 0;
            for (int j = 0; j < v->n; j++)
                entry += v->C[(size_t)l + (size_t)v->k * (size_t)j] * v->s[j];
            if (l == i)
                sum = entry;
            else
                others += fabs(entry);
        }
        least = fmin(least, sum - others); /* Gershgorin */
    }
    return least;
}

/* Column j of f_x in v->f_side, central. */
static int column(dae_invariants *v, double t, const double *x, int j)
{
    double e = 1e-5 * fmax(fabs(x[j]), v->scale[j]);
    memcpy(v->x_side, x, (size_t)v->n * sizeof(double));
    v->x_side[j] = x[j] + e;
    int answer = v->own.rhs(t, v->x_side, v->f_side, v->own.user);
    v->x_side[j] = x[j] - e;
    if (answer == DAE_OK) answer = v->own.rhs(t, v->x_side, v->f, v->own.user);
    for (int i = 0; i < v->n; i++) v->f_side[i] = (v->f_side[i] - v->f[i]) / (2 * e);
    return answer;
}

/* div f, and how far J f_x is from symmetric: of x = (q, p), J f_x = (f_x rows p, -rows q). */
static int volume(dae_invariants *v, double t, const double *x, dae_invariant_report *out)
{
    int n = v->n, half = n / 2, answer = DAE_OK;
    double most = 0, size = 0;
    out->divergence = 0;
    for (int j = 0; j < n && answer == DAE_OK; j++) {
        answer = column(v, t, x, j);
        memcpy(v->s, v->f_side, (size_t)n * sizeof(double));
        out->divergence += v->s[j];
        for (int i = 0; i < n && answer == DAE_OK && n % 2 == 0; i++) {
            double a = i < half ? v->s[i + half] : -v->s[i - half];
            answer = column(v, t, x, i);
            double b = j < half ? v->f_side[j + half] : -v->f_side[j - half];
            most = fmax(most, fabs(a - b));
            size = fmax(size, fabs(a));
        }
    }
    out->symplectic = n % 2 ? NAN : size > 0 ? most / size : 0;
    return answer;
}

dae_status dae_invariants_check(dae_invariants *v, double t, const double *x,
                                dae_invariant_report *out)
{
    static const char who[] = "dae_invariants_check";
    dae_status status = lacking(v, x, out, who);
    if (status != DAE_OK) return status;
    *out = (dae_invariant_report){
        .rate = NAN, .gamma = NAN, .gamma0 = NAN, .divergence = NAN, .symplectic = NAN
    };
    int answer = dae_inv_value(v, t, x, v->c);
    for (int i = 0; i < v->k; i++)
        if (fabs(v->c[i]) > out->error) {
            out->error = fabs(v->c[i]);
            out->worst = i;
        }
    if (answer == DAE_OK) answer = dae_inv_gradient(v, t, x);
    out->lambda0 = answer == DAE_OK && dae_inv_factor(v, v->scale) > 0 ? identity(v) : 0;
    if (!v->own.rhs || v->own.mass_kind != DAE_MASS_IDENTITY) return said(v, answer, who, t);
    if (answer == DAE_OK) answer = rate_along(v, t, x, &out->rate);
    out->gamma = dae_inv_gamma(v, x, v->f);
    if (answer == DAE_OK) answer = growth(v, t, x, &out->gamma0);
    if (answer == DAE_OK) answer = volume(v, t, x, out);
    return said(v, answer, who, t);
}
