/* two_step.c: the two-step family with tunable dissipation, and generalized-alpha.
 *
 * On the canonical system f(t, x, p) = 0, p = d'(t), d = d(t, x), with the formulas of
 * two_step_formula.c. Both give the derivative at the new point as
 *
 *     p = c (d - H),   c = 1 / (h b0),
 *
 *     two-step            H = a1 d_n + a2 d_{n-1} + h (b1 p_n + b2 p_{n-1})
 *     generalized-alpha   H = d_n + h (1 - gamma) a~_n
 *                             + h gamma ((1 - alpha_f) p_n - (1 - alpha_m) a~_n) / alpha_m
 *
 * and f holds at the new point itself: algebraic unknowns need no formula, constraints are met.
 * (Jansen, Whiting and Hulbert take f between the ends of the step; for linear f it is the same,
 * constraints would be missed. Arnold and Bruels do as here.)
 *
 * Generalized-alpha on an uneven mesh. a_n is the derivative at t_n + shift h_n, so a new step
 * size asks for another a: a~_n = p_n + (h_{n+1} / h_n)(a_n - p_n). Without that every change of
 * the step costs an error O(h^2).
 *
 * The first step. With prescribed steps the trapezoidal rule, which is what generalized-alpha
 * gives when a_0 = p_0 + shift (p_1 - p_0) is meant, the auxiliary value consistent up to O(h^2)
 * with p_1 as unknown. Under error control implicit Euler, with a tiny step.
 *
 * Index 2 and 3. Constraints fix d at every step, so p solves b0 p_{n+1} + b1 p_n + b2 p_{n-1}
 * = known: perturbations decay like n rho^n, those of a multiplier of index 3 like n^3 rho^n.
 * Where they grow too much before that (rho = 1; index 3 above 0.93) the problem is refused.
 * Otherwise all unknowns are of second order on an even mesh. After a change of the step the
 * error constant jumps, and multipliers of index 3, which see its difference over h, are of
 * first order for a few steps.
 *
 * Two values. "two-step-R-RA" uses RA for the derivatives of unknowns of level >= 1 (velocities
 * beside a position constraint, say) and R for the others; with a computed d, R for all. For
 * q' = v, v' = -k q - r v this is unconditionally stable with any two values: the maps
 * zeta -> rho(zeta) / sigma(zeta) of two A-stable formulas have their values in the right half
 * plane for |zeta| > 1, where mu_1 (mu_2 + r) = -k cannot be. An algebraic unknown whose
 * derivative does not occur is found from the equations whatever RA is.
 *
 * Error estimate. Milne's: the prediction, by a polynomial of degree 2 through old values, has
 * the error P h^3 d''', the formula C h^3 d'''; so their difference e gives C / (P - C) e in d,
 * and what that does to x is told by filter.c.
 */
#include "integrate/multistep/two_step.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "integrate/error/filter.h"

#include <math.h>
#include <string.h>

typedef struct two_step {
    dae_two_step_name name;
    dae_alpha_formula alpha;
    int mixed; /* 1: two values */
    double *vectors;
    double *x_1, *x_2; /* x at t_{n-1}, t_{n-2} */
    double *d_1, *d_2; /* computed d */
    double *p_1, *a;   /* p at t_{n-1}; a at t_n */
    int past;          /* so many points before t_n, at most 2 */
    double h_1, h_2;   /* t_n - t_{n-1}, t_{n-1} - t_{n-2} */
    double error_last;
    int rejected, young; /* young: steps since the start */

    /* of the attempt */
    dae_two_step_formula formula[2]; /* second: unknowns of level >= 1 */
    double milne[2];
    double *x_pred, *d_pred, *p_pred, *a_now, *E, *v;
    double *c_each, *C_each; /* mixed */
    double *still;           /* d = x: 1 where no derivative occurs, 0 elsewhere */
    double span;             /* e / span: a third divided difference of x */
} two_step;

/* ---- opening ---- */

static int two_step_takes(const char *name)
{
    dae_two_step_name read;
    return dae_two_step_read(name, &read) && !read.alpha;
}

