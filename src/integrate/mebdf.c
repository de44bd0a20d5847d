/* mebdf.c: modified extended BDF, k = 1 to 7 steps, variable step and order.
 *
 * The formulas are in mebdf_formula.c: two BDF stages at t1 = t_n + h and t2 = t_n + 2h, then a
 * corrector of order k + 1 at t1, all with the matrix K + cC of the k-step BDF. A-stable for
 * k <= 3, A(88)-stable for k = 4, down to A(62) for k = 7. p2 at the future point is data of the
 * trial: nothing of it goes into the history, which holds w = (x, computed d) at past points only.
 *
 * `order` everywhere is k, the number of steps; the order of convergence is k + 1, and k where
 * an unknown is a derivative (index 2 and 3).
 *
 * Error estimate [Cash & Considine 1992]: x - x1, the corrector minus the first stage, that is the
 * error of BDF-k. It is of order h^{k+1} at each step, as the global error is: errors are
 * proportional to tolerances. It needs no filter (bdf.c): both points satisfy the equations at t1,
 * with p that differ by D = a (p1 - P') + b (p2 - P'), so
 *
 *     x - x1 = (K + cC)^{-1} f_p D
 *
 * and how badly an algebraic unknown was predicted is not in it. The neighbouring orders, when
 * they are wanted, get the filter: (K + cC)^{-1} c f_p E with E of the differences.
 *
 * Newton starts stage 1 from the polynomial of degree k + 1, stage 2 from e2 in proportion to e1,
 * the corrector from x1.
 */
#include "integrate/mebdf.h"
#include "integrate/history.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

enum { ROWS = MEBDF_MOST + 3 };

typedef struct mebdf {
    double *vectors;        /* the block of all vectors                                     */
    dae_history past;
    int used;               /* k of the last accepted step                                  */
    int steady;             /* accepted steps since size or order last changed              */
    int starting;           /* 1: order and step are still being built up                   */
    int calm;               /* accepted steps since the last rejection                      */
    double raw_peak;        /* largest unfiltered error lately                              */
    double fit;             /* the part of x - x1 that counts                               */

    /* of the present attempt */
    mebdf_formula f;
    dae_reach at;           /* weights of the history at t1                                 */
    double *pred, *rate;    /* P(t1) of w, P'(t1) of d                                      */
    double *pred2, *rate2;  /* omega at t2                                                  */
    double *x_guess, *p_guess, *d_guess;
    double *x1, *p1, *e1, *d1, *e_d1; /* stage 1; e1 = w - P                                */
    double *x2, *p2, *e2, *d2, *e_d2; /* stage 2; e2 = w - omega                            */
    double *gap, *gap_d;    /* corrector - stage 1                                          */
    double *filter;         /* 2 n: right sides                                             */
    double *probe;          /* one vector of E_d                                            */
    double error_k, error_down, error_up; /* on an even mesh of this step                   */
    int have_down, have_up;
} mebdf;

/* Growth that is worth a factorization. */
static const double WORTHWHILE = 1.3;
/* The largest growth while starting, and later. */
static const double FASTEST = 8, FAST = 2;
/* Above this error the step will shrink, and the order below may be better. */
static const double RESTLESS = 0.5;

/* ---- opening ---- */

static void mebdf_close(dae_solver *s)
{
    mebdf *m = s->method_state;
    if (!m) return;
    dae_free(&s->memory, m->vectors);
    dae_free(&s->memory, m);
    s->method_state = NULL;
}

static dae_status mebdf_open(dae_solver *s)
{
    mebdf *m = dae_alloc(&s->memory, 1, sizeof *m);
    s->method_state = m;
    if (!m) return DAE_E_NOMEM;
    size_t n = (size_t)s->system.n, p = (size_t)s->system.m, d = (size_t)s->system.computed;
    double *phi;
    dae_vector_wish wish[] = {
        {&phi, ROWS * (n + d)}, {&m->pred, n + d}, {&m->rate, p},    {&m->pred2, n + d},
        {&m->rate2, p},         {&m->x_guess, n},  {&m->p_guess, p}, {&m->d_guess, d},
        {&m->x1, n},            {&m->p1, p},       {&m->e1, n},      {&m->d1, d},
        {&m->e_d1, d},          {&m->x2, n},       {&m->p2, p},      {&m->e2, n},
        {&m->d2, d},            {&m->e_d2, d},     {&m->gap, n},     {&m->gap_d, d},
        {&m->filter, 2 * n},    {&m->probe, p}};
    m->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!m->vectors) return DAE_E_NOMEM;
    dae_history_open(&m->past, &s->system, ROWS, phi);
    m->fit = s->safety;
    return DAE_OK;
}

