/* adams.c: Adams-Bashforth-Moulton in PECE mode, orders 1 to 12, variable step and order.
 *
 * Shampine & Gordon 1975 (also [HNW93, III.5, III.7]), for y' = F(t, y), where F is whatever
 * semi_explicit.h finds: an explicit ODE, any mass or implicit form that can be solved for x', the
 * state-space form of a DAE of index 1, a computed d. The history of y' are modified divided
 * differences
 *
 *     phi_j = psi_0 ... psi_{j-1} [y'_n, y'_{n-1}, ..., y'_{n-j}],   psi_i = t_n - t_{n-1-i}.
 *
 * With the new step h: psi*_0 = h, psi*_i = psi_{i-1} + h,
 *
 *     beta_0 = 1,   beta_j = beta_{j-1} psi*_{j-1} / psi_{j-1},
 *     g_{0,q} = 1/q,   g_{j,q} = g_{j-1,q} - (h / psi*_{j-1}) g_{j-1,q+1},   g_j = g_{j,1}
 *
 *     P  y_pred = y_n + h sum_{j<k} g_j beta_j phi_j      order k
 *     E  v      = F(t_{n+1}, y_pred) - sum_{j<k} beta_j phi_j
 *     C  y_new  = y_pred + h g_k v                        order k + 1
 *     E  y'_new = F(t_{n+1}, y_new)
 *
 * Order q of the method is that of y_new, q = k + 1. (q = 1 has k = 1 and corrects with g_0: the
 * implicit Euler method, iterated once.) beta is folded into the weights, so an attempt does not
 * touch the history. The new one is, with e = y'_new - sum beta_j phi_j,
 *
 *     phi_{k+1} = e - beta_k phi_k,   phi_k = e,   phi_j = beta_j phi_j + phi_{j+1}.
 *
 * Error. y_new of order k would have used g_{k-1} in C: h (g_k - g_{k-1}) v is its error, and an
 * honest one, for the better formula goes on (local extrapolation). It is known after the first E,
 * so a rejected step costs one evaluation. What other orders would have done on an even mesh,
 *
 *     E_k = |gamma*_k| sigma_k h |v|,   sigma_j = prod_{i<j} (i + 1) h / psi*_i,
 *
 * and with v + beta_{k-1} phi_{k-1} and so on for orders below, phi_{k+1} for the one above,
 * decides which order comes next (`plan`).
 *
 * Algebraic unknowns (index 1) are no part of y. Their places in a row hold z itself, and the same
 * differences predict it; with a computed d a row is y' = d', then x. Their errors follow from
 * that of y (dae_semi_spread).
 *
 * y_n + h (...) is summed with what rounding has taken before, and h is the difference of the
 * rounded times. The rigid body after 100,000 fixed steps of order 8 to t = 100 is 4e-14 off; 3e-13
 * without the first, 1e-10 without the second.
 */
#include "integrate/multistep/adams.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

enum { MOST = ADAMS_MOST, ROWS = ADAMS_ROWS };

/* An estimate may be this part of a tolerance. The extrapolated solution is better than the
 * estimate by a factor h, which makes the error proportional to the tolerance by itself: what the
 * driver takes off a tight tolerance for that (s->safety) is given back. With a quarter, the error
 * of Kepler's problem is 2 to 20 tolerances from 1e-3 to 1e-13 (docs/adams.md). */
static const double SHARE = 0.25;

/* The next step aims at this part of what is allowed, grows when it can by WORTHWHILE, and by no
 * more than LARGEST. Found by trying: evaluations for 4 to 10 digits, geometric mean over seven
 * problems, in comparison with Shampine & Gordon's doubling by 0.8; target 1/2, 1/4, 1/8, or
 * growth from 1.1, 1.2, 1.3, are alike within 2 %, growth by at most 2 costs 7 %. */
static const double TARGET = 0.25, WORTHWHILE = 1.2, LARGEST = 4;