static int alpha_takes(const char *name)
{
    dae_two_step_name read;
    return dae_two_step_read(name, &read) && read.alpha;
}

/* The largest factor by which an error of an unknown of this level is multiplied before it decays:
 * the coefficients of 1 / (1 - R z)^2, at level 3 over (1 - RA z)^2 as well. */
static double amplification(const dae_two_step_name *name, int level)
{
    double u[4] = { 0 }, most = 0;
    for (int n = 0; n < 2000; n++) {
        double in = n == 0;
        for (int j = 0; j < 4; j++)
            in = u[j] = (j < 2 ? name->rho : name->rho_algebraic) * u[j] + in;
        most = fmax(most, level > 2 ? u[3] : u[1]);
    }
    return most;
}

/* rho = 0.8 at level 3: 31, 0.9: 236. What a tolerance is worth there ends somewhere. */
static const double MOST_AMPLIFIED = 1000;

static dae_status two_step_choose(dae_solver *s)
{
    dae_two_step_name name;
    const unsigned char *level = s->system.problem.level;
    int highest = 0;
    dae_two_step_read(s->method_name, &name);
    for (int i = 0; level && i < s->system.n; i++)
        if (level[i] > highest) highest = level[i];
    if (highest < DAE_INDEX2) return DAE_OK;
    double factor = amplification(&name, highest), rho = fmax(name.rho, name.rho_algebraic);
    if (rho < 1 && factor <= MOST_AMPLIFIED) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used for this problem",
             s->method_name);
    dae_why(&s->report,
            "a level of %d is declared, and with a spectral radius of %g at infinity "
            "errors of such an unknown grow %.0f-fold or more before they decay",
            highest, rho, factor);
    dae_hint(&s->report, "take a smaller one, such as '%s-0.6'",
             name.alpha ? "generalized-alpha" : "two-step");
    return DAE_E_OPTION;
}

static void two_step_close(dae_solver *s)
{
    two_step *k = s->method_state;
    if (!k) return;
    s->corrector.c_each = NULL;
    dae_free(&s->memory, k->vectors);
    dae_free(&s->memory, k);
    s->method_state = NULL;
}

static dae_status two_step_open(dae_solver *s)
{
    two_step *k = dae_alloc(&s->memory, 1, sizeof *k);
    s->method_state = k;
    if (!k) return DAE_E_NOMEM;
    /* what Newton leaves counts times h at level 2, adds up over many steps of order 2, and at index 3
     * was most of the error: 783 steps at 1e-8 were worse than 250 of one size */
    if (dae_has_level_3(s)) s->corrector.tolerance *= 1e-3;
    dae_two_step_read(s->method_name, &k->name);
    dae_alpha_make(k->name.rho, &k->alpha);
    k->mixed = k->name.rho != k->name.rho_algebraic && !s->system.computed;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m, computed = (size_t)s->system.computed;
    size_t count = k->mixed ? (size_t)s->system.matrix.count : 0;
    dae_vector_wish wish[] = { { &k->x_1, n },        { &k->x_2, n },
                               { &k->d_1, computed }, { &k->d_2, computed },
                               { &k->p_1, m },        { &k->a, m },
                               { &k->x_pred, n },     { &k->d_pred, computed },
                               { &k->p_pred, m },     { &k->a_now, m },
                               { &k->E, m },          { &k->v, n },
                               { &k->still, n },      { &k->c_each, k->mixed ? n : 0 },
                               { &k->C_each, count } };
    k->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    return k->vectors ? DAE_OK : DAE_E_NOMEM;
}

/* Unknowns whose derivative does not occur: a column of zeros in C. */
static void find_still(const dae_solver *s, two_step *k)
{
    const dae_matrix *a = &s->system.matrix;
    int known = s->corrector.have_jacobian && !s->system.computed;
    for (int j = 0; j < a->n; j++) {
        k->still[j] = known && s->system.level[j] != DAE_DIFFERENTIAL;
        for (int64_t i = dae_column_begin(a, j); known && i < dae_column_end(a, j); i++)
            if (s->corrector.C[i] != 0) k->still[j] = 0;
    }
}

