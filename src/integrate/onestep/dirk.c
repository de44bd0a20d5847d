/* dirk.c: diagonally implicit Runge-Kutta methods, from tables.
 *
 * On the canonical system f(t, x, p) = 0, p = d'(t), d = d(t, x), stage i is
 *
 *     f(t_i, X_i, P_i) = 0,   P_i = c (d(X_i) - D_i),   D_i = d_n + h sum_{j<i} a_ij P_j,
 *
 * c = 1 / (h gamma): one equation for the corrector after another, all with the matrix K + cC.
 * A first row of zeros (ESDIRK) is no stage: X_1 = x_n, P_1 = p_n, the derivative that the step
 * before ended with. Stiffly accurate tables (b is the last row of A) end with the last stage, so
 * the new point satisfies the equations. Otherwise d_{n+1} = d_n + h sum b_i P_i, and
 *
 *     x_{n+1} = (1 - sum b_i w_ij) x_n + sum b_i w_ij X_j,   W = A^-1,        seed (2.7d)
 *
 * which for d = x is the same formula. "NAME+g" solves the algebraic equations for the algebraic
 * unknowns once more at the end of the step, d_{n+1} kept: seed (2.7e), the state-space form.
 *
 * Error estimate. The difference to the embedded method sits in d, E_d = h sum (b_i - b^_i) P_i;
 * what it does to x is E_x = (K + cC)^-1 c f_p E_d, as in bdf.c. Stiff components, of whose P_i
 * nothing but rounding and order reduction may be left, are damped by it, and algebraic ones see
 * the error of the differential ones. Where the embedded method is stiffly accurate as well, it
 * ends with a stage of its own, and the difference of the two stages needs no solve: the filter is
 * asked only when that difference would reject the step.
 *
 * Predictions are polynomials through the nearest values known: stages of this step and of the
 * one before.
 */
#include "integrate/onestep/dirk.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "tableau/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CANDIDATES = 2 * DAE_DIRK_STAGES + 2 };

/* ---- opening ---- */

/* Fifth order costs less from rtol = 1e-5 on (five problems, docs/numerics.md); but one of its
 * stages lies at t_n + 1.23 h, so that the other one must serve before a stop time. */
static const char ESDIRK_FINE[] = "kvaerno-54", ESDIRK_SPARE[] = "kvaerno-43";

static const char *table_of(const dae_solver *s, const char *name, char plain[40])
{
    if (!strcmp(name, "esdirk")) return s && s->options.rtol < 2e-5 ? ESDIRK_FINE : ESDIRK_SPARE;
    snprintf(plain, 40, "%s", name);
    char *plus = strstr(plain, "+g");
    if (plus && plus[2] == 0) *plus = 0;
    return plain;
}

static int dirk_takes(const char *name)
{
    char plain[40];
    return strlen(name) < sizeof plain &&
           dae_tableau_kind_of(table_of(NULL, name, plain)) == DAE_TABLEAU_DIRK;
}

static dae_status refuse(dae_solver *s, const char *why, const char *hint)
{
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used for this problem",
             s->method_name);
    dae_why(&s->report, "%s", why);
    dae_hint(&s->report, "%s", hint);
    return DAE_E_OPTION;
}

static dae_status dirk_choose(dae_solver *s)
{
    char plain[40];
    dae_tableau tableau;
    dae_tableau_find(table_of(s, s->method_name, plain), &tableau);
    if (tableau.stages > DAE_DIRK_STAGES || tableau.dense_terms > DAE_DIRK_DEGREE)
        return refuse(s, "it has more stages than there is room for", "take 'esdirk'");
    s->order_most = tableau.order;
    if (dae_has_level_3(s))
        return refuse(s, "a level of 3 is declared, which asks for stages of higher order",
                      "'bdf' and 'radau' can");
    if (!(tableau.claims & DAE_CLAIM_STIFFLY_ACCURATE) && (s->system.facts & DAE_FACT_HIGH_INDEX))
        return refuse(s,
                      "a level of 2 or 3 is declared, and the method is not stiffly accurate: "
                      "its steps leave the constraints",
                      "'bdf', 'radau' and 'esdirk' can");
    return DAE_OK;
}