/* Stability. h lambda of a decaying component must lie in (-interval[q], 0), where all solutions
 * of the recursion for y' = lambda y are bounded (tests/theory/test_adams.c finds both sides of every
 * bound). Two evaluations at nearly the same point show the local rate,
 *
 *     h |F(y_new) - F(y_pred)| / |y_new - y_pred|,
 *
 * and where stability limits the step, the difference is along the component that grows. So no
 * step is planned beyond the interval, the order falls when it is exceeded, and does not rise where
 * it would be. Without that the error test has to notice: a third of the steps is rejected, the
 * order wanders up to 12, where the interval is a tenth of that of order 3, and HIRES costs 82,666
 * evaluations rather than 29,333. Problems limited by accuracy lose half a per cent. */
static const double interval[MOST + 1] = { 0,      1.0,    2.0,    2.3994, 1.9346, 1.4116, 1.0394,
                                           0.7727, 0.5799, 0.4394, 0.3376, 0.2633, 0.21 };

/* So many steps in a row, nearly, that could have been longer but for stability: stiff. */
enum { LONG = 50, LONGEST = 400 };

/* ---- opening ---- */

static dae_status adams_choose(dae_solver *s)
{
    char name[32];
    int most = 0, level = 0;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] > level) level = s->system.level[most = i];
    if (level < DAE_INDEX2) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method 'adams' does not take unknowns of index %d", level);
    dae_at(&s->report, "unknown '%s', level %d", dae_unknown_name(&s->system, most, name), level);
    dae_why(&s->report,
            "it advances what is differentiated and finds the rest from the equations: "
            "at index %d they do not determine it",
            level);
    dae_hint(&s->report, "use bdf or radau, or an index-1 formulation");
    return DAE_E_OPTION;
}

static void adams_close(dae_solver *s)
{
    dae_adams *g = s->method_state;
    if (!g) return;
    dae_semi_close(&g->semi);
    dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    s->method_state = NULL;
}

/* |gamma*_k|: gamma*_k = -sum_{i<k} gamma*_i / (k + 1 - i). */
static void find_constants(dae_adams *g)
{
    double star[ROWS] = { 1 };
    for (int k = 1; k < ROWS; k++)
        for (int i = 0; i < k; i++) star[k] -= star[i] / (k + 1 - i);
    for (int k = 0; k < ROWS; k++) g->star[k] = fabs(star[k]);
}

static dae_status adams_open(dae_solver *s)
{
    dae_adams *g = dae_alloc(&s->memory, 1, sizeof *g);
    s->method_state = g;
    if (!g) return DAE_E_NOMEM;
    int computed = s->system.computed;
    g->advanced = s->system.m;
    g->width = computed ? s->system.m + s->system.n : s->system.n;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m, width = (size_t)g->width;
    dae_vector_wish wish[] = {
        { &g->phi[0], ROWS * width },
        { &g->P[0], ADAMS_STAGES * width },
        { &g->x_done, n },
        { &g->p_done, m },
        { &g->y_done, m },
        { &g->low, m },
        { &g->gap, m },
        { &g->ext, width },
        { &g->y, m },
        { &g->y_pred, m },
        { &g->low_new, m },
        { &g->defect, m },
        { &g->lower, m },
        { &g->row, width },
        { &g->x, n },
        { &g->p, m },
        { &g->x_look, n },
        { &g->p_look, m },
        { &g->y_look, m },
    };
    g->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!g->vectors) return DAE_E_NOMEM;
    for (int j = 1; j < ROWS; j++) g->phi[j] = g->phi[0] + (size_t)j * width;
    for (int j = 1; j < ADAMS_STAGES; j++) g->P[j] = g->P[0] + (size_t)j * width;
    find_constants(g);
    dae_status status = dae_adams_leap_open(g);
    if (status != DAE_OK) return status;
    status = dae_semi_open(&g->semi, &s->corrector);
    g->semi.who = "Adams methods";
    return status;
}

/* ---- points and rows ---- */