static void two_step_start(dae_solver *s)
{
    two_step *k = s->method_state;
    find_still(s, k);
    k->past = k->rejected = k->young = 0;
    k->h_1 = k->h_2 = k->error_last = k->span = 0;
    s->order = 1;
}

/* ---- history from given points ---- */

/* Derivative of the polynomial through three points at the first and the second of them. */
static void slopes(int m, const double *w[3], double h_1, double h_2, double *at_0, double *at_1)
{
    for (int i = 0; i < m; i++) {
        double first = (w[0][i] - w[1][i]) / h_1, second = (w[1][i] - w[2][i]) / h_2;
        double bend = (first - second) / (h_1 + h_2);
        at_0[i] = first + bend * h_1;
        at_1[i] = first - bend * h_1;
    }
}

static void set_a(two_step *k, int m, const double *p, const double *p_before)
{
    for (int i = 0; i < m; i++) k->a[i] = p[i] + k->alpha.shift * (p[i] - p_before[i]);
}

/* Of the past only values are given. Three points: their polynomial; two: it shall have the
 * derivative at the newest that the equations give. */
static dae_status two_step_history(dae_solver *s, int count, const double *t, const double *x)
{
    two_step *k = s->method_state;
    dae_system *sys = &s->system;
    size_t n = (size_t)sys->n;
    int m = sys->m;
    two_step_start(s);
    double *row[] = { NULL, k->x_1, k->x_2 }, *row_d[] = { NULL, k->d_1, k->d_2 };
    for (int j = 1; j < count; j++) {
        memcpy(row[j], x + (size_t)j * n, n * sizeof(double));
        if (!sys->computed) continue;
        int status = dae_system_d(sys, t[j], row[j], row_d[j]);
        if (status != DAE_OK) return status < 0 ? (dae_status)status : DAE_E_NONFINITE;
    }
    k->past = count - 1;
    if (count > 1) k->h_1 = t[0] - t[1];
    if (count > 2) k->h_2 = t[1] - t[2];
    const double *w[3] = { s->x, k->x_1, k->x_2 }, *w_d[3] = { s->d, k->d_1, k->d_2 };
    const double **use = sys->computed ? w_d : w;
    if (count > 2) slopes(m, use, k->h_1, k->h_2, s->p, k->p_1);
    for (int i = 0; count == 2 && i < m; i++)
        k->p_1[i] = 2 * (use[0][i] - use[1][i]) / k->h_1 - s->p[i];
    if (count > 1) set_a(k, m, s->p, k->p_1);
    s->order = count > 1 && s->options.max_order > 1 ? 2 : 1;
    return DAE_OK;
}

/* ---- one attempt ---- */

/* Newton's polynomial at t_n + h through w_n and as much of the past as there is. With one
 * point of the past, and with none, the slope p_n takes the place of the one that is missing. */
static void extrapolate(const two_step *k, double h, int count, const double *w, const double *w_1,
                        const double *w_2, const double *p, double *out)
{
    double r = k->past > 0 ? h / k->h_1 : 0, s = k->past > 1 ? k->h_1 / k->h_2 : 0;
    double q = k->past > 1 ? (h + k->h_1) / (k->h_1 + k->h_2) : 0;
    for (int i = 0; i < count; i++) {
        double first = k->past > 0 ? w[i] - w_1[i] : 0;
        if (k->past > 1)
            out[i] = w[i] + r * (first + q * (first - s * (w_1[i] - w_2[i])));
        else if (k->past > 0)
            out[i] = p ? w[i] + h * p[i] + r * r * (k->h_1 * p[i] - first) : w[i] + r * first;
        else
            out[i] = p ? w[i] + h * p[i] : w[i];
    }
}

static void predict(dae_solver *s, two_step *k, double h)
{
    dae_system *sys = &s->system;
    int n = sys->n;
    extrapolate(k, h, n, s->x, k->x_1, k->x_2, sys->computed ? NULL : s->p, k->x_pred);
    if (sys->computed) extrapolate(k, h, sys->m, s->d, k->d_1, k->d_2, s->p, k->d_pred);
    for (int i = 0; !sys->computed && k->past < 2 && i < n; i++) /* p means nothing there */
        if (sys->level[i] != DAE_DIFFERENTIAL)
            k->x_pred[i] = s->x[i] + (k->past > 0 ? h / k->h_1 * (s->x[i] - k->x_1[i]) : 0);
}