/* Steps of its own choice need an estimate, and a table that bears the index (tableau/verify.h);
 * +g sees to index 1. */
static dae_status dirk_adapts(dae_solver *s)
{
    char plain[40];
    const char *why, *name = table_of(s, s->method_name, plain);
    dae_tableau tableau;
    int level = dae_highest_level(s), with_g = strstr(s->method_name, "+g") != NULL;
    dae_tableau_find(name, &tableau);
    if (tableau.embedded_order == 0) {
        dae_fail(&s->report, DAE_E_OPTION, "method '%s' estimates no error", s->method_name);
        dae_why(&s->report, "it has no embedded method to compare with");
        dae_hint(&s->report, "give option 'fixed_step', or take 'esdirk'");
        return DAE_E_OPTION;
    }
    if (level <= with_g || level <= dae_tableau_index(&tableau, &why)) return DAE_OK;
    return dae_method_refuse(s, level, why, "take 'esdirk', 'bdf' or 'radau'");
}

static void dirk_close(dae_solver *s)
{
    dae_dirk *k = s->method_state;
    if (!k) return;
    dae_free(&s->memory, k->vectors);
    dae_free(&s->memory, k);
    s->method_state = NULL;
}

static dae_status dirk_open(dae_solver *s)
{
    char plain[40];
    dae_tableau tableau;
    dae_dirk *k = dae_alloc(&s->memory, 1, sizeof *k);
    s->method_state = k;
    if (!k) return DAE_E_NOMEM;
    dae_tableau_find(table_of(s, s->method_name, plain), &tableau);
    dae_dirk_take(&k->main, &tableau);
    k->now = k->last = &k->main;
    k->have_spare = !strcmp(s->method_name, "esdirk") && k->main.reach > 1;
    if (k->have_spare) dae_tableau_find(ESDIRK_SPARE, &tableau);
    if (k->have_spare) dae_dirk_take(&k->spare, &tableau);
    k->constrained = strstr(s->method_name, "+g") != NULL && !k->main.stiffly;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m, computed = (size_t)s->system.computed;
    size_t count = (size_t)(k->main.stages > k->spare.stages ? k->main.stages : k->spare.stages);
    dae_vector_wish wish[] = {
        { &k->X[0], count * n },     { &k->X[1], count * n }, { &k->P[0], count * m },
        { &k->P[1], count * m },     { &k->x_pred, n },       { &k->p_pred, m },
        { &k->d_pred, computed },    { &k->e_stage, n },      { &k->d_stage, computed },
        { &k->e_d_stage, computed }, { &k->x_before, n },     { &k->p_before, m },
        { &k->d_before, computed },  { &k->x_older, n },      { &k->p_older, m }
    };
    k->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    return k->vectors ? DAE_OK : DAE_E_NOMEM;
}

static void dirk_start(dae_solver *s)
{
    dae_dirk *k = s->method_state;
    k->h_last = k->h_before = k->error_last = k->ratio = 0;
    k->rejected = 0;
    k->guess_now = NULL;
    s->order = k->main.order;
}

/* ---- predictions ---- */

