/* mebdf.c: modified extended BDF, k = 1 to 7 steps, variable step and order.
 *
 * Two BDF stages at t1 = t_n + h and t2 = t_n + 2h, then a corrector of order k + 1 at t1, all with
 * the matrix K + cC of the k-step BDF (mebdf_formula.c), solved in mebdf_stages.c. A-stable for
 * k <= 3, A(88)-stable for k = 4, down to A(62) for k = 7. What was found at t2 is data of the
 * trial: the history holds w = (x, computed d) at past points only.
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
 */
#include "integrate/multistep/mebdf.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* Constants measured on the transistor amplifier, Akzo Nobel, HIRES, Robertson's and Van der Pol's
 * problems (docs/mebdf.md); the optimum is flat. */

/* x - x1 must be below tol / FIT, tightened slowly with the tolerance. */
static const double FIT = 9;
/* The error of the next step is planned to be 1 / AIM: a rejection costs as much as two steps. */
static const double AIM = 5;
/* Growth that is worth a factorization; the largest, while starting and later. */
static const double WORTHWHILE = 1.2, FASTEST = 8, FAST = 3;
/* Above this error the step will shrink, and the order below may be better. */
static const double RESTLESS = 0.5;
/* So many times larger than the one below a difference proves that the order is too high. */
static const double CLEARLY = 2;
/* What the past says of the error is more than what the stages say by so much: something has jumped. */
static const double SURPRISING = 10;
/* So many steps fewer than k must stand on an even mesh before size or order change. */
enum { HASTE = 2 };

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
    size_t w = dae_history_size(&s->system, 1);
    double *phi;
    dae_vector_wish wish[] = { { &phi, dae_history_size(&s->system, MEBDF_ROWS) },
                               { &m->pred, w },
                               { &m->rate, p },
                               { &m->pred2, w },
                               { &m->rate2, p },
                               { &m->x_guess, n },
                               { &m->p_guess, p },
                               { &m->d_guess, d },
                               { &m->x1, n },
                               { &m->p1, p },
                               { &m->e1, n },
                               { &m->d1, d },
                               { &m->e_d1, d },
                               { &m->x2, n },
                               { &m->p2, p },
                               { &m->e2, n },
                               { &m->d2, d },
                               { &m->e_d2, d },
                               { &m->gap, n },
                               { &m->gap_d, d },
                               { &m->filter, 2 * n + 3 },
                               { &m->probe, p },
                               { &m->x_ahead, n },
                               { &m->d_ahead, d },
                               { &m->expected, w },
                               { &m->D, p } };
    m->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!m->vectors) return DAE_E_NOMEM;
    dae_history_open(&m->past, &s->system, MEBDF_ROWS, phi);
    m->fit = FIT * sqrt(s->safety);
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
    dae_oscillation_start(&m->mode);
    m->raw_peak = m->ahead = 0;
    m->blind = 0;
    m->pace.c = m->even_h = 0;
    s->order = 1;
}

static dae_status mebdf_start_history(dae_solver *s, int count, const double *t, const double *x)
{
    mebdf *m = s->method_state;
    mebdf_start(s);
    m->starting = 0;
    m->used = count > 1 ? count - 1 : 1;
    s->order = m->used < s->options.max_order ? m->used : s->options.max_order;
    return dae_history_load(&m->past, s, count, t, x);
}

/* ---- judging an attempt ---- */

/* |E| of BDF of order q for a difference of order q + 1: 1 / ((q + 1) (1 + 1/2 + ... + 1/q)). */
static double share(int q)
{
    static const double table[MEBDF_MOST + 2] = { 0,          1 / 2.0,    2 / 9.0,
                                                  3 / 22.0,   12 / 125.0, 10 / 137.0,
                                                  20 / 343.0, 35 / 726.0, 280 / 6849.0 };
    return table[q];
}