/* The formula of this attempt, and Milne's factors. */
static void choose_formula(two_step *k, double h, int order)
{
    dae_two_step_formula *f = k->formula;
    for (int l = 0; l < 2; l++, f++) {
        double rho = l ? k->name.rho_algebraic : k->name.rho, s = k->h_1 / h, u = k->h_2 / h;
        double predicted = k->past > 1 ? (1 + s) * (1 + s + u) / 6 : (1 + s) / 6;
        if (order == 1) { /* implicit Euler */
            *f = (dae_two_step_formula){ .a1 = 1, .b0 = 1, .error = -0.5 };
            predicted = k->past > 0 ? 0 : 0.5; /* of h^2 d'' */
        } else if (k->past == 0) {             /* trapezoidal rule */
            *f = (dae_two_step_formula){ .a1 = 1, .b0 = 0.5, .b1 = 0.5, .error = -1.0 / 12 };
            predicted = 0.5;
        } else {
            dae_two_step_make(rho, k->name.alpha ? 1 : s, f);
        }
        k->milne[l] = f->error / (predicted - f->error);
    }
}

/* H of component i. */
static double past_terms(const dae_solver *s, const two_step *k, const dae_two_step_formula *f,
                         double h, int i)
{
    const double *w = s->system.computed ? s->d : s->x;
    const double *w_1 = s->system.computed ? k->d_1 : k->x_1;
    double old = k->past > 0 ? f->a2 * (w[i] - w_1[i]) : 0; /* a1 w_n + a2 w_{n-1} = w_n - old */
    double slope = f->b1 * s->p[i] + (k->past > 0 ? f->b2 * k->p_1[i] : 0);
    return w[i] - old + h * slope;
}

static double past_alpha(const dae_solver *s, const two_step *k, double h, int i)
{
    const dae_alpha_formula *f = &k->alpha;
    const double *w = s->system.computed ? s->d : s->x;
    double a = k->a_now[i];
    double next = ((1 - f->alpha_f) * s->p[i] - (1 - f->alpha_m) * a) / f->alpha_m;
    return w[i] + h * ((1 - f->gamma) * a + f->gamma * next);
}

/* p_pred to match the prediction of d, and the weights of c where there are two formulas. */
static void set_slopes(dae_solver *s, two_step *k, double h, int order)
{
    const dae_system *sys = &s->system;
    const double *w_pred = sys->computed ? k->d_pred : k->x_pred;
    int alpha = k->name.alpha && order > 1 && k->past > 0;
    double ratio = alpha ? h / k->h_1 : 0;
    for (int i = 0; alpha && i < sys->m; i++) k->a_now[i] = s->p[i] + ratio * (k->a[i] - s->p[i]);
    for (int i = 0; i < sys->m; i++) {
        const dae_two_step_formula *f = &k->formula[k->mixed && sys->level[i] != DAE_DIFFERENTIAL];
        double H = alpha ? past_alpha(s, k, h, i) : past_terms(s, k, f, h, i);
        k->p_pred[i] = (w_pred[i] - H) / (h * f->b0);
        if (k->mixed) k->c_each[i] = k->formula[0].b0 / f->b0;
    }
}