/* The nearest of the nodes known, not too close to each other: in units of the step, from t_n. */
static void plan_guess(dae_dirk *k, int i, double ratio)
{
    dae_dirk_guess *g = &k->guess[i];
    double node[CANDIDATES], chosen[DAE_DIRK_NODES];
    int source[CANDIDATES], taken[CANDIDATES] = { 0 }, count = 0, most = DAE_DIRK_NODES;
    for (int j = k->now->first; j < i; j++) node[count] = k->now->c[j], source[count++] = j;
    node[count] = 0, source[count++] = -1;
    for (int j = k->last->first; ratio > 0 && j < k->last->stages; j++)
        node[count] = (k->last->c[j] - 1) / ratio, source[count++] = -2 - j;
    for (g->count = 0; g->count < most;) {
        int best = -1;
        for (int l = 0; l < count; l++) {
            if (taken[l]) continue;
            for (int o = 0; o < g->count && !taken[l]; o++)
                taken[l] = fabs(node[l] - chosen[o]) < 0.25;
            if (taken[l]) continue;
            if (best < 0 || fabs(node[l] - k->now->c[i]) < fabs(node[best] - k->now->c[i]))
                best = l;
        }
        if (best < 0) break;
        taken[best] = 1;
        chosen[g->count] = node[best];
        g->source[g->count++] = source[best];
    }
    dae_lagrange(g->count, chosen, k->now->c[i], g->weight, NULL);
}

static void plan_guesses(dae_dirk *k, double h)
{
    double ratio = k->h_last != 0 ? h / k->h_last : 0;
    if (k->ratio == ratio && k->guess_now == k->now && k->guess_last == k->last) return;
    k->ratio = ratio;
    k->guess_now = k->now;
    k->guess_last = k->last;
    for (int i = k->now->first; i < k->now->stages; i++) plan_guess(k, i, ratio);
}

/* Where the prediction takes its values from: X or, for d = x, P of the stages. */
static void find_sources(const dae_solver *s, const dae_dirk *k, const dae_dirk_guess *g,
                         const double *from[DAE_DIRK_NODES])
{
    int slopes = !s->system.computed;
    size_t n = (size_t)s->system.n;
    for (int l = 0; l < g->count; l++) {
        int j = g->source[l];
        double *const *block = slopes ? k->P : k->X;
        if (j == -1)
            from[l] = slopes ? s->p : s->x;
        else
            from[l] = j >= 0 ? block[0] + (size_t)j * n : block[1] + (size_t)(-2 - j) * n;
    }
}

/* d = x: D_i, P_i by the polynomial, X_i = D_i + h gamma P_i. (Predicting X_i itself takes a tenth
 * more iterations: D_i is known exactly.) */
static void predict_slope(const dae_solver *s, dae_dirk *k, double h, int i)
{
    const dae_dirk_guess *g = &k->guess[i];
    const double *from[DAE_DIRK_NODES], *a = k->now->A[i], *P = k->P[0];
    double step = h * k->now->gamma;
    size_t n = (size_t)s->system.n;
    find_sources(s, k, g, from);
    for (size_t r = 0; r < n; r++) {
        double sum = 0, p = 0;
        for (int j = 0; j < i; j++) sum += a[j] * P[(size_t)j * n + r];
        for (int l = 0; l < g->count; l++) p += g->weight[l] * from[l][r];
        k->p_pred[r] = p;
        k->x_pred[r] = s->x[r] + h * sum + step * p;
    }
}

/* Computed d: D_i, X_i by the polynomial, and P_i to match. */
static int predict(dae_solver *s, dae_dirk *k, double t, double h, int i)
{
    dae_system *sys = &s->system;
    const dae_dirk_guess *g = &k->guess[i];
    const double *from[DAE_DIRK_NODES];
    int n = sys->n, m = sys->m;
    double c = 1 / (h * k->now->gamma);
    if (!sys->computed) {
        predict_slope(s, k, h, i);
        return DAE_OK;
    }
    find_sources(s, k, g, from);
    for (int r = 0; r < n; r++) {
        double v = 0;
        for (int l = 0; l < g->count; l++) v += g->weight[l] * from[l][r];
        k->x_pred[r] = v;
    }
    int status = dae_system_d(sys, t, k->x_pred, k->d_pred);
    if (status != DAE_OK)
        return status != DAE_RETRY ? status : sys->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
    for (int r = 0; r < m; r++) {
        double sum = 0;
        for (int j = 0; j < i; j++)
            sum += k->now->A[i][j] * k->P[0][(size_t)j * (size_t)m + (size_t)r];
        k->p_pred[r] = c * (k->d_pred[r] - (s->d[r] + h * sum));
    }
    return DAE_OK;
}

