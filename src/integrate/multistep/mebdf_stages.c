/* mebdf_stages.c: the three systems of equations of an MEBDF step (mebdf_formula.c).
 *
 * Cheap stages. Three solves per step are affordable because little is left to do in each:
 *   - stage 2 of the last step was at the present t1: stage 1 starts from what it found;
 *   - an error in x2 reaches x multiplied by |b| (0.5 at k = 1, 0.06 at k = 7): Newton may stop
 *     stage 2 earlier by that factor;
 *   - the three points share Jacobian and factors, so the rate of convergence is a fact of the
 *     step: stage 2, which has the longest way, measures it for all;
 *   - where C is constant the corrector's first iteration needs no f (`leap`).
 */
#include "integrate/multistep/mebdf.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

/* Slower than this Newton's first correction is not the whole story. */
static const double BRISK = 0.5;
/* Slower than this, a Jacobian that costs no differences is renewed: three stages share it. */
static const double STALE = 0.1;
static const double FELT = 0.03; /* the rate with the C of another point of the step */
/* Newton's tolerance in stage 1 is smaller by this: who leaps keeps its error. */
static const double STRICTLY = 0.4;
/* Newton's tolerance in stage 2, at most: it is the next prediction, too. */
static const double LOOSEST = 2;

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

static void set_formula(mebdf *m, const dae_trial *trial, int future)
{
    const dae_history *a = &m->past;
    const dae_reach *at = m->at;
    int k = trial->order;
    double h = trial->h, tau[MEBDF_ROWS] = { 0 };
    if (a->valid >= k && !a->first) { /* the history has its products */
        mebdf_product q = { at[0].value[k], h * at[0].slope[k], at[1].value[k],
                            h * at[1].slope[k] };
        mebdf_coefficients_of(&m->f, k, h, a->psi[k - 1] / h, &q, future);
        return;
    }
    for (int i = 1; i <= k; i++) tau[i] = i <= a->valid ? a->psi[i - 1] : tau[i - 1] + h;
    if (a->first) tau[1] = 0; /* a double point */
    mebdf_coefficients(&m->f, k, h, tau, future);
}

/* Weights of the history and coefficients, unless they are known: the last k + 1 steps were like
 * this one, and so was the last attempt. */
static void set_weights(mebdf *m, const dae_trial *trial, int future)
{
    const dae_history *a = &m->past;
    double h = trial->h;
    int k = trial->order, even = future && h == a->psi[0] && k == m->used && m->steady > k;
    if (even && h == m->even_h && k == m->even_k) return;
    dae_history_reach(a, h, k + 1, &m->at[0]);
    dae_history_reach(a, 2 * h, k, &m->at[1]);
    set_formula(m, trial, future);
    m->even_h = even ? h : 0;
    m->even_k = k;
}