/* c f_p E for this order (which = 0), the one below (which < 0) or above: the right side of the filter. */
static int filter_side(dae_solver *s, mebdf *m, const dae_trial *trial, int which, double *v)
{
    dae_system *sys = &s->system;
    dae_corrector *q = &s->corrector;
    int n = sys->n, k = trial->order;
    const double *e = sys->computed ? trial->e_d : trial->e;
    double f = which == 0 ? 0 : which < 0 ? m->at[0].value[k] : -m->at[0].value[k + 1];
    const double *phi = m->past.phi[which < 0 ? k : k + 1] + (sys->computed ? m->past.from_d : 0);
    for (int i = 0; i < sys->m; i += 4) FOUR(m->probe + i) = FOUR_AT(e + i) + f * FOUR_AT(phi + i);
    if (!sys->computed) {
        mebdf_lead(q, m->probe, v);
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
    double product = 1, below = 1, unit = 1 / h;
    if (m->even_h == h) return 1;
    for (int i = 1; i <= q; i++) {
        product *= i + 1;
        below *= 1 + m->past.psi[i - 1] * unit;
    }
    return product / below;
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
        *out[l] =
            m->fit * share(order) * evened(m, trial->h, order) *
            dae_norm(s->options.norm, n, m->filter + (size_t)l * (size_t)n, s->w_error, &place);
    }
    return DAE_OK;
}

/* The unfiltered error, for raw_peak; in the maximum norm, whatever the option says. */
static double raw_error(const dae_solver *s, const mebdf *m, const dae_trial *trial)
{
    double most = 0;
    for (int i = 0; i < s->system.n; i++) {
        double a = fabs(trial->e[i]) * s->w[i];
        most = a > most ? a : most;
    }
    return fabs(m->f.defect) * most;
}

/* The estimate compares the stages of this step, which know nothing of the past: behind a jump of x' they agree with
 * each other, and the step that has crossed it was accepted with 1e6 tolerances. Of a smooth solution the
 * difference to the prediction says the same; where it says much more, it is asked through the filter. */
static int compare_with_past(dae_solver *s, mebdf *m, dae_trial *trial, double raw)
{
    dae_system *sys = &s->system;
    double part = m->fit * fabs(1 / (1 + m->f.defect)); /* raw has the defect */
    int place;
    if (m->past.first || m->past.valid < trial->order ||
        !(part * raw > 1 && part * raw > SURPRISING * trial->error))
        return DAE_OK;
    int status =
        sys->computed ? dae_system_f(sys, trial->t, trial->x, trial->p, s->corrector.r) : DAE_OK;
    if (status == DAE_OK) status = filter_side(s, m, trial, 0, m->filter);
    if (status == DAE_OK) status = dae_corrector_solve_with(&s->corrector, m->filter, 1);
    if (status != DAE_OK) return status;
    double seen =
        part * fabs(m->f.defect) * dae_norm(s->options.norm, sys->n, m->filter, s->w_error, &place);
    if (!(seen > SURPRISING * trial->error)) return DAE_OK;
    trial->error = seen;
    trial->limiting = place;
    return DAE_OK;
}