void dae_adams_pack(const dae_solver *s, const dae_adams *g, const double *x, const double *p,
                    double *row)
{
    const dae_system *sys = &s->system;
    memcpy(row, p, (size_t)g->advanced * sizeof(double));
    if (g->pure) return;
    if (sys->computed) memcpy(row + sys->m, x, (size_t)sys->n * sizeof(double));
    for (int j = 0; !sys->computed && j < sys->n; j++)
        if (sys->level[j] != DAE_DIFFERENTIAL) row[j] = x[j];
}

void dae_adams_unpack(const dae_solver *s, const dae_adams *g, const double *row, double *x,
                      double *p)
{
    const dae_system *sys = &s->system;
    if (g->semi.identity) return;
    if (g->pure || sys->computed) memcpy(p, row, (size_t)g->advanced * sizeof(double));
    if (g->pure) return;
    if (sys->computed) memcpy(x, row + sys->m, (size_t)sys->n * sizeof(double));
    for (int j = 0; !sys->computed && j < sys->n; j++) {
        int plain = sys->level[j] == DAE_DIFFERENTIAL;
        if (plain)
            p[j] = row[j];
        else
            x[j] = row[j];
    }
}

int dae_adams_ask(dae_solver *s, dae_adams *g, double t, double h, const double *y, double *x,
                  double *p)
{
    const dae_system *sys = &s->system;
    for (int j = 0; !sys->computed && j < sys->n; j++)
        if (sys->level[j] == DAE_DIFFERENTIAL) x[j] = y[j];
    dae_semi_query q = {
        .kind = DAE_SEMI_POINT, .t = t, .h = h, .x = x, .p = p, .d = y, .w = s->w, .w_d = s->w_d
    };
    return dae_semi_solve(&g->semi, &q);
}

static void adams_start(dae_solver *s)
{
    dae_adams *g = s->method_state;
    dae_semi_start(&g->semi);
    g->pure = !s->system.computed && g->semi.algebraic == 0;
    dae_adams_pack(s, g, s->x, s->p, g->phi[0]);
    memset(g->low, 0, (size_t)g->advanced * sizeof(double));
    g->valid = g->used = 1;
    g->fresh = g->starting = 1;
    g->leapt = g->gap_known = 0;
    g->limited = 0;
    g->hl = g->peak = 0;
    g->gain = 1;
    s->order = s->options.max_order < 2 ? 1 : 2;
}

/* Divided differences of y' at `count` past points, newest first. */
static dae_status adams_start_history(dae_solver *s, int count, const double *t, const double *x)
{
    dae_adams *g = s->method_state;
    dae_system *sys = &s->system;
    size_t n = (size_t)sys->n;
    double product = 1;
    adams_start(s);
    if (count > MOST) count = MOST;
    for (int j = 0; j < count; j++) {
        int status = DAE_OK;
        memcpy(g->x, x + (size_t)j * n, n * sizeof(double));
        memcpy(g->p, s->p, (size_t)sys->m * sizeof(double));
        memcpy(g->y, g->x, sys->computed ? 0 : n * sizeof(double));
        if (sys->computed) status = dae_system_d(sys, t[j], g->x, g->y);
        if (status == DAE_OK)
            status = dae_adams_ask(s, g, t[j], j > 0 ? t[j] - t[j - 1] : t[0] - t[count - 1], g->y,
                                   g->x, g->p);
        if (status != DAE_OK) return status < 0 ? (dae_status)status : DAE_E_NONFINITE;
        dae_adams_pack(s, g, g->x, g->p, g->phi[j]);
        if (j == 0) memcpy(s->p, g->p, (size_t)sys->m * sizeof(double));
    }
    for (int level = 1; level < count; level++)
        for (int j = count - 1; j >= level; j--)
            for (int i = 0; i < g->width; i++)
                g->phi[j][i] = (g->phi[j - 1][i] - g->phi[j][i]) / (t[j - level] - t[j]);
    for (int j = 1; j < count; j++) {
        g->psi[j - 1] = t[0] - t[j];
        product *= g->psi[j - 1];
        for (int i = 0; i < g->width; i++) g->phi[j][i] *= product;
    }
    g->valid = count;
    g->used = count > 1 ? count - 1 : 1;
    g->starting = count == 1;
    s->order = count < s->options.max_order ? count : s->options.max_order;
    return DAE_OK;
}