static int judge(dae_solver *s, two_step *k, dae_trial *trial)
{
    const dae_system *sys = &s->system;
    const double *e = sys->computed ? trial->e_d : trial->e;
    for (int i = 0; i < sys->m; i++)
        k->E[i] = k->milne[k->mixed && sys->level[i] != DAE_DIFFERENTIAL] * e[i];
    int status = dae_filter_side(s, trial, k->E, k->v);
    if (status == DAE_OK) status = dae_filter_solve(s, k->v, 1);
    if (status != DAE_OK) return status;
    for (int i = 0; k->past == 0 && i < sys->n; i++) /* of their past nothing is known */
        if (sys->level[i] != DAE_DIFFERENTIAL) k->v[i] = 0;
    trial->filtered = 1;
    trial->error = dae_norm(s->options.norm, sys->n, k->v, s->w_error, &trial->limiting);
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static int solve(dae_solver *s, two_step *k, dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    dae_stage g = { .t = trial->t,
                    .c = 1 / (trial->h * k->formula[0].b0),
                    .h = trial->h,
                    .x_pred = k->x_pred,
                    .p_pred = k->p_pred,
                    .d_pred = k->d_pred,
                    .x = trial->x,
                    .p = trial->p,
                    .e = trial->e,
                    .d = trial->d,
                    .e_d = trial->e_d,
                    .w = s->w,
                    .w_d = s->system.computed ? s->w_d : NULL };
    if (trial->prescribed) q->stubborn = 2; /* no smaller step will be tried */
    int status = dae_corrector_solve(q, &g);
    return status != DAE_OK || trial->prescribed ? status : judge(s, k, trial);
}

/* The formula leaves the slope of an unknown that no equation differentiates ringing with rho.
 * Nobody needs it but the user, who shall have that of the polynomial. */
static void calm_slopes(const dae_solver *s, const two_step *k, dae_trial *trial)
{
    double h = trial->h;
    for (int i = 0; i < s->system.n && !s->system.computed; i++) {
        if (k->still[i] == 0) continue;
        double first = (trial->x[i] - s->x[i]) / h, bend = 0;
        if (k->past > 0) bend = (first - (s->x[i] - k->x_1[i]) / k->h_1) / (h + k->h_1);
        trial->p[i] = first + bend * h;
    }
}

static int two_step_attempt(dae_solver *s, dae_trial *trial)
{
    two_step *k = s->method_state;
    dae_corrector *q = &s->corrector;
    double h = trial->h;
    predict(s, k, h);
    choose_formula(k, h, trial->order);
    set_slopes(s, k, h, trial->order);
    k->span = k->past > 1 ? h * (h + k->h_1) * (h + k->h_1 + k->h_2) : 0;
    trial->constant = k->milne[0];
    q->c_each = k->mixed ? k->c_each : NULL;
    q->C_each = k->C_each;
    int status = solve(s, k, trial);
    q->c_each = NULL; /* whoever else uses the corrector has one c */
    if (status == DAE_OK) calm_slopes(s, k, trial);
    return status;
}

/* ---- after the attempt ---- */

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

static void update_a(const dae_solver *s, two_step *k, const dae_trial *trial)
{
    const dae_alpha_formula *f = &k->alpha;
    int m = s->system.m;
    if (trial->order == 1 || k->past == 0) {
        set_a(k, m, trial->p, s->p);
        return;
    }
    for (int i = 0; i < m; i++)
        k->a[i] = (f->alpha_f * trial->p[i] + (1 - f->alpha_f) * s->p[i] -
                   (1 - f->alpha_m) * k->a_now[i]) /
                  f->alpha_m;
}

/* The size that the error and its trend allow [Gustafsson 1994]. A change costs factors and, at
 * index 3, accuracy of the multipliers: small ones are not made. The first steps may grow fast. */
static void plan(dae_solver *s, two_step *k, const dae_trial *trial)
{
    double power = 1.0 / (trial->order + 1), error = fmax(trial->error, 1e-10);
    double r = 0.9 * pow(error, -power);
    if (k->error_last > 0 && trial->order > 1)
        r = fmin(r, 0.9 * trial->h / k->h_1 * pow(k->error_last / (error * error), power));
    r = fmax(0.3, fmin(k->young < 6 ? 4 : 2, r));
    if (k->rejected) r = fmin(r, 1);
    if (r > 0.9 && r < 1.3) r = 1;
    k->error_last = fmax(error, 1e-2);
    s->h = trial->h * r;
    s->order = s->options.max_order < 2 ? 1 : 2;
}

static void two_step_commit(dae_solver *s, dae_trial *trial)
{
    two_step *k = s->method_state;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    if (!trial->prescribed) plan(s, k, trial);
    if (k->name.alpha) update_a(s, k, trial);
    swap(&k->x_1, &k->x_2);
    memcpy(k->x_1, s->x, n * sizeof(double));
    memcpy(k->p_1, s->p, m * sizeof(double));
    if (s->system.computed) {
        swap(&k->d_1, &k->d_2);
        memcpy(k->d_1, s->d, m * sizeof(double));
    }
    k->h_2 = k->h_1;
    k->h_1 = trial->h;
    if (k->past < 2) k->past++;
    k->young++;
    k->rejected = 0;
}

static void two_step_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    two_step *k = s->method_state;
    double r = 0.25;
    k->rejected = 1;
    k->error_last = 0;
    if (verdict == DAE_STEP_ERROR)
        r = fmax(0.2, fmin(0.8, 0.9 * pow(trial->error, -1.0 / (trial->order + 1))));
    s->h = trial->h * r;
    if (s->error_failures > 4) s->order = 1; /* the past is of no use */
}