static int judge(dae_solver *s, mebdf *m, dae_trial *trial)
{
    int k = trial->order, ripe = m->starting || m->steady >= k - HASTE;
    double raw = raw_error(s, m, trial), faded = 0.7 * m->raw_peak;
    trial->filtered = 1;
    trial->error = m->fit * m->gap_norm;
    int status = compare_with_past(s, m, trial, raw);
    if (status != DAE_OK) return status;
    m->raw_peak = raw > faded ? raw : faded;
    m->error_k = trial->error;
    if (!m->past.first && m->past.valid >= k)
        m->error_k *= evened(m, trial->h, k) * share(k) / fabs(m->f.defect / (1 + m->f.defect));
    int top = dae_oscillation_order(&m->mode, s->options.max_order);
    m->have_down = k > 1 && (ripe || trial->error > RESTLESS || k > top);
    m->have_up = ripe && k < top && m->past.valid > k && !m->past.first;
    status = neighbours(s, m, trial);
    if (status != DAE_OK) return status;
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static int mebdf_attempt(dae_solver *s, dae_trial *trial)
{
    mebdf *m = s->method_state;
    if (m->past.first) dae_history_first(&m->past, trial->h);
    int status = mebdf_solve_stages(s, m, trial);
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

/* Logarithm of the step ratio that would bring the error of order k to where it should be. */
static double growth(double error, int k)
{
    return -log(AIM * error + 1e-6) / (k + 1);
}

/* With nothing known of other orders: is the step ratio between 1 and 2? Then all stays. */
static int contented(const mebdf *m, int k)
{
    double a = AIM * m->error_k + 1e-6;
    return !m->starting && !m->have_down && !m->have_up && a < 1 && ldexp(a, k + 1) > 1;
}

/* Order and size of the next step: the order that allows the longest step. When differences
 * grow with their order, the order is too high whatever the errors say. */
static void plan(dae_solver *s, mebdf *m, const dae_trial *trial)
{
    int k = trial->order, next = k;
    s->order = k;
    s->h = trial->h;
    if (m->steady <= k - HASTE && contented(m, k)) return;
    double best = growth(m->error_k, k), most = m->starting ? FASTEST : FAST;
    if (m->have_down) {
        double down = growth(m->error_down, k - 1);
        int growing = CLEARLY * m->error_down / share(k - 1) <= m->error_k / share(k);
        if (down > best || growing || k > dae_oscillation_order(&m->mode, k))
            next = k - 1, best = down;
    }
    if (m->have_up && next == k) {
        double up = growth(m->error_up, k + 1);
        if (up > best) next = k + 1, best = up;
    }
    double r = exp(best);
    if (next < k || r < 2) m->starting = 0;
    s->order = next;
    if (r > 1 && m->calm <= k + 1) return; /* what was just refused is not tried again at once */
    if (r >= WORTHWHILE && (m->starting || m->steady > k - HASTE || r >= 2))
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
    dae_history_take(a, trial->h, k, &m->at[0], trial);
    if (first) { /* the second difference of x1, x0 and x0', as if x_{-1} were on their parabola */
        for (int i = 0; i < a->width; i++)
            a->phi[2][i] *= i < a->n && s->system.level[i] > 0 ? 0 : 2;
    }
    double *x = m->x_ahead, *d = m->d_ahead;
    m->x_ahead = m->x2, m->x2 = x;
    m->d_ahead = m->d2, m->d2 = d;
    m->blind = m->blind_new;
    m->ahead = m->f.b != 0 ? trial->h : 0;
    m->steady = same ? m->steady + 1 : 1;
    m->used = k;
    m->calm++;
    if (trial->prescribed) return;
    if (k > 1) dae_oscillation_watch(s, &m->mode, k, trial->h, a->phi);
    plan(s, m, trial);
}

static void mebdf_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    mebdf *m = s->method_state;
    int k = trial->order, next = k;
    m->starting = m->calm = 0;
    if (verdict != DAE_STEP_ERROR) {
        s->h = 0.25 * trial->h;
        /* an undefined point is often an overshooting prediction: a lower order is tamer, but order 1
         * would begin with steps as short as at the start */
        if ((verdict == DAE_STEP_NONFINITE || verdict == DAE_STEP_RETRY) && k > 2) s->order = k - 1;
        return;
    }
    if (s->error_failures > 2) {
        s->h = 0.25 * trial->h;
        s->order = 1;
        return;
    }
    double best = growth(m->error_k, k), most = s->error_failures == 1 ? 0.9 : 0.7;
    double down = m->have_down ? growth(m->error_down, k - 1) : best;
    if (down > best) next = k - 1, best = down;
    s->h = trial->h * fmax(0.1, fmin(most, 0.9 * exp(best)));
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
    .movable = 1,
    .open = mebdf_open,
    .close = mebdf_close,
    .start = mebdf_start,
    .start_history = mebdf_start_history,
    .attempt = mebdf_attempt,
    .commit = mebdf_commit,
    .reject = mebdf_reject,
    .interpolate = mebdf_interpolate,
    .between = DAE_BETWEEN_POLYNOMIAL,
    .ahead = 1,
    .reach = mebdf_reach,
};