/* ---- one attempt ---- */

static void coefficients(dae_adams *g, double h, int k)
{
    double one[ROWS], alpha[ROWS];
    g->k = k;
    g->psi_new[0] = h;
    g->beta[0] = g->sigma[0] = 1;
    for (int j = 1; j <= k; j++) {
        alpha[j - 1] = h / g->psi_new[j - 1];
        one[j - 1] = 1;
        g->sigma[j] = j * alpha[j - 1] * g->sigma[j - 1];
        int known = j < g->valid;
        g->beta[j] = known ? g->beta[j - 1] * (g->psi_new[j - 1] / g->psi[j - 1]) : 0;
        g->psi_new[j] = known ? g->psi[j - 1] + h : 0;
    }
    g->sigma[k + 1] = k < g->valid ? (k + 1) * (h / g->psi_new[k]) * g->sigma[k] : 0;
    dae_adams_integrals(k + 1, one, alpha, g->g);
}

/* The row at t_{n+1} by extrapolation; y_pred. */
static void predict(const dae_solver *s, dae_adams *g, double h)
{
    const double *y = s->system.computed ? s->d : s->x;
    double *rise = g->y_pred;
    memset(g->ext, 0, (size_t)g->width * sizeof(double));
    memset(rise, 0, (size_t)g->advanced * sizeof(double));
    for (int j = g->k - 1; j >= 0; j--) {
        double b = g->beta[j], a = h * g->g[j] * b;
        const double *phi = g->phi[j];
        for (int i = 0; i < g->advanced; i++) {
            g->ext[i] += b * phi[i];
            rise[i] += a * phi[i];
        }
        for (int i = g->advanced; i < g->width; i++) g->ext[i] += b * phi[i];
    }
    for (int i = 0; i < g->advanced; i++) {
        g->low_new[i] = rise[i]; /* kept for the corrector */
        g->y_pred[i] = y[i] + (rise[i] + g->low[i]);
    }
}

static double size_of(dae_solver *s, const dae_adams *g, const double *v)
{
    int where;
    return dae_norm(s->options.norm, g->advanced, v, s->system.computed ? s->w_d : s->w, &where);
}

/* v of the orders below. */
static double size_below(dae_solver *s, dae_adams *g, int j)
{
    const double *from = j == g->k - 1 ? g->defect : g->lower, *phi = g->phi[j];
    for (int i = 0; i < g->advanced; i++)
        g->lower[i] = dae_adams_counts(s, g, i) ? from[i] + g->beta[j] * phi[i] : 0;
    return size_of(s, g, g->lower);
}