static void mebdf_start(dae_solver *s)
{
    mebdf *m = s->method_state;
    dae_history_start(&m->past, s);
    m->used = 1;
    m->steady = 0;
    m->starting = 1;
    m->calm = 1000;
    m->raw_peak = 0;
    s->order = 1;
}

static dae_status mebdf_start_history(dae_solver *s, int count, const double *t, const double *x)
{
    mebdf *m = s->method_state;
    mebdf_start(s);
    m->starting = 0;
    m->used = count > 1 ? count - 1 : 1;
    return dae_history_load(&m->past, s, count, t, x);
}

/* ---- one attempt ---- */

/* May the equations be asked at t2? */
static int future_exists(const dae_solver *s, const dae_trial *trial, double *t2)
{
    *t2 = trial->t + trial->h;
    if (isnan(s->stop)) return 1;
    double beyond = (*t2 - s->stop) / trial->h;
    if (beyond > 1e-6) return 0;
    if (beyond > 0) *t2 = s->stop;
    return 1;
}

/* Coefficients, P and P' at t1, P and P' at t2. */
static void prepare(mebdf *m, const dae_trial *trial, int future)
{
    dae_history *a = &m->past;
    dae_reach at2;
    double tau[ROWS] = {0}, h = trial->h;
    int k = trial->order;
    for (int i = 1; i <= k; i++) tau[i] = i <= a->valid ? a->psi[i - 1] : tau[i - 1] + h;
    if (a->first) tau[1] = 0; /* a double point */
    mebdf_coefficients(&m->f, k, h, tau, future);
    dae_history_reach(a, h, k + 1, &m->at);
    dae_history_predict(a, k, &m->at, m->pred, m->rate);
    if (!future) return;
    dae_history_reach(a, 2 * h, k, &at2);
    dae_history_predict(a, k, &at2, m->pred2, m->rate2);
}

/* What all stages have in common. */
static dae_stage stage(const dae_solver *s, const mebdf *m, const dae_trial *trial)
{
    return (dae_stage){.t = trial->t, .h = trial->h, .c = m->f.c, .x_pred = m->x_guess,
                       .p_pred = m->p_guess, .d_pred = m->d_guess, .w = s->w,
                       .w_d = s->system.computed ? s->w_d : NULL};
}

/* guess = base + factor * v in x, the same in d; p to match. `factor` 0 is no guess. */
static void guess(const dae_solver *s, mebdf *m, const double *w, const double *rate,
                  double factor, const double *v, const double *v_d)
{
    int n = s->system.n;
    double c = factor * m->f.c;
    for (int i = 0; i < n; i++) m->x_guess[i] = w[i] + factor * v[i];
    if (!s->system.computed) v_d = v;
    for (int i = 0; i < s->system.m; i++) m->p_guess[i] = rate[i] + c * v_d[i];
    for (int i = 0; i < s->system.computed; i++) m->d_guess[i] = w[n + i] + factor * v_d[i];
}

static void add(int n, double factor, const double *v, double *e)
{
    for (int i = 0; i < n; i++) e[i] += factor * v[i];
}

static int stage_1(dae_solver *s, mebdf *m, dae_trial *trial)
{
    int n = s->system.n, k = trial->order;
    const double *v = m->past.phi[k + 1];
    double lift = m->at.value[k + 1]; /* 0: there is no phi_{k+1} */
    guess(s, m, m->pred, m->rate, lift, v, v + n);
    dae_stage g = stage(s, m, trial);
    g.x = m->x1, g.p = m->p1, g.e = m->e1, g.d = m->d1, g.e_d = m->e_d1;
    int status = dae_corrector_solve(&s->corrector, &g);
    if (status != DAE_OK) return status;
    add(n, lift, v, m->e1);
    add(s->system.computed, lift, v + n, m->e_d1);
    return DAE_OK;
}