/* ---- one attempt ---- */

/* What the corrector says of its last solve, gathered over the stages. */
typedef struct tally {
    int iterations, new_jacobian, new_factor, second_round, want;
} tally;

static void gather(dae_corrector *q, tally *sum)
{
    sum->iterations += q->iterations;
    sum->new_jacobian |= q->new_jacobian;
    sum->new_factor |= q->new_factor;
    sum->second_round |= q->second_round;
    sum->want |= q->want_jacobian;
    q->want_jacobian = 0; /* one Jacobian per step is enough, if it converges */
}

static void report(dae_corrector *q, const tally *sum)
{
    q->iterations = sum->iterations;
    q->new_jacobian = sum->new_jacobian;
    q->new_factor = sum->new_factor;
    q->second_round = sum->second_round;
    q->want_jacobian = sum->want;
}

static int solve_stage(dae_solver *s, dae_dirk *k, const dae_trial *trial, int i)
{
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    int last = i == k->now->stages - 1;
    int at_end = k->now->c[i] == 1 || (last && k->now->stiffly);
    double h = trial->h, t = at_end ? trial->t : s->t + k->now->c[i] * h;
    int status = predict(s, k, t, h, i);
    if (status != DAE_OK) return status;
    dae_stage g = { .t = t,
                    .c = 1 / (h * k->now->gamma),
                    .h = h,
                    .x_pred = k->x_pred,
                    .p_pred = k->p_pred,
                    .d_pred = k->d_pred,
                    .x = k->X[0] + (size_t)i * n,
                    .p = k->P[0] + (size_t)i * m,
                    .e = k->e_stage,
                    .d = k->d_stage,
                    .e_d = k->e_d_stage,
                    .w = s->w,
                    .w_d = s->system.computed ? s->w_d : NULL };
    return dae_corrector_solve(&s->corrector, &g);
}

/* The end of the step from its stages. */
static int finish(dae_solver *s, dae_dirk *k, dae_trial *trial)
{
    dae_system *sys = &s->system;
    size_t n = (size_t)sys->n, m = (size_t)sys->m, last = (size_t)k->now->stages - 1;
    const double *P = k->P[0], *X = k->X[0], *base = sys->computed ? s->d : s->x;
    if (k->now->stiffly) {
        memcpy(trial->x, X + last * n, n * sizeof(double));
        memcpy(trial->p, P + last * m, m * sizeof(double));
        if (sys->computed) memcpy(trial->d, k->d_stage, m * sizeof(double));
        return DAE_OK;
    }
    double *end = sys->computed ? trial->d : trial->x;
    for (size_t r = 0; r < m; r++) {
        double sum = 0, slope = 0;
        for (size_t j = 0; j <= last; j++) {
            sum += k->now->b[j] * P[j * m + r];
            slope += k->now->slope_end[j] * P[j * m + r];
        }
        end[r] = base[r] + trial->h * sum;
        trial->p[r] = slope;
    }
    for (size_t r = 0; sys->computed && r < n; r++) {
        double v = k->now->of_start * s->x[r];
        for (size_t j = (size_t)k->now->first; j <= last; j++)
            v += k->now->of_stage[j] * X[j * n + r];
        trial->x[r] = v;
    }
    return DAE_OK;
}

/* "+g": f(t, x, p) = 0 with d(x) = d_{n+1}, as f(t, x, p~ + c (d(x) - d_{n+1})) = 0 with a large c:
 * d moves by (p - p~) / c, and by 1e-6 of that when this is done once more with p for p~. */