/* The estimates, after the first evaluation. */
static int judge(dae_solver *s, dae_adams *g, dae_trial *trial)
{
    dae_system *sys = &s->system;
    int k = g->k, where;
    double h = trial->h, c = h * (g->g[k] - g->g[k - 1]),
           *e = sys->computed ? trial->e_d : trial->e;
    double raw = size_of(s, g, g->defect);
    for (int i = 0; i < g->advanced; i++) e[i] = c * g->defect[i];
    if (!g->pure) {
        dae_semi_query q = { .kind = DAE_SEMI_POINT,
                             .t = trial->t,
                             .h = h,
                             .x = g->x,
                             .p = g->p,
                             .d = trial->e_d,
                             .w = s->w,
                             .w_d = s->w_d };
        int status = dae_semi_spread(&g->semi, &q, trial->e);
        if (status != DAE_OK) return status;
    }
    trial->error =
        s->safety / SHARE * dae_norm(s->options.norm, sys->n, trial->e, s->w_error, &where);
    trial->limiting = where;
    g->gain = raw > 0 ? trial->error / (fabs(c) * raw) : g->gain;
    double unit = g->gain * fabs(h);
    g->norm = unit * g->star[k] * g->sigma[k] * raw;
    g->norm_1 = g->norm_2 = INFINITY;
    if (k > 1) g->norm_1 = unit * g->star[k - 1] * g->sigma[k - 1] * size_below(s, g, k - 1);
    if (k > 2) g->norm_2 = unit * g->star[k - 2] * g->sigma[k - 2] * size_below(s, g, k - 2);
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

/* Is less asked for than rounding leaves? */
static int too_much(dae_solver *s, const dae_trial *trial)
{
    char name[32];
    int where;
    double size = s->safety / SHARE * dae_norm_max(s->system.n, s->x, s->w0, &where);
    if (2 * DBL_EPSILON * size <= 0.5) return DAE_OK;
    double asked = fabs(s->x[where]) / size;
    dae_fail(&s->report, DAE_E_TOL, "the tolerance is below rounding");
    dae_at(&s->report, "t = %.10g, h = %.3g, unknown '%s'", s->t, trial->h,
           dae_unknown_name(&s->system, where, name));
    dae_why(&s->report, "its value is %.6g, its tolerance %.3g: one rounding is %.3g", s->x[where],
            asked, DBL_EPSILON * fabs(s->x[where]));
    dae_hint(&s->report, "an rtol of 1e-13 or an atol above %.2g for '%s'",
             4 * DBL_EPSILON * fabs(s->x[where]), dae_unknown_name(&s->system, where, name));
    return DAE_E_TOL;
}

/* Corrects, and keeps what rounding takes. low_new holds the rise of the prediction. */
static void correct(const dae_solver *s, dae_adams *g, double factor)
{
    const double *y = s->system.computed ? s->d : s->x;
    for (int i = 0; i < g->advanced; i++) {
        double rise = g->low_new[i] + factor * g->defect[i] + g->low[i];
        g->y[i] = y[i] + rise;
        g->low_new[i] = rise - (g->y[i] - y[i]);
    }
}

/* The corrected point: z and y' from guesses at the predicted one. */
static int finish(dae_solver *s, dae_adams *g, dae_trial *trial)
{
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    memcpy(trial->x, g->x, nb);
    memcpy(trial->p, g->p, mb);
    int status = dae_adams_ask(s, g, trial->t, trial->h, g->y, trial->x, trial->p);
    if (status == DAE_OK && s->system.computed) memcpy(trial->d, g->y, mb);
    return status;
}

/* h times the local rate; 0 where the two points are too near to tell. */
static void note_stability(dae_solver *s, dae_adams *g, const dae_trial *trial)
{
    double moved = fabs(g->g[g->k]) * size_of(s, g, g->defect);
    double least = 1e3 * DBL_EPSILON * size_of(s, g, s->system.computed ? s->d : s->x);
    g->hl = 0;
    if (!(fabs(trial->h) * moved > least)) return;
    for (int i = 0; i < g->advanced; i++)
        g->lower[i] = dae_adams_counts(s, g, i) ? trial->p[i] - g->p[i] : 0;
    g->hl = size_of(s, g, g->lower) / moved;
    g->peak = fmax(g->hl, 0.95 * g->peak);
}

/* A step of the fixed-step start. */
static int leap(dae_solver *s, dae_adams *g, dae_trial *trial)
{
    const double *y = s->system.computed ? s->d : s->x;
    int status = dae_adams_leap(s, g, s->t, trial->h, y, s->x, s->p, g->y);
    if (status != DAE_OK) return status;
    memset(g->low_new, 0, (size_t)g->advanced * sizeof(double));
    memcpy(g->x, s->x, (size_t)s->system.n * sizeof(double));
    memcpy(g->p, s->p, (size_t)s->system.m * sizeof(double));
    dae_adams_unpack(s, g, g->P[ADAMS_STAGES - 1], g->x, g->p);
    return finish(s, g, trial);
}

static int adams_attempt(dae_solver *s, dae_trial *trial)
{
    dae_adams *g = s->method_state;
    dae_corrector *q = &s->corrector;
    int q_order = trial->order, k = q_order > 1 ? q_order - 1 : 1;
    int leaps = trial->prescribed && k > g->valid;
    q->iterations = q->new_jacobian = q->new_factor = q->jacobian_current = q->second_round = 0;
    q->observed_rate = 0;
    g->semi.fresh = 0;
    trial->constant = 1;
    trial->h = trial->t - s->t; /* t + h was rounded: over many steps that is a shift in time */
    g->leapt = leaps;
    int status = trial->prescribed ? DAE_OK : too_much(s, trial);
    if (status != DAE_OK) return status;
    coefficients(g, trial->h, leaps ? g->valid : k);
    predict(s, g, trial->h);
    memset(trial->e, 0, (size_t)s->system.n * sizeof(double));
    if (leaps) return leap(s, g, trial);
    memcpy(g->x, s->x, (size_t)s->system.n * sizeof(double));
    memcpy(g->p, s->p, (size_t)s->system.m * sizeof(double));
    dae_adams_unpack(s, g, g->ext, g->x, g->p);
    status = dae_adams_ask(s, g, trial->t, trial->h, g->y_pred, g->x, g->p);
    if (status != DAE_OK) return status;
    for (int i = 0; i < g->advanced; i++)
        g->defect[i] = dae_adams_counts(s, g, i) ? g->p[i] - g->ext[i] : 0;
    if (!trial->prescribed) status = judge(s, g, trial);
    if (status != DAE_OK) return status;
    correct(s, g, trial->h * g->g[q_order > 1 ? k : 0]);
    status = finish(s, g, trial);
    if (status == DAE_OK && !trial->prescribed) note_stability(s, g, trial);
    q->jacobian_current = 0; /* a rate that varies from point to point is no sign of trouble */
    return status;
}

/* ---- after the attempt ---- */

/* The new differences; row k + 1 holds what the order above would have made of it. */
static void update_history(dae_solver *s, dae_adams *g, const dae_trial *trial)
{
    int k = g->k, more = k < g->valid && k + 1 < ROWS;
    dae_adams_pack(s, g, trial->x, trial->p, g->row);
    for (int i = 0; i < g->width; i++) g->ext[i] = g->row[i] - g->ext[i];
    for (int i = 0; more && i < g->width; i++)
        g->phi[k + 1][i] = g->ext[i] - g->beta[k] * g->phi[k][i];
    memcpy(g->phi[k], g->ext, (size_t)g->width * sizeof(double));
    for (int j = k - 1; j > 0; j--)
        for (int i = 0; i < g->width; i++)
            g->phi[j][i] = g->beta[j] * g->phi[j][i] + g->phi[j + 1][i];
    memcpy(g->phi[0], g->row, (size_t)g->width * sizeof(double));
    int valid = more ? k + 2 : k + 1;
    memcpy(g->psi, g->psi_new, (size_t)(valid - 1) * sizeof(double));
    g->valid = valid;
}

/* Step ratio that would bring the estimate of k rows to the target. */
static double ratio(double error, int k)
{
    return pow(error / TARGET + 1e-10, -1.0 / (k + 1));
}

/* Rows of the next predictor [Shampine & Gordon, ch. 7]: fewer if the estimates say so, more only
 * if the term above falls clearly. */
static int choose_rows(dae_solver *s, dae_adams *g, double *error)
{
    int k = g->k, most = s->options.max_order - 1;
    *error = g->norm;
    int lower =
        k > 2 ? fmax(g->norm_1, g->norm_2) <= g->norm : k == 2 && g->norm_1 <= 0.5 * g->norm;
    if (k > 2 && g->hl > interval[k + 1]) lower = 1;
    if (lower || k >= most) g->starting = 0;
    if (g->starting) return k + 1;
    if (lower || k > most) {
        *error = g->norm_1;
        return k - 1;
    }
    if (k >= most || g->valid < k + 2) return k;
    if (k > 1 && g->hl > interval[k + 2]) return k;
    for (int i = 0; i < g->advanced; i++)
        g->lower[i] = dae_adams_counts(s, g, i) ? g->phi[k + 1][i] : 0;
    double up =
        g->gain * fabs(g->psi[0]) * g->star[k + 1] * g->sigma[k + 1] * size_of(s, g, g->lower);
    if (k == 1 ? up >= 0.5 * g->norm : up >= g->norm) return k;
    if (k > 1 && g->norm_1 <= fmin(g->norm, up)) {
        *error = g->norm_1;
        return k - 1;
    }
    *error = up;
    return k + 1;
}

/* In the beginning the order rises with every step and the step at least doubles, until the
 * estimates say otherwise. */
static void plan(dae_solver *s, dae_adams *g, const dae_trial *trial)
{
    double error = trial->error, h = trial->h;
    int starting = g->starting, next = 1;
    s->order = 1;
    if (s->options.max_order > 1) {
        next = choose_rows(s, g, &error);
        s->order = next + 1;
    }
    double r = fmin(ratio(error, next), LARGEST), stable = interval[s->order] / g->hl;
    g->limited = stable < r ? g->limited + (g->limited < LONGEST) : g->limited / 2;
    r = fmin(r, stable);
    if (starting && g->starting)
        s->h = h * fmax(2, fmin(0.5 * ratio(g->norm, g->k), LARGEST));
    else if (r >= 1)
        s->h = r >= WORTHWHILE ? h * r : h;
    else
        s->h = h * fmax(0.5, fmin(0.9, r));
}

static void adams_commit(dae_solver *s, dae_trial *trial)
{
    dae_adams *g = s->method_state;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    memcpy(g->x_done, s->x, nb);
    memcpy(g->p_done, s->p, mb);
    memcpy(g->y_done, s->system.computed ? s->d : s->x, mb);
    double *low = g->low;
    g->low = g->low_new;
    g->low_new = low;
    update_history(s, g, trial);
    g->used = g->k;
    g->gap_known = g->fresh = 0;
    if (!trial->prescribed) plan(s, g, trial);
}

static void adams_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    dae_adams *g = s->method_state;
    int k = g->k;
    g->starting = 0;
    if (verdict != DAE_STEP_ERROR) {
        s->h = 0.25 * trial->h;
        if (s->order > 2) s->order--;
        return;
    }
    int next = k;
    if (k > 2 ? fmax(g->norm_1, g->norm_2) <= g->norm : k == 2 && g->norm_1 <= 0.5 * g->norm)
        next = k - 1;
    double r = ratio(trial->error, k);
    if (s->error_failures > 2 || g->fresh) { /* what is known of the past is of no use */
        next = 1;
        s->h = trial->h * fmin(0.5, ratio(trial->error, 1));
    } else {
        s->h = trial->h * fmax(0.25, fmin(0.5, r));
    }
    s->order = s->options.max_order < 2 ? 1 : next + 1;
}

static int adams_reach(dae_solver *s)
{
    return s->order_most;
}

static int adams_stiff(dae_solver *s, double *rate, double *bound)
{
    const dae_adams *g = s->method_state;
    *rate = g->peak;
    *bound = interval[s->stats.order];
    return g->limited >= LONG;
}

const dae_method dae_method_adams = {
    .name = "adams",
    .description = "Adams-Bashforth-Moulton PECE, order 1-12, for equations that are not stiff",
    .movable = 1,
    .max_order = MOST,
    .starts_itself = 1,
    .first_power = 2,
    .choose = adams_choose,
    .open = adams_open,
    .close = adams_close,
    .start = adams_start,
    .start_history = adams_start_history,
    .attempt = adams_attempt,
    .commit = adams_commit,
    .reject = adams_reject,
    .interpolate = dae_adams_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = adams_reach,
    .stiff = adams_stiff,
};