static int stage_2(dae_solver *s, mebdf *m, dae_trial *trial, double t2)
{
    int n = s->system.n, d = s->system.computed;
    double ahead = m->past.valid > trial->order ? m->f.ahead : 0;
    const double *e_d = d ? m->e_d1 : m->e1;
    add(n, m->f.lift, m->e1, m->pred2);
    add(d, m->f.lift, m->e_d1, m->pred2 + n);
    add(s->system.m, m->f.lift_rate, e_d, m->rate2);
    guess(s, m, m->pred2, m->rate2, ahead, m->e1, m->e_d1);
    dae_stage g = stage(s, m, trial);
    g.t = t2;
    g.x = m->x2, g.p = m->p2, g.e = m->e2, g.d = m->d2, g.e_d = m->e_d2;
    int status = dae_corrector_solve(&s->corrector, &g);
    if (status != DAE_OK) return status;
    add(n, ahead, m->e1, m->e2);
    add(d, ahead, m->e_d1, m->e_d2);
    return DAE_OK;
}

/* p - p1 at x = x1 in terms of e1 and e2: no cancellation. */
static int corrector(dae_solver *s, mebdf *m, dae_trial *trial)
{
    int n = s->system.n, d = s->system.computed;
    const mebdf_formula *f = &m->f;
    const double *e1 = d ? m->e_d1 : m->e1, *e2 = d ? m->e_d2 : m->e2;
    double by1 = f->a * f->c + f->b * f->lift_rate, by2 = f->b * f->c;
    if (by2 != 0)
        for (int i = 0; i < s->system.m; i++) m->p_guess[i] = m->p1[i] - by1 * e1[i] - by2 * e2[i];
    else
        for (int i = 0; i < s->system.m; i++) m->p_guess[i] = m->p1[i] - by1 * e1[i];
    dae_stage g = stage(s, m, trial);
    g.x_pred = m->x1, g.d_pred = m->d1;
    g.x = trial->x, g.p = trial->p, g.e = m->gap, g.d = trial->d, g.e_d = m->gap_d;
    int status = dae_corrector_solve(&s->corrector, &g);
    if (status != DAE_OK) return status;
    for (int i = 0; i < n; i++) trial->e[i] = m->e1[i] + m->gap[i];
    for (int i = 0; i < d; i++) trial->e_d[i] = m->e_d1[i] + m->gap_d[i];
    return DAE_OK;
}

/* What the log and the driver want to know of Newton's iteration, over all stages. */
typedef struct effort {
    int iterations, new_jacobian, new_factor, jacobian_current, second_round;
    double rate;
} effort;

static void note(effort *a, const dae_corrector *q)
{
    a->iterations += q->iterations;
    a->new_jacobian |= q->new_jacobian;
    a->new_factor |= q->new_factor;
    a->jacobian_current |= q->jacobian_current;
    a->second_round |= q->second_round;
    a->rate = fmax(a->rate, q->observed_rate);
}

static void tell(const effort *a, dae_corrector *q)
{
    q->iterations = a->iterations;
    q->new_jacobian = a->new_jacobian;
    q->new_factor = a->new_factor;
    q->jacobian_current = a->jacobian_current;
    q->second_round = a->second_round;
    q->observed_rate = a->rate;
}

static int solve_stages(dae_solver *s, mebdf *m, dae_trial *trial)
{
    effort all = {0};
    double t2;
    int future = future_exists(s, trial, &t2);
    prepare(m, trial, future);
    int status = stage_1(s, m, trial);
    note(&all, &s->corrector);
    if (status == DAE_OK && future) {
        status = stage_2(s, m, trial, t2);
        note(&all, &s->corrector);
    }
    if (status == DAE_OK) {
        status = corrector(s, m, trial);
        note(&all, &s->corrector);
    }
    tell(&all, &s->corrector);
    return status;
}

/* c f_p E for the order below (which < 0) or above: the right side of the filter. */
static int filter_side(dae_solver *s, mebdf *m, const dae_trial *trial, int which, double *v)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    int n = sys->n, k = trial->order;
    const double *e = sys->computed ? trial->e_d : trial->e;
    double f = which < 0 ? m->at.value[k] : -m->at.value[k + 1];
    const double *phi = m->past.phi[which < 0 ? k : k + 1] + (sys->computed ? n : 0);
    for (int i = 0; i < sys->m; i++) m->probe[i] = e[i] + f * phi[i];
    if (!sys->computed) {
        dae_corrector_lead(q, m->probe, v);
        return DAE_OK;
    }
    int status = dae_system_push_p(sys, trial->t, trial->x, trial->p, q->r, m->probe, v);
    for (int i = 0; i < n; i++) v[i] *= q->c_factor;
    return status;
}