static int constrain(dae_solver *s, dae_dirk *k, dae_trial *trial)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    size_t n = (size_t)sys->n, m = (size_t)sys->m;
    double c = (sys->computed ? 1e4 : 1e6) / trial->h;
    int status = DAE_OK, want = q->want_jacobian;
    memcpy(k->x_pred, trial->x, n * sizeof(double));
    memcpy(k->p_pred, trial->p, m * sizeof(double));
    if (sys->computed) memcpy(k->d_pred, trial->d, m * sizeof(double));
    dae_stage g = { .t = trial->t,
                    .c = c,
                    .h = trial->h,
                    .x_pred = k->x_pred,
                    .p_pred = k->p_pred,
                    .d_pred = k->d_pred,
                    .x = trial->x,
                    .p = trial->p,
                    .e = k->e_stage,
                    .d = k->d_stage,
                    .e_d = k->e_d_stage,
                    .w = s->w };
    for (int round = 0; round < 3 && status == DAE_OK; round++) {
        q->want_jacobian = 0;
        status = dae_corrector_solve(q, &g);
        for (size_t r = 0; r < m && status == DAE_OK; r++) /* c e means nothing where C is zero */
            if (sys->computed || sys->level[r] == DAE_DIFFERENTIAL) k->p_pred[r] = trial->p[r];
    }
    if (status == DAE_OK) memcpy(trial->p, k->p_pred, m * sizeof(double));
    q->want_jacobian |= want;
    return status;
}

/* (K + cC)^-1 c f_p E_d into trial->e. */
static int filter(dae_solver *s, dae_dirk *k, dae_trial *trial)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    int n = sys->n, m = sys->m, status = DAE_OK;
    double *E = sys->computed ? trial->e_d : k->e_stage;
    for (int r = 0; r < m; r++) {
        double sum = 0;
        for (int j = 0; j < k->now->stages; j++)
            sum += k->now->e[j] * k->P[0][(size_t)j * (size_t)m + (size_t)r];
        E[r] = trial->h * sum;
    }
    if (sys->computed) {
        status = dae_system_f(sys, trial->t, trial->x, trial->p, q->r);
        if (status == DAE_OK)
            status = dae_system_push_p(sys, trial->t, trial->x, trial->p, q->r, E, trial->e);
        if (status == DAE_RETRY) return sys->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
        if (status != DAE_OK) return status;
        for (int i = 0; i < n; i++) trial->e[i] *= q->c_factor;
    } else {
        dae_corrector_lead(q, E, trial->e);
    }
    return dae_corrector_solve_with(q, trial->e, 1);
}