/* Coefficients; P and P' at t1 and t2. */
static void predict(mebdf *m, const dae_trial *trial, int future)
{
    double *const w[] = { m->pred, m->pred2 }, *const rate[] = { m->rate, m->rate2 };
    set_weights(m, trial, future);
    if (future)
        dae_history_predict_2(&m->past, trial->order, m->at, w, rate);
    else
        dae_history_predict(&m->past, trial->order, &m->at[0], m->pred, m->rate);
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

/* What all stages have in common. */
static dae_stage stage(const dae_solver *s, const mebdf *m, const dae_trial *trial)
{
    return (dae_stage){ .t = trial->t,
                        .h = trial->h,
                        .c = m->f.c,
                        .x_pred = m->x_guess,
                        .p_pred = m->p_guess,
                        .d_pred = m->d_guess,
                        .w = s->w,
                        .w_d = s->system.computed ? s->w_d : NULL,
                        .padded = 1 };
}

/* ---- stage 1 ----
 *
 * Stage 2 of the last step has been near t1: what the polynomial lacked there, scaled like its
 * next term, is what to expect of e1. Without it the next difference serves.
 */

/* e is what to expect of w - P: P + by v. `out` and p, which may be NULL, are w and w' then. */
static inline void guess(int n, double by, double c, const double *v, const double *w,
                         const double *rate, double *out, double *p)
{
    for (int i = 0; i < n; i += 4) {
        dae_four e = by * FOUR_AT(v + i);
        FOUR(out + i) = FOUR_AT(w + i) + e;
        if (p) FOUR(p + i) = FOUR_AT(rate + i) + c * e;
    }
}

static void guess_all(const mebdf *m, const double *v, double by)
{
    int n = m->past.n, d = m->past.computed, from = m->past.from_d;
    double c = m->f.c;
    if (!d) {
        guess(n, by, c, v, m->pred, m->rate, m->x_guess, m->p_guess);
        return;
    }
    guess(n, by, c, v, m->pred, NULL, m->x_guess, NULL);
    guess(d, by, c, v + from, m->pred + from, m->rate, m->d_guess, m->p_guess);
}

/* expected = x - w, and p to match. */
static inline void part(int n, double c, const double *x, const double *w, const double *rate,
                        double *expected, double *p)
{
    for (int i = 0; i < n; i += 4) {
        dae_four e = FOUR_AT(x + i) - FOUR_AT(w + i);
        FOUR(expected + i) = e;
        if (p) FOUR(p + i) = FOUR_AT(rate + i) + c * e;
    }
}

/* `expected` is the last stage 2 without the polynomial w there. */
static void part_all(const mebdf *m, const double *w)
{
    int n = m->past.n, d = m->past.computed, from = m->past.from_d;
    double *e = m->expected, c = m->f.c;
    if (!d) {
        part(n, c, m->x_ahead, w, m->rate, e, m->p_guess);
        return;
    }
    part(n, c, m->x_ahead, w, NULL, e, NULL);
    part(d, c, m->d_ahead, w + from, m->rate, e + from, m->p_guess);
}

/* The last stage 2 was not at t1 but h_2 = m->ahead from t_n. */
static double expect_from_afar(mebdf *m, const dae_trial *trial)
{
    const dae_history *a = &m->past;
    int k = trial->order;
    dae_reach at;
    double ratio = trial->h / m->ahead;
    dae_history_reach(a, m->ahead, k, &at);
    dae_history_predict(a, k, &at, m->expected, m->p_guess);
    part_all(m, m->expected);
    for (int i = 0; i < k; i++) ratio *= (trial->h + a->psi[i]) / (m->ahead + a->psi[i]);
    return ratio;
}

static int stage_1(dae_solver *s, mebdf *m, const dae_trial *trial)
{
    const dae_history *a = &m->past;
    int k = trial->order;
    dae_stage g = stage(s, m, trial);
    m->expected_by = 1;
    if (m->ahead == 0 || a->valid < k || a->first) {
        memcpy(m->expected, a->phi[k + 1], (size_t)a->width * sizeof(double));
        m->expected_by = m->at[0].value[k + 1]; /* 0: there is none */
        guess_all(m, m->expected, m->expected_by);
    } else if (m->ahead != trial->h) {
        m->expected_by = expect_from_afar(m, trial);
        guess_all(m, m->expected, m->expected_by);
    } else { /* it is the guess */
        part_all(m, m->pred);
        g.x_pred = m->x_ahead, g.d_pred = m->d_ahead;
    }
    g.x = m->x1, g.p = m->p1, g.e = m->e1, g.d = m->d1, g.e_d = m->e_d1;
    return dae_corrector_solve(&s->corrector, &g);
}

/* ---- stage 2 ---- */

/* e1 = w - P from Newton's e = w - guess; from P and P' at t2 omega and omega', and the guess. */
static inline void go_on(int n, const mebdf *m, const double *v, double *e1, const double *w,
                         const double *rate, double *out, double *p)
{
    double by = m->expected_by, lift = m->f.lift + m->ahead_by;
    double lift_rate = m->f.lift_rate + m->f.c * m->ahead_by;
    for (int i = 0; i < n; i += 4) {
        dae_four e = FOUR_AT(e1 + i) + by * FOUR_AT(v + i);
        FOUR(e1 + i) = e;
        FOUR(out + i) = FOUR_AT(w + i) + lift * e;
        if (p) FOUR(p + i) = FOUR_AT(rate + i) + lift_rate * e;
    }
}

static int stage_2(dae_solver *s, mebdf *m, dae_trial *trial, double t2)
{
    int n = s->system.n, d = s->system.computed, from = m->past.from_d;
    const double *v = m->expected;
    m->ahead_by = m->past.valid > trial->order ? m->f.ahead : 0;
    if (!d) {
        go_on(n, m, v, m->e1, m->pred2, m->rate2, m->x_guess, m->p_guess);
    } else {
        go_on(n, m, v, m->e1, m->pred2, NULL, m->x_guess, NULL);
        go_on(d, m, v + from, m->e_d1, m->pred2 + from, m->rate2, m->d_guess, m->p_guess);
    }
    dae_stage g = stage(s, m, trial);
    g.t = t2;
    g.x = m->x2, g.p = m->p2, g.e = m->e2, g.d = m->d2, g.e_d = m->e_d2;
    return dae_corrector_solve(&s->corrector, &g);
}

/* There is none: only e1. */
static void no_stage_2(dae_solver *s, mebdf *m)
{
    int n = s->system.n, d = s->system.computed;
    for (int i = 0; i < n; i++) m->e1[i] += m->expected_by * m->expected[i];
    for (int i = 0; i < d; i++) m->e_d1[i] += m->expected_by * m->expected[m->past.from_d + i];
}

/* ---- the corrector ---- */

/* D = p1 - p at x = x1 from e1 and e2 (which is Newton's e and the part that was guessed): no
 * cancellation. On an even mesh the factor of e1 is that part's. */
static inline void differ(int n, double by1, double by2, const double *e1, const double *e,
                          const double *p1, double *D, double *p)
{
    for (int i = 0; i < n; i += 4) {
        dae_four v = by1 * FOUR_AT(e1 + i) + by2 * FOUR_AT(e + i);
        FOUR(D + i) = v;
        FOUR(p + i) = FOUR_AT(p1 + i) - v;
    }
}

static void set_corrector(dae_solver *s, mebdf *m)
{
    const mebdf_formula *f = &m->f;
    const double *e1 = s->system.computed ? m->e_d1 : m->e1;
    const double *e = s->system.computed ? m->e_d2 : m->e2;
    double by2 = f->b * f->c, by1 = f->a * f->c + f->b * f->lift_rate;
    if (by2 == 0) e = e1; /* no stage 2 */
    differ(s->system.m, by1 + by2 * m->ahead_by, by2, e1, e, m->p1, m->D, m->p_guess);
}

/* x, p and e of the trial for the correction scale * gap. */
static inline void jump(int n, double scale, double c, const mebdf *m, const dae_trial *trial)
{
    double *gap = m->gap, *x = trial->x, *p = trial->p, *e = trial->e;
    const double *x1 = m->x1, *e1 = m->e1, *p_guess = m->p_guess;
    for (int i = 0; i < n; i += 4) {
        dae_four v = scale * FOUR_AT(gap + i);
        FOUR(gap + i) = v;
        FOUR(x + i) = FOUR_AT(x1 + i) + v;
        FOUR(p + i) = FOUR_AT(p_guess + i) + c * v;
        FOUR(e + i) = FOUR_AT(e1 + i) + v;
    }
}

/* The corrector's first iteration without a look at f. At (x1, p1) f vanishes as far as Newton
 * has gone, so at (x1, p1 - D) it is -C D, and the correction (K + cC)^{-1} C D. That is all when
 * the error left by it, about rate times itself, is below the tolerance; 0: it is not, or C may
 * not be trusted. */
static int leap(dae_solver *s, mebdf *m, dae_trial *trial)
{
    const unsigned doubtful = DAE_FACT_HIGH_INDEX | DAE_FACT_D_VARIES;
    dae_corrector *q = &s->corrector;
    int n = s->system.n;
    double rate = fmax(q->rate, q->old_rate), c = m->f.c;
    double scale = 2 / (1 + c / q->c_factor) / q->c_factor;
    if (s->system.computed || (s->system.facts & doubtful)) return 0;
    if (q->verify || q->want_jacobian || rate >= BRISK) return 0;
    mebdf_lead(q, m->D, m->gap);
    if (dae_corrector_solve_with(q, m->gap, 1) != DAE_OK) return 0;
    jump(n, scale, c, m, trial);
    double norm = dae_norm(s->options.norm, n, m->gap, s->w, &trial->limiting);
    m->gap_norm = s->w_error == s->w
                      ? norm
                      : dae_norm(s->options.norm, n, m->gap, s->w_error, &trial->limiting);
    return rate * norm <= q->tolerance * (1 - rate);
}

static int corrector(dae_solver *s, mebdf *m, dae_trial *trial, effort *all)
{
    int n = s->system.n, d = s->system.computed;
    set_corrector(s, m);
    if (leap(s, m, trial)) return DAE_OK;
    dae_stage g = stage(s, m, trial);
    g.x_pred = m->x1, g.d_pred = m->d1;
    g.x = trial->x, g.p = trial->p, g.e = m->gap, g.d = trial->d, g.e_d = m->gap_d;
    int status = dae_corrector_solve(&s->corrector, &g);
    note(all, &s->corrector);
    if (status != DAE_OK) return status;
    for (int i = 0; i < n; i++) trial->e[i] = m->e1[i] + m->gap[i];
    for (int i = 0; i < d; i++) trial->e_d[i] = m->e_d1[i] + m->gap_d[i];
    for (int i = 0; m->past.first && i < n; i++) /* of their past nothing is known */
        if (s->system.level[i] > 0) m->gap[i] = 0;
    m->gap_norm = dae_norm(s->options.norm, n, m->gap, s->w_error, &trial->limiting);
    return DAE_OK;
}

/* ---- all of them ---- */

/* The rate of an earlier step, while the factors and Jacobian are those it was seen with. */
static void recall_pace(dae_corrector *q, const mebdf *m, int most)
{
    int same = q->have_factor && q->c_factor == m->pace.c && q->t_jacobian == m->pace.t;
    if (!same || m->pace.age >= most) return;
    q->rate = fmin(q->rate, m->pace.value);
    q->unmeasured = 0;
}

static void note_pace(const dae_corrector *q, mebdf *m)
{
    m->pace.age++;
    if (q->observed_rate == 0) return;
    m->pace.value = q->rate;
    m->pace.c = q->c_factor;
    m->pace.t = q->t_jacobian;
    m->pace.age = 0;
}

/* From t1 to t2 C changes by O(h), cC by O(1): at level >= 2 that may be felt (it is where the
 * constraints are on a computed d), and then every point needs a Jacobian of its own. */
static int moves(const dae_solver *s)
{
    const unsigned both = DAE_FACT_HIGH_INDEX | DAE_FACT_D_VARIES;
    int felt = s->system.computed || s->corrector.C_felt > FELT;
    return felt && (s->system.facts & both) == both;
}

/* Where a Jacobian is given it costs less than the iteration that has to measure the rate whenever
 * an old one is factored with a new c, and an old one leaves errors in x1, which the estimate
 * counts. */
static void mind_age(const dae_solver *s, const mebdf *m, dae_corrector *q, double rate)
{
    const dae_problem *given = &s->system.problem;
    if (!given->jacobian && !given->jacobian_x) return;
    int other_c = !(fabs(m->f.c / q->c_factor - 1) <= q->c_slack);
    q->want_jacobian |= other_c || rate > STALE;
}

/* Stage 2, and whether the corrector will know of it: where only t2 is undefined, one step may do
 * without. */
static int look_ahead(dae_solver *s, mebdf *m, dae_trial *trial, double t2, effort *all)
{
    dae_corrector *q = &s->corrector;
    double kappa = q->tolerance;
    q->tolerance = moves(s) ? STRICTLY * kappa : fmin(kappa / fabs(m->f.b), LOOSEST);
    q->want_jacobian |= moves(s);
    recall_pace(q, m, q->most_unmeasured / 2);
    int status = stage_2(s, m, trial, t2);
    q->tolerance = kappa;
    note(all, q);
    if (status == DAE_OK) note_pace(q, m);
    int undefined = status == DAE_STEP_NONFINITE || status == DAE_STEP_RETRY;
    if (!undefined || m->blind) return status;
    m->even_h = 0;
    set_formula(m, trial, 0);
    return DAE_OK;
}

int mebdf_solve_stages(dae_solver *s, mebdf *m, dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    effort all = { 0 };
    double t2;
    int future = future_exists(s, trial, &t2);
    predict(m, trial, future);
    if (q->have_factor) mind_age(s, m, q, 0);
    recall_pace(q, m, 2 * q->most_unmeasured);
    double kappa = q->tolerance;
    q->tolerance = STRICTLY * kappa;
    int status = stage_1(s, m, trial);
    q->tolerance = kappa;
    note(&all, q);
    if (status == DAE_OK && future) status = look_ahead(s, m, trial, t2, &all);
    if (status == DAE_OK && !future) no_stage_2(s, m);
    if (status == DAE_OK) {
        q->want_jacobian |= future && moves(s);
        recall_pace(q, m, 2 * q->most_unmeasured);
        status = corrector(s, m, trial, &all);
    }
    mind_age(s, m, q, all.rate);
    m->blind_new = future && m->f.b == 0;
    tell(&all, q);
    return status;
}