/* prod (i + 1) h / (h + tau_i), i = 0 .. q: what turns a difference of the present mesh into one
 * of an even mesh. */
static double evened(const mebdf *m, double h, int q)
{
    double product = 1;
    for (int i = 1; i <= q; i++) product *= (i + 1) * h / (h + m->past.psi[i - 1]);
    return product;
}

/* |E| of BDF of order q for a difference of order q + 1. */
static double share(int q)
{
    return 1 / ((q + 1) * mebdf_harmonic[q]);
}

static int neighbours(dae_solver *s, mebdf *m, dae_trial *trial)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    int n = sys->n, k = trial->order, count = 0, place, status = DAE_OK, which[2];
    double *out[2];
    if (m->have_down) which[count] = -1, out[count++] = &m->error_down;
    if (m->have_up) which[count] = 1, out[count++] = &m->error_up;
    if (count == 0) return DAE_OK;
    if (sys->computed) status = dae_system_f(sys, trial->t, trial->x, trial->p, q->r);
    for (int l = 0; l < count && status == DAE_OK; l++)
        status = filter_side(s, m, trial, which[l], m->filter + (size_t)l * (size_t)n);
    if (status == DAE_OK) status = dae_corrector_solve_with(q, m->filter, count);
    if (status != DAE_OK) return status;
    for (int l = 0; l < count; l++) {
        int order = k + which[l];
        *out[l] = m->fit * share(order) * evened(m, trial->h, order) *
                  dae_norm(s->options.norm, n, m->filter + (size_t)l * (size_t)n, s->w, &place);
    }
    return DAE_OK;
}