static int judge(dae_solver *s, dae_dirk *k, dae_trial *trial)
{
    int n = s->system.n, status;
    double raw = INFINITY;
    if (k->now->embedded_stage >= 0) {
        const double *other = k->X[0] + (size_t)k->now->embedded_stage * (size_t)n;
        for (int i = 0; i < n; i++) trial->e[i] = trial->x[i] - other[i];
        raw = k->now->scale * dae_norm(s->options.norm, n, trial->e, s->w_error, &trial->limiting);
    }
    trial->error = raw;
    if (raw > 1) {
        int where;
        status = filter(s, k, trial);
        if (status != DAE_OK) return status;
        double filtered =
            fmax(k->now->scale * dae_norm(s->options.norm, n, trial->e, s->w_error, &where),
                 k->now->embedded_stage >= 0 ? raw / k->now->scale : 0);
        if (filtered < raw) {
            trial->error = filtered;
            trial->limiting = where;
            trial->filtered = 1;
        }
    }
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static int dirk_attempt(dae_solver *s, dae_trial *trial)
{
    dae_dirk *k = s->method_state;
    dae_corrector *q = &s->corrector;
    tally sum = { 0 };
    int status = DAE_OK;
    double beyond = s->t + k->main.reach * trial->h - s->stop; /* NaN: no stop time */
    k->now = k->have_spare && beyond * trial->h > 0 ? &k->spare : &k->main;
    trial->order = k->now->order;
    trial->constant = 1;
    if (trial->prescribed) q->stubborn = 2; /* no smaller step will be tried */
    plan_guesses(k, trial->h);
    if (k->now->first) {
        memcpy(k->X[0], s->x, (size_t)s->system.n * sizeof(double));
        memcpy(k->P[0], s->p, (size_t)s->system.m * sizeof(double));
    }
    for (int i = k->now->first; i < k->now->stages && status == DAE_OK; i++) {
        status = solve_stage(s, k, trial, i);
        gather(q, &sum);
    }
    if (status == DAE_OK) status = finish(s, k, trial);
    if (status == DAE_OK && !trial->prescribed) status = judge(s, k, trial);
    if (status == DAE_OK && k->constrained) {
        status = constrain(s, k, trial);
        gather(q, &sum);
    } else if (status == DAE_OK && q->verify && !k->now->stiffly) {
        status = dae_system_f(&s->system, trial->t, trial->x, trial->p, q->r);
        if (status == DAE_RETRY) status = s->system.bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
    }
    report(q, &sum);
    if (trial->prescribed) {
        memset(trial->e, 0, (size_t)s->system.n * sizeof(double));
        trial->error = 0;
        trial->limiting = -1;
    }
    return status;
}

/* ---- after the attempt ---- */

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* The size that the error and the trend of the last two allow [Gustafsson 1994]; a small change
 * is not worth the factors. */
static void plan(dae_solver *s, dae_dirk *k, const dae_trial *trial)
{
    double error = fmax(trial->error, 1e-10), r = 0.9 * pow(error, -k->now->power);
    if (k->error_last > 0)
        r = fmin(r,
                 0.9 * trial->h / k->h_last * pow(k->error_last / (error * error), k->now->power));
    r = fmax(0.2, fmin(6, r));
    if (k->rejected) r = fmin(r, 1);
    if (r >= 1 && r < 1.2) r = 1;
    k->error_last = fmax(error, 1e-2);
    s->h = trial->h * r;
}

static void dirk_commit(dae_solver *s, dae_trial *trial)
{
    dae_dirk *k = s->method_state;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    if (!trial->prescribed) plan(s, k, trial);
    swap(&k->X[0], &k->X[1]);
    swap(&k->P[0], &k->P[1]);
    swap(&k->x_before, &k->x_older);
    swap(&k->p_before, &k->p_older);
    memcpy(k->x_before, s->x, n * sizeof(double));
    memcpy(k->p_before, s->p, m * sizeof(double));
    if (s->system.computed) memcpy(k->d_before, s->d, m * sizeof(double));
    k->h_before = k->h_last;
    k->h_last = trial->h;
    k->last = k->now;
    k->rejected = 0;
}

static void dirk_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    dae_dirk *k = s->method_state;
    k->rejected = 1;
    if (verdict == DAE_STEP_ERROR)
        s->h = trial->h * fmax(0.2, fmin(0.9, 0.9 * pow(trial->error, -k->now->power)));
    else
        s->h = 0.25 * trial->h;
}

static int dirk_reach(dae_solver *s)
{
    const dae_dirk *k = s->method_state;
    return k->main.order;
}

const dae_method dae_method_dirk = {
    .name = "esdirk",
    .description = "diagonally implicit Runge-Kutta methods, one factorization per step",
    .movable = 1,
    .max_order = 8,
    .takes = dirk_takes,
    .choose = dirk_choose,
    .adapts = dirk_adapts,
    .open = dirk_open,
    .close = dirk_close,
    .start = dirk_start,
    .attempt = dirk_attempt,
    .commit = dirk_commit,
    .reject = dirk_reject,
    .interpolate = dae_dirk_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .reach = dirk_reach,
};