/* ---- dense output ---- */

/* Value and slope at t_n + delta of the polynomial through w_n, w_1 and w_2; without
 * a w_2, p if it is given: the slope at t_n. */
static void inside(const two_step *k, double delta, double *value, double *slope, const double *w,
                   const double *w_1, const double *w_2, const double *p, int i)
{
    double first = (w[i] - w_1[i]) / k->h_1, bend = 0;
    if (k->past > 1)
        bend = (first - (w_1[i] - w_2[i]) / k->h_2) / (k->h_1 + k->h_2);
    else if (p)
        bend = (p[i] - first) / k->h_1;
    *value = w[i] + delta * (first + bend * (delta + k->h_1));
    *slope = first + bend * (2 * delta + k->h_1);
}

static void two_step_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    two_step *k = s->method_state;
    const dae_system *sys = &s->system;
    double delta = t - s->t, value, slope;
    if (k->past == 0) {
        if (x) memcpy(x, s->x, (size_t)sys->n * sizeof(double));
        if (p) memcpy(p, s->p, (size_t)sys->m * sizeof(double));
        if (d && sys->computed) memcpy(d, s->d, (size_t)sys->m * sizeof(double));
        return;
    }
    for (int i = 0; i < sys->n; i++) {
        int smooth = !sys->computed && sys->level[i] == DAE_DIFFERENTIAL;
        inside(k, delta, &value, &slope, s->x, k->x_1, k->x_2, smooth ? s->p : NULL, i);
        if (x) x[i] = value;
        if (p && !sys->computed) p[i] = slope;
    }
    for (int i = 0; sys->computed && i < sys->m; i++) {
        inside(k, delta, &value, &slope, s->d, k->d_1, k->d_2, s->p, i);
        if (d) d[i] = value;
        if (p) p[i] = slope;
    }
}

static int two_step_reach(dae_solver *s)
{
    (void)s;
    return 2; /* also at the start: p_0 makes up for the past */
}

const dae_method dae_method_two_step = {
    .name = "two-step",
    .parameter = "two-step-R and two-step-R-RALG take decimals R, RALG from 0 to 1",
    .description = "two steps, order 2, spectral radius R at infinity: two-step-R, two-step-R-RALG",
    .max_order = 2,
    .takes = two_step_takes,
    .choose = two_step_choose,
    .open = two_step_open,
    .close = two_step_close,
    .start = two_step_start,
    .start_history = two_step_history,
    .attempt = two_step_attempt,
    .commit = two_step_commit,
    .reject = two_step_reject,
    .interpolate = two_step_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .reach = two_step_reach,
};

const dae_method dae_method_alpha = {
    .name = "generalized-alpha",
    .parameter = "generalized-alpha-R takes a decimal R from 0 to 1",
    .description = "generalized-alpha, order 2, spectral radius R at infinity: generalized-alpha-R",
    .max_order = 2,
    .takes = alpha_takes,
    .choose = two_step_choose,
    .open = two_step_open,
    .close = two_step_close,
    .start = two_step_start,
    .start_history = two_step_history,
    .attempt = two_step_attempt,
    .commit = two_step_commit,
    .reject = two_step_reject,
    .interpolate = two_step_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .reach = two_step_reach,
};