static int judge(dae_solver *s, mebdf *m, dae_trial *trial)
{
    int n = s->system.n, k = trial->order, place;
    if (m->past.first)
        for (int i = 0; i < n; i++)
            if (s->system.level[i] > 0) m->gap[i] = 0;
    trial->filtered = 1;
    trial->error = m->fit * dae_norm(s->options.norm, n, m->gap, s->w, &trial->limiting);
    double raw = m->fit * fabs(m->f.defect) * dae_norm(s->options.norm, n, trial->e, s->w, &place);
    m->raw_peak = fmax(raw, 0.7 * m->raw_peak);
    m->error_k = trial->error;
    if (!m->past.first && m->past.valid >= k)
        m->error_k *= evened(m, trial->h, k) * share(k) / fabs(m->f.defect / (1 + m->f.defect));
    int ripe = m->starting || m->steady >= k;
    m->have_down = k > 1 && (ripe || trial->error > RESTLESS);
    m->have_up = ripe && k < s->options.max_order && m->past.valid > k && !m->past.first;
    int status = neighbours(s, m, trial);
    if (status != DAE_OK) return status;
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static int mebdf_attempt(dae_solver *s, dae_trial *trial)
{
    mebdf *m = s->method_state;
    if (m->past.first) dae_history_first(&m->past, trial->h);
    int status = solve_stages(s, m, trial);
    if (status != DAE_OK) return status;
    trial->constant = fabs(m->f.defect);
    if (trial->prescribed) {
        trial->error = 0;
        trial->limiting = -1;
        return DAE_OK;
    }
    return judge(s, m, trial);
}

/* ---- after the attempt ---- */

/* Step ratio that would bring the error of order k to one half. */
static double ratio(double error, int k)
{
    return pow(2 * error + 1e-6, -1.0 / (k + 1));
}

/* Order and size of the next step: the order that allows the longest step. When differences
 * grow with their order, the order is too high whatever the errors say. */
static void plan(dae_solver *s, mebdf *m, const dae_trial *trial)
{
    int k = trial->order, next = k;
    double r = ratio(m->error_k, k), most = m->starting ? FASTEST : FAST;
    if (m->have_down) {
        double down = ratio(m->error_down, k - 1);
        int growing = m->error_down / share(k - 1) <= m->error_k / share(k);
        if (down > r || growing) next = k - 1, r = down;
    }
    if (m->have_up && next == k) {
        double up = ratio(m->error_up, k + 1);
        if (up > r) next = k + 1, r = up;
    }
    if (next < k || r < FAST) m->starting = 0;
    s->order = next;
    s->h = trial->h;
    if (r > 1 && m->calm <= k + 1) return; /* what was just refused is not tried again at once */
    if (r >= WORTHWHILE && (m->starting || m->steady > k || r >= 2))
        s->h = trial->h * fmin(r, most);
    else if (r <= 1)
        s->h = trial->h * fmax(0.5, fmin(0.95, r));
}

static void mebdf_commit(dae_solver *s, dae_trial *trial)
{
    mebdf *m = s->method_state;
    dae_history *a = &m->past;
    int k = trial->order, first = a->first;
    int same = !first && fabs(trial->h - a->psi[0]) <= 1e-9 * fabs(trial->h) && k == m->used;
    dae_history_take(a, trial->h, k, &m->at, trial);
    if (first) { /* the second difference of x1, x0 and x0', as if x_{-1} were on their parabola */
        for (int i = 0; i < a->width; i++)
            a->phi[2][i] *= i < a->n && s->system.level[i] > 0 ? 0 : 2;
    }
    m->steady = same ? m->steady + 1 : 1;
    m->used = k;
    m->calm++;
    if (!trial->prescribed) plan(s, m, trial);
}

static void mebdf_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    mebdf *m = s->method_state;
    int k = trial->order, next = k;
    m->starting = m->calm = 0;
    if (verdict != DAE_STEP_ERROR) {
        s->h = 0.25 * trial->h;
        /* an undefined point is often an overshooting prediction: a lower order is tamer */
        if ((verdict == DAE_STEP_NONFINITE || verdict == DAE_STEP_RETRY) && k > 1) s->order = k - 1;
        return;
    }
    if (s->error_failures > 2) {
        s->h = 0.25 * trial->h;
        s->order = 1;
        return;
    }
    double r = ratio(m->error_k, k), most = s->error_failures == 1 ? 0.9 : 0.7;
    if (m->have_down && ratio(m->error_down, k - 1) > r) {
        next = k - 1;
        r = ratio(m->error_down, next);
    }
    s->h = trial->h * fmax(0.1, fmin(most, 0.9 * r));
    s->order = next;
}

/* ---- dense output ---- */

/* The polynomial through one point more than the step used has the order of the step. */
static int degree(const mebdf *m)
{
    if (m->past.first) return 1;
    return m->past.valid > m->used ? m->used + 1 : m->used;
}

static void mebdf_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    const mebdf *m = s->method_state;
    dae_history_interpolate(&m->past, degree(m), t - s->t, x, p, d);
}

/* The next term of Newton's form is what the polynomial leaves out; but where unfiltered errors
 * were large lately, a small one proves nothing. */
static double mebdf_doubt(dae_solver *s, double t)
{
    const mebdf *m = s->method_state;
    int where, next = degree(m) + 1;
    dae_reach at;
    if (m->past.first || m->past.valid < next) return 0;
    if (m->raw_peak > 1) return INFINITY;
    dae_history_reach(&m->past, t - s->t, next, &at);
    return fabs(at.value[next]) * dae_norm_max(s->system.n, m->past.phi[next], s->w0, &where);
}

/* k steps need k past points: rows 0 .. k - 1. */
static int mebdf_reach(dae_solver *s)
{
    const mebdf *m = s->method_state;
    int reach = m->past.first ? 1 : m->past.valid + 1;
    return reach < MEBDF_MOST ? reach : MEBDF_MOST;
}

const dae_method dae_method_mebdf = {
    .name = "mebdf",
    .description = "modified extended BDF, 1-7 steps, order 2-8",
    .max_order = MEBDF_MOST,
    .open = mebdf_open,
    .close = mebdf_close,
    .start = mebdf_start,
    .start_history = mebdf_start_history,
    .attempt = mebdf_attempt,
    .commit = mebdf_commit,
    .reject = mebdf_reject,
    .interpolate = mebdf_interpolate,
    .doubt = mebdf_doubt,
    .reach = mebdf_reach,
};
